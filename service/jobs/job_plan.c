#include "service/jobs/job_plan.h"

#include <math.h>

#include "base/check.h"

enum parts job_plan_parts(const struct job_plan *plan)
{
    return division_parts(&plan->division) > 1 ? PARTS_TRAIN : PARTS_UNNAMED;
}

enum status job_plan_figure(const struct job_plan *plan, uint64_t steps,
                            struct figure *figure, struct error *error)
{
    double delta = plan->request.delta;
    switch (plan->request.accountant) {
    case ACCOUNTANT_RDP:
        return figure_epsilon(figure, &plan->mechanism, steps, delta, error);
    case ACCOUNTANT_PLD:
        return figure_epsilon_pld(figure, &plan->mechanism, steps, delta, error);
    }
    return error_set(error, ST_INVALID, "no such accountant");
}

/* Fewer steps never cost more, so the whole job's figure bounds that of every
 * prefix. */
double job_plan_spent(const struct job_plan *plan, uint64_t steps)
{
    struct figure figure = {0};
    if (steps == 0)
        return 0;
    CHECK(figure_epsilon(&figure, &plan->mechanism, steps, plan->request.delta, NULL) ==
          ST_OK);
    return fmin(figure.epsilon, plan->epsilon_planned);
}

const char *job_plan_target_pointer(const struct job_plan *plan)
{
    switch (plan->request.target) {
    case TARGET_NONE: return "/privacy";
    case TARGET_EPSILON: return "/privacy/epsilon";
    case TARGET_NOISE_MULTIPLIER: return "/privacy/noise_multiplier";
    case TARGET_BUDGET_FRACTION: return "/privacy/budget_fraction";
    }
    return "/privacy";
}

struct holdout_terms job_plan_holdout_terms(const struct job_plan *plan,
                                            const struct schema *schema,
                                            uint64_t held_out)
{
    const struct job_request *request = &plan->request;
    return (struct holdout_terms){.schema = schema,
                                  .relation = request->train.relation,
                                  .unit = request->train.unit,
                                  .records = held_out,
                                  .error_clip = request->measurement.error_clip,
                                  .epsilon = request->measurement.epsilon,
                                  .delta = request->delta};
}

void job_plan_measure(struct job_plan *plan, const struct schema *schema,
                      uint64_t held_out, double noise_multiplier)
{
    struct holdout_plan holdout = {0};
    const struct holdout_terms terms = job_plan_holdout_terms(plan, schema, held_out);
    mechanism_fini(&plan->measurement);
    if (!plan->request.measurement.is_asked)
        return;
    holdout_plan_make(&holdout, &terms, noise_multiplier);
    plan->measurement = holdout.mechanism;
    plan->quality = holdout.quality;
}

void job_plan_fini(struct job_plan *plan)
{
    mechanism_fini(&plan->purchase);
    mechanism_fini(&plan->measurement);
    job_request_fini(&plan->request);
    mechanism_fini(&plan->mechanism);
    sweep_run_fini(&plan->sweep);
    *plan = (struct job_plan){0};
}
