/*
 * sequence_fixture.h - models of tokens, whose head is trained, and their networks.
 * Include after tests/expect.h.
 */
#ifndef TESTS_ENGINE_NN_SEQUENCE_FIXTURE_H
#define TESTS_ENGINE_NN_SEQUENCE_FIXTURE_H

#include <string.h>

#include "engine/nn/layers/preset.h"
#include "engine/nn/layers/registry.h"
#include "engine/nn/workspace.h"

enum { LIST_MAX = 64, ROWS = 16 };

/* --- models --- */

struct list {
    struct layer_spec layers[LIST_MAX];
    size_t count;
};

static inline struct layer_spec *add(struct list *list, const struct layer_kind *kind,
                                     const char *name)
{
    struct layer_spec *layer = &list->layers[list->count++];
    assert_true(list->count <= LIST_MAX);
    *layer = (struct layer_spec){.kind = kind, .bias = true};
    snprintf(layer->public_name, sizeof layer->public_name, "%s", name);
    return layer;
}

static inline void add_dense(struct list *list, const char *name, uint32_t out)
{
    add(list, &layer_dense, name)->out = out;
}

static inline void make_model(struct list *list, enum preset preset,
                              const struct text_encoder *sizes, uint32_t outputs)
{
    struct model_spec model = {.preset = preset, .text_encoder = *sizes};
    preset_expand(&model, outputs);
    assert_true(model.layer_count <= LIST_MAX);
    memcpy(list->layers, model.layers, model.layer_count * sizeof *list->layers);
    list->count = model.layer_count;
    model_spec_fini(&model);
}

/* --- networks --- */

struct run {
    struct network *network;
    struct workspace *workspace;
    float *theta;
    uint32_t positions, classes;
};

static inline enum status compile(struct network **network, struct list *list,
                                  enum trainable_kind trainable, uint32_t positions,
                                  uint32_t classes, struct error *error)
{
    const struct model_spec model = {.layer_count = list->count,
                                     .layers = list->layers,
                                     .loss = LOSS_SOFTMAX_CROSS_ENTROPY,
                                     .start.trainable = trainable};
    return network_create(network, &model, (struct network_shape){positions, classes},
                          error);
}

static inline void run_open(struct run *run, struct network *network_take,
                            uint32_t positions, uint32_t classes)
{
    struct error error = {0};
    *run = (struct run){
        .network = network_take, .positions = positions, .classes = classes};
    run->theta = calloc(network_floats(run->network), sizeof *run->theta);
    assert_int_equal(workspace_create(&run->workspace, run->network, ROWS, &error),
                     ST_OK);
}

static inline void run_init(struct run *run, struct list *list, uint32_t positions,
                            uint32_t classes)
{
    struct error error = {0};
    struct network *network;
    if (compile(&network, list, TRAINABLE_HEAD, positions, classes, &error) != ST_OK)
        fail_msg("%s: %s", error.pointer, error.text);
    run_open(run, network, positions, classes);
}

static inline void run_fini(struct run *run)
{
    workspace_destroy(run->workspace);
    network_destroy(run->network);
    free(run->theta);
}

/* A record of count ids, and -1 behind them. */
static inline void put(struct run *run, size_t row, const float *ids, size_t count)
{
    float *to =
        workspace_input(run->workspace) + row * workspace_stride(run->workspace);
    for (size_t t = 0; t < run->positions; t++)
        to[t] = t < count ? ids[t] : -1.0F;
}

/* outputs (count, classes) */
static inline void forward(struct run *run, size_t count, double *outputs)
{
    workspace_forward(run->workspace, run->theta, count);
    workspace_predict(run->workspace, outputs);
}

#endif
