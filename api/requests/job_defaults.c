#include "api/requests/job_defaults.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/limits.h"
#include "api/requests/augmentation_request.h"
#include "api/requests/class_weights_request.h"
#include "engine/dp/optimizer_kind.h"
#include "engine/nn/layers/step_functions.h"
#include "engine/nn/layers/preset.h"
#include "engine/nn/layers/standardise.h"

enum { EPOCHS_DEFAULT = 20, BATCH_MIN = 256, BATCHES_OF_AN_EPOCH = 60 }; /* api.md 3 */

/* With more rows of a person their mean is less noisy, but the time of a step grows
 * in proportion. */
enum { ROWS_PER_PERSON_DEFAULT = 4 };

/* These learning rates are those of api.md 3, for sums whose terms are clipped to
 * 1. Without clipping gradients are larger, and 0.1 is safe. Adam's is from Kingma
 * & Ba 2015. */
static const double rate_private = 2, rate_regression = 0.3, rate_open = 0.1;

/* Public data has no guarantee, but computing an epsilon needs a delta. */
static const double delta_public = 1e-5;

static enum status resolve_privacy(struct job_request *request,
                                   const struct job_dataset *dataset,
                                   struct error *error)
{
    const struct algorithm *algorithm = request->train.algorithm.algorithm;
    if (!algorithm->is_private && !dataset->is_public)
        return error_set_at(error, ST_DATASET_PRIVATE, "/algorithm/name",
                            "%s is not private: it trains on public data only",
                            algorithm->name);
    if (!algorithm->is_private)
        return ST_OK;
    if (request->target == TARGET_BUDGET_FRACTION && dataset->is_public)
        return error_set_at(error, ST_INVALID, "/privacy/budget_fraction",
                            "public data has no budget");
    if (request->delta == 0)
        request->delta = dataset->is_public ? delta_public : dataset->delta;
    if (!dataset->is_public && request->delta > dataset->delta)
        return error_set_at(error, ST_INVALID, "/privacy/delta",
                            "must be at most the dataset's, %.10g", dataset->delta);
    return ST_OK;
}

/* Returns the power of two nearest to n / 60, and the lower of two equally
 * near ones. */
static uint64_t nearest_power(uint64_t records)
{
    uint64_t power = 1;
    while (2 * records > 3 * power * BATCHES_OF_AN_EPOCH)
        power *= 2;
    return power;
}

/* Returns the default number of rows of a person: fewer if a step takes too many views
 * of each to have room for them, or if fewer rows are kept. */
static size_t usual_rows(size_t views, size_t kept)
{
    size_t rows = ROWS_PER_PERSON_DEFAULT;
    while (rows > kept || (rows > 1 && rows * views > UNIT_ROWS_MAX))
        rows /= 2;
    return rows;
}

/* Resolves the privacy unit, and what the request says about persons. */
static enum status resolve_unit(struct job_request *request,
                                const struct job_dataset *dataset, struct error *error)
{
    struct train_spec *train = &request->train;
    enum privacy_unit unit = schema_unit(dataset->schema);
    if (unit == PRIVACY_UNIT_RECORD && train->unit_rows > 0)
        return error_set_at(error, ST_INVALID, "/rows_per_person",
                            "the privacy unit of this dataset is the record: leave it "
                            "out");
    train->unit = unit;
    size_t kept = schema_rows_kept(dataset->schema);
    if (unit == PRIVACY_UNIT_PERSON && train->unit_rows == 0)
        train->unit_rows = usual_rows(train->views.count, kept);
    if (train->unit_rows > kept)
        return error_set_at(
            error, ST_INVALID, "/rows_per_person",
            "no more than %zu rows of a person are kept of this dataset", kept);
    return algorithm_check_unit(train->algorithm.algorithm, unit, error);
}

static enum status resolve_views(struct train_spec *train, const struct schema *schema,
                                 struct error *error)
{
    if (train->views.count == 0)
        return ST_OK;
    enum status status = algorithm_check_views(train->algorithm.algorithm, error);
    return status == ST_OK ? augmentation_request_fit(&train->views, schema,
                                                      train->unit_rows, error)
                           : status;
}

static enum status resolve_batch_size(struct job_request *request, uint64_t records,
                                      struct error *error)
{
    uint64_t *batch_size = &request->train.batch_size;
    if (*batch_size > records)
        return error_set_at(error, ST_INVALID, "/batch_size",
                            "must be at most the number of %ss, %" PRIu64,
                            privacy_unit_name(request->train.unit), records);
    if (*batch_size > 0)
        return ST_OK;
    *batch_size = request->train.algorithm.algorithm->full_batch
                      ? records
                      : nearest_power(records);
    if (*batch_size < BATCH_MIN)
        *batch_size = BATCH_MIN;
    if (*batch_size > records)
        *batch_size = records;
    return ST_OK;
}

/* With epochs <= 10^7 and records < 2^31 the product stays below 2^55. */
static enum status resolve_steps(struct job_request *request, uint64_t records,
                                 struct error *error)
{
    uint64_t batch_size = request->train.batch_size;
    uint64_t usual = request->train.algorithm.algorithm->epochs;
    if (request->has_steps)
        return ST_OK;
    if (request->epochs == 0)
        request->epochs = usual > 0 ? usual : EPOCHS_DEFAULT;
    request->train.steps = (request->epochs * records + batch_size - 1) / batch_size;
    if (request->train.steps > LIMIT_STEPS)
        return error_set_at(error, ST_INVALID, "/epochs",
                            "makes %" PRIu64 " steps of this batch size; at most %d",
                            request->train.steps, LIMIT_STEPS);
    return ST_OK;
}

static void resolve_learning_rate(struct job_request *request,
                                  const struct job_dataset *dataset)
{
    struct optimizer_spec *optimizer = &request->train.optimizer;
    if (request->has_learning_rate)
        return;
    double rate = rate_private;
    double of_kind = optimizer_row(optimizer->kind)->learning_rate;
    if (of_kind > 0)
        rate = of_kind;
    else if (!request->train.algorithm.algorithm->is_private)
        rate = rate_open;
    else if (dataset->schema->task == TASK_REGRESSION)
        rate = rate_regression;
    optimizer_spec_set_rate(optimizer, rate);
    request->has_learning_rate = true;
}

/* If the product were 1 or more, a step would remove all of a parameter, or flip
 * its sign. */
static enum status check_weight_decay(const struct optimizer_spec *optimizer,
                                      struct error *error)
{
    double rate = optimizer->learning_rate > optimizer->learning_rate_final
                      ? optimizer->learning_rate
                      : optimizer->learning_rate_final;
    if (rate * optimizer->weight_decay < 1)
        return ST_OK;
    return error_set_at(error, ST_INVALID, "/optimizer/weight_decay",
                        "times the learning rate, %.10g, must be below 1: it is the "
                        "share of every parameter that a step takes away",
                        rate);
}

/* Checks whether the algorithm makes its model from the dataset's columns, or trains
 * the layers of any other model. */
static enum status check_model(const struct train_spec *train, struct error *error)
{
    const struct algorithm *algorithm = train->algorithm.algorithm;
    if (!algorithm->uses_histograms || step_functions_make_up(&train->model))
        return ST_OK;
    return error_set_at(
        error, ST_INVALID,
        train->model.preset == PRESET_NONE ? "/model/layers" : "/model/preset",
        "%s trains no layers: its model is {\"preset\": \"%s\"}, with the columns of "
        "the dataset",
        algorithm->name, preset_names[PRESET_HISTOGRAMS]);
}

/* --- standardise --- */

/* Returns whether patterns of the request could match names that begin with the number
 * of a layer, while the layer standardise is not in the list yet. */
static bool has_numbered_patterns(const struct model_spec *model)
{
    const struct model_start *start = &model->start;
    bool is_numbered = model->layers[0].public_name[0] == '\0';
    return is_numbered && !standardise_is_in(model) &&
           (start->named.count > 0 || start->fresh.count > 0);
}

static enum status check_standardise(const struct job_request *request,
                                     const struct job_dataset *dataset,
                                     struct error *error)
{
    static const char pointer[] = "/standardise";
    const struct train_spec *train = &request->train;
    if (dataset->is_public)
        return error_set_at(error, ST_DATASET_PUBLIC, pointer,
                            "the dataset is public: scale the columns of its file, "
                            "which costs nothing");
    if (step_functions_make_up(&train->model))
        return error_set_at(error, ST_INVALID, pointer,
                            "changes nothing here: histograms read a column by its "
                            "declared range. Leave it out");
    if (request->scaling.statistics.text[0] != '\0')
        return error_set_at(error, ST_INVALID, pointer,
                            "does not go with \"scaling\", which gives columns other "
                            "ranges: name one of the two");
    if (train_spec_ranks(train) > 1)
        return error_set_at(
            error, ST_INVALID, "/ranks",
            "a job that standardises runs in one process: leave it out");
    if (has_numbered_patterns(&train->model))
        return error_set_at(error, ST_INVALID, pointer,
                            "the layer standardise changes the numbers in the names of "
                            "tensors after it: put the layer into the list of layers, "
                            "behind the frozen ones");
    return ST_OK;
}

/* A fault in a layer has its place in the list of the request, which lacks the layer of
 * this number. */
static void shift_pointer(struct error *error, size_t number)
{
    static const char list[] = "/model/layers/";
    char rest[sizeof error->pointer], *end;
    if (error == NULL || strncmp(error->pointer, list, strlen(list)) != 0)
        return;
    unsigned long place = strtoul(error->pointer + strlen(list), &end, 10);
    snprintf(rest, sizeof rest, "%s", end);
    if (place > number)
        snprintf(error->pointer, sizeof error->pointer, "%s%lu%.*s", list, place - 1,
                 (int)(sizeof error->pointer - sizeof list - 24), rest);
}

/* Returns where the layer is put: before the first layer that is trained. If nothing
 * before that does any work, the layer reads the record. */
static struct standardise_place choose_place(const struct train_spec *train)
{
    const struct model_spec *model = &train->model;
    bool has_work;
    size_t first = network_first_trained(train->network, &has_work);
    if (!has_work && !model_spec_reads_image(model))
        return (struct standardise_place){0};
    return standardise_place(model, first);
}

/* Compiles the model with a layer that standardises. */
static enum status compile_scaled(struct train_spec *train, struct data_shape shape,
                                  struct error *error)
{
    enum status status = train_spec_compile(train, shape, error);
    if (status != ST_OK)
        return status;
    const struct standardise_place place = choose_place(train);
    train_spec_drop_network(train);
    standardise_put(&train->model, place.entry);
    status = train_spec_compile(train, shape, error);
    if (status != ST_OK)
        shift_pointer(error, place.number);
    return status;
}

static enum status check_scaled(const struct train_spec *train, struct error *error)
{
    if (network_scaled_input(train->network).is_fixed)
        return ST_OK;
    return error_set_at(error, ST_INVALID, "/standardise",
                        "layers before the layer standardise are trained, or drop "
                        "activations: freeze them (\"trainable\"), or put it first");
}

/* Compiles the model, with a layer that standardises if the job asks for it. */
static enum status compile(struct job_request *request,
                           const struct job_dataset *dataset, struct error *error)
{
    struct train_spec *train = &request->train;
    struct data_shape shape = schema_shape(dataset->schema);
    bool has_layer = standardise_is_in(&train->model);
    if (!request->standardise.is_asked && has_layer &&
        train->model.start.weights[0] == '\0')
        return error_set_at(error, ST_INVALID, "/standardise",
                            "is required: the layer standardise has no numbers of its "
                            "own");
    if (!request->standardise.is_asked)
        return train_spec_compile(train, shape, error);
    train->model.start.is_scaled = true;
    enum status status = has_layer ? train_spec_compile(train, shape, error)
                                   : compile_scaled(train, shape, error);
    return status == ST_OK ? check_scaled(train, error) : status;
}

enum status job_defaults_fill(struct job_request *request,
                              const struct job_dataset *dataset, struct error *error)
{
    enum status status = resolve_privacy(request, dataset, error);
    if (status == ST_OK)
        status = resolve_unit(request, dataset, error);
    if (status == ST_OK)
        status = resolve_views(&request->train, dataset->schema, error);
    if (status == ST_OK)
        status = check_model(&request->train, error);
    if (status == ST_OK)
        status = model_request_fit(&request->train.model, request->has_loss,
                                   dataset->schema, error);
    if (status == ST_OK && request->standardise.is_asked)
        status = check_standardise(request, dataset, error);
    if (status == ST_OK)
        status = compile(request, dataset, error);
    if (status == ST_OK)
        status = resolve_batch_size(request, dataset->records, error);
    if (status == ST_OK)
        status = resolve_steps(request, dataset->records, error);
    if (status == ST_OK)
        status = job_measurement_resolve(&request->measurement, dataset->schema,
                                         &dataset->division, error);
    if (status != ST_OK)
        return status;
    status = class_weights_check(&request->train.class_weights,
                                 dataset->schema->classes, error);
    if (status != ST_OK)
        return status;
    resolve_learning_rate(request, dataset);
    status = check_weight_decay(&request->train.optimizer, error);
    if (status != ST_OK)
        return status;
    request->has_loss = true;
    request->train.relation = dataset->relation;
    request->train.records = dataset->records;
    return ST_OK;
}
