/*
 * trainer_fixture.h - a made-up dataset of classes that a linear model can separate,
 * the spec of a job on it, and runs of a trainer under a fixed key, for the tests of
 * the trainer. Include after tests/expect.h.
 *
 * Ownership: world_destroy releases what world_create returns, trainer_destroy a
 * trainer.
 */
#ifndef TESTS_ENGINE_TRAINER_FIXTURE_H
#define TESTS_ENGINE_TRAINER_FIXTURE_H

#include <string.h>

#include "engine/dp/algorithms/registry.h"
#include "engine/nn/layers/preset.h"
#include "engine/nn/layers/registry.h"
#include "engine/trainer.h"

enum { RECORDS = 1600, FEATURES = 23, CLASSES = 4 };
static const uint8_t key[32] = {3, 1, 4, 1, 5, 9, 2, 6};

struct world {
    struct matrix data;
    struct train_spec spec;
    float x[RECORDS * FEATURES];
    uint32_t targets[RECORDS];
    float values[RECORDS];
};

static inline float generic(size_t i, size_t j)
{
    return (float)sin((double)(i * 131 + j * j * 7) * 0.37);
}

static inline void set_model(struct model_spec *model, size_t hidden, enum loss loss,
                             uint32_t outputs)
{
    model_spec_fini(model);
    *model = (struct model_spec){.preset = hidden > 0 ? PRESET_MLP : PRESET_LINEAR,
                                 .hidden_count = hidden > 0,
                                 .hidden = {(uint32_t)hidden},
                                 .activation = &layer_tanh,
                                 .bias = true,
                                 .loss = loss,
                                 .init_seed = 11};
    preset_expand(model, outputs);
}

/* Makes records of classes that a linear model can separate, mostly. */
static inline struct world *world_create(const char *algorithm)
{
    struct world *world = calloc(1, sizeof *world);
    for (size_t i = 0; i < RECORDS; i++) {
        world->targets[i] = (uint32_t)(i % CLASSES);
        for (size_t j = 0; j < FEATURES; j++)
            world->x[i * FEATURES + j] =
                generic(i, j) + (j % CLASSES == i % CLASSES ? 0.8F : 0);
        world->values[i] = 0.3F * world->x[i * FEATURES] - 0.2F;
    }
    world->data = (struct matrix){.records = RECORDS,
                                  .features = FEATURES,
                                  .classes = CLASSES,
                                  .element = ELEMENT_F32,
                                  .rows = world->x,
                                  .targets = world->targets};
    world->spec = (struct train_spec){.optimizer = {.kind = OPTIMIZER_SGD,
                                                    .learning_rate = 0.5,
                                                    .learning_rate_final = 0.5},
                                      .relation = RELATION_ZERO_OUT,
                                      .records = RECORDS,
                                      .batch_size = 300,
                                      .steps = 20,
                                      .noise_multiplier =
                                          strcmp(algorithm, "sgd") == 0 ? 0 : 0.8};
    algorithm_spec_init(&world->spec.algorithm, algorithm_find(algorithm));
    set_model(&world->spec.model, 16, LOSS_SOFTMAX_CROSS_ENTROPY, CLASSES);
    return world;
}

static inline void set_parameter(struct world *world, const char *name, double value)
{
    struct algorithm_spec *spec = &world->spec.algorithm;
    size_t k = 0;
    while (strcmp(spec->algorithm->parameters[k].name, name) != 0)
        k++;
    spec->values[k] = value;
}

static inline void world_destroy(struct world *world)
{
    train_spec_fini(&world->spec);
    free(world);
}

/* Compiles the world's model for its records, once. */
static inline void compile_model(struct world *world)
{
    const struct data_shape shape = {world->data.features, world->data.classes};
    if (world->spec.network == NULL)
        assert_int_equal(train_spec_compile(&world->spec, shape, NULL), ST_OK);
}

static inline struct trainer_options options_of(struct world *world, unsigned threads)
{
    compile_model(world);
    return (struct trainer_options){.spec = &world->spec,
                                    .data = &world->data,
                                    .evaluation = &world->data,
                                    .threads = threads,
                                    .test_key = key};
}

static inline struct trainer *trainer_of(const struct trainer_options *options)
{
    struct trainer *trainer;
    struct error error = {0};
    if (trainer_create(&trainer, options, &error) != ST_OK)
        fail_msg("%s", error.text);
    return trainer;
}

static inline void run_steps(struct trainer *trainer, uint64_t steps)
{
    for (uint64_t k = 0; k < steps; k++)
        assert_int_equal(trainer_step(trainer, NULL), ST_OK);
}

static inline void digest_of(struct trainer *trainer, uint8_t digest[SHA256_SIZE])
{
    char path[] = "/tmp/epsilond-trainer-XXXXXX";
    struct file_checksum seal;
    close(mkstemp(path));
    assert_int_equal(
        trainer_save(trainer, path, (struct metadata_list){0}, &seal, NULL), ST_OK);
    assert_true(seal.size > 0);
    memcpy(digest, seal.sha256, sizeof seal.sha256);
    unlink(path);
}

static inline void digest_of_run(struct world *world, unsigned threads,
                                 uint8_t digest[SHA256_SIZE])
{
    struct trainer_options options = options_of(world, threads);
    struct trainer *trainer = trainer_of(&options);
    run_steps(trainer, world->spec.steps);
    digest_of(trainer, digest);
    trainer_destroy(trainer);
}

/* Reads the tensors of a saved linear model back, in the order bias, weight by name. */
static inline void read_linear(struct trainer *trainer, float *bias, float *weight,
                               size_t outputs)
{
    char path[] = "/tmp/epsilond-trainer-XXXXXX";
    struct file_checksum seal;
    struct safetensors *file;
    close(mkstemp(path));
    assert_int_equal(
        trainer_save(trainer, path, (struct metadata_list){0}, &seal, NULL), ST_OK);
    assert_int_equal(safetensors_open(&file, path, NULL), ST_OK);
    for (size_t k = 0; k < safetensors_tensor_count(file); k++) {
        const struct tensor *tensor = safetensors_tensor(file, k);
        float *to = tensor->count == outputs ? bias : weight;
        assert_int_equal(safetensors_read(file, tensor, to, NULL), ST_OK);
    }
    safetensors_close(file);
    unlink(path);
}

/* Sets the model to these layers, on records as they are or as images of one column. */
static inline void set_layers(struct world *world, const struct layer_spec *layers,
                              size_t count, struct model_input input)
{
    struct model_spec model = {.layer_count = count,
                               .layers = (struct layer_spec *)(uintptr_t)layers,
                               .input = input,
                               .loss = LOSS_SOFTMAX_CROSS_ENTROPY,
                               .init_seed = 11};
    train_spec_drop_network(&world->spec);
    model_spec_fini(&world->spec.model);
    model_spec_copy(&world->spec.model, &model);
}

/* A convolution before the dense layer. */
static inline void set_image_model(struct world *world)
{
    const struct layer_spec layers[] = {{.kind = &layer_conv2d,
                                         .out = 3,
                                         .bias = true,
                                         .kernel_height = 5,
                                         .kernel_width = 1,
                                         .stride = 2,
                                         .dilation = 1},
                                        {.kind = &layer_tanh},
                                        {.kind = &layer_flatten},
                                        {.kind = &layer_dense, .out = CLASSES}};
    set_layers(world, layers, sizeof layers / sizeof *layers,
               (struct model_input){FEATURES, 1, 1});
}

/* Dense layers with group norms, dropout and a residual. */
static inline void set_dropping_model(struct world *world, double rate)
{
    struct layer_spec dense = {.kind = &layer_dense, .out = 16, .bias = true};
    struct layer_spec layers[] = {
        dense,
        {.kind = &layer_group_norm, .groups = 4, .epsilon = 1e-5},
        {.kind = &layer_sigmoid},
        {.kind = &layer_dropout, .rate = rate},
        {.kind = &layer_residual, .body = 2},
        dense,
        {.kind = &layer_dropout, .rate = rate},
        {.kind = &layer_dense, .out = CLASSES, .bias = true}};
    set_layers(world, layers, sizeof layers / sizeof *layers, (struct model_input){0});
}

#endif
