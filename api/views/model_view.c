#include "api/views/model_view.h"

#include <string.h>

#include "api/json/json_reader.h"
#include "api/json/json_scan.h"
#include "api/json/json_writer.h"
#include "api/requests/algorithm_request.h"
#include "api/requests/augmentation_request.h"
#include "api/requests/averaging_request.h"
#include "api/requests/class_weights_request.h"
#include "api/requests/optimizer_request.h"
#include "api/requests/schema_text.h"
#include "api/requests/tokenizer_text.h"
#include "api/views/epochs_view.h"

/* Writes a grid as a member of its own name. Members that do not apply to its kind are
 * left out: only counts have bins, and only float sums are inflated. */
static void write_grid(struct json_writer *writer, const struct noise_grid *named)
{
    json_write_object(writer, named->name);
    if (named->bins > 0)
        json_write_count(writer, "bins", named->bins);
    json_write_real(writer, "scale", named->grid.scale);
    if (named->grid.inflation > 0)
        json_write_real(writer, "inflation", named->grid.inflation);
    json_write_object_end(writer);
}

char *noise_render(const struct noise_certificate *noise)
{
    const struct noise_plan *plan = &noise->plan;
    struct json_writer writer;
    json_writer_open(&writer, JSON_EXACT);
    json_write_object(&writer, NULL);
    json_write_text(&writer, "sampler", "floored-gaussian/1");
    json_write_real(&writer, "clip_norm", plan->clip_norm);
    json_write_real(&writer, "scale", plan->grid.scale);
    json_write_real(&writer, "inflation", plan->grid.inflation);
    json_write_real(&writer, "spread", plan->spread);
    json_write_count(&writer, "cells", plan->grid.cells);
    json_write_count(&writer, "cell_rows_max", plan->grid.cell_rows_max);
    json_write_count(&writer, "terms_max", plan->grid.terms_max);
    json_write_count(&writer, "roundings", plan->grid.roundings);
    json_write_count(&writer, "position_classes", 1); /* noise.md 2.5: rows are alike */
    json_write_text(&writer, "kernel", noise->kernel);
    json_write_text(&writer, "dense_kernel", noise->gemm_kernel);
    json_write_text(&writer, "convolution_kernel", noise->gemm_kernel);
    json_write_flag(&writer, "float_safe", true);
    for (size_t k = 0; k < plan->named_count; k++)
        write_grid(&writer, &plan->named[k]);
    json_write_object_end(&writer);
    return json_writer_close(&writer);
}

static void write_reserve(struct json_writer *writer,
                          const struct ledger_entry_name *reserve)
{
    json_write_object(writer, "reserve");
    json_write_count(writer, "seq", reserve->seq);
    json_write_digest(writer, "hash", reserve->hash);
    json_write_object_end(writer);
}

/* If an epsilon has no order, it was not converted from a Renyi curve: it comes from
 * the exact profile or from composed losses. */
static const char *accountant_of(const struct model_view *view)
{
    if (view->order > 0)
        return "rdp";
    return view->request->accountant == ACCOUNTANT_PLD ? "pld" : "gaussian";
}

static void write_guarantee(struct json_writer *writer, const struct model_view *view)
{
    if (view->mechanism == NULL || view->reserve == NULL) {
        json_write_null(writer, "guarantee");
        return;
    }
    json_write_object(writer, "guarantee");
    json_write_text(writer, "relation", relation_name(view->request->train.relation));
    json_write_text(writer, "unit", privacy_unit_name(view->request->train.unit));
    json_write_real(writer, "epsilon", view->epsilon);
    json_write_real(writer, "delta", view->request->delta);
    json_write_text(writer, "accountant", accountant_of(view));
    json_write_real_if(writer, view->order > 0, "order", view->order);
    json_write_raw(writer, "mechanism", view->mechanism);
    if (view->ran != NULL)
        json_write_raw(writer, "ran", view->ran);
    json_write_real(writer, "sampling_rate", view->sampling_rate);
    json_write_real(writer, "noise_multiplier", view->noise_multiplier);
    json_write_count(writer, "steps", view->steps);
    write_reserve(writer, view->reserve);
    json_write_object_end(writer);
}

/* Writes the guarantee for the people in the data over all jobs together, including
 * this one. */
static void write_dataset_guarantee(struct json_writer *writer,
                                    const struct model_view *view)
{
    if (view->epochs == NULL) {
        json_write_null(writer, "dataset_guarantee");
        return;
    }
    json_write_object(writer, "dataset_guarantee");
    epochs_write(writer, view->epochs, false);
    json_write_object_end(writer);
}

/* Writes the processing of the releases, if it is more than the usual steps. All of it
 * is post-processing, and does not affect the guarantee. */
static void write_post_processing(struct json_writer *writer,
                                  const struct train_spec *train)
{
    const struct optimizer_spec *optimizer = &train->optimizer;
    if (optimizer->schedule != RATE_LINEAR || optimizer->warmup != 0 ||
        optimizer->weight_decay != 0)
        optimizer_request_write(writer, "optimizer", optimizer);
    averaging_request_write(writer, "averaging", &train->averaging);
    class_weights_request_write(writer, "class_weights", &train->class_weights);
}

static void write_frozen(struct json_writer *writer, const struct model_view *view)
{
    if (view->frozen == 0)
        return;
    json_write_object(writer, "frozen");
    json_write_count(writer, "parameters", view->frozen);
    json_write_digest(writer, "sha256", view->frozen_sha256);
    json_write_object_end(writer);
}

static void write_base(struct json_writer *writer, const char *name,
                       const struct certificate_base *base)
{
    json_write_object(writer, name);
    json_write_text(writer, "file", base->file);
    json_write_text(writer, "sha256", base->sha256);
    json_write_text(writer, "names", base->names);
    json_write_object_end(writer);
}

char *certificate_base_render(const struct certificate_base *base)
{
    struct json_writer writer;
    json_writer_open(&writer, JSON_EXACT);
    write_base(&writer, NULL, base);
    return json_writer_close(&writer);
}

bool certificate_base(struct certificate_base *base, const struct model_row *row)
{
    static const char *const names[] = {"base"};
    static const char *const members[] = {"file", "sha256", "names"};
    struct json_span found, parts[3];
    return json_scan(&found, names, 1, json_span_of(row->card)) && found.at != NULL &&
           json_scan(parts, members, 3, found) &&
           json_span_text(base->file, sizeof base->file, parts[0]) &&
           json_span_text(base->sha256, sizeof base->sha256, parts[1]) &&
           json_span_text(base->names, sizeof base->names, parts[2]);
}

/* Writes how texts become ids. */
static void write_text(struct json_writer *writer, const struct schema *schema)
{
    const struct column *column = schema_text(schema);
    if (column == NULL)
        return;
    json_write_object(writer, "text");
    tokenizer_text_write(writer, column->text);
    json_write_object_end(writer);
}

bool certificate_text(struct text_column *text, const struct model_row *row)
{
    static const char *const names[] = {"text"};
    struct json_span found;
    struct json_reader reader;
    struct json_node root;
    *text = (struct text_column){.kind = NULL};
    if (!json_scan(&found, names, 1, json_span_of(row->card)) || found.at == NULL)
        return false;
    if (json_reader_open(&reader, &root, json_text_sized(found.at, found.size), NULL) ==
        ST_OK)
        tokenizer_text_read(text, &root);
    return json_reader_close(&reader) == ST_OK;
}

char *certificate_render(const struct model_view *view)
{
    struct json_writer writer;
    json_writer_open(&writer, JSON_EXACT);
    json_write_object(&writer, NULL);
    json_write_text(&writer, "format", "epsilond/1");
    json_write_text(&writer, "version", view->version);
    json_write_text(&writer, "model", view->id->text);
    json_write_text(&writer, "job", view->job->text);
    json_write_text(&writer, "dataset", view->dataset->id.text);
    json_write_count(&writer, "records", view->request->train.records);
    if (train_spec_ranks(&view->request->train) > 1)
        json_write_count(&writer, "ranks", view->request->train.ranks);
    if (view->request->train.unit == PRIVACY_UNIT_PERSON)
        json_write_count(&writer, "rows_per_person", view->request->train.unit_rows);
    augmentation_request_write(&writer, "augmentation", &view->request->train.views);
    json_write_count(&writer, "steps", view->steps);
    algorithm_request_write(&writer, "algorithm", &view->request->train.algorithm);
    write_post_processing(&writer, &view->request->train);
    scaling_request_write(&writer, "scaling", &view->request->scaling);
    standardise_request_write(&writer, "standardise", &view->request->standardise);
    write_text(&writer, &view->dataset->schema);
    if (view->ancestry != NULL)
        ancestry_write(&writer, view->ancestry);
    write_frozen(&writer, view);
    if (view->base != NULL)
        write_base(&writer, "base", view->base);
    write_guarantee(&writer, view);
    write_dataset_guarantee(&writer, view);
    json_write_raw(&writer, "noise", view->noise != NULL ? view->noise : "null");
    if (view->quality != NULL)
        json_write_raw(&writer, "quality", view->quality);
    json_write_object_end(&writer);
    return json_writer_close(&writer);
}

enum status certificate_check(const struct model_row *row, struct error *error)
{
    struct json_reader reader;
    struct json_node root;
    bool same = false;
    if (json_reader_open(&reader, &root, json_text_of(row->card), error) == ST_OK) {
        const char *model = json_read_text(json_member(&root, "model"));
        const char *job = json_read_text(json_member(&root, "job"));
        same = strcmp(model, row->id.text) == 0 && strcmp(job, row->job.text) == 0;
    }
    enum status status = json_reader_close(&reader);
    if (status == ST_OK && !same)
        return error_set(error, ST_CORRUPT, "its certificate is of another model");
    return status == ST_OK ? ST_OK : ST_CORRUPT;
}

bool certificate_glance(const struct model_row *row)
{
    static const char *const names[] = {"model", "job"};
    struct json_span found[2];
    char model[sizeof row->id.text], job[sizeof row->job.text];
    return json_scan(found, names, 2, json_span_of(row->card)) &&
           json_span_text(model, sizeof model, found[0]) &&
           json_span_text(job, sizeof job, found[1]) &&
           strcmp(model, row->id.text) == 0 && strcmp(job, row->job.text) == 0;
}

char *inputs_render(const struct schema *schema)
{
    struct json_writer writer;
    json_writer_open(&writer, JSON_EXACT);
    json_write_object(&writer, NULL);
    schema_text_write(&writer, schema);
    json_write_object_end(&writer);
    return json_writer_close(&writer);
}

enum status inputs_parse(struct schema *schema, const char *text, struct error *error)
{
    const char *members[SCHEMA_MEMBERS_MAX];
    struct schema read = {0};
    struct json_reader reader;
    struct json_node root;
    schema_text_members(members, (const char *const[]){NULL});
    if (json_reader_open(&reader, &root, json_text_of(text), error) == ST_OK) {
        json_read_object(root, members);
        schema_text_read(&read, &root);
    }
    enum status status = json_reader_close(&reader);
    if (status == ST_OK)
        *schema = read;
    else
        schema_fini(&read);
    return status;
}

static void write_course(struct json_writer *writer, const struct model_course *course)
{
    json_write_text(writer, "dataset", course->dataset);
    json_write_text(writer, "algorithm", course->algorithm);
    json_write_object(writer, "metrics");
    if (course->evaluation != NULL)
        evaluation_point_write(writer, "evaluation", course->regression,
                               course->evaluation);
    else
        json_write_null(writer, "evaluation");
    holdout_score_write(writer, "holdout", course->regression, course->holdout);
    json_write_object_end(writer);
}

char *model_render(const struct model_row *row, const struct model_course *course)
{
    struct json_writer writer;
    json_writer_open(&writer, JSON_SHOWN);
    json_write_object(&writer, NULL);
    json_write_text(&writer, "id", row->id.text);
    caption_write(&writer, course->caption);
    json_write_text(&writer, "job", row->job.text);
    write_course(&writer, course);
    json_write_digest(&writer, "sha256", row->sha256);
    json_write_count(&writer, "size", row->size);
    json_write_raw(&writer, "certificate", row->card);
    json_write_time(&writer, "create_time", row->create_ms);
    json_write_object_end(&writer);
    return json_writer_close(&writer);
}
