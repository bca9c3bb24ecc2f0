/*
 * error_memory.h - the part of the gradients that clipping cut off, kept between steps
 * and fed back: the error e of DiceSGD, as integers on the grid of the sum
 * (papers/dicesgd.md A2, Eq. 8; grid.h).
 *
 *   back = clip(e, R),  sum = sum of clipped gradients + back,  e = e - back + what the
 *   clipping cut off this step
 *
 * Invariants
 *   (1) clip is the projection onto the ball of radius R, except for a rounding of at
 *       most error_memory_rounding in norm, for any e: no overflow, no infinity, no
 *       NaN.
 *   (2) Before that, e is projected onto the box [-2^52, 2^52]. Both projections are
 *       firmly non-expansive, which the proof of M2 needs (3.5, inequality (*)).
 *   (3) Squares are added exactly, so their sum does not depend on the order.
 *   (4) e is raw data: its owner zeroes it and never reveals it (privacy.md P9).
 *
 * Threads: pure functions of their arguments.
 */
#ifndef ENGINE_DP_ERROR_MEMORY_H
#define ENGINE_DP_ERROR_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#define ERROR_MEMORY_BOX INT64_C(0x10000000000000) /* 2^52: a double holds it exactly */

struct error_memory_squares {
    uint64_t low, middle, high; /* a sum of squares, 192 bits */
};

/* Projects memory[0..count) onto the box and adds its squares to sum. */
void error_memory_measure(struct error_memory_squares *sum, int64_t *memory,
                          size_t count);

void error_memory_squares_add(struct error_memory_squares *sum,
                              const struct error_memory_squares *addend);

/* The share of the error memory that is fed back: 1, or radius over the norm if that is
 * less.
 *   radius  >= 0, in grid steps */
double error_memory_share(const struct error_memory_squares *squares, double radius);

/* back = rint(share memory); sum += back; memory -= back. Each |memory[j]| must be at
 * most 2^52. */
void error_memory_feedback(int64_t *sum, int64_t *memory, size_t count, double share);

/* A bound of the norm of back - clip(e, radius) in dim coordinates, in grid steps. */
double error_memory_rounding(size_t dim, double radius);

#endif
