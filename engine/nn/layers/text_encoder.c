#include "engine/nn/layers/text_encoder.h"

#include <stdio.h>

#include "base/check.h"
#include "engine/nn/layers/registry.h"

/* How a public model names its layers, and the numbers in which models differ. */
struct dialect {
    const char *embeddings, *block; /* begin the names of their layers */
    const char *query, *key, *value, *out, *first_norm, *inner, *outer, *last_norm;
    const char *pooler, *classifier; /* on the first token */
    const struct layer_kind *pooled; /* the activation after the pooler */
    uint32_t types;                  /* rows of the table of token types; 0: none */
    uint32_t offset;                 /* rows of the table of positions without a use */
    double epsilon;
    struct text_encoder usual;
};

#define BERT_BLOCK                                                                     \
    .query = "attention.self.query", .key = "attention.self.key",                      \
    .value = "attention.self.value", .out = "attention.output.dense",                  \
    .first_norm = "attention.output.LayerNorm", .inner = "intermediate.dense",         \
    .outer = "output.dense", .last_norm = "output.LayerNorm"
#define BASE .width = 768, .heads = 12, .intermediate = 3072

static const struct dialect bert = {
    .embeddings = "bert.embeddings",
    .block = "bert.encoder.layer",
    BERT_BLOCK,
    .pooler = "bert.pooler.dense",
    .classifier = "classifier",
    .pooled = &layer_tanh,
    .types = 2,
    .epsilon = 1e-12,
    .usual = {
        .blocks = 12, BASE, .vocabulary = 30522, .positions = 512, .separator = 102}};

static const struct dialect roberta = {
    .embeddings = "roberta.embeddings",
    .block = "roberta.encoder.layer",
    BERT_BLOCK,
    .pooler = "classifier.dense",
    .classifier = "classifier.out_proj",
    .pooled = &layer_tanh,
    .types = 1,
    .offset = 2,
    .epsilon = 1e-5,
    .usual = {.blocks = 12, BASE, .vocabulary = 50265, .positions = 514}};

static const struct dialect distilbert = {
    .embeddings = "distilbert.embeddings",
    .block = "distilbert.transformer.layer",
    .query = "attention.q_lin",
    .key = "attention.k_lin",
    .value = "attention.v_lin",
    .out = "attention.out_lin",
    .first_norm = "sa_layer_norm",
    .inner = "ffn.lin1",
    .outer = "ffn.lin2",
    .last_norm = "output_layer_norm",
    .pooler = "pre_classifier",
    .classifier = "classifier",
    .pooled = &layer_relu,
    .epsilon = 1e-12,
    .usual = {.blocks = 6, BASE, .vocabulary = 30522, .positions = 512}};

static const struct dialect *const dialects[PRESETS] = {[PRESET_BERT] = &bert,
                                                        [PRESET_ROBERTA] = &roberta,
                                                        [PRESET_DISTILBERT] =
                                                            &distilbert};

static const struct dialect *dialect_of(enum preset preset)
{
    return dialects[preset];
}

bool preset_is_text_encoder(enum preset preset)
{
    return dialect_of(preset) != NULL;
}

bool text_encoder_has_types(enum preset preset)
{
    return dialect_of(preset)->types > 1;
}

struct text_encoder text_encoder_usual(enum preset preset)
{
    return dialect_of(preset)->usual;
}

/* --- sizes --- */

enum status text_encoder_check(const struct model_spec *model, uint32_t tokens,
                               struct error *error)
{
    const struct text_encoder *sizes = &model->text_encoder;
    uint32_t offset = dialect_of(model->preset)->offset;

    if (sizes->width % sizes->heads != 0)
        return error_set_at(error, ST_INVALID, "/model/heads",
                            "must divide the width, %u; %u does not", sizes->width,
                            sizes->heads);
    if (text_encoder_has_types(model->preset) && sizes->vocabulary > 0 &&
        sizes->separator >= sizes->vocabulary)
        return error_set_at(error, ST_INVALID, "/model/separator",
                            "must be below the vocabulary, %u; %u is not. It is the id "
                            "of the token between two texts",
                            sizes->vocabulary, sizes->separator);
    if (sizes->positions <= offset || sizes->positions - offset < tokens)
        return error_set_at(error, ST_INVALID, "/model/positions",
                            "must be at least %u: the %u tokens of a record%s",
                            offset + (tokens > 0 ? tokens : 1), tokens > 0 ? tokens : 1,
                            offset > 0 ? ", and 2 before them that have no token" : "");
    return ST_OK;
}

/* --- layers --- */

_Static_assert(TEXT_ENCODER_BLOCKS_MAX *TEXT_ENCODER_BLOCK_LAYERS + 9 <=
                   MODEL_LAYERS_MAX,
               "embeddings, blocks and classifier fit a model");

struct list { /* layers: NULL if they are only counted */
    const struct model_spec *model;
    const struct dialect *dialect;
    struct layer_spec *layers;
    size_t count;
    uint32_t block;               /* the current one */
    char prefix[LAYER_NAME_SIZE]; /* of the names of layers in parts */
};

/* Appends a layer whose name is name, after the prefix if there is one. */
static void append(struct list *list, const char *name, struct layer_spec layer)
{
    if (name[0] != '\0')
        CHECK(snprintf(layer.public_name, sizeof layer.public_name, "%s%s",
                       list->prefix, name) < LAYER_NAME_SIZE);
    layer.block = list->block;
    if (list->layers != NULL)
        list->layers[list->count] = layer;
    list->count++;
}

static void append_dense(struct list *list, const char *name, uint32_t out)
{
    append(list, name,
           (struct layer_spec){.kind = &layer_dense, .out = out, .bias = true});
}

static void append_norm(struct list *list, const char *name)
{
    append(list, name,
           (struct layer_spec){.kind = &layer_layer_norm,
                               .epsilon = list->dialect->epsilon});
}

static void append_kind(struct list *list, const struct layer_kind *kind)
{
    append(list, "", (struct layer_spec){.kind = kind});
}

static void append_embeddings(struct list *list)
{
    const struct text_encoder *sizes = &list->model->text_encoder;
    const struct dialect *dialect = list->dialect;

    snprintf(list->prefix, sizeof list->prefix, "%s.", dialect->embeddings);
    append(list, "word_embeddings",
           (struct layer_spec){.kind = &layer_embedding,
                               .rows = sizes->vocabulary,
                               .out = sizes->width});
    append(list, "position_embeddings",
           (struct layer_spec){.kind = &layer_position,
                               .rows = sizes->positions,
                               .offset = dialect->offset});
    if (dialect->types > 0)
        append(list, "token_type_embeddings",
               (struct layer_spec){.kind = &layer_token_type,
                                   .rows = dialect->types,
                                   .separator = sizes->separator});
    append_norm(list, "LayerNorm");
}

static void append_block(struct list *list, uint32_t index)
{
    const struct text_encoder *sizes = &list->model->text_encoder;
    const struct dialect *dialect = list->dialect;
    const struct layer_spec attention = {.kind = &layer_attention,
                                         .groups = sizes->heads,
                                         .body = 1,
                                         .shortcut = 1,
                                         .third = 1};

    snprintf(list->prefix, sizeof list->prefix, "%s.%u.", dialect->block, index);
    append(list, "", (struct layer_spec){.kind = &layer_residual, .body = 5});
    append(list, "", attention);
    append_dense(list, dialect->query, sizes->width);
    append_dense(list, dialect->key, sizes->width);
    append_dense(list, dialect->value, sizes->width);
    append_dense(list, dialect->out, sizes->width);
    append_norm(list, dialect->first_norm);
    append(list, "", (struct layer_spec){.kind = &layer_residual, .body = 3});
    append_dense(list, dialect->inner, sizes->intermediate);
    append_kind(list, &layer_gelu);
    append_dense(list, dialect->outer, sizes->width);
    append_norm(list, dialect->last_norm);
}

static void append_classifier(struct list *list, uint32_t outputs)
{
    const struct dialect *dialect = list->dialect;

    list->prefix[0] = '\0';
    if (list->model->text_encoder.mean) {
        append_kind(list, &layer_take_mean);
        append_dense(list, "classifier", outputs);
        return;
    }
    append_kind(list, &layer_take);
    append_dense(list, dialect->pooler, list->model->text_encoder.width);
    append_kind(list, dialect->pooled);
    append_dense(list, dialect->classifier, outputs);
}

size_t text_encoder_layers(const struct model_spec *model, uint32_t outputs,
                           struct layer_spec *layers)
{
    struct list list = {
        .model = model, .dialect = dialect_of(model->preset), .layers = layers};

    append_embeddings(&list);
    for (uint32_t block = 0; block < model->text_encoder.blocks; block++) {
        list.block++;
        append_block(&list, block);
    }
    list.block++;
    append_classifier(&list, outputs);
    return list.count;
}
