/*
 * residue.h - what clipping cut off, kept between steps and fed back: the error e of
 * DiceSGD, as integers on the grid of the sum (papers/dicesgd.md A2, Eq. 8; grid.h).
 *
 *   back = clip(e, R),  sum = sum of clipped gradients + back,  e = e - back + what the
 *   clipping cut off this step
 *
 * Invariants
 *   (1) clip is the projection onto the ball of radius R, except for a rounding of at
 *       most residue_rounding in norm, whatever is in e: no overflow, no infinity, no
 *       NaN.
 *   (2) Before it, e is projected onto the box [-2^52, 2^52]. Both projections are firmly
 *       non-expansive, which the proof of M2 needs (3.5, inequality (*)).
 *   (3) Squares are added exactly, so their sum does not depend on the order.
 *   (4) e is raw data: whoever holds it zeroes it and shows it to nobody (privacy.md P9).
 *
 * Threads: pure functions of their arguments.
 */
#ifndef ENGINE_DP_RESIDUE_H
#define ENGINE_DP_RESIDUE_H

#include <stddef.h>
#include <stdint.h>

#define RESIDUE_BOX INT64_C(0x10000000000000) /* 2^52: a double holds it exactly */

struct residue_squares {
    uint64_t low, middle, high; /* a sum of squares, 192 bits */
};

/* Projects residue[0..count) onto the box and adds its squares to sum. */
void residue_measure(struct residue_squares *sum, int64_t *residue, size_t count);

void residue_squares_add(struct residue_squares *sum,
                         const struct residue_squares *addend);

/* The share of the residue that comes back: 1, or radius over the norm where that is
 * less.
 *   radius  >= 0, in grid steps */
double residue_share(const struct residue_squares *squares, double radius);

/* back = rint(share residue); sum += back; residue -= back. Each |residue[j]| must be at
 * most 2^52. */
void residue_feed_back(int64_t *sum, int64_t *residue, size_t count, double share);

/* A bound of the norm of back - clip(e, radius) in dim coordinates, in grid steps. */
double residue_rounding(size_t dim, double radius);

#endif
