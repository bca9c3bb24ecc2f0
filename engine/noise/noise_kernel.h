/*
 * noise_kernel.h - the two loops of a chunk (noise_chunk.h) that do arithmetic, several
 * trials at a time, once for each instruction set that is worth one; noise_choice.h has
 * them (noise.md 4.7). All leave the same bits as the portable loops, in the doubles of
 * decisions too, since they do the same operations in the same order.
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
    uint32_t *flagged; /* with room for as many as there are trials */
    double *gap;
    uint64_t *fraction, *magnitude;
    unsigned trials, flags;
};

struct noise_kernel {
    const char *name;

    /* Whether this processor can run the two functions below. */
    bool (*available)(void);

    /* Fills candidate for the first trials, lists those of them that the fast test cannot
     * accept in flagged, in ascending order, and puts into *count how many these are.
     * Returns for how many trials: all of them, rounded down to whole vectors. */
    unsigned (*propose)(const struct noise_lanes *lanes, unsigned *count);

    /* Fills gap, magnitude and fraction for the first decisions, whose V and theta are
     * words [trials, trials + flags) and the flags words behind those. Returns for how
     * many: flags, rounded down to whole vectors. */
    unsigned (*decide)(const struct noise_lanes *lanes);
};

/* What E(x) of noise_chunk.c multiplies by r and adds, behind 1/13!: 1/12! to 1/0!. */
enum { NOISE_KERNEL_TERMS = 13 };
extern const double noise_kernel_terms[NOISE_KERNEL_TERMS];

#endif
