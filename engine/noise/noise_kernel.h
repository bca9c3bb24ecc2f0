/*
 * noise_kernel.h - the two loops of a chunk (noise_chunk.h) that do arithmetic, several
 * trials at a time, with one kernel for each useful instruction set; noise_choice.h
 * lists them (noise.md 4.7). All give the same bits as the portable loops, in the
 * doubles of decisions too, because they do the same operations in the same order.
 *
 * Threads: as noise_chunk.h.
 */
#ifndef ENGINE_NOISE_NOISE_KERNEL_H
#define ENGINE_NOISE_NOISE_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/noise/noise_table.h"

/* A chunk's arrays, as noise_chunk.h names them. */
struct noise_lanes {
    const struct noise_table *table;
    const uint64_t *words;
    uint64_t *candidate;
    uint32_t *flagged; /* (trials) */
    double *gap;
    uint64_t *fraction, *magnitude;
    unsigned trials, flags;
};

struct noise_kernel {
    const char *name;

    /* Returns whether this processor can run the two functions below. */
    bool (*available)(void);

    /* Fills candidate for the first trials, lists those that the fast test cannot
     * accept in flagged, in ascending order, and sets *count to their number. Returns
     * the number of trials done: all, rounded down to whole vectors. */
    unsigned (*propose)(const struct noise_lanes *lanes, unsigned *count);

    /* Fills gap, magnitude and fraction for the first decisions, whose V and theta are
     * words [trials, trials + flags) and the flags words after those. Returns the
     * number of decisions done: flags, rounded down to whole vectors. */
    unsigned (*decide)(const struct noise_lanes *lanes);
};

/* The coefficients of E(x) in noise_chunk.c after 1/13!: 1/12! to 1/0!. */
enum { NOISE_KERNEL_TERMS = 13 };
extern const double noise_kernel_terms[NOISE_KERNEL_TERMS];

#endif
