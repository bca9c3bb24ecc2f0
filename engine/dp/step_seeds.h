/*
 * step_seeds.h - the secrets of a step: one key for its noise, one for who is in its
 * batch, one for what dropout drops, one for which rows of a person it reads, one for which
 * views it takes of a record. Each comes from a source of its own (noise_key.h), so none can
 * be computed from another, and no key serves two steps.
 *
 * Threads: one at a time.
 */
#ifndef ENGINE_DP_STEP_SEEDS_H
#define ENGINE_DP_STEP_SEEDS_H

#include "engine/noise/noise_key.h"

struct step_seeds {
    /* those of the step that was begun last */
    struct noise_key noise, sampling, drop, rows, views;
    struct noise_source *noise_source, *sampling_source, *drop_source, *rows_source,
        *views_source;
};

/* seed is for tests, whose other keys start from some that are derived from it; NULL
 * stands for getrandom. */
void step_seeds_open(struct step_seeds *keys, const struct noise_key *seed);
void step_seeds_close(struct step_seeds *keys); /* a zeroed one is allowed; zeroes */

/* Fresh keys for the next step. */
void step_seeds_next(struct step_seeds *keys);

#endif
