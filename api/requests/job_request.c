/* How it works: one function reads each group of members (read_names, read_length,
 * read_privacy, ...) into a zeroed struct job_request. None of them stops at a mistake:
 * json_reader.h returns zero for what it refuses and records the refusal. So the
 * functions have no error paths, every mistake of the body is found, and parse asks
 * once, at the end, whether there were any. "model", "algorithm" and "optimizer" have
 * files of their own. Members that are left at zero were not named, and are filled in
 * by job_defaults.h. */
#include "api/requests/job_request.h"

#include <math.h>
#include <string.h>

#include "api/json/json_reader.h"
#include "api/json/json_schema.h"
#include "api/json/json_word.h"
#include "api/json/json_writer.h"
#include "api/limits.h"
#include "api/requests/algorithm_request.h"
#include "api/requests/augmentation_request.h"
#include "api/requests/averaging_request.h"
#include "api/requests/class_weights_request.h"
#include "api/requests/dataset_request.h"
#include "api/requests/optimizer_request.h"
#include "base/check.h"

static const char *const target_names[] = {
    [TARGET_EPSILON] = "epsilon",
    [TARGET_NOISE_MULTIPLIER] = "noise_multiplier",
    [TARGET_BUDGET_FRACTION] = "budget_fraction",
};
static const struct json_range target_ranges[] = {
    [TARGET_EPSILON] = {0, LIMIT_EPSILON, true, false},
    [TARGET_NOISE_MULTIPLIER] = {LIMIT_NOISE_MULTIPLIER_MIN, LIMIT_NOISE_MULTIPLIER_MAX,
                                 false, false},
    [TARGET_BUDGET_FRACTION] = {0, 1, true, false},
};

static const struct json_range delta_range = {LIMIT_DELTA_MIN, 1, true, true};

const char *const job_accountant_names[] = {
    [ACCOUNTANT_RDP] = "rdp", [ACCOUNTANT_PLD] = "pld", NULL};

static void read_accountant(enum job_accountant *accountant, struct json_node node)
{
    size_t which = ACCOUNTANT_RDP;
    if (json_present(node))
        json_read_word(&which, node, job_accountant_names);
    *accountant = (enum job_accountant)which;
}

static void read_names(struct job_request *request, const struct json_node *root,
                       double epsilon_max)
{
    struct evaluation_request evaluation = {0};
    struct json_node node = json_member(root, "evaluation");
    dataset_request_read_id(&request->dataset, json_member(root, "dataset"));
    if (json_present(node))
        evaluation_request_read(&evaluation, node, epsilon_max);
    request->has_evaluation = evaluation.on_public;
    request->evaluation = evaluation.public;
    request->measurement = evaluation.measurement;
}

static void read_optimizer(struct job_request *request, struct json_node node)
{
    if (json_present(node))
        optimizer_request_read(&request->train.optimizer, &request->has_learning_rate,
                               &node);
    else
        optimizer_spec_init(&request->train.optimizer, OPTIMIZER_SGD);
}

/* From FEATURES_CACHED on. */
static const char *const feature_uses[] = {"cached", "streamed", NULL};

static void read_features(enum feature_use *features, struct json_node node)
{
    size_t use = 0;
    if (json_read_word(&use, node, feature_uses))
        *features = (enum feature_use)(use + FEATURES_CACHED);
}

static void read_learning(struct job_request *request, const struct json_node *root,
                          bool kept)
{
    struct json_node averaging = json_member(root, "averaging");
    struct json_node weights = json_member(root, "class_weights");
    if (json_present(averaging))
        averaging_request_read(&request->train.averaging, &averaging);
    if (json_present(weights))
        class_weights_request_read(&request->train.class_weights, weights);
    struct json_node features = json_member(root, "features");
    if (json_present(features))
        read_features(&request->train.features, features);
    struct json_node augmentation = json_member(root, "augmentation");
    if (json_present(augmentation))
        augmentation_request_read(&request->train.views, &augmentation);
    struct json_node scaling = json_member(root, "scaling");
    if (json_present(scaling))
        scaling_request_read(&request->scaling, scaling, kept);
    struct json_node standardise = json_member(root, "standardise");
    if (json_present(standardise))
        standardise_request_read(&request->standardise, standardise, kept);
}

/* Reads the rows of a person. The number must be a power of two, so that one unit's
 * rows are never split over two matrix products. */
static void read_rows_per_person(size_t *rows, struct json_node node)
{
    if (!json_present(node))
        return;
    uint64_t count = json_read_count(node, 1, LIMIT_ROWS_PER_PERSON);
    if ((count & (count - 1)) != 0)
        json_refuse(node, "must be 1, 2, 4, 8 or 16");
    *rows = (size_t)count;
}

static void read_ranks(unsigned *ranks, struct json_node node)
{
    *ranks = json_present(node) ? (unsigned)json_read_count(node, 1, LIMIT_RANKS) : 1;
}

static void read_length(struct job_request *request, const struct json_node *root)
{
    struct json_node batch_size = json_member(root, "batch_size");
    struct json_node epochs = json_member(root, "epochs");
    struct json_node steps = json_member(root, "steps");
    if (json_present(batch_size))
        request->train.batch_size = json_read_count(batch_size, 1, LIMIT_RECORDS);
    if (json_present(epochs))
        request->epochs = json_read_count(epochs, 1, LIMIT_STEPS);
    request->has_steps = json_present(steps);
    if (request->has_steps && json_present(epochs))
        json_refuse(steps, "give epochs or steps, not both");
    if (request->has_steps)
        request->train.steps = json_read_count(steps, 1, LIMIT_STEPS);
}

/* Private algorithms need the member "privacy"; others do not allow it. If the
 * algorithm itself was refused, nothing is checked. */
static void check_need(const struct algorithm *algorithm, struct json_node privacy)
{
    if (algorithm == NULL)
        return;
    if (algorithm->is_private && !json_present(privacy))
        json_refuse(privacy,
                    "is required: epsilon, noise_multiplier or budget_fraction");
    if (!algorithm->is_private && json_present(privacy))
        json_refuse(privacy, "%s is not private and takes no privacy", algorithm->name);
}

static void read_privacy(struct job_request *request, struct json_node node,
                         double epsilon_max)
{
    struct json_node delta = json_member(&node, "delta");
    check_need(request->train.algorithm.algorithm, node);
    if (!json_present(node))
        return;
    json_read_object(node, (const char *const[]){"epsilon", "noise_multiplier",
                                                 "budget_fraction", "delta",
                                                 "accountant", NULL});
    read_accountant(&request->accountant, json_member(&node, "accountant"));
    for (int i = TARGET_EPSILON; i <= TARGET_BUDGET_FRACTION; i++) {
        struct json_node target = json_member(&node, target_names[i]);
        if (!json_present(target))
            continue;
        if (request->target != TARGET_NONE)
            json_refuse(target, "give only one of epsilon, noise_multiplier and "
                                "budget_fraction");
        request->target = (enum privacy_target)i;
        struct json_range range = target_ranges[i];
        if (request->target == TARGET_EPSILON)
            range.high = epsilon_max;
        request->target_value = json_read_real(target, range);
    }
    if (json_present(delta))
        request->delta = json_read_real(delta, delta_range);
    if (request->target == TARGET_NONE)
        json_refuse(node,
                    "must have one of epsilon, noise_multiplier and budget_fraction");
}

static void read_request(struct job_request *request, const struct json_node *root,
                         bool kept)
{
    double epsilon_max = kept ? HUGE_VAL : LIMIT_EPSILON;
    struct json_node model = json_member(root, "model");
    struct json_node algorithm = json_member(root, "algorithm");
    json_read_object(
        *root, (const char *const[]){
                   "dataset",         "evaluation",   "model",         "algorithm",
                   "optimizer",       "averaging",    "class_weights", "features",
                   "scaling",         "standardise",  "batch_size",    "ranks",
                   "rows_per_person", "augmentation", "epochs",        "steps",
                   "privacy",         "display_name", "tags",          NULL});
    read_names(request, root, epsilon_max);
    model_request_read(&request->train.model, &request->has_loss, &model);
    algorithm_request_read(&request->train.algorithm, &algorithm);
    read_optimizer(request, json_member(root, "optimizer"));
    read_learning(request, root, kept);
    read_length(request, root);
    read_ranks(&request->train.ranks, json_member(root, "ranks"));
    read_rows_per_person(&request->train.unit_rows,
                         json_member(root, "rows_per_person"));
    read_privacy(request, json_member(root, "privacy"), epsilon_max);
    caption_read(&request->caption, root);
}

static enum status parse(struct job_request *request, struct json_text text, bool kept,
                         struct error *error)
{
    struct job_request read = {0};
    struct json_reader reader;
    struct json_node root;
    if (json_reader_open(&reader, &root, text, error) == ST_OK)
        read_request(&read, &root, kept);
    enum status status = json_reader_close(&reader);
    if (status == ST_OK)
        *request = read;
    else
        job_request_fini(&read);
    return status;
}

enum status job_request_parse(struct job_request *request, struct json_text body,
                              struct error *error)
{
    return parse(request, body, false, error);
}

enum status job_request_restore(struct job_request *request, const char *text,
                                struct error *error)
{
    return parse(request, json_text_of(text), true, error);
}

void job_request_fini(struct job_request *request)
{
    train_spec_fini(&request->train);
    scaling_request_fini(&request->scaling);
    caption_fini(&request->caption);
    memset(request, 0, sizeof *request);
}

static void write_privacy(struct json_writer *writer, const struct job_request *request)
{
    if (request->target == TARGET_NONE)
        return;
    json_write_object(writer, "privacy");
    json_write_real(writer, target_names[request->target], request->target_value);
    json_write_real(writer, "delta", request->delta);
    json_write_text(writer, "accountant", job_accountant_names[request->accountant]);
    json_write_object_end(writer);
}

void job_request_write_run(struct json_writer *writer,
                           const struct job_request *request)
{
    const struct train_spec *train = &request->train;
    algorithm_request_write(writer, "algorithm", &train->algorithm);
    optimizer_request_write(writer, "optimizer", &train->optimizer);
    averaging_request_write(writer, "averaging", &train->averaging);
    class_weights_request_write(writer, "class_weights", &train->class_weights);
    if (train->features != FEATURES_ANY)
        json_write_text(writer, "features",
                        feature_uses[train->features - FEATURES_CACHED]);
    scaling_request_write(writer, "scaling", &request->scaling);
    standardise_request_write(writer, "standardise", &request->standardise);
    json_write_count(writer, "batch_size", train->batch_size);
    if (train_spec_ranks(train) > 1)
        json_write_count(writer, "ranks", train->ranks);
    if (train->unit == PRIVACY_UNIT_PERSON)
        json_write_count(writer, "rows_per_person", train->unit_rows);
    augmentation_request_write(writer, "augmentation", &train->views);
    if (request->has_steps)
        json_write_count(writer, "steps", train->steps);
    else
        json_write_count(writer, "epochs", request->epochs);
}

void job_evaluation_write(struct json_writer *writer, const struct job_request *request)
{
    const struct evaluation_request evaluation = {
        request->has_evaluation, request->evaluation, request->measurement};
    evaluation_request_write(writer, &evaluation);
}

char *job_request_render(const struct job_request *request)
{
    struct json_writer writer;
    json_writer_open(&writer, JSON_EXACT);
    json_write_object(&writer, NULL);
    json_write_text(&writer, "dataset", request->dataset.text);
    job_evaluation_write(&writer, request);
    model_request_write(&writer, "model", &request->train.model);
    job_request_write_run(&writer, request);
    write_privacy(&writer, request);
    json_write_object_end(&writer);
    return json_writer_close(&writer);
}

void job_features_schema_write(struct json_writer *writer)
{
    json_schema_words(writer, "features", feature_uses, NULL);
}

/* --- JSON Schema of a job's privacy --- */

static void write_targets(struct json_writer *writer, bool is_public)
{
    for (int i = TARGET_EPSILON; i <= TARGET_BUDGET_FRACTION; i++)
        if (i != TARGET_BUDGET_FRACTION || !is_public)
            json_schema_real(writer, target_names[i], target_ranges[i], NULL);
}

/* Writes that exactly one target must be named. */
static void write_choice(struct json_writer *writer)
{
    json_write_array(writer, "oneOf");
    for (int i = TARGET_EPSILON; i <= TARGET_BUDGET_FRACTION; i++) {
        json_write_object(writer, NULL);
        json_write_array(writer, "required");
        json_write_text(writer, NULL, target_names[i]);
        json_write_array_end(writer);
        json_write_object_end(writer);
    }
    json_write_array_end(writer);
}

/* Writes the largest epsilon. It follows from what is left of the budget at the
 * dataset's delta, which a job has unless it names another: at a smaller delta the same
 * charge is a larger epsilon. */
static void write_ceiling(struct json_writer *writer, double epsilon_max)
{
    json_write_object(writer, "if");
    json_write_object(writer, "properties");
    json_write_flag(writer, "delta", false);
    json_write_object_end(writer);
    json_write_object_end(writer);
    json_write_object(writer, "then");
    json_write_object(writer, "properties");
    json_write_object(writer, target_names[TARGET_EPSILON]);
    json_write_real(writer, "maximum", epsilon_max);
    json_write_object_end(writer);
    json_write_object_end(writer);
    json_write_object_end(writer);
}

void job_privacy_schema_write(struct json_writer *writer,
                              const struct job_privacy_bounds *bounds)
{
    struct json_range delta = delta_range;
    if (!bounds->is_public) {
        delta.high = bounds->delta;
        delta.high_open = false;
        write_ceiling(writer, bounds->epsilon_max);
    }
    write_choice(writer);
    json_schema_members(writer);
    write_targets(writer, bounds->is_public);
    json_schema_real(writer, "delta", delta, &bounds->delta);
    json_schema_words(writer, "accountant", job_accountant_names,
                      job_accountant_names[ACCOUNTANT_RDP]);
    json_schema_object_end(writer, (const char *const[]){NULL});
}
