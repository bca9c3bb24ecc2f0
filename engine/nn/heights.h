/*
 * heights.h - how many rows a product takes at a time (its height), and whether products
 * of all those heights round alike in the BLAS at hand (noise.md 2.5).
 *
 * A dense layer's rows are multiplied block rows at a time. Where tallest is more than
 * block, as many rows as there are are multiplied at once, in multiples of block up to
 * tallest, because packing the weights costs as much as the products of some 30 rows. The
 * height of a product then depends on the other records, so this is allowed only where it
 * changes no bit of any row, which heights_agree finds out.
 *
 * Threads: pure.
 */
#ifndef ENGINE_NN_HEIGHTS_H
#define ENGINE_NN_HEIGHTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "engine/nn/network.h"
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

/* Rows of a product that are said to round alike: row r is of class of[r % period]. */
struct row_pattern {
    size_t period; /* divides block */
    const uint8_t *of;
};

/* Whether products may have several heights. They may only where all layers are dense,
 * one row a record: other networks keep to blocks. */
bool heights_may_differ(const struct network *network);

/* *agree = whether, in every product of every layer at every height that may be
 * answered, the rows of a class hold the same bits, and the same as at the other
 * heights. It is false where heights may not differ. At least two records and 512 outputs
 * of each product are compared. Sums that are cut into unlike trees agree on all of them
 * with chance 2^-120.
 *   ST_NO_MEMORY  no room for tallest rows */
enum status heights_agree(bool *agree, const struct network *network,
                          struct heights heights, struct row_pattern pattern,
                          struct error *error);

#endif
