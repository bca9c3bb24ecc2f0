#include "service/jobs/holdout_plan.h"

#include "accountant/pricing/figures.h"
#include "base/status.h"

/* The noise multiplier at which the search starts; never its answer. */
static const double noise_multiplier_start = 1.0;

void holdout_plan_make(struct holdout_plan *plan, const struct holdout_terms *terms,
                       double noise_multiplier)
{
    bool is_regression = terms->schema->task == TASK_REGRESSION;
    mechanism_fini(&plan->mechanism);
    mechanism_init_release(&plan->mechanism, terms->relation, noise_multiplier);
    plan->mechanism.unit = terms->unit;
    plan->quality = (struct quality_plan){
        .classes = is_regression ? 0 : terms->schema->classes,
        .error_clip = terms->error_clip / schema_half_range(terms->schema),
        .relation = terms->relation,
        .records = terms->records,
        .noise_multiplier = noise_multiplier};
}

enum status holdout_plan_price(struct holdout_plan *plan,
                               const struct holdout_terms *terms, struct error *error)
{
    double noise;
    struct grid grid;
    struct error inner = {0};
    holdout_plan_make(plan, terms, noise_multiplier_start);
    enum status status =
        figure_noise(&noise, &plan->mechanism, terms->epsilon, terms->delta, &inner);
    if (status == ST_OK) {
        holdout_plan_make(plan, terms, noise);
        status = quality_grid(&grid, &plan->quality, &inner);
    }
    if (status == ST_OK)
        return ST_OK;
    return error_set_at(error, status, "/evaluation/epsilon", "%s", inner.text);
}

void holdout_plan_fini(struct holdout_plan *plan)
{
    mechanism_fini(&plan->mechanism);
    *plan = (struct holdout_plan){0};
}
