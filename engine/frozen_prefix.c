#include "engine/frozen_prefix.h"

#include <string.h>

#include "engine/nn/layer.h"

static void feed_number(struct sha256 *hash, uint64_t number)
{
    sha256_update(hash, &number, sizeof number);
}

/* MEMBER_VARIANT has no value of its own: the name of the layer's kind determines
 * it. */
static void feed_member(struct sha256 *hash, const struct layer_spec *layer,
                        const struct layer_member *member)
{
    const char *value = (const char *)layer + member->offset;
    switch (member->kind) {
    case MEMBER_COUNT:
    case MEMBER_LAYERS: sha256_update(hash, value, sizeof(uint32_t)); break;
    case MEMBER_REAL: sha256_update(hash, value, sizeof(double)); break;
    case MEMBER_FLAG: feed_number(hash, *(const bool *)value); break;
    case MEMBER_KERNEL:
        feed_number(hash, layer->kernel_height);
        feed_number(hash, layer->kernel_width);
        break;
    case MEMBER_VARIANT: break;
    case MEMBER_COLUMNS: break; /* of the model: feed_columns */
    }
}

static void feed_layer(struct sha256 *hash, const struct layer_spec *layer)
{
    const struct layer_kind *kind = layer->kind;
    sha256_update(hash, kind->name, strlen(kind->name) + 1);
    for (size_t m = 0; m < kind->member_count; m++)
        feed_member(hash, layer, &kind->members[m]);
}

/* Models without such columns have the digest that they had before there were some. */
static void feed_columns(struct sha256 *hash, const struct named_columns *columns)
{
    for (size_t i = 0; i < columns->count; i++) {
        feed_number(hash, columns->list[i].first);
        feed_number(hash, columns->list[i].words);
    }
}

void frozen_prefix_feed_layers(struct sha256 *hash, const struct model_spec *model,
                               size_t layers)
{
    feed_number(hash, layers);
    for (size_t l = 0; l < layers; l++)
        feed_layer(hash, &model->layers[l]);
    feed_columns(hash, &model->embedded);
}

static void feed_rescaling(struct sha256 *hash, const struct rescaling *rescaling)
{
    size_t features = rescaling != NULL ? rescaling->features : 0;
    feed_number(hash, features);
    if (features == 0)
        return;
    sha256_update(hash, rescaling->gain, features * sizeof *rescaling->gain);
    sha256_update(hash, rescaling->offset, features * sizeof *rescaling->offset);
}

static void feed_matrix(struct sha256 *hash, const struct matrix *matrix)
{
    feed_number(hash, matrix->records);
    feed_number(hash, matrix->features);
    feed_number(hash, (uint64_t)matrix->element);
    sha256_update(hash, &matrix->scale, sizeof matrix->scale);
    sha256_update(hash, &matrix->division.holdout, sizeof matrix->division.holdout);
    feed_number(hash, matrix->division.seed);
    feed_number(hash, (uint64_t)matrix->part);
    feed_rescaling(hash, matrix->rescaling);
}

static void feed_table(struct sha256 *hash, const struct model_columns *columns)
{
    feed_number(hash, columns->count);
    for (size_t i = 0; i < columns->count; i++)
        feed_number(hash, columns->widths[i]);
    feed_number(hash, columns->pair_count);
    for (size_t k = 0; k < columns->pair_count; k++) {
        feed_number(hash, columns->pairs[k][0]);
        feed_number(hash, columns->pairs[k][1]);
    }
}

void frozen_prefix_digest(const struct frozen_prefix *prefix,
                          uint8_t digest[SHA256_SIZE])
{
    struct sha256 *hash = sha256_create();
    const struct network *network = prefix->spec->network;
    const struct model_spec *model = &prefix->spec->model;
    size_t trained = network_parameters(network), layers = network_frozen_list(network);
    feed_matrix(hash, prefix->matrix);
    feed_number(hash, model->input.height);
    feed_number(hash, model->input.width);
    feed_number(hash, model->input.channels);
    feed_table(hash, &model->columns);
    feed_number(hash, network_frozen_nodes(network));
    frozen_prefix_feed_layers(hash, model, layers);
    sha256_update(hash, prefix->parameters + trained,
                  (network_floats(network) - trained) * sizeof(float));
    sha256_finish(hash, digest);
    sha256_destroy(hash);
}
