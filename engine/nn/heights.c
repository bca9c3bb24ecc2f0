#include "engine/nn/heights.h"

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

size_t heights_tallest_forward(struct heights heights, const struct row_layer *layer)
{
    return tallest_of(heights, forward_small(layer));
}

size_t heights_tallest_backward(struct heights heights, const struct row_layer *layer)
{
    return tallest_of(heights, backward_small(layer));
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
    return next_of(heights, heights_tallest_forward(heights, layer), left);
}

size_t heights_backward(struct heights heights, const struct row_layer *layer,
                        size_t left)
{
    return next_of(heights, heights_tallest_backward(heights, layer), left);
}
