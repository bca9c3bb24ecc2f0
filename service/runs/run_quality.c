#include "service/runs/run_quality.h"

#include <stdlib.h>

#include "accountant/ledger/ledger_view.h"
#include "accountant/pricing/figures.h"
#include "api/views/quality_view.h"
#include "base/check.h"
#include "service/datasets/datasets.h"
#include "service/jobs/job_facts.h"
#include "service/process/daemon_state.h"

char *run_quality_text(struct daemon_state *context, const struct job *job,
                       const double *released)
{
    const struct job_plan *plan = job_plan(job);
    const struct job_id id = job_evaluation_id(job_id(job));
    const struct schema *schema =
        &dataset_spec(datasets_find(context->datasets, plan->request.dataset.text))
             ->schema;
    char *mechanism = mechanism_render(&plan->measurement);
    struct quality_view view = {
        .plan = &plan->quality,
        .released = released,
        .unit = plan->request.train.unit,
        .epsilon = plan->request.measurement.epsilon,
        .delta = plan->request.delta,
        .mechanism = mechanism,
        .half_range = schema_half_range(schema),
    };
    CHECK(ledger_reservation(context->ledger, &id, &view.reserve));
    char *text = quality_render(&view);
    free(mechanism);
    return text;
}
