#include "service/jobs/job_eta.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/requests/model_request.h"
#include "service/jobs/job.h"
#include "service/jobs/job_facts.h"

enum { MS_PER_S = 1000 };

/* Counts rows: each person of a batch counts the same number of rows, however many the
 * person owns, and each record counts once per view that a step takes of it. */
static double examples_of(const struct job_plan *plan)
{
    const struct train_spec *train = &plan->request.train;
    return (double)train->steps * (double)train->batch_size *
           (double)train_spec_unit_rows(train);
}

/* Returns whether both train the same model in the same way on the same records. */
static bool is_alike(const struct job_plan *plan, const struct job *job,
                     const char *model)
{
    const struct job_request *request = &plan->request;
    if (strcmp(request->dataset.text, job_dataset(job)->text) != 0 ||
        request->train.algorithm.algorithm != job_algorithm(job) ||
        job_check(job, NULL) != ST_OK ||
        train_spec_ranks(&request->train) !=
            train_spec_ranks(&job_plan(job)->request.train))
        return false;
    char *text = model_spec_render(&job_plan(job)->request.train.model);
    bool same = strcmp(text, model) == 0;
    free(text);
    return same;
}

struct look {
    const struct job *job;
    struct job_now now; /* the job's state, as shown */
};

static void read_now(void *context, const struct changed_jobs *changed)
{
    struct look *look = context;
    (void)changed;
    look->now = look->job->now;
}

/* Seconds that the job ran; 0 if it has not succeeded, or was deleted. A job that began
 * and ended within the same second counts as 1. */
static int64_t seconds_of(struct jobs *jobs, const struct job *job)
{
    struct look look = {.job = job};
    jobs_look(jobs, read_now, &look);
    int64_t seconds = (look.now.end_ms - look.now.start_ms) / MS_PER_S;
    bool counts = look.now.state == JOB_SUCCEEDED && !atomic_load(&job->removed);
    return !counts ? 0 : seconds > 1 ? seconds : 1;
}

uint64_t job_eta_seconds(struct jobs *jobs, const struct job_plan *plan)
{
    uint64_t found = 0;
    size_t place = jobs_count(jobs);
    char *model = model_spec_render(&plan->request.train.model);
    for (int i = 0; i < JOB_ETA_LOOKED_AT && place-- > 0 && found == 0; i++) {
        const struct job *job = jobs_at(jobs, place);
        int64_t seconds = seconds_of(jobs, job);
        if (seconds > 0 && is_alike(plan, job, model))
            found = (uint64_t)ceil((double)seconds * examples_of(plan) /
                                   examples_of(job_plan(job)));
    }
    free(model);
    return found;
}
