/*
 * heights.h - how many rows a product takes at a time (its height).
 *
 * A dense layer's rows are multiplied block rows at a time. Where tallest is more than
 * block, as many rows as there are are multiplied at once, in multiples of block up to
 * tallest, because packing the weights costs as much as the products of some 30 rows. The
 * height of a product then depends on the other records, so this is allowed only where it
 * changes no bit of any row (noise.md 2.5), which engine/rounding finds out.
 *
 * Threads: pure.
 */
#ifndef ENGINE_NN_HEIGHTS_H
#define ENGINE_NN_HEIGHTS_H

#include <stddef.h>

#include "engine/nn/rows.h"

struct heights {
    size_t block;   /* rows are padded to a multiple of it; a multiple of 16 */
    size_t tallest; /* the most rows of a product, a multiple of block. Where it is
                     * block, every product has block rows */
};

/* The height of a layer's next product when left rows are still to be done, a multiple of
 * block: they are done in as few products as may be, alike in height. */
size_t heights_forward(struct heights heights, const struct row_layer *layer,
                       size_t left);
size_t heights_backward(struct heights heights, const struct row_layer *layer,
                        size_t left);

/* The most rows of a product of the layer. */
size_t heights_tallest_forward(struct heights heights, const struct row_layer *layer);
size_t heights_tallest_backward(struct heights heights, const struct row_layer *layer);

#endif
