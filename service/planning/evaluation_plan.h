/*
 * evaluation_plan.h - makes the request to evaluate a published model into its plan:
 * which records are read, what is released, and what it costs.
 *
 *   on a public dataset   every record, exactly, free: the dataset is usable only if no
 *                         private dataset of its owner holds the same records
 *   on a holdout          one noisy release (holdout_plan.h), charged to the holdout of
 *                         that dataset, for each request
 *
 * Threads: the write queue's.
 */
#ifndef SERVICE_PLANNING_EVALUATION_PLAN_H
#define SERVICE_PLANNING_EVALUATION_PLAN_H

#include "api/requests/evaluation_request.h"
#include "service/access/policy.h"
#include "service/jobs/holdout_plan.h"
#include "service/jobs/statistics_runs.h"

struct request;

struct evaluation_plan {               /* zeroed: nothing yet */
    struct model_evaluation_kept kept; /* as requested, and resolved */
    struct dataset_id id;              /* of the dataset that is read */
    const struct dataset *dataset;
    struct holdout_plan holdout; /* owned; empty if it is free */
    struct model_evaluation evaluation;
};

/* Completes the plan from the request's path and body.
 *   ST_NOT_FOUND          there is no such model or dataset, it was deleted, or the
 *                         principal may not see it
 *   ST_FORBIDDEN          the principal may submit nothing, or read no models
 *   ST_POLICY_VIOLATION   the policy of the principal's key does not allow it
 *   ST_DATASET_PRIVATE    a dataset named as public is private
 *   ST_DATASET_PUBLIC     a dataset named for its holdout is public
 *   ST_INVALID            the body; a dataset of another schema than the model's; one
 *                         without a holdout; an epsilon that no noise costs
 *   ST_INTERNAL           the row of the model's job was damaged
 *   others                as usable_dataset.h says
 * error->pointer names the member at fault. */
enum status evaluation_plan_make(struct daemon_state *context,
                                 const struct request *request,
                                 struct evaluation_plan *plan, struct error *error);
void evaluation_plan_fini(struct evaluation_plan *plan);

/* Describes the plan for the checks of a policy; the result borrows from it. */
struct policy_asked evaluation_plan_asked(const struct evaluation_plan *plan);

#endif
