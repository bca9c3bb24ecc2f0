/*
 * algorithm_fixture.h - one algorithm on a small matrix in memory, with a fixed key,
 * step by step as the trainer would run it. The tests of the algorithms use it.
 *
 * Ownership: the kit borrows matrix and parameters' values; kit_close releases the rest.
 */
#ifndef TESTS_ENGINE_DP_ALGORITHM_FIXTURE_H
#define TESTS_ENGINE_DP_ALGORITHM_FIXTURE_H

#include <string.h>

#include "engine/dp/algorithms/registry.h"
#include "engine/dp/stepper.h"
#include "engine/difference/difference.h"
#include "engine/nn/initial_values.h"
#include "engine/nn/layers/step_functions.h"
#include "engine/nn/layers/registry.h"
#include "engine/rounding/blas.h"
#include "tests/expect.h"

struct kit_setup {
    const char *algorithm;
    const struct matrix *data;
    const struct model_spec *model;
    struct optimizer_spec optimizer;
    uint64_t batch_size, steps;
    double noise_multiplier;
    unsigned threads;
    uint8_t key;      /* each byte of the seed has this value */
    uint16_t salt;    /* changes two bytes of the seed */
    bool from_kernel; /* keys come from random_bytes, as in a job; key, salt unused */
};

struct kit {
    struct algorithm_spec spec;
    struct algorithm_inputs inputs;
    struct network *network;
    struct team *team;
    struct stepper *stepper;
    float *parameters;
    void *state;
    uint64_t step;
};

/* Sets a value by name; call it between kit_spec and kit_open. */
static inline void kit_set(struct kit *kit, const char *name, double value)
{
    size_t k = 0;
    while (strcmp(kit->spec.algorithm->parameters[k].name, name) != 0)
        k++;
    kit->spec.values[k] = value;
}

/* Gives a row that makes its model of columns such a model: the first feature is a column
 * of numbers, and all others are one of words; the two are also a pair. */
static inline void kit_choose_model(struct kit_setup *setup,
                                    const struct algorithm *row)
{
    static struct layer_spec layer;
    static struct model_spec model;
    if (!row->uses_histograms)
        return;
    layer = (struct layer_spec){
        .kind = &layer_step_functions,
        .out = model_spec_outputs(setup->model, setup->data->classes)};
    model = (struct model_spec){.preset = PRESET_HISTOGRAMS,
                                .columns = {.count = 2,
                                            .widths = {1, setup->data->features - 1},
                                            .pair_count = 1,
                                            .pairs = {{0, 1}}},
                                .layer_count = 1,
                                .layers = &layer,
                                .loss = setup->model->loss,
                                .huber_delta = setup->model->huber_delta};
    setup->model = &model;
}

static inline void kit_spec(struct kit *kit, const char *algorithm)
{
    *kit = (struct kit){0};
    assert_non_null(algorithm_find(algorithm));
    algorithm_spec_init(&kit->spec, algorithm_find(algorithm));
}

static inline void kit_compile(struct kit *kit, const struct kit_setup *setup)
{
    struct network_shape shape = {
        .features = setup->data->features,
        .outputs = model_spec_outputs(setup->model, setup->data->classes)};
    assert_int_equal(network_create(&kit->network, setup->model, shape, NULL), ST_OK);
    kit->inputs = (struct algorithm_inputs){.spec = &kit->spec,
                                            .model = setup->model,
                                            .records = setup->data->records,
                                            .batch_size = setup->batch_size,
                                            .steps = setup->steps,
                                            .noise_multiplier = setup->noise_multiplier,
                                            .optimizer = &setup->optimizer};
}

/* Returns what an algorithm learns about the compiled network. */
static inline struct algorithm_model kit_model(const struct kit *kit)
{
    struct algorithm_model model = {.parameters = network_parameters(kit->network),
                                    .layers = network_layers(kit->network),
                                    .histograms = step_functions_of(kit->network)};
    if (algorithm_takes_single_cells(kit->spec.algorithm))
        model.sums = kit->network;
    if (kit->spec.algorithm->uses_differences) {
        model.difference_spread = network_difference_spread(kit->network);
        model.difference_terms = network_difference_terms(kit->network);
    }
    return model;
}

/* Returns what start returns, after doing everything that precedes start. */
static inline enum status kit_start(struct kit *kit, const struct kit_setup *setup,
                                    struct error *error)
{
    kit_compile(kit, setup);
    struct algorithm_model model = kit_model(kit);
    kit->state = calloc(1, kit->spec.algorithm->state_size);
    assert_non_null(kit->state);
    return kit->spec.algorithm->start(kit->state, &kit->inputs, &model, error);
}

static inline void kit_open(struct kit *kit, const struct kit_setup *setup)
{
    struct noise_key seed;
    struct error error = {0};
    if (kit_start(kit, setup, &error) != ST_OK)
        fail_msg("start: %s", error.text);
    memset(seed.bytes, setup->key, sizeof seed.bytes);
    seed.bytes[0] ^= (uint8_t)setup->salt;
    seed.bytes[1] ^= (uint8_t)(setup->salt >> 8);
    blas_use_one_thread();
    assert_int_equal(team_create(&kit->team, setup->threads, NULL), ST_OK);
    kit->parameters = calloc(network_parameters(kit->network), sizeof *kit->parameters);
    assert_non_null(kit->parameters);
    network_init(kit->network, kit->parameters, 0);
    struct stepper_setup stepper = {
        .network = kit->network,
        .data = setup->data,
        .team = kit->team,
        .parameters = kit->parameters,
        .optimizer = &setup->optimizer,
        .steps = setup->steps,
        .records = setup->data->records,
        .batch_size = setup->batch_size,
        .is_public = !kit->spec.algorithm->is_private,
        .uses_error_memory = kit->spec.algorithm->uses_error_memory,
        .uses_differences = kit->spec.algorithm->uses_differences,
        .uses_subsets = kit->spec.algorithm->uses_subsets,
        .reads_inputs = kit->spec.algorithm->reads_inputs,
        .noise = algorithm_noise(kit->spec.algorithm, kit->state),
        .seed = setup->from_kernel ? NULL : &seed};
    assert_int_equal(stepper_create(&kit->stepper, &stepper, NULL), ST_OK);
}

static inline void kit_step(struct kit *kit)
{
    stepper_begin_step(kit->stepper, kit->step++);
    assert_int_equal(kit->spec.algorithm->step(kit->state, kit->stepper, NULL), ST_OK);
}

static inline void kit_close(struct kit *kit)
{
    stepper_destroy(kit->stepper);
    team_destroy(kit->team);
    network_destroy(kit->network);
    free(kit->parameters);
    if (kit->state != NULL && kit->spec.algorithm->finish != NULL)
        kit->spec.algorithm->finish(kit->state);
    free(kit->state);
}

#endif
