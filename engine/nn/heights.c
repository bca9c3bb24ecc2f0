#include "engine/nn/heights.h"

#include <stdlib.h>
#include <string.h>
#include <cblas.h>

#include "base/check.h"
#include "engine/nn/graph.h"

enum {
    ALIGNMENT = 64,
    RECORDS_MIN = 2, /* records that are compared, and outputs in all */
    OUTPUTS_MIN = 512,
    CLASSES_MAX = 64
};

/* OpenBLAS 0.3.21 has kernels for small products. They pack nothing, are up to three
 * times as fast, and round differently. They take products of at most SMALL_VOLUME
 * multiplications; a forward product must also have at most SMALL_OUTPUTS outputs and at
 * least SMALL_INPUTS inputs. All products of a layer stay on one side of these limits. */
enum { SMALL_VOLUME = 1000000, SMALL_OUTPUTS = 1200, SMALL_INPUTS = 32 };

static size_t forward_small(const struct row_layer *layer)
{
    size_t by_volume = SMALL_VOLUME / (layer->inputs * layer->outputs);
    size_t by_outputs = SMALL_OUTPUTS / layer->outputs;
    if (layer->inputs < SMALL_INPUTS)
        return 0;
    return by_volume < by_outputs ? by_volume : by_outputs;
}

static size_t backward_small(const struct row_layer *layer)
{
    return SMALL_VOLUME / (layer->inputs * layer->outputs);
}

/* The most rows of a product. small is the number of rows up to which the small kernels
 * take it. */
static size_t tallest_of(struct heights heights, size_t small)
{
    if (small < heights.block || small >= heights.tallest)
        return heights.tallest;
    return small / heights.block * heights.block;
}

static size_t next_of(struct heights heights, size_t tallest, size_t left)
{
    size_t products = (left + tallest - 1) / tallest;
    size_t share = (left + products - 1) / products;
    if (heights.tallest == heights.block)
        return heights.block;
    return (share + heights.block - 1) / heights.block * heights.block;
}

size_t heights_forward(struct heights heights, const struct row_layer *layer,
                       size_t left)
{
    return next_of(heights, tallest_of(heights, forward_small(layer)), left);
}

size_t heights_backward(struct heights heights, const struct row_layer *layer,
                        size_t left)
{
    return next_of(heights, tallest_of(heights, backward_small(layer)), left);
}

/* A product of one layer in one direction: y = x W^T + c forward, x W backward. */
struct product {
    const struct row_layer *layer;
    const float *parameters;
    bool backward;
    struct rows x, y; /* tallest rows each; every row of x is the same record */
};

static size_t width_in(const struct product *product)
{
    return product->backward ? product->layer->outputs : product->layer->inputs;
}

static size_t width_out(const struct product *product)
{
    return product->backward ? product->layer->inputs : product->layer->outputs;
}

static void fill(const struct product *product, uint64_t *state)
{
    for (size_t j = 0; j < width_in(product); j++) {
        *state = *state * 6364136223846793005U + 1442695040888963407U;
        product->x.data[j] = (float)((double)(*state >> 11) * 0x1p-52 - 1);
    }
    for (size_t r = 1; r < product->x.count; r++)
        memcpy(product->x.data + r * product->x.stride, product->x.data,
               width_in(product) * sizeof(float));
}

/* Adds the product once more to what it gave: differences take two (difference.h). */
static void add_again(const struct product *product, struct rows y, struct rows x)
{
    const struct row_layer *layer = product->layer;
    cblas_sgemm(CblasRowMajor, CblasNoTrans,
                product->backward ? CblasNoTrans : CblasTrans, (blasint)x.count,
                (blasint)width_out(product), (blasint)width_in(product), 1.0F, x.data,
                (blasint)x.stride, product->parameters + layer->weight,
                (blasint)layer->inputs, 1.0F, y.data, (blasint)y.stride);
}

static void multiply(const struct product *product, size_t height)
{
    struct rows x = product->x, y = product->y;
    x.count = y.count = height;
    if (product->backward)
        row_layer_backward(product->layer, product->parameters, y, x);
    else
        row_layer_forward(product->layer, product->parameters, y, x);
    add_again(product, y, x);
}

/* Compares all rows with the first row of their class at the least height, which is
 * copied behind the rows of y when it is met. */
static bool height_agrees(const struct product *product, size_t height,
                          struct row_pattern pattern, bool known[CLASSES_MAX])
{
    const float *y = product->y.data;
    float *first = product->y.data + product->y.count * product->y.stride;
    size_t size = width_out(product) * sizeof *y;
    for (size_t r = 0; r < height; r++) {
        size_t class = pattern.of[r % pattern.period];
        float *kept = first + class * product->y.stride;
        if (!known[class])
            memcpy(kept, y + r * product->y.stride, size);
        known[class] = true;
        if (memcmp(kept, y + r * product->y.stride, size) != 0)
            return false;
    }
    return true;
}

static bool product_agrees(const struct product *product, struct heights heights,
                           struct row_pattern pattern)
{
    size_t repetitions = OUTPUTS_MIN / width_out(product) + 1;
    size_t tallest =
        tallest_of(heights, product->backward ? backward_small(product->layer)
                                              : forward_small(product->layer));
    uint64_t state = 20240229;
    bool agrees = true;
    repetitions = repetitions < RECORDS_MIN ? RECORDS_MIN : repetitions;
    for (size_t k = 0; k < repetitions && agrees; k++) {
        bool known[CLASSES_MAX] = {false};
        fill(product, &state);
        for (size_t h = heights.block; h <= tallest && agrees; h += heights.block) {
            multiply(product, h);
            agrees = height_agrees(product, h, pattern, known);
        }
    }
    return agrees;
}

static bool layer_agrees(const struct network *network, size_t index,
                         struct product *product, struct heights heights,
                         struct row_pattern pattern)
{
    const struct layer *layer = &network->layers[index];
    size_t in = rows_stride(layer->rows.inputs), out = rows_stride(layer->rows.outputs);
    product->layer = &layer->rows;
    product->backward = false;
    product->x.stride = in;
    product->y.stride = out;
    if (!product_agrees(product, heights, pattern))
        return false;
    product->backward = true;
    product->x.stride = out;
    product->y.stride = in;
    return !network->values[layer->from].has_gradient ||
           product_agrees(product, heights, pattern);
}

static size_t widest(const struct network *network)
{
    size_t widest = 0;
    for (size_t v = 0; v < network->value_count; v++)
        widest =
            network->values[v].stride > widest ? network->values[v].stride : widest;
    return widest;
}

bool heights_may_differ(const struct network *network)
{
    for (size_t l = 0; l < network->layer_count; l++)
        if (network->layers[l].has_positions || network->layers[l].is_scale)
            return false;
    return true;
}

enum status heights_agree(bool *agree, const struct network *network,
                          struct heights heights, struct row_pattern pattern,
                          struct error *error)
{
    size_t rows = heights.tallest + CLASSES_MAX;
    size_t size = rows * widest(network) * sizeof(float);
    CHECK(heights.block % pattern.period == 0 && heights.tallest % heights.block == 0);
    *agree = false;
    if (!heights_may_differ(network))
        return ST_OK;
    float *parameters = calloc(network->parameters, sizeof *parameters);
    struct product product = {
        .parameters = parameters,
        .x = {aligned_alloc(ALIGNMENT, size), 0, heights.tallest},
        .y = {aligned_alloc(ALIGNMENT, size), 0, heights.tallest}};
    enum status status = ST_OK;
    if (parameters == NULL || product.x.data == NULL || product.y.data == NULL) {
        status = error_set(error, ST_NO_MEMORY, "no memory to compare products");
    } else {
        network_init(network, parameters, 1);
        *agree = true;
        for (size_t l = 0; l < network->layer_count && *agree; l++)
            *agree = layer_agrees(network, l, &product, heights, pattern);
    }
    free(product.y.data);
    free(product.x.data);
    free(parameters);
    return status;
}
