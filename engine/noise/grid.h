/*
 * grid.h - the public plan of a private sum: how the float32 blocks of a clipped sum
 * become integers, and how far one record can move them (noise.md 1 and 2).
 *
 *   G = (s0 / sigma - rho sqrt(d)) / (C (1 + eta)), eta = 2 kappa gamma_b M + 2^-36
 *   sigma (G C (1 + eta) + rho sqrt(d)) <= s0
 *
 * gamma_n is n u / (1 - n u) with u = 2^-24, the relative error of n roundings to
 * float32. The other letters are explained at their members below.
 *
 * For gradients, a record has one term in a sum, and kappa is 1. For differences of
 * gradients, it has float_terms terms, as difference.h says: b = float_terms M, and M_j
 * adds up their norms.
 *
 * The records are cut by index into cells; each cell's sum is one float32 product,
 * rounded onto the grid and added in integers. So a record changes the rounding of its
 * own cell only, and the bound above (Theorem 1) does not grow with the batch. If each
 * record is a cell of its own, M = b = rho = 1 and eta is below 2^-22.
 *
 * Invariants
 *   (1) The noise multiplier on the integers is at least the requested one: the charge
 *       is never below the cost of what is run.
 *   (2) Nothing here reads a record: the whole plan is known before the first record is
 *       read.
 *
 * Threads: pure; a struct grid is constant once planned.
 */
#ifndef ENGINE_NOISE_GRID_H
#define ENGINE_NOISE_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#define GRID_NOISE_STDDEV 0x1p36 /* s0, in grid steps, always */

struct grid_spec {
    double clip_norm;        /* C */
    double noise_multiplier; /* sigma */
    double sampling_rate;    /* q */
    uint64_t records;        /* n */
    uint64_t dim;            /* d */
    uint32_t cell_mean;      /* expected records of a batch in a cell; 128 by default */
    bool single;             /* each record is a cell of its own: M = 1 */
    uint32_t terms_max;      /* b: terms of one float32 product; 0: the whole cell's */
    uint32_t float_terms;    /* terms of a record in a sum; 0 and 1: one */
    double spread;           /* kappa: 1 if every sum has one term a record */
};

struct grid {
    double scale;          /* G: grid steps per unit */
    double multiplier;     /* s0 / Delta_Z, rounded down; at least sigma. Delta_Z is how
                            * far one record can move the integers, as a norm */
    double inflation;      /* eta */
    uint64_t records, dim; /* n, d */
    uint64_t cells;
    uint32_t cell_rows_max; /* M: exceeded with probability <= 2^-128 a cell and step */
    uint32_t terms_max;     /* b */
    uint32_t roundings;     /* rho: number of products a cell needs */
};

/*   ST_INVALID  a spec that noise.md 1 refuses; *out is unchanged */
enum status grid_plan(struct grid *out, const struct grid_spec *spec,
                      struct error *error);

/* Returns M, how many records of a batch a cell of the spec holds except with
 * probability 2^-128. The spec's rate, records and cell_mean are ones that grid_plan
 * accepts. */
uint64_t grid_cell_bound(const struct grid_spec *spec);

/* Returns whether each record is a cell of its own. */
static inline bool grid_is_single(const struct grid *grid)
{
    return grid->cells == grid->records;
}

/* *out = whole with the clip norm clip_norm; whole must have been planned for clip norm
 * 1:
 *   G' = G / clip_norm, rounded down
 * Cells and multiplier stay unchanged: G' clip_norm <= G, and all of the plan's bounds,
 * except for the clip norm's own range, depend only on that product and the records.
 * clip_norm must be in [2^-40, 2^60]. */
void grid_rescale(struct grid *out, const struct grid *whole, double clip_norm);

/* A plan for counts of records, in which each record adds one to at most one counter, or
 * subtracts one from it.
 * As G is an integer, nothing is rounded, and Delta_Z = G.
 *   counts  counters
 *   batch   expected records
 *   ST_INVALID  noise_multiplier is not in [2^-10, 2^26], or too small for the batch */
struct count_grid_spec {
    double noise_multiplier, batch;
    uint64_t records, counts;
};
enum status grid_plan_counts(struct grid *out, const struct count_grid_spec *spec,
                             struct error *error);

/* The first index of a cell; cell = grid->cells gives n. */
uint64_t grid_cell_start(const struct grid *grid, uint64_t cell);

/* sum[j] += rint(clamp(block[j] G, -2^50, 2^50)), modulo 2^64, ties to even, NaN as 0.
 * The result does not depend on the order of calls. */
void grid_add(const struct grid *grid, int64_t *sum, const float *block, size_t count);

#endif
