/*
 * step_seeds.h - the secrets of a step: one key each for its noise, for sampling its
 * batch, for dropout, for the rows that it reads of a person, and for the views that it
 * takes of a record. Each key comes from its own source (noise_key.h), so none can be
 * computed from another, and no key is used for two steps.
 *
 * Threads: one at a time.
 */
#ifndef ENGINE_DP_STEP_SEEDS_H
#define ENGINE_DP_STEP_SEEDS_H

#include "engine/noise/noise_key.h"

struct step_seeds {
    /* of the step that was begun last */
    struct noise_key noise, sampling, drop, rows, views;
    struct noise_source *noise_source, *sampling_source, *drop_source, *rows_source,
        *views_source;
};

/* seed is for tests: the other sources start from keys that are derived from it. NULL
 * means getrandom. */
void step_seeds_open(struct step_seeds *keys, const struct noise_key *seed);
void step_seeds_close(struct step_seeds *keys); /* a zeroed one is allowed; zeroes */

/* Draws new keys for the next step. */
void step_seeds_next(struct step_seeds *keys);

#endif
