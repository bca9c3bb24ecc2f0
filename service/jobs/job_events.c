#include "service/jobs/job_events.h"

#include "api/views/event_view.h"
#include "service/jobs/job.h"
#include "service/jobs/job_changes.h"
#include "service/jobs/jobs.h"
#include "service/process/daemon_state.h"

enum { POINTS_MAX = 16 }; /* per batch, of each kind: at most 2 kB each */

/* --- versions and cursors --- */

/* A job moves from one stage to the next, or skips some. */
enum stage { STAGE_QUEUED, STAGE_RUNNING, STAGE_CANCELLING, STAGE_ENDED };

static uint64_t stage_of(const struct job *job)
{
    switch (job->now.state) {
    case JOB_QUEUED: return STAGE_QUEUED;
    case JOB_RUNNING: return STAGE_RUNNING;
    case JOB_CANCELLING: return STAGE_CANCELLING;
    case JOB_SUCCEEDED:
    case JOB_FAILED:
    case JOB_CANCELLED: break;
    }
    return STAGE_ENDED;
}

struct question { /* what is read of a job under the lock */
    const struct job *job;
    uint64_t version; /* of the cursor in the request; 0: the cursor is from another
                         start */
    struct event_mark mark;
    uint64_t newest;
    bool has_ended;
    struct event_cursor cursor;
};

/* For a cursor that this process gave out, versions say what has come after it. */
static struct event_cursor own_cursor(const struct question *question)
{
    const struct job *job = question->job;
    return (struct event_cursor){
        .begun = question->version <= job->changes.any,
        .version = question->version,
        .points = job_changes_points(job, question->version),
        .released = job_changes_released(job, question->version),
        .step = question->mark.step,
        .stage = question->mark.stage,
    };
}

/* For a cursor from another start or daemon: points are found by their number, and
 * everything else is sent again. */
static struct event_cursor foreign_cursor(const struct question *question)
{
    return (struct event_cursor){
        .begun = true,
        .version = question->job->changes.any - 1,
        .points = question->mark.points,
        .released = question->mark.released,
        .step = question->mark.step,
        .stage = question->mark.stage,
        .anew = true,
    };
}

/* Returns whether the follower has read everything, and nothing more will come. */
static bool has_ended(const struct question *question)
{
    const struct job *job = question->job;
    const struct event_mark *mark = &question->mark;
    if (!job_state_is_terminal(job->now.state))
        return false;
    if (question->version > 0)
        return question->version == job->changes.any;
    return mark->stage == STAGE_ENDED && mark->points >= job->now.made.point_count &&
           mark->released >= job->now.made.released_count;
}

static void answer(void *context, const struct changed_jobs *changed)
{
    struct question *question = context;
    (void)changed;
    question->newest = question->job->changes.any;
    question->has_ended = has_ended(question);
    question->cursor =
        question->version > 0 ? own_cursor(question) : foreign_cursor(question);
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
    if (!event_mark_parse(&question.mark, &question.version, id, feed->context->nonce))
        return (struct event_cursor){0};
    jobs_look(feed->context->jobs, answer, &question);
    *ended = question.has_ended;
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

/* Writes the next points of either kind. Returns whether these were all the points. */
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
    return to->points >= view->point_count && to->released >= view->released_count;
}

/* Never sends anything older than what was sent: another daemon may have shown more
 * than this one knows yet. */
static void write_changes(struct composing *composing, const struct job *job)
{
    const struct event_cursor *from = composing->from;
    bool progress = from->anew || job->changes.progress > from->version;
    bool state = from->anew || job->changes.state > from->version;
    if (progress && composing->view.step >= from->step)
        event_write(&composing->writer, "progress",
                    event_progress_render(&composing->view));
    if (state && stage_of(job) >= from->stage)
        event_write(&composing->writer, "state", event_state_render(&composing->view));
    if (from->anew || job_changes_otherwise(job, from->version))
        event_write(&composing->writer, "change",
                    event_change_render(&composing->view));
}

static uint64_t greater(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* The cursor behind all that is shown, and never before the old cursor. */
static struct event_cursor cursor_behind(const struct composing *composing,
                                         const struct job *job)
{
    const struct event_cursor *from = composing->from;
    return (struct event_cursor){
        .begun = true,
        .version = job->changes.any,
        .points = greater(from->points, composing->view.point_count),
        .released = greater(from->released, composing->view.released_count),
        .step = greater(from->step, composing->view.step),
        .stage = greater(from->stage, stage_of(job)),
    };
}

static void write_id(struct composing *composing)
{
    const struct event_cursor *to = &composing->to;
    const struct event_mark mark = {to->points, to->released, to->step, to->stage};
    if (composing->writer.open)
        event_write_mark(&composing->writer, composing->feed->context->nonce,
                         to->version, &mark);
}

/* Writes what is newer, and the end event after all of it. A partial batch of points
 * has no id: a follower that goes on from the id before reads the batch again. */
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
    composing->to = cursor_behind(composing, job);
    write_id(composing);
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

struct event_feed job_events_feed(struct daemon_state *context, struct job *job,
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
