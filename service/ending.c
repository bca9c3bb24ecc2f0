#include "service/ending.h"

#include <stdlib.h>

#include "base/check.h"
#include "service/job_table.h"

struct ending *ending_create(void)
{
    struct ending *ending = calloc(1, sizeof *ending);
    CHECK(ending != NULL);
    return ending;
}

void ending_destroy(struct ending *ending)
{
    if (ending == NULL)
        return;
    publication_fini(&ending->model);
    free(ending);
}

void job_hand_over(struct jobs *jobs, struct job *job, struct ending *ending_take)
{
    pthread_rwlock_wrlock(&jobs->lock);
    CHECK(job->ending == NULL);
    job->ending = ending_take;
    pthread_rwlock_unlock(&jobs->lock);
}

struct ending *job_ending_take(struct jobs *jobs, struct job *job)
{
    pthread_rwlock_wrlock(&jobs->lock);
    struct ending *ending = job->ending;
    job->ending = NULL;
    pthread_rwlock_unlock(&jobs->lock);
    return ending;
}
