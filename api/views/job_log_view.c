#include "api/views/job_log_view.h"

#include "base/check.h"

enum { MS_PER_S = 1000 };

struct lines {
    const struct job_view *view;
    char **texts;
    size_t count;
    struct job_mark shown; /* already in the lines so far */
};

static void begin(const struct lines *lines, struct json_writer *writer,
                  int64_t wall_ms, const char *event)
{
    json_writer_open(writer, JSON_SHOWN);
    json_write_object(writer, NULL);
    json_write_count(writer, "seq", lines->count + 1);
    json_write_time(writer, "time", wall_ms);
    json_write_text(writer, "event", event);
}

static void end(struct lines *lines, struct json_writer *writer)
{
    CHECK(lines->count < LIMIT_JOB_LOG);
    json_write_object_end(writer);
    lines->texts[lines->count++] = json_writer_close(writer);
}

static void add_state(struct lines *lines, int64_t wall_ms, const char *state,
                      const char *reason)
{
    struct json_writer writer;
    begin(lines, &writer, wall_ms, "state");
    json_write_text(&writer, "state", state);
    json_write_text(&writer, "state_reason", reason);
    end(lines, &writer);
}

static void add_authorised(struct lines *lines, int64_t wall_ms, uint64_t steps)
{
    struct json_writer writer;
    begin(lines, &writer, wall_ms, "authorised");
    json_write_count(&writer, "authorised_steps", steps);
    end(lines, &writer);
}

/* Adds lines for everything that the mark shows and earlier marks did not. */
static void add_mark(struct lines *lines, const struct job_mark *mark)
{
    const struct job_view *view = lines->view;
    struct job_mark *shown = &lines->shown;
    int64_t wall_ms = mark->second * MS_PER_S;
    if (mark->authorised_steps > shown->authorised_steps)
        add_authorised(lines, wall_ms, mark->authorised_steps);
    for (; shown->point_count < mark->point_count; shown->point_count++) {
        struct json_writer writer;
        begin(lines, &writer, wall_ms, "evaluation");
        evaluation_point_write(&writer, "evaluation", view->regression,
                               &view->points[shown->point_count]);
        end(lines, &writer);
    }
    for (; shown->released_count < mark->released_count; shown->released_count++) {
        struct json_writer writer;
        begin(lines, &writer, wall_ms, "released");
        released_point_write(&writer, "released", view->released, shown->released_count,
                             true);
        end(lines, &writer);
    }
    *shown = *mark;
}

/* Adds the marks up to second. */
static void add_marks(struct lines *lines, size_t *next, int64_t second)
{
    const struct job_log *log = lines->view->log;
    for (; *next < log->count && log->marks[*next].second <= second; ++*next)
        add_mark(lines, &log->marks[*next]);
}

size_t job_log_render(const struct job_view *view, char *texts[LIMIT_JOB_LOG])
{
    struct lines lines = {.view = view, .texts = texts};
    const struct job_mark all = {.authorised_steps = view->authorised_steps,
                                 .point_count = view->point_count,
                                 .released_count = view->released_count};
    size_t next = 0;
    add_state(&lines, view->create_ms, "QUEUED", NULL);
    if (view->start_ms > 0)
        add_state(&lines, view->start_ms, "RUNNING", NULL);
    if (view->cancel_ms > 0) {
        add_marks(&lines, &next, view->cancel_ms / MS_PER_S);
        add_state(&lines, view->cancel_ms, "CANCELLING", NULL);
    }
    add_marks(&lines, &next, INT64_MAX);
    add_mark(&lines, &all);
    if (view->end_ms > 0)
        add_state(&lines, view->end_ms, view->state, view->state_reason);
    return lines.count;
}
