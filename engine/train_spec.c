#include "engine/train_spec.h"

void train_spec_fini(struct train_spec *spec)
{
    model_spec_fini(&spec->model);
    *spec = (struct train_spec){0};
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
    return spec->algorithm.algorithm->plan(m, &inputs, error);
}
