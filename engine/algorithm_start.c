#include "engine/algorithm_start.h"

#include <stdlib.h>

#include "base/check.h"
#include "engine/difference/difference.h"
#include "engine/nn/layers/step_functions.h"
#include "engine/nn/network.h"

enum status algorithm_start_model(struct algorithm_model *model,
                                  const struct algorithm *algorithm,
                                  const struct network *network, struct error *error)
{
    *model = (struct algorithm_model){.parameters = network_parameters(network),
                                      .unit_rows = (uint32_t)network_unit_rows(network),
                                      .layers = network_trained_layers(network),
                                      .histograms = step_functions_of(network)};
    if (algorithm_takes_single_cells(algorithm))
        model->sums = network;
    if (!algorithm->uses_differences)
        return ST_OK;
    enum status status = network_check_differences(network, error);
    if (status != ST_OK)
        return status;
    model->difference_spread = network_difference_spread(network);
    model->difference_terms = network_difference_terms(network);
    return ST_OK;
}

enum status algorithm_start(void **state, const struct train_spec *spec,
                            struct error *error)
{
    const struct algorithm *algorithm = spec->algorithm.algorithm;
    struct algorithm_inputs inputs = train_spec_inputs(spec);
    struct algorithm_model model;
    enum status status = train_spec_check(spec, error);
    if (status == ST_OK)
        status = algorithm_check_unit(algorithm, spec->unit, error);
    if (status == ST_OK)
        status = algorithm_start_model(&model, algorithm, spec->network, error);
    if (status != ST_OK)
        return status;
    if (spec->batch_size == 0 || spec->batch_size > spec->records || spec->steps == 0)
        return error_set(error, ST_INVALID, "no batch of %llu records from %llu",
                         (unsigned long long)spec->batch_size,
                         (unsigned long long)spec->records);
    *state = calloc(1, algorithm->state_size);
    CHECK(*state != NULL);
    return algorithm->start(*state, &inputs, &model, error);
}

void algorithm_finish(const struct algorithm *algorithm, void *state)
{
    if (state != NULL && algorithm->finish != NULL)
        algorithm->finish(state);
    free(state);
}

void algorithm_start_needs(struct stepper_setup *setup,
                           const struct algorithm *algorithm, const void *state)
{
    setup->noise = algorithm_noise(algorithm, state);
    setup->is_public = !algorithm->is_private;
    setup->uses_error_memory = algorithm->uses_error_memory;
    setup->uses_differences = algorithm->uses_differences;
    setup->drops_gradient = algorithm->drops_gradient;
    setup->uses_subsets = algorithm->uses_subsets;
    setup->reads_inputs = algorithm->reads_inputs;
}

uint64_t algorithm_start_allocated(const struct algorithm *algorithm, const void *state)
{
    return algorithm->allocated != NULL ? algorithm->allocated(state) : 0;
}
