#include "service/runs/run_result.h"

#include <stdlib.h>

#include "base/check.h"
#include "service/jobs/job_table.h"

struct run_result *run_result_create(void)
{
    struct run_result *ending = calloc(1, sizeof *ending);
    CHECK(ending != NULL);
    return ending;
}

void run_result_destroy(struct run_result *ending)
{
    if (ending == NULL)
        return;
    publication_fini(&ending->model);
    free(ending);
}

void job_hand_over(struct jobs *jobs, struct job *job, struct run_result *ending_take)
{
    pthread_rwlock_wrlock(&jobs->lock);
    CHECK(job->ending == NULL);
    job->ending = ending_take;
    pthread_rwlock_unlock(&jobs->lock);
}

struct run_result *job_ending_take(struct jobs *jobs, struct job *job)
{
    pthread_rwlock_wrlock(&jobs->lock);
    struct run_result *ending = job->ending;
    job->ending = NULL;
    pthread_rwlock_unlock(&jobs->lock);
    return ending;
}
