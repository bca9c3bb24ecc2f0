#include "engine/train_spec.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"

void train_spec_fini(struct train_spec *spec)
{
    train_spec_drop_network(spec);
    model_spec_fini(&spec->model);
    free(spec->class_weights.values);
    *spec = (struct train_spec){0};
}

void train_spec_copy(struct train_spec *to, const struct train_spec *from)
{
    size_t count = from->class_weights.count;
    CHECK(from->network == NULL);
    *to = *from;
    model_spec_copy(&to->model, &from->model);
    if (count == 0)
        return;
    to->class_weights.values = calloc(count, sizeof *to->class_weights.values);
    CHECK(to->class_weights.values != NULL);
    memcpy(to->class_weights.values, from->class_weights.values,
           count * sizeof *to->class_weights.values);
}

size_t train_spec_unit_rows(const struct train_spec *spec)
{
    size_t rows = spec->unit_rows > 0 ? spec->unit_rows : 1;
    return spec->views.count > 0 ? rows * spec->views.count : rows;
}

enum status train_spec_compile(struct train_spec *spec, struct data_shape data,
                               struct error *error)
{
    struct network_shape shape = {.features = data.features,
                                  .outputs =
                                      model_spec_outputs(&spec->model, data.classes)};
    CHECK(spec->network == NULL);
    if (shape.outputs == 0)
        return error_set_at(error, ST_INVALID, "/model/loss",
                            "%s does not fit the dataset's task",
                            loss_name(spec->model.loss));
    return network_create_of_units(&spec->network, &spec->model, shape,
                                   train_spec_unit_rows(spec), error);
}

void train_spec_drop_network(struct train_spec *spec)
{
    network_destroy(spec->network);
    spec->network = NULL;
}

struct algorithm_inputs train_spec_inputs(const struct train_spec *spec)
{
    return (struct algorithm_inputs){.spec = &spec->algorithm,
                                     .model = &spec->model,
                                     .relation = spec->relation,
                                     .records = spec->records,
                                     .batch_size = spec->batch_size,
                                     .steps = spec->steps,
                                     .noise_multiplier = spec->noise_multiplier,
                                     .optimizer = &spec->optimizer};
}

static enum status check_class_weights(const struct train_spec *spec,
                                       struct error *error)
{
    if (spec->class_weights.count == 0 || !spec->algorithm.algorithm->plain_loss)
        return ST_OK;
    return error_set_at(error, ST_INVALID, "/class_weights",
                        "what %s proves is about the loss as it is: give none, or take "
                        "dpsgd or dpgd",
                        spec->algorithm.algorithm->name);
}

/* Differences are between two points of all parameters of a model. */
static enum status check_frozen(const struct train_spec *spec, struct error *error)
{
    const struct algorithm *algorithm = spec->algorithm.algorithm;
    if (!algorithm->uses_differences ||
        network_floats(spec->network) == network_parameters(spec->network))
        return ST_OK;
    return error_set_at(
        error, ST_INVALID, "/model/trainable",
        "%s takes differences between two points of a whole model: give "
        "all, or take dpsgd or dpgd",
        algorithm->name);
}

bool train_spec_shares_features(const struct train_spec *spec)
{
    const struct algorithm *algorithm = spec->algorithm.algorithm;
    return network_frozen_width(spec->network) > 0 && algorithm->is_private &&
           !algorithm->plain_loss && !algorithm->uses_differences &&
           spec->views.count == 0;
}

unsigned train_spec_ranks(const struct train_spec *spec)
{
    return spec->ranks == 0 ? 1 : spec->ranks;
}

static enum status check_features(const struct train_spec *spec, struct error *error)
{
    if (spec->features != FEATURES_CACHED)
        return ST_OK;
    if (network_drops_frozen(spec->network))
        return error_set_at(
            error, ST_INVALID, "/features",
            "dropout below the first trained layer makes other "
            "features in every step: give streamed, or no dropout there");
    if (spec->views.count > 0)
        return error_set_at(error, ST_INVALID, "/features",
                            "views of a record are drawn again in every step: give "
                            "streamed, or no augmentation");
    if (train_spec_ranks(spec) > 1)
        return error_set_at(error, ST_INVALID, "/features",
                            "each rank reads its own records, and would make the "
                            "features of all: give streamed, or no ranks");
    if (!train_spec_shares_features(spec))
        return error_set_at(error, ST_INVALID, "/features",
                            "there are no features that a whole run shares: freeze "
                            "the first layers, give dpsgd, or give streamed");
    return ST_OK;
}

enum status train_spec_check(const struct train_spec *spec, struct error *error)
{
    enum status status = check_class_weights(spec, error);
    if (status == ST_OK)
        status = check_frozen(spec, error);
    if (status == ST_OK && spec->views.count > 0)
        status = algorithm_check_views(spec->algorithm.algorithm, error);
    if (status == ST_OK)
        status = check_features(spec, error);
    return status;
}

enum status train_spec_mechanism(struct mechanism *m, const struct train_spec *spec,
                                 struct error *error)
{
    struct algorithm_inputs inputs = train_spec_inputs(spec);
    enum status status = spec->algorithm.algorithm->plan(m, &inputs, error);
    if (status == ST_OK)
        m->unit = spec->unit;
    return status;
}
