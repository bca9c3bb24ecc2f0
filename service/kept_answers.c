#include "service/kept_answers.h"

#include "service/job.h"

/* Makes room for job: the oldest place of the ring becomes its own. */
static void enter(struct kept_answers *kept, struct job *job)
{
    struct job **oldest = &kept->jobs[kept->next];
    if (*oldest != NULL) {
        job_answer_drop((*oldest)->answer);
        (*oldest)->answer = NULL;
    }
    *oldest = job;
    kept->next = (kept->next + 1) % ANSWERS_KEPT;
}

void kept_answers_put(struct kept_answers *kept, struct job *job,
                      struct job_answer *answer_take)
{
    if (job->answer == NULL)
        enter(kept, job);
    job_answer_drop(job->answer);
    job->answer = answer_take;
}
