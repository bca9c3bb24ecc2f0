/*
 * holdout_evaluation.h - one noisy measurement of a model's quality, on units that were
 * held out. A team runs each of them through the model, counts what quality_plan.h
 * defines, and releases the vector of counts with noise. Nothing else is released.
 *
 *   released[j] = (sum over the units of what each counts in j + noise) / QUALITY_ONE
 *
 * A person counts with the same number of rows as in a step of the model's training,
 * including views of rows, drawn in the same way; each row counts for its part of the
 * person. A record is measured as it is. A person takes the same number of rows of the
 * workspace however many rows they own.
 *
 * Invariants
 *   (1) The place of a record in a micro-batch depends only on its index, so its counts
 *       are a function of the record, its index and the model (noise.md 2.5).
 *   (2) Counts without noise are not kept, logged or returned.
 *   (3) Each call draws its own keys (getrandom), which are zeroed at the end.
 *
 * The result does not depend on the number of threads: counts are whole numbers.
 *
 * Threads: one caller.
 */
#ifndef ENGINE_HOLDOUT_EVALUATION_H
#define ENGINE_HOLDOUT_EVALUATION_H

#include <stdatomic.h>

#include "base/status.h"
#include "engine/data/matrix.h"
#include "engine/nn/workspace.h"
#include "engine/noise/noise_key.h"
#include "engine/parallel/team.h"
#include "engine/quality/quality_plan.h"

struct holdout_evaluation_setup { /* all borrowed for the call */
    const struct quality_plan *plan;
    const struct matrix *matrix; /* the records held out, and no others */
    const float *parameters;
    struct team *team;
    struct workspace *const *workspaces; /* (team_size) a member uses its own */
    const atomic_bool *cancel;           /* or NULL */
    const struct noise_key *seed;        /* tests only; NULL: getrandom */
};

/* The bytes of the counts and outputs of one thread, with workspaces of this many
 * rows. */
size_t holdout_evaluation_size(const struct quality_plan *plan, size_t rows);

/*   released      (quality_counts)
 *   ST_INVALID    the plan is not of these records, or has no grid (quality_grid)
 *   ST_NO_MEMORY  an allocation failed
 *   ST_CANCELLED  the flag was seen: nothing was released */
enum status holdout_evaluation_run(const struct holdout_evaluation_setup *setup,
                                   double *released, struct error *error);

#endif
