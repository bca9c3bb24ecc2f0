#include "engine/train_spec.h"

#include <stdlib.h>

#include "base/check.h"

void train_spec_fini(struct train_spec *spec)
{
    train_spec_drop_network(spec);
    model_spec_fini(&spec->model);
    free(spec->class_weights.values);
    *spec = (struct train_spec){0};
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
    size_t unit_rows = spec->unit_rows > 0 ? spec->unit_rows : 1;
    return network_create_of_units(&spec->network, &spec->model, shape, unit_rows,
                                   error);
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

enum status train_spec_mechanism(struct mechanism *m, const struct train_spec *spec,
                                 struct error *error)
{
    struct algorithm_inputs inputs = train_spec_inputs(spec);
    enum status status = spec->algorithm.algorithm->plan(m, &inputs, error);
    if (status == ST_OK)
        m->unit = spec->unit;
    return status;
}
