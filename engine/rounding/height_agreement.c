#include "engine/rounding/height_agreement.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "engine/nn/rows.h"

enum {
    ALIGNMENT = 64,
    RECORDS_MIN = 2, /* records that are compared, and outputs in all */
    OUTPUTS_MIN = 512,
    CLASSES_MAX = 64
};

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

/* Adds the product once more to what it gave: differences take two. */
static void multiply(const struct product *product, size_t height)
{
    const struct row_layer *layer = product->layer;
    const float *parameters = product->parameters;
    struct rows x = product->x, y = product->y;
    x.count = y.count = height;
    if (product->backward) {
        row_layer_backward(layer, parameters, y, x);
        row_layer_add_backward(layer, parameters, y, x);
    } else {
        row_layer_forward(layer, parameters, y, x);
        row_layer_add_forward(layer, parameters, y, x);
    }
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
    size_t tallest = product->backward
                         ? heights_tallest_backward(heights, product->layer)
                         : heights_tallest_forward(heights, product->layer);
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
    const struct row_layer *layer = network_row_layer(network, index);
    size_t in = rows_stride(layer->inputs), out = rows_stride(layer->outputs);
    product->layer = layer;
    product->backward = false;
    product->x.stride = in;
    product->y.stride = out;
    if (!product_agrees(product, heights, pattern))
        return false;
    product->backward = true;
    product->x.stride = out;
    product->y.stride = in;
    return !network_layer_goes_back(network, index) ||
           product_agrees(product, heights, pattern);
}

static size_t widest(const struct network *network)
{
    size_t widest = 0;
    for (size_t l = 0; l < network_layers(network); l++) {
        const struct row_layer *layer = network_row_layer(network, l);
        if (layer == NULL)
            continue;
        size_t most = layer->inputs > layer->outputs ? layer->inputs : layer->outputs;
        widest = most > widest ? most : widest;
    }
    return rows_stride(widest);
}

bool heights_may_differ(const struct network *network)
{
    for (size_t l = 0; l < network_layers(network); l++)
        if (network_row_layer(network, l) == NULL)
            return false;
    return true;
}

/* The same as heights_agree, of the layers with one row a record. */
static enum status layers_agree(bool *agree, const struct network *network,
                                struct heights heights, struct row_pattern pattern,
                                struct error *error)
{
    CHECK(heights.block % pattern.period == 0 && heights.tallest % heights.block == 0);
    size_t rows = heights.tallest + CLASSES_MAX, width = widest(network);
    size_t size = rows * width * sizeof(float);
    *agree = true;
    if (width == 0)
        return ST_OK;
    float *parameters = calloc(network_floats(network), sizeof *parameters);
    struct product product = {
        .parameters = parameters,
        .x = {aligned_alloc(ALIGNMENT, size), 0, heights.tallest},
        .y = {aligned_alloc(ALIGNMENT, size), 0, heights.tallest}};
    enum status status = ST_OK;
    if (parameters == NULL || product.x.data == NULL || product.y.data == NULL) {
        status = error_set(error, ST_NO_MEMORY, "no memory to compare products");
    } else {
        network_init(network, parameters, 1);
        for (size_t l = 0; l < network_layers(network) && *agree; l++)
            if (network_row_layer(network, l) != NULL)
                *agree = layer_agrees(network, l, &product, heights, pattern);
    }
    free(product.y.data);
    free(product.x.data);
    free(parameters);
    return status;
}

enum status heights_agree(bool *agree, const struct network *network,
                          struct heights heights, struct row_pattern pattern,
                          struct error *error)
{
    *agree = false;
    if (!heights_may_differ(network))
        return ST_OK;
    return layers_agree(agree, network, heights, pattern, error);
}

enum status dense_rows_agree(bool *agree, const struct network *network, size_t block,
                             struct row_pattern pattern, struct error *error)
{
    return layers_agree(agree, network, (struct heights){block, block}, pattern, error);
}
