/*
 * registry.h - the table of training algorithms.
 *
 * Adding an algorithm: one new file in this folder with its struct algorithm, one row
 * in ALGORITHM_TABLE, and `make openapi`, which writes its schema. README.md describes the steps.
 *
 * Threads: constant data.
 */
#ifndef ENGINE_DP_ALGORITHMS_REGISTRY_H
#define ENGINE_DP_ALGORITHMS_REGISTRY_H

#include "engine/dp/algorithm.h"

/* The table, in the order in which the API shows it: a row is the name of an algorithm,
 * which is also the name of its struct. */
#define ALGORITHM_TABLE(ROW)                                                           \
    ROW(dpsgd)                                                                         \
    ROW(adp)                                                                           \
    ROW(dcsgd_p)                                                                       \
    ROW(dcsgd_e)                                                                       \
    ROW(quantile_clip)                                                                 \
    ROW(value_clip)                                                                    \
    ROW(dicesgd)                                                                       \
    ROW(dpgd)                                                                          \
    ROW(boosted_histograms)                                                            \
    ROW(diff2_gd)                                                                      \
    ROW(diff2_bvr_l_sgd)                                                               \
    ROW(sgd)

extern const struct algorithm *const algorithms[]; /* NULL-ended */

/* Returns NULL if no algorithm has that name. */
const struct algorithm *algorithm_find(const char *name);

#endif
