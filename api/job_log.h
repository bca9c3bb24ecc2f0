/*
 * job_log.h - at which ticks more was shown of a job: blocks of steps that are
 * authorised, evaluations, released quantities. job_log_view.h makes lines of it.
 *
 * Whoever asked for the job at every tick has read all of it (docs/privacy.md P6): a mark
 * is a tick, in whole seconds, and how much was shown by then. There are at most
 * LIMIT_JOB_MARKS of them.
 *
 * Threads: the caller's lock guards a log.
 */
#ifndef API_JOB_LOG_H
#define API_JOB_LOG_H

#include <stddef.h>
#include <stdint.h>

#include "api/json_reader.h"
#include "api/json_writer.h"
#include "api/limits.h"

struct job_mark {
    int64_t second;            /* of the wall clock, of the tick */
    uint64_t authorised_steps; /* shown by then */
    size_t point_count, released_count;
};

struct job_log { /* zeroed: no marks */
    size_t count, capacity;
    struct job_mark *marks; /* (count), owned, oldest first */
};

void job_log_fini(struct job_log *log);

/* Notes what is shown from the mark's second on, where that is more than before. */
void job_log_note(struct job_log *log, const struct job_mark *mark);

/* As stored: [[second,authorised_steps,point_count,released_count],...]. What is absent
 * is read as none, for earlier versions kept none. */
void job_log_write(struct json_writer *writer, const char *name,
                   const struct job_log *log);
void job_log_read(struct job_log *log, struct json_node node);

#endif
