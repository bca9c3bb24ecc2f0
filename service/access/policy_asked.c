#include "service/access/policy_asked.h"

struct policy_asked policy_asked_of_job(const struct job_plan *plan)
{
    return (struct policy_asked){
        .dataset = &plan->request.dataset,
        .algorithm = plan->request.train.algorithm.algorithm,
        .mechanism = &plan->mechanism,
        .parts = job_plan_parts(plan),
        .measurement = plan->measurement.run_count > 0 ? &plan->measurement : NULL,
        .purchase = plan->purchase.run_count > 0 ? &plan->purchase : NULL,
        .is_private = plan->is_private,
        .epsilon = plan->epsilon_planned,
        .delta = plan->request.delta,
        .measurement_epsilon = plan->request.measurement.epsilon,
        .purchase_epsilon = plan->request.standardise.epsilon,
        .pointer = job_plan_target_pointer(plan),
    };
}
