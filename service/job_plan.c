#include "service/job_plan.h"

void job_plan_fini(struct job_plan *plan)
{
    job_request_fini(&plan->request);
    mechanism_fini(&plan->mechanism);
    *plan = (struct job_plan){0};
}
