/*
 * sequence_fixture.h - models of tokens with the layers and names of three public
 * dialects, whose head is trained, and their networks. Include after tests/expect.h.
 */
#ifndef TESTS_ENGINE_NN_SEQUENCE_FIXTURE_H
#define TESTS_ENGINE_NN_SEQUENCE_FIXTURE_H

#include <string.h>

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

static inline void add_norm(struct list *list, const char *name, double epsilon)
{
    add(list, &layer_layer_norm, name)->epsilon = epsilon;
}

/* The names that a dialect gives to the tensors of its blocks, after "PREFIX.layer.N.",
 * and the numbers in which dialects differ. */
struct dialect {
    const char *file, *prefix, *block;
    const char *query, *key, *value, *out, *first_norm, *inner, *outer, *last_norm;
    const char *pooler, *classifier;
    const struct layer_kind *pooled;
    uint32_t types, offset, separator;
    double epsilon;
};

static const struct dialect dialects[] = {
    {"bert", "bert.embeddings", "bert.encoder.layer", "attention.self.query",
     "attention.self.key", "attention.self.value", "attention.output.dense",
     "attention.output.LayerNorm", "intermediate.dense", "output.dense",
     "output.LayerNorm", "bert.pooler.dense", "classifier", &layer_tanh, 2, 0, 3,
     1e-12},
    {"roberta", "roberta.embeddings", "roberta.encoder.layer", "attention.self.query",
     "attention.self.key", "attention.self.value", "attention.output.dense",
     "attention.output.LayerNorm", "intermediate.dense", "output.dense",
     "output.LayerNorm", "classifier.dense", "classifier.out_proj", &layer_tanh, 1, 2,
     2, 1e-5},
    {"distilbert", "distilbert.embeddings", "distilbert.transformer.layer",
     "attention.q_lin", "attention.k_lin", "attention.v_lin", "attention.out_lin",
     "sa_layer_norm", "ffn.lin1", "ffn.lin2", "output_layer_norm", "pre_classifier",
     "classifier", &layer_relu, 0, 0, 3, 1e-12},
};

struct sizes {
    uint32_t hidden, layers, heads, inner, vocabulary, positions, classes;
};

static const char *name_of(const char *prefix, const char *part)
{
    static char name[LAYER_NAME_SIZE];
    snprintf(name, sizeof name, "%s.%s", prefix, part);
    return name;
}

static inline void add_embeddings(struct list *list, const struct dialect *d,
                                  const struct sizes *sizes)
{
    struct layer_spec *layer =
        add(list, &layer_embedding, name_of(d->prefix, "word_embeddings"));
    layer->rows = sizes->vocabulary;
    layer->out = sizes->hidden;
    layer = add(list, &layer_position, name_of(d->prefix, "position_embeddings"));
    layer->rows = sizes->positions;
    layer->offset = d->offset;
    if (d->types > 0) {
        layer =
            add(list, &layer_token_type, name_of(d->prefix, "token_type_embeddings"));
        layer->rows = d->types;
        layer->separator = d->separator;
    }
    add_norm(list, name_of(d->prefix, "LayerNorm"), d->epsilon);
}

static inline void add_block(struct list *list, const struct dialect *d,
                             const struct sizes *sizes, unsigned index)
{
    char block[LAYER_NAME_SIZE];
    snprintf(block, sizeof block, "%s.%u", d->block, index);
    add(list, &layer_residual, "")->body = 5;
    struct layer_spec *attention = add(list, &layer_attention, "");
    attention->groups = sizes->heads;
    attention->body = attention->shortcut = attention->third = 1;
    add_dense(list, name_of(block, d->query), sizes->hidden);
    add_dense(list, name_of(block, d->key), sizes->hidden);
    add_dense(list, name_of(block, d->value), sizes->hidden);
    add_dense(list, name_of(block, d->out), sizes->hidden);
    add_norm(list, name_of(block, d->first_norm), d->epsilon);
    add(list, &layer_residual, "")->body = 3;
    add_dense(list, name_of(block, d->inner), sizes->inner);
    add(list, &layer_gelu, "");
    add_dense(list, name_of(block, d->outer), sizes->hidden);
    add_norm(list, name_of(block, d->last_norm), d->epsilon);
}

static inline void make_model(struct list *list, const struct dialect *d,
                              const struct sizes *sizes)
{
    *list = (struct list){0};
    add_embeddings(list, d, sizes);
    for (unsigned k = 0; k < sizes->layers; k++)
        add_block(list, d, sizes, k);
    add(list, &layer_take, "");
    add_dense(list, d->pooler, sizes->hidden);
    add(list, d->pooled, "");
    add_dense(list, d->classifier, sizes->classes);
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

static inline void run_init(struct run *run, struct list *list, uint32_t positions,
                            uint32_t classes)
{
    struct error error = {0};
    *run = (struct run){.positions = positions, .classes = classes};
    if (compile(&run->network, list, TRAINABLE_HEAD, positions, classes, &error) !=
        ST_OK)
        fail_msg("%s: %s", error.pointer, error.text);
    run->theta = calloc(network_floats(run->network), sizeof *run->theta);
    assert_int_equal(workspace_create(&run->workspace, run->network, ROWS, &error),
                     ST_OK);
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
