#include "api/requests/job_log.h"

#include <stdlib.h>

#include "base/check.h"

enum { MARK_MEMBERS = 4 };

void job_log_fini(struct job_log *log)
{
    free(log->marks);
    *log = (struct job_log){0};
}

static void append(struct job_log *log, const struct job_mark *mark)
{
    if (log->count == log->capacity) {
        log->capacity = log->capacity == 0 ? 8 : 2 * log->capacity;
        log->marks = reallocarray(log->marks, log->capacity, sizeof *log->marks);
        CHECK(log->marks != NULL);
    }
    log->marks[log->count++] = *mark;
}

static bool is_more(const struct job_mark *mark, const struct job_mark *last)
{
    return mark->authorised_steps > last->authorised_steps ||
           mark->point_count > last->point_count ||
           mark->released_count > last->released_count;
}

void job_log_note(struct job_log *log, const struct job_mark *mark)
{
    static const struct job_mark none = {0};
    const struct job_mark *last = log->count > 0 ? &log->marks[log->count - 1] : &none;
    if (log->count < LIMIT_JOB_MARKS && is_more(mark, last))
        append(log, mark);
}

/* --- as stored --- */

void job_log_write(struct json_writer *writer, const char *name,
                   const struct job_log *log)
{
    json_write_array(writer, name);
    for (size_t i = 0; i < log->count; i++) {
        json_write_array(writer, NULL);
        json_write_count(writer, NULL, (uint64_t)log->marks[i].second);
        json_write_count(writer, NULL, log->marks[i].authorised_steps);
        json_write_count(writer, NULL, log->marks[i].point_count);
        json_write_count(writer, NULL, log->marks[i].released_count);
        json_write_array_end(writer);
    }
    json_write_array_end(writer);
}

void job_log_read(struct job_log *log, struct json_node node)
{
    if (!json_present(node))
        return;
    size_t count = json_read_array(node, 0, LIMIT_JOB_MARKS);
    for (size_t i = 0; i < count; i++) {
        struct json_node mark = json_element(&node, i);
        json_read_array(mark, MARK_MEMBERS, MARK_MEMBERS);
        append(log, &(struct job_mark){
                        (int64_t)json_read_count(json_element(&mark, 0), 0, INT64_MAX),
                        json_read_count(json_element(&mark, 1), 0, INT64_MAX),
                        json_read_count(json_element(&mark, 2), 0, LIMIT_HISTORY),
                        json_read_count(json_element(&mark, 3), 0, LIMIT_HISTORY)});
    }
}
