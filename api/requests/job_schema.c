/* An algorithm applies if a job that names only it is accepted: the job can be filled
 * in for the dataset, and its mechanism is one whose cost is proved. A preset fits if a
 * job that names it compiles. Both are tried, so the schema offers exactly what the
 * planner accepts. */
#include "api/requests/job_schema.h"

#include <stdio.h>
#include <string.h>

#include "accountant/pricing/cost.h"
#include "api/json/json_schema.h"
#include "api/limits.h"
#include "api/requests/algorithm_request.h"
#include "api/requests/augmentation_request.h"
#include "api/requests/averaging_request.h"
#include "api/requests/class_weights_request.h"
#include "api/requests/model_schema.h"
#include "api/requests/optimizer_request.h"
#include "base/check.h"
#include "engine/dp/algorithms/registry.h"
#include "engine/nn/layers/preset.h"

enum { OFFERS_MAX = 32 };

/* With this noise every algorithm can be planned. */
static const double trial_noise = 4;

/* Initial values of a form: a tenth of the remaining budget fits as long as anything is
 * left. Public data has no budget, and 1 is a usual epsilon. */
static const double usual_fraction = 0.1, usual_epsilon = 1;

struct offers { /* jobs with all defaults, one for each algorithm that applies */
    size_t count;
    struct job_request jobs[OFFERS_MAX];
};

/* ---- which algorithms and presets apply ---- */

static bool is_priced(struct job_request *job)
{
    struct mechanism mechanism = {0};
    if (!job->train.algorithm.algorithm->is_private)
        return true;
    job->train.noise_multiplier = trial_noise;
    bool priced = train_spec_mechanism(&mechanism, &job->train, NULL) == ST_OK &&
                  cost_supports(&mechanism, NULL) == ST_OK;
    mechanism_fini(&mechanism);
    return priced;
}

/* Fills in the job that names this preset and algorithm. Returns false if there is
 * none; then there is nothing to release. */
static bool try_job(struct job_request *job, const struct job_schema_view *view,
                    const char *preset, const struct algorithm *algorithm)
{
    char text[512], privacy[64] = "";
    if (algorithm->is_private)
        snprintf(privacy, sizeof privacy, ",\"privacy\":{\"noise_multiplier\":%g}",
                 trial_noise);
    int length = snprintf(text, sizeof text,
                          "{\"dataset\":\"%s\",\"model\":{\"preset\":\"%s\"},"
                          "\"algorithm\":{\"name\":\"%s\"}%s}",
                          view->dataset->text, preset, algorithm->name, privacy);
    CHECK(job_request_parse(job, json_text_sized(text, (size_t)length), NULL) == ST_OK);
    if (job_defaults_fill(job, &view->facts, NULL) == ST_OK && is_priced(job))
        return true;
    job_request_fini(job);
    return false;
}

static void offer_algorithms(struct offers *offers, const struct job_schema_view *view)
{
    offers->count = 0;
    for (size_t i = 0; algorithms[i] != NULL; i++) {
        CHECK(offers->count < OFFERS_MAX);
        const char *preset =
            preset_names[algorithms[i]->uses_histograms ? PRESET_HISTOGRAMS
                                                        : PRESET_LINEAR];
        offers->count +=
            try_job(&offers->jobs[offers->count], view, preset, algorithms[i]);
    }
    CHECK(offers->count > 0);
}

static void offers_fini(struct offers *offers)
{
    for (size_t i = 0; i < offers->count; i++)
        job_request_fini(&offers->jobs[i]);
}

static const struct algorithm *algorithm_of(const struct job_request *job)
{
    return job->train.algorithm.algorithm;
}

/* Returns the default job: the first private one on private data, and the first one
 * that is not private on public data. */
static const struct job_request *usual_job(const struct offers *offers, bool is_public)
{
    size_t i = 0;
    while (algorithm_of(&offers->jobs[i])->is_private == is_public)
        CHECK(++i < offers->count);
    return &offers->jobs[i];
}

/* ---- the members of a job ---- */

/* Writes the schema of an evaluation on the dataset's own holdout. */
static void write_measurement(struct json_writer *writer,
                              const struct job_schema_view *view)
{
    const struct schema *schema = view->facts.schema;
    json_write_object(writer, NULL);
    json_schema_members(writer);
    json_write_object(writer, "holdout");
    json_write_flag(writer, "const", true);
    json_write_object_end(writer);
    json_schema_real(writer, "epsilon",
                     (struct json_range){0, LIMIT_EPSILON, true, false}, NULL);
    if (schema->task == TASK_REGRESSION)
        json_schema_real(
            writer, "error_clip",
            (struct json_range){0, 2 * schema_half_range(schema), true, false}, NULL);
    json_schema_object_end(writer, (const char *const[]){"holdout", "epsilon", NULL});
}

static void write_dataset(struct json_writer *writer,
                          const struct job_schema_view *view)
{
    bool is_divided = division_parts(&view->facts.division) > 1;
    json_write_object(writer, "dataset");
    json_write_text(writer, "const", view->dataset->text);
    json_write_text(writer, "default", view->dataset->text);
    json_write_object_end(writer);
    json_write_object(writer, "evaluation");
    if (is_divided) {
        json_write_array(writer, "anyOf");
        json_write_object(writer, NULL);
    }
    json_write_text(writer, "type", "string");
    if (is_divided) {
        json_write_object_end(writer);
        write_measurement(writer, view);
        json_write_array_end(writer);
    }
    json_write_object_end(writer);
}

/* Writes the model of a job that names none. */
static void write_preset_default(struct json_writer *writer, enum preset preset)
{
    json_write_object(writer, "default");
    json_write_text(writer, "preset", preset_names[preset]);
    json_write_object_end(writer);
}

static void write_model_default(struct json_writer *writer, enum preset preset)
{
    json_write_object(writer, "model");
    write_preset_default(writer, preset);
    json_write_object_end(writer);
}

static void write_models(struct json_writer *writer, const struct job_schema_view *view,
                         const struct job_request *usual)
{
    struct job_request job;
    struct model_spec layers = usual->train.model;
    layers.preset = PRESET_NONE;
    json_write_object(writer, "model");
    json_write_array(writer, "oneOf");
    for (int preset = PRESET_NONE + 1; preset < PRESETS; preset++) {
        if (!try_job(&job, view, preset_names[preset], algorithm_of(usual)))
            continue;
        model_schema_write(writer, &job.train.model);
        job_request_fini(&job);
    }
    model_schema_write(writer, &layers);
    json_write_array_end(writer);
    write_preset_default(writer, PRESET_LINEAR);
    json_write_object_end(writer);
}

static void write_algorithms(struct json_writer *writer, const struct offers *offers,
                             const struct job_request *usual)
{
    json_write_object(writer, "algorithm");
    json_write_array(writer, "oneOf");
    for (size_t i = 0; i < offers->count; i++)
        algorithm_schema_write(writer, NULL, algorithm_of(&offers->jobs[i]));
    json_write_array_end(writer);
    algorithm_request_write(writer, "default", &usual->train.algorithm);
    json_write_object_end(writer);
}

/* If the algorithm chooses the learning rate itself, the rate has no default. */
static void write_optimizer_default(struct json_writer *writer,
                                    const struct job_request *job)
{
    const struct optimizer_spec *optimizer = &job->train.optimizer;
    if (algorithm_of(job)->learning_rate == NULL) {
        optimizer_request_write(writer, "default", optimizer);
        return;
    }
    json_write_object(writer, "default");
    json_write_text(writer, "name", optimizer_kind_name(optimizer->kind));
    json_write_object_end(writer);
}

static void write_optimizer(struct json_writer *writer, const struct job_request *usual)
{
    json_write_object(writer, "optimizer");
    json_write_array(writer, "oneOf");
    optimizer_schema_write(writer);
    json_write_array_end(writer);
    write_optimizer_default(writer, usual);
    json_write_object_end(writer);
}

static void write_averaging(struct json_writer *writer)
{
    json_write_object(writer, "averaging");
    json_write_array(writer, "oneOf");
    averaging_schema_write(writer);
    json_write_array_end(writer);
    json_write_object(writer, "default");
    json_write_text(writer, "kind", averaging_kind_names[AVERAGING_NONE]);
    json_write_object_end(writer);
    json_write_object_end(writer);
}

static void write_rows_per_person(struct json_writer *writer, size_t usual)
{
    json_write_object(writer, "rows_per_person");
    json_write_array(writer, "enum");
    for (uint64_t rows = 1; rows <= LIMIT_ROWS_PER_PERSON; rows *= 2)
        json_write_count(writer, NULL, rows);
    json_write_array_end(writer);
    json_write_count(writer, "default", usual);
    json_write_object_end(writer);
}

static void write_ranks(struct json_writer *writer, const struct job_schema_view *view)
{
    static const uint64_t usual = 1;
    json_schema_count(writer, "ranks", 1, view->ranks_max > 1 ? view->ranks_max : 1,
                      &usual);
}

static void write_length(struct json_writer *writer, const struct job_request *usual)
{
    if (usual->train.unit == PRIVACY_UNIT_PERSON)
        write_rows_per_person(writer, usual->train.unit_rows);
    json_schema_count(writer, "batch_size", 1, usual->train.records,
                      &usual->train.batch_size);
    json_schema_count(writer, "epochs", 1, LIMIT_STEPS, &usual->epochs);
    json_schema_count(writer, "steps", 1, LIMIT_STEPS, NULL);
}

static void write_privacy_default(struct json_writer *writer, bool is_public)
{
    json_write_object(writer, "default");
    json_write_real(writer, is_public ? "epsilon" : "budget_fraction",
                    is_public ? usual_epsilon : usual_fraction);
    json_write_object_end(writer);
}

/* Writes the privacy member. On public data the algorithm decides whether it has
 * a default. */
static void write_privacy(struct json_writer *writer,
                          const struct job_schema_view *view,
                          const struct offers *offers)
{
    bool is_public = view->facts.is_public;
    const struct job_privacy_bounds bounds = {is_public, offers->jobs[0].delta,
                                              view->epsilon_max};
    json_write_object(writer, "privacy");
    if (!is_public)
        write_privacy_default(writer, is_public);
    job_privacy_schema_write(writer, &bounds);
}

/* ---- the members that depend on the algorithm ---- */

static void write_usual_count(struct json_writer *writer, const char *name,
                              uint64_t count)
{
    json_write_object(writer, name);
    json_write_count(writer, "default", count);
    json_write_object_end(writer);
}

static void write_consequence(struct json_writer *writer, const struct job_request *job,
                              bool is_public)
{
    bool is_private = algorithm_of(job)->is_private;
    json_write_object(writer, "then");
    json_write_object(writer, "properties");
    json_write_object(writer, "optimizer");
    write_optimizer_default(writer, job);
    json_write_object_end(writer);
    if (algorithm_of(job)->uses_histograms)
        write_model_default(writer, PRESET_HISTOGRAMS);
    write_usual_count(writer, "batch_size", job->train.batch_size);
    write_usual_count(writer, "epochs", job->epochs);
    if (is_private) {
        json_write_object(writer, "privacy");
        write_privacy_default(writer, is_public);
        json_write_object_end(writer);
    } else {
        json_write_flag(writer, "privacy", false);
    }
    json_write_object_end(writer);
    json_write_array(writer, "required");
    if (is_private)
        json_write_text(writer, NULL, "privacy");
    json_write_array_end(writer);
    json_write_object_end(writer);
}

static void write_condition(struct json_writer *writer, const struct job_request *job,
                            bool is_public)
{
    json_write_object(writer, NULL);
    json_write_object(writer, "if");
    json_write_object(writer, "properties");
    json_write_object(writer, "algorithm");
    json_write_object(writer, "properties");
    json_schema_word(writer, "name", algorithm_of(job)->name);
    json_write_object_end(writer);
    json_write_object_end(writer);
    json_write_object_end(writer);
    json_write_object_end(writer);
    write_consequence(writer, job, is_public);
    json_write_object_end(writer);
}

/* Writes the rules. One of them: epochs and steps must not both be given. */
static void write_rules(struct json_writer *writer, const struct offers *offers,
                        bool is_public)
{
    json_write_array(writer, "allOf");
    for (size_t i = 0; i < offers->count; i++)
        write_condition(writer, &offers->jobs[i], is_public);
    json_write_array_end(writer);
    json_write_object(writer, "not");
    json_write_array(writer, "required");
    json_write_text(writer, NULL, "epochs");
    json_write_text(writer, NULL, "steps");
    json_write_array_end(writer);
    json_write_object_end(writer);
}

/* Returns whether any feature is a numeric column, for which statistics can give
 * a range. */
static bool has_number(const struct schema *schema)
{
    for (size_t i = 0; i < schema->column_count; i++)
        if (schema->columns[i].kind == COLUMN_NUMERIC)
            return true;
    return false;
}

char *job_schema_render(const struct job_schema_view *view)
{
    struct json_writer writer;
    struct offers offers;
    bool is_public = view->facts.is_public;
    offer_algorithms(&offers, view);
    const struct job_request *usual = usual_job(&offers, is_public);
    json_writer_open(&writer, JSON_EXACT);
    json_write_object(&writer, NULL);
    json_write_text(&writer, "$schema", "https://json-schema.org/draft/2020-12/schema");
    json_write_object(&writer, "$defs");
    model_schema_write_loss(&writer, view->facts.schema);
    model_schema_write_layer(&writer);
    json_write_object_end(&writer);
    write_rules(&writer, &offers, is_public);
    json_schema_members(&writer);
    write_dataset(&writer, view);
    write_models(&writer, view, usual);
    write_algorithms(&writer, &offers, usual);
    write_optimizer(&writer, usual);
    write_averaging(&writer);
    class_weights_schema_write(&writer, "class_weights", view->facts.schema->classes);
    job_features_schema_write(&writer);
    augmentation_schema_write(&writer, view->facts.schema);
    if (!is_public && has_number(view->facts.schema))
        scaling_schema_write(&writer, "scaling");
    if (!is_public)
        standardise_schema_write(&writer, "standardise");
    write_ranks(&writer, view);
    write_length(&writer, usual);
    write_privacy(&writer, view, &offers);
    caption_schema_write(&writer);
    json_schema_object_end(
        &writer, (const char *const[]){"dataset", "model", "algorithm", NULL});
    offers_fini(&offers);
    return json_writer_close(&writer);
}
