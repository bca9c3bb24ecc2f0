#include "service/job_events.h"

#include "api/event_view.h"
#include "service/context.h"
#include "service/job.h"
#include "service/job_changes.h"

enum { POINTS_MAX = 16 }; /* of a batch, of either kind: at most 2 kB each */

/* --- versions and cursors --- */

struct question { /* what is asked of a job under the lock */
    const struct job *job;
    uint64_t version; /* of the cursor that is asked for */
    uint64_t newest;
    bool is_terminal;
    struct event_cursor cursor;
};

static void answer(void *context, const struct changed_jobs *changed)
{
    struct question *question = context;
    const struct job *job = question->job;
    (void)changed;
    question->newest = job->changes.any;
    question->is_terminal = job_state_is_terminal(job->now.state);
    question->cursor = (struct event_cursor){
        .begun = question->version <= job->changes.any,
        .version = question->version,
        .points = job_changes_points(job, question->version),
        .released = job_changes_released(job, question->version),
    };
}

static uint64_t version_of(const struct event_feed *feed)
{
    struct question question = {.job = feed->job};
    jobs_look(feed->context->jobs, answer, &question);
    return question.newest;
}

struct event_cursor job_events_cursor(const struct event_feed *feed, const char *id,
                                      bool *ended)
{
    struct question question = {.job = feed->job};
    *ended = false;
    if (!event_id_parse(&question.version, id, feed->context->nonce))
        return (struct event_cursor){0};
    jobs_look(feed->context->jobs, answer, &question);
    *ended = question.is_terminal && question.version == question.newest;
    return question.cursor.begun ? question.cursor : (struct event_cursor){0};
}

/* --- composing --- */

struct composing {
    const struct event_feed *feed;
    const struct event_cursor *from;
    struct event_writer writer;
    struct job_view view;
    struct event_cursor to;
    bool is_last;
};

/* Writes the next points of either kind. Answers whether these were all that there are. */
static bool write_points(struct composing *composing)
{
    const struct job_view *view = &composing->view;
    struct event_cursor *to = &composing->to;
    for (size_t i = 0; i < POINTS_MAX && to->points < view->point_count; i++)
        event_write(&composing->writer, "evaluation",
                    event_evaluation_render(view, to->points++));
    for (size_t i = 0; i < POINTS_MAX && to->released < view->released_count; i++)
        event_write(
            &composing->writer, "released",
            event_released_render(view, to->released++, composing->feed->histograms));
    return to->points == view->point_count && to->released == view->released_count;
}

static void write_changes(struct composing *composing, const struct job *job)
{
    if (job->changes.progress > composing->from->version)
        event_write(&composing->writer, "progress",
                    event_progress_render(&composing->view));
    if (job->changes.state > composing->from->version)
        event_write(&composing->writer, "state", event_state_render(&composing->view));
    if (job_changes_otherwise(job, composing->from->version))
        event_write(&composing->writer, "change",
                    event_change_render(&composing->view));
}

/* Writes what is newer, and the end behind all of it. A part of the points has no id:
 * whoever goes on from the id before reads it again. */
static void write_news(void *context, const struct changed_jobs *changed)
{
    struct composing *composing = context;
    const struct job *job = composing->feed->job;
    struct event_writer *writer = &composing->writer;
    (void)changed;
    composing->view = job_view_of(job, &job->now);
    composing->to = *composing->from;
    if (!composing->from->begun)
        event_write(writer, "snapshot", job_render(&composing->view));
    else if (!write_points(composing))
        return;
    else
        write_changes(composing, job);
    bool ended = job_state_is_terminal(job->now.state);
    if (ended)
        event_write(writer, "end", event_end_render(&composing->view));
    /* Another daemon may have ended and deleted it between two looks. */
    composing->is_last = ended || atomic_load(&job->removed);
    composing->to = (struct event_cursor){
        .begun = true,
        .version = job->changes.any,
        .points = composing->view.point_count,
        .released = composing->view.released_count,
    };
    if (writer->open)
        event_write_id(writer, composing->feed->context->nonce, composing->to.version);
}

static struct event_batch *compose(const struct event_feed *feed,
                                   const struct event_key *key)
{
    size_t size;
    struct composing composing = {.feed = feed, .from = &key->from};
    event_writer_open(&composing.writer);
    jobs_look(feed->context->jobs, write_news, &composing);
    char *text = event_writer_close(&composing.writer, &size);
    struct event_batch *batch = event_batch_create(key, text, size);
    batch->to = composing.to;
    batch->is_last = composing.is_last;
    return batch;
}

struct event_feed job_events_feed(struct context *context, struct job *job,
                                  bool histograms)
{
    static const struct event_feed_kind kind = {version_of, compose};
    return (struct event_feed){.kind = &kind,
                               .context = context,
                               .job = job,
                               .histograms = histograms,
                               .subject = job,
                               .order = job->place};
}
