#include "service/jobs/response_cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "service/http/cached_response.h"
#include "service/jobs/job.h"

/* Gives job the oldest place of the ring. Returns the job that had the place, or
 * NULL. */
static struct job *enter(struct kept_jobs *kept, struct job *job)
{
    struct job **oldest = &kept->jobs[kept->next];
    struct job *before = *oldest;
    *oldest = job;
    kept->next = (kept->next + 1) % ANSWERS_KEPT;
    return before;
}

/* --- answers --- */

static bool is_answered(const struct job *job)
{
    return job->answer != NULL && job->answer->version == job->now.version;
}

struct cached_response *response_cache_find(const struct job *job)
{
    return is_answered(job) ? cached_response_hold(job->answer) : NULL;
}

struct cached_response *response_cache_make(struct response_cache *kept,
                                            struct job *job)
{
    if (is_answered(job))
        return cached_response_hold(job->answer);
    struct job *before = job->answer == NULL ? enter(&kept->answers, job) : NULL;
    if (before != NULL) {
        cached_response_drop(before->answer);
        before->answer = NULL;
    }
    struct job_view view = job_view_of(job, &job->now);
    cached_response_drop(job->answer);
    job->answer = cached_response_create(job_render(&view), job->now.version,
                                         job_state_is_terminal(job->now.state));
    return cached_response_hold(job->answer);
}

/* --- lines --- */

static char *copy(const char *text)
{
    char *copied = strdup(text);
    CHECK(copied != NULL);
    return copied;
}

static bool has_line(const struct job *job)
{
    return job->line != NULL && job->line_version == job->now.version;
}

char *kept_line_find(const struct job *job)
{
    return has_line(job) ? copy(job->line) : NULL;
}

char *kept_line_make(struct response_cache *kept, struct job *job)
{
    if (has_line(job))
        return copy(job->line);
    struct job *before = job->line == NULL ? enter(&kept->lines, job) : NULL;
    if (before != NULL) {
        free(before->line);
        before->line = NULL;
    }
    struct job_view view = job_view_of(job, &job->now);
    free(job->line);
    job->line = job_summary_render(&view);
    job->line_version = job->now.version;
    return copy(job->line);
}
