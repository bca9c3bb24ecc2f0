#include <stdlib.h>

#include "api/job_log_view.h"
#include "service/access.h"
#include "service/context.h"
#include "service/entries.h"
#include "service/handlers.h"
#include "service/job.h"
#include "service/job_changes.h"
#include "service/jobs.h"

struct lines { /* of a job's log */
    const struct job *job;
    size_t count;
    char *texts[LIMIT_JOB_LOG]; /* (count), owned */
};

static void render(void *context, const struct changed_jobs *changed)
{
    struct lines *lines = context;
    const struct job_view view = job_view_of(lines->job, &lines->job->now);
    (void)changed;
    lines->count = job_log_render(&view, lines->texts);
}

/* Moves the wanted lines into a page, and frees the others. */
static struct entries *page_of(struct lines *lines, const struct entries_wanted *wanted)
{
    struct entries *entries = entries_create(wanted);
    for (size_t i = 0; i < lines->count; i++) {
        size_t at = wanted->newest_first ? lines->count - 1 - i : i;
        size_t seq = at + 1;
        bool is_wanted =
            seq > wanted->after && (wanted->before == 0 || seq < wanted->before);
        if (is_wanted && entries_have_room(entries))
            entries_add(entries, seq, lines->texts[at]);
        else
            free(lines->texts[at]);
    }
    return entries;
}

enum status handle_job_logs(struct context *context, struct request *request,
                            struct error *error)
{
    struct job *job;
    struct entries_wanted wanted;
    const struct access_question question = access_question_of(request);
    enum status status =
        access_find_job(context, &question, request->match.id, &job, error);
    if (status == ST_OK)
        status = entries_parse(&wanted, request, error);
    if (status != ST_OK)
        return status;
    struct lines lines = {.job = job};
    jobs_look(context->jobs, render, &lines);
    entries_reply(request, page_of(&lines, &wanted), "log");
    return ST_OK;
}
