/*
 * random_batch_fixture.h - a network, random parameters, a workspace and random records
 * for it, from a fixed seed; and the calls that many tests make. Include after
 * expect.h.
 */
#ifndef TESTS_ENGINE_NN_RANDOM_BATCH_FIXTURE_H
#define TESTS_ENGINE_NN_RANDOM_BATCH_FIXTURE_H

#include <cblas.h>
#include <string.h>

#include "base/random.h"
#include "engine/nn/graph.h"
#include "engine/nn/initial_values.h"
#include "engine/nn/layers/position_layer.h"
#include "engine/nn/layers/preset.h"
#include "engine/nn/layers/registry.h"
#include "engine/nn/workspace.h"

struct batch {
    struct model_spec model;
    struct network *network;
    struct workspace *workspace;
    size_t rows, count, features, parameters;
    float *x;          /* (count, features) */
    float *theta;      /* (parameters) */
    float *block;      /* of a tile, aligned */
    uint32_t *classes; /* (count) */
    float *values;     /* (count) */
    uint32_t *indices; /* (rows) of the record in each row, in its dataset */
    uint8_t drop_key[STREAM_KEY_SIZE];
    uint64_t state;
};

/* xorshift64*; any fixed sequence would be fine. */
static inline double batch_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (double)((*state * 2685821657736338717U) >> 11) * 0x1p-53;
}

/* A sum of three uniforms: bell-shaped, of deviation 1. */
static inline float batch_normal(uint64_t *state)
{
    double sum = batch_random(state) + batch_random(state) + batch_random(state);
    return (float)(2.0 * (sum - 1.5));
}

/* Reads the next of the numbers after a letter: "4,3,2" */
static inline uint32_t batch_number(const char **text)
{
    uint32_t number = (uint32_t)strtoul(*text, (char **)(uintptr_t)text, 10);
    if (**text == ',')
        ++*text;
    return number;
}

static inline bool batch_digit(const char *text)
{
    return *text >= '0' && *text <= '9';
}

static inline void batch_columns(struct named_columns *columns, const char **text)
{
    while (batch_digit(*text)) {
        struct named_column *column = named_columns_add(columns, "column");
        column->first = batch_number(text);
        column->words = batch_number(text);
    }
}

/* Layers from text: "d5" dense of 5, "D5" without bias, "r" relu, "t" tanh, "s"
 * sigmoid, "p" softplus, "u" gelu, "U" gelu_tanh;
 * "c5,3,2,1,2" a convolution to 5 channels, kernel 3, stride 2, padding 1, dilation 2,
 * "C" without bias; "m3,2,1" and "a2,2" maximum and average pools of kernel, stride,
 * padding; "g" the global one, "f" flatten, "x3" three copies of a channel; "n2" group
 * norm of two groups, "o3" dropout of 3/8; "k5" the middle 5 x 5; "z" standardise; "[...]" a residual,
 * "[...|...]" one with a shortcut; "l"
 * layer norm; "w" the scattering transform, "w3" after subtracting 3/8; "e9,4" an
 * embedding of 9 ids to 4, "i9,2" 9 positions from row 2 on, "y2,5" two token types with
 * separator 5, "q2...|...|...]" attention of two heads, "h" takes the first position, "v"
 * the last and "H" the mean, "j6" an lstm of 6; "b4,2,3,7,5" embeds to 4 the columns of the
 * features 2 to 4 and 7 to 11. Omitted numbers are 1, but 0 for padding. */
static inline void batch_layers(struct model_spec *model, const char *text)
{
    struct layer_spec *open[MODEL_NESTING_MAX + 1], *branch = NULL;
    size_t depth = 0;
    model->layers = calloc(64, sizeof *model->layers);
    while (*text != '\0') {
        static const char letters[] = "drtcmagfxspuno[klwzeiyqhvjb";
        static const struct layer_kind *const kinds[] = {&layer_dense,
                                                         &layer_relu,
                                                         &layer_tanh,
                                                         &layer_conv2d,
                                                         &layer_max_pool2d,
                                                         &layer_avg_pool2d,
                                                         &layer_global_avg_pool,
                                                         &layer_flatten,
                                                         &layer_replicate,
                                                         &layer_sigmoid,
                                                         &layer_softplus,
                                                         &layer_gelu,
                                                         &layer_group_norm,
                                                         &layer_dropout,
                                                         &layer_residual,
                                                         &layer_crop,
                                                         &layer_layer_norm,
                                                         &layer_scatter,
                                                         &layer_standardise,
                                                         &layer_embedding,
                                                         &layer_position,
                                                         &layer_token_type,
                                                         &layer_attention,
                                                         &layer_take,
                                                         &layer_take_last,
                                                         &layer_lstm,
                                                         &layer_embed_columns};
        struct layer_spec *layer = &model->layers[model->layer_count];
        char letter = *text++, lower = letter < 'Z' ? (char)(letter | 32) : letter;
        const char *at = strchr(letters, lower);
        if (letter == '|' || letter == ']') {
            branch = open[depth - 1];
            uint32_t size = (uint32_t)(layer - branch) - 1 - branch->body -
                            branch->shortcut - branch->third;
            *(branch->body == 0       ? &branch->body
              : branch->shortcut == 0 ? &branch->shortcut
                                      : &branch->third) = size;
            depth -= letter == ']';
            continue;
        }
        assert_true(at != NULL && ++model->layer_count <= 64);
        layer->kind = kinds[at - letters];
        if (letter == '[' || letter == 'q')
            open[depth++] = layer;
        if (letter == 'H')
            layer->kind = &layer_take_mean;
        if (lower == 'e' || lower == 'i' || lower == 'y')
            layer->rows = batch_number(&text);
        if (letter == 'U')
            layer->kind = &layer_gelu_tanh;
        layer->bias = letter == lower && (lower == 'd' || lower == 'c');
        if (strchr("dcxkejb", lower) != NULL)
            layer->out = batch_number(&text);
        if (lower == 'b')
            batch_columns(&model->embedded, &text);
        if (lower == 'i')
            layer->offset = batch_number(&text);
        if (lower == 'y')
            layer->separator = batch_number(&text);
        if (lower == 'q')
            layer->groups = batch_number(&text);
        if (lower == 'n')
            layer->groups = batch_number(&text), layer->epsilon = 1e-5;
        if (lower == 'l')
            layer->epsilon = 1e-5;
        if (lower == 'w' && batch_digit(text))
            layer->centre = (double)batch_number(&text) / 8.0;
        if (lower == 'o')
            layer->rate = (double)batch_number(&text) / 8.0;
        if (strchr("cma", lower) == NULL)
            continue;
        layer->kernel_height = layer->kernel_width = batch_number(&text);
        if (*text == 'x') {
            text++;
            layer->kernel_width = batch_number(&text);
        }
        layer->stride = batch_digit(text) ? batch_number(&text) : 1;
        layer->padding = batch_digit(text) ? batch_number(&text) : 0;
        layer->dilation = batch_digit(text) ? batch_number(&text) : 1;
    }
}

/* Any description of records and network. form: a norm_form for all layers with
 * positions, or -1. trained: patterns of the names of all tensors that are trained, with
 * spaces between; NULL: every tensor is. adapted: the target of an adapter of rank and
 * alpha. */
struct batch_demand {
    const char *layers; /* or NULL: the layers of preset */
    size_t unit_rows;   /* of a unit; 0 and 1: each record is one */
    enum preset preset;
    enum loss loss;
    size_t features, count;
    struct model_input input; /* or 0: vectors */
    int form;
    const char *trained, *adapted;
    uint32_t rank;
    double alpha;
};

static inline void batch_freeze(struct model_spec *model, const char *trained)
{
    struct name_patterns *named = &model->start.named;
    model->start.trainable = TRAINABLE_ONLY;
    named->texts = calloc(NAME_PATTERNS_MAX, sizeof *named->texts);
    while (*trained != '\0') {
        size_t length = strcspn(trained, " ");
        snprintf(named->texts[named->count++], TENSOR_NAME_SIZE, "%.*s", (int)length,
                 trained);
        trained += length + strspn(trained + length, " ");
    }
}

static inline void batch_adapt(struct model_spec *model,
                               const struct batch_demand *demand)
{
    batch_freeze(model, demand->adapted);
    model->start.trainable = TRAINABLE_LORA;
    model->start.rank = demand->rank;
    model->start.alpha = demand->alpha;
}

/* Makes the records ids: of no token, of one, of all positions, of one id that repeats,
 * and of random length. */
static inline void batch_ids(struct batch *batch)
{
    double rows = (double)batch->model.layers[0].rows;
    for (size_t i = 0; i < batch->count; i++) {
        double share = batch_random(&batch->state);
        size_t length = (size_t)(share * (double)(batch->features + 1));
        float *ids = batch->x + i * batch->features;
        length = i < 2 ? i : i == 2 || i == 3 ? batch->features : length;
        for (size_t t = 0; t < batch->features; t++)
            ids[t] = t >= length ? -1.0F
                     : i == 3    ? (float)(rows - 1.0)
                                 : (float)(size_t)(rows * batch_random(&batch->state));
    }
}

/* Gives each embedded column of a record one word: the last one in record 0, none in
 * record 1; record 2 keeps any numbers, of which the last above 1/2 is the word. */
static inline void batch_words(struct batch *batch)
{
    const struct named_columns *columns = &batch->model.embedded;
    for (size_t i = 0; i < batch->count; i++)
        for (size_t g = 0; g < columns->count && i != 2; g++) {
            const struct named_column *column = &columns->list[g];
            float *own = batch->x + i * batch->features + column->first;
            double share = batch_random(&batch->state);
            size_t word =
                i == 0 ? column->words - 1 : (size_t)(share * (double)column->words);
            memset(own, 0, column->words * sizeof *own);
            own[word] = i == 1 ? 0.0F : 1.0F;
        }
}

static inline void batch_make(struct batch *batch, const struct batch_demand *demand)
{
    size_t count = demand->count, features = demand->features;
    memset(batch, 0, sizeof *batch);
    openblas_set_num_threads(1);
    batch->model.input = demand->input;
    if (demand->layers != NULL) {
        batch_layers(&batch->model, demand->layers);
    } else {
        batch->model.preset = demand->preset;
        batch->model.groups = 32;
        preset_expand(&batch->model, 3);
    }
    if (demand->trained != NULL)
        batch_freeze(&batch->model, demand->trained);
    if (demand->adapted != NULL)
        batch_adapt(&batch->model, demand);
    batch->model.loss = demand->loss;
    batch->model.huber_delta = 0.75;
    batch->features = features;
    batch->count = count;
    batch->rows = (count + 15) / 16 * 16;
    batch->state = 88172645463325252U + features * 7919 + count;

    size_t outputs = 0;
    for (size_t l = 0; l < batch->model.layer_count; l++)
        if (batch->model.layers[l].out > 0)
            outputs = batch->model.layers[l].out;
    struct network_shape shape = {(uint32_t)features, (uint32_t)outputs};
    struct error error = {0};
    size_t unit = demand->unit_rows > 0 ? demand->unit_rows : 1;
    if (network_create_of_units(&batch->network, &batch->model, shape, unit, &error) !=
        ST_OK)
        fail_msg("%s: %s: %s", demand->layers != NULL ? demand->layers : "a preset",
                 error.pointer, error.text);
    if (demand->form >= 0)
        position_layer_force_form(batch->network, (enum norm_form)demand->form);
    assert_int_equal(
        workspace_create(&batch->workspace, batch->network, batch->rows, NULL), ST_OK);
    batch->parameters = network_parameters(batch->network);
    batch->theta = calloc(network_floats(batch->network), sizeof *batch->theta);
    batch->x = calloc(count * features, sizeof *batch->x);
    batch->classes = calloc(count, sizeof *batch->classes);
    batch->values = calloc(count, sizeof *batch->values);
    batch->indices = calloc(batch->rows, sizeof *batch->indices);
    memset(batch->drop_key, 0x5e, sizeof batch->drop_key);
    workspace_drop(batch->workspace, (struct drop){batch->drop_key, batch->indices});
    batch->block = aligned_alloc(
        64, (network_tile_floats_max(batch->network) * sizeof(float) + 63) / 64 * 64);

    network_init(batch->network, batch->theta, 2385);
    for (size_t i = 0; i < batch->parameters; i++)
        batch->theta[i] += 0.1F * batch_normal(&batch->state);
    for (size_t i = 0; i < count * features; i++)
        batch->x[i] = batch_normal(&batch->state);
    if (batch->model.layers[0].kind == &layer_embedding)
        batch_ids(batch);
    batch_words(batch);
    for (size_t i = 0; i < count; i++) {
        double share = batch_random(&batch->state);
        batch->classes[i] =
            (uint32_t)(share * (double)network_predictions(batch->network));
        batch->values[i] = batch_normal(&batch->state);
    }
}

static inline void batch_init(struct batch *batch, const char *layers, enum loss loss,
                              size_t features, size_t count)
{
    batch_make(batch, &(struct batch_demand){.layers = layers,
                                             .loss = loss,
                                             .features = features,
                                             .count = count,
                                             .form = -1});
}

static inline void batch_fini(struct batch *batch)
{
    workspace_destroy(batch->workspace);
    network_destroy(batch->network);
    model_spec_fini(&batch->model);
    free(batch->x);
    free(batch->theta);
    free(batch->classes);
    free(batch->values);
    free(batch->indices);
    free(batch->block);
}

/* Returns the index of a record in its dataset, which never equals the record's row. */
static inline uint32_t batch_index(size_t record)
{
    return (uint32_t)(7 * record + 1000);
}

/* Copies a record of the batch to row. */
static inline void batch_place(struct batch *batch, size_t row, size_t record)
{
    memcpy(workspace_input(batch->workspace) + row * workspace_stride(batch->workspace),
           batch->x + record * batch->features, batch->features * sizeof(float));
    workspace_classes(batch->workspace)[row] = batch->classes[record];
    workspace_values(batch->workspace)[row] = batch->values[record];
    batch->indices[row] = batch_index(record);
}

/* All passes up to the norms, for the first count rows. */
static inline void batch_pass(struct batch *batch, size_t count)
{
    workspace_forward(batch->workspace, batch->theta, count);
    workspace_loss(batch->workspace);
    workspace_backward(batch->workspace, batch->theta);
    workspace_measure(batch->workspace, NULL);
}

static inline void batch_place_all(struct batch *batch)
{
    for (size_t i = 0; i < batch->count; i++)
        batch_place(batch, i, i);
}

static inline void batch_run(struct batch *batch)
{
    batch_place_all(batch);
    batch_pass(batch, batch->count);
}

/* out (parameters) = the sum over range, tile by tile. */
static inline void batch_sum(struct batch *batch, struct row_range range, float *out)
{
    for (size_t t = 0; t < network_tile_count(batch->network); t++) {
        struct tile tile = network_tile(batch->network, t);
        for (size_t j = 0; j < tile.count; j++)
            batch->block[j] = NAN;
        workspace_sum(batch->workspace, t, range, batch->block);
        memcpy(out + tile.offset, batch->block, tile.count * sizeof *out);
    }
}

/* to (parameters) = from, each tensor in the order of PyTorch's file. */
static inline void batch_as_file(const struct batch *batch, double *to,
                                 const float *from)
{
    for (size_t t = 0; t < network_tensor_count(batch->network); t++) {
        const struct tensor *tensor = network_tensor(batch->network, t);
        size_t row = tensor->count / tensor->shape[0], channels = row / tensor->taps;
        for (size_t j = 0; j < tensor->count; j++) {
            size_t at = j / row * row, channel = j % row / tensor->taps;
            at += j % row % tensor->taps * channels + channel;
            to[tensor->offset + j] = (double)from[tensor->offset + at];
        }
    }
}

#endif
