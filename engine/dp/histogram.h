/*
 * histogram.h - the number of records with a norm in each of a few bins of [0, range).
 * DC-SGD releases it with noise (papers/dcsgd.md 1.3).
 *
 *   bin j = [j w, (j + 1) w), the last one [(bins - 1) w, infinity); w = range / bins
 *
 * Each record adds one to one bin: the counts' sensitivity is 1.
 *
 * Threads: pure.
 */
#ifndef ENGINE_DP_HISTOGRAM_H
#define ENGINE_DP_HISTOGRAM_H

#include <stddef.h>

enum { HISTOGRAM_BINS_MAX = 64 };

struct histogram { /* public: fixed before the batch is drawn */
    size_t bins;   /* in [1, HISTOGRAM_BINS_MAX] */
    double range;  /* > 0, finite */
};

/* The bin of a norm; infinity and NaN belong to the last one. */
size_t histogram_bin(const struct histogram *histogram, double norm);

double histogram_width(const struct histogram *histogram);

/* The middle of a bin. The last one has a middle too, as if it ended at range. */
double histogram_middle(const struct histogram *histogram, size_t bin);

#endif
