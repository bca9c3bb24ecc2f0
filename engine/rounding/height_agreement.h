/*
 * height_agreement.h - whether products of several heights (engine/nn/heights.h) round
 * alike in the BLAS at hand (noise.md 2.5).
 *
 * Threads: pure functions of their arguments and of the BLAS that is loaded.
 */
#ifndef ENGINE_ROUNDING_HEIGHT_AGREEMENT_H
#define ENGINE_ROUNDING_HEIGHT_AGREEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "engine/nn/heights.h"
#include "engine/nn/network.h"

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

/* *agree = whether, in every product of block rows of every dense layer, the rows of a
 * class hold the same bits: as many records and outputs are compared. Other layers are
 * left out.
 *   ST_NO_MEMORY  no room for block rows */
enum status dense_rows_agree(bool *agree, const struct network *network, size_t block,
                             struct row_pattern pattern, struct error *error);

#endif
