#include <stdlib.h>

#include "api/views/job_log_view.h"
#include "service/access/access.h"
#include "service/handlers/handlers.h"
#include "service/http/chain_pages.h"
#include "service/jobs/job.h"
#include "service/jobs/job_changes.h"
#include "service/jobs/jobs.h"
#include "service/process/daemon_state.h"

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
static struct chain_pages *page_of(struct lines *lines,
                                   const struct chain_pages_wanted *wanted)
{
    struct chain_pages *entries = chain_pages_create(wanted);
    for (size_t i = 0; i < lines->count; i++) {
        size_t at = wanted->newest_first ? lines->count - 1 - i : i;
        size_t seq = at + 1;
        bool is_wanted =
            seq > wanted->after && (wanted->before == 0 || seq < wanted->before);
        if (is_wanted && chain_pages_have_room(entries))
            chain_pages_add(entries, seq, lines->texts[at]);
        else
            free(lines->texts[at]);
    }
    return entries;
}

enum status handle_job_logs(struct daemon_state *context, struct request *request,
                            struct error *error)
{
    struct job *job;
    struct chain_pages_wanted wanted;
    const struct access_question question = handler_question(request);
    enum status status =
        access_find_job(context, &question, request->match.id, &job, error);
    if (status == ST_OK)
        status = chain_pages_parse(&wanted, request, error);
    if (status != ST_OK)
        return status;
    struct lines lines = {.job = job};
    jobs_look(context->jobs, render, &lines);
    chain_pages_reply(request, page_of(&lines, &wanted), "log");
    return ST_OK;
}
