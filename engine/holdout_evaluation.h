/*
 * holdout_evaluation.h - one noisy look at how good a model is, on units that were held
 * out. A team takes each of them through the model, counts what quality_plan.h says,
 * and releases the one vector of counts with noise: nothing else leaves.
 *
 *   released[j] = (sum over the units of what each counts in j + noise) / QUALITY_ONE
 *
 * A person counts by as many rows as they have in a step of the model's training, views of
 * rows among them, drawn as it draws them, each for its part of the person. A record is
 * measured as it is. They take as many rows of the workspace whatever
 * they own.
 *
 * Invariants
 *   (1) Where a record stands in a micro-batch depends on its index alone, so what it counts
 *       is a function of the record, its index and the model (noise.md 2.5).
 *   (2) Between the counts and the noise nothing is kept, logged or returned.
 *   (3) Each call draws keys of its own (getrandom), which are zeroed at the end.
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
#include "engine/dp/stepper.h"
#include "engine/noise/noise_key.h"
#include "engine/parallel/team.h"
#include "engine/quality/quality_plan.h"

struct holdout_evaluation_setup { /* all borrowed for the call */
    const struct quality_plan *plan;
    const struct matrix *matrix; /* the records held out, and no others */
    const float *parameters;
    struct team *team;
    struct stepper *stepper;      /* lends its workspaces */
    const atomic_bool *cancel;    /* or NULL */
    const struct noise_key *seed; /* tests only; NULL: getrandom */
};

/*   released      (quality_counts)
 *   ST_INVALID    the plan is not of these records, or has no grid (quality_grid)
 *   ST_NO_MEMORY  an allocation failed
 *   ST_CANCELLED  the flag was seen: nothing was released */
enum status holdout_evaluation_run(const struct holdout_evaluation_setup *setup,
                                   double *released, struct error *error);

#endif
