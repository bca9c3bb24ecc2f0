/*
 * holdout_plan.h - one evaluation on a holdout: what is released, and what it costs. A
 * job's own evaluation and a later evaluation of its model are planned here.
 *
 * Threads: pure.
 */
#ifndef SERVICE_JOBS_HOLDOUT_PLAN_H
#define SERVICE_JOBS_HOLDOUT_PLAN_H

#include <stdint.h>

#include "base/mechanism.h"
#include "engine/data/schema.h"
#include "engine/quality/quality_plan.h"

struct holdout_terms {           /* of the dataset, and of the request */
    const struct schema *schema; /* borrowed */
    enum relation relation;
    enum privacy_unit unit;
    uint64_t records;  /* the units held out */
    double error_clip; /* of a regression, in the label's unit, as resolved */
    double epsilon, delta;
};

struct holdout_plan {           /* zeroed: nothing */
    struct mechanism mechanism; /* owned: one release */
    struct quality_plan quality;
};

/* Makes the plan at this noise; releases what it held. */
void holdout_plan_make(struct holdout_plan *plan, const struct holdout_terms *terms,
                       double noise_multiplier);

/* Makes the plan at the noise that costs the terms' epsilon at their delta.
 *   ST_INVALID  no noise costs that, or the noise has no grid; error->pointer is
 *               "/evaluation/epsilon" */
enum status holdout_plan_price(struct holdout_plan *plan,
                               const struct holdout_terms *terms, struct error *error);

void holdout_plan_fini(struct holdout_plan *plan); /* zeroed: allowed */

#endif
