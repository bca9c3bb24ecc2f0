/*
 * evaluation_plan.h - makes the request to evaluate a published model into its plan:
 * which records are read, what is released, and what it costs.
 *
 *   on a public dataset   every record, exactly, free: the dataset is usable only if no
 *                         private dataset of its owner holds the same records
 *   on a holdout          one noisy release (holdout_plan.h), charged to the holdout of
 *                         that dataset, for each request
 *
 * Threads: the write queue's, and a pricer's for an estimate.
 */
#ifndef SERVICE_PLANNING_EVALUATION_PLAN_H
#define SERVICE_PLANNING_EVALUATION_PLAN_H

#include "api/requests/evaluation_request.h"
#include "service/access/policy.h"
#include "service/jobs/holdout_plan.h"
#include "service/jobs/statistics_runs.h"

struct daemon_state;
struct principal;

struct evaluation_plan {               /* zeroed: nothing yet */
    struct model_evaluation_kept kept; /* as requested, and resolved */
    struct dataset_id id;              /* of the dataset that is read */
    const struct dataset *dataset;
    const struct dataset_spec *trained_on; /* of the model */
    const struct job_request *trained;     /* the request of its job; borrowed */
    struct holdout_plan holdout;           /* owned; empty if it is free */
    struct model_evaluation evaluation;
};

/* Begins the plan with the model of that id.
 *   ST_NOT_FOUND  there is no such model, it was deleted, or the principal may not see
 *                 it
 *   ST_FORBIDDEN  the principal may read no models
 *   ST_INTERNAL   the row of the model's job was damaged */
enum status evaluation_plan_begin(struct daemon_state *context,
                                  const struct principal *principal, const char *id,
                                  struct evaluation_plan *plan, struct error *error);

/* Completes the plan from what is asked.
 *   ST_NOT_FOUND          there is no such dataset, it was deleted, or the principal may
 *                         not see it
 *   ST_FORBIDDEN          the principal may submit nothing
 *   ST_POLICY_VIOLATION   the policy of the principal's key does not allow it
 *   ST_DATASET_PRIVATE    a dataset named as public is private
 *   ST_DATASET_PUBLIC     a dataset named for its holdout is public
 *   ST_JOB_TOO_LARGE      it would take more memory than a job may
 *   ST_INVALID            a dataset of another schema than the model's; one without a
 *                         holdout; an epsilon that no noise costs
 *   others                as usable_dataset.h says
 * error->pointer names the member at fault. */
enum status evaluation_plan_make(struct daemon_state *context,
                                 const struct principal *principal,
                                 const struct model_evaluation_request *asked,
                                 struct evaluation_plan *plan, struct error *error);
void evaluation_plan_fini(struct evaluation_plan *plan);

/* Describes the plan for the checks of a policy; the result borrows from it. */
struct policy_asked evaluation_plan_asked(const struct evaluation_plan *plan);

#endif
