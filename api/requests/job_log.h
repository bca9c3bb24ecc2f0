/*
 * job_log.h - at which ticks more of a job was shown: blocks of steps that are
 * authorised, evaluations, released quantities. job_log_view.h renders it as lines.
 *
 * It contains nothing that a client could not have read by polling the job at every
 * tick (docs/privacy.md P6): a mark is a tick, in whole seconds, and how much was shown
 * by then. There are at most LIMIT_JOB_MARKS marks.
 *
 * Threads: the caller's lock guards a log.
 */
#ifndef API_REQUESTS_JOB_LOG_H
#define API_REQUESTS_JOB_LOG_H

#include <stddef.h>
#include <stdint.h>

#include "api/json/json_reader.h"
#include "api/json/json_writer.h"
#include "api/limits.h"

struct job_mark {
    int64_t second;            /* of the tick, by the wall clock */
    uint64_t authorised_steps; /* shown by then */
    size_t point_count, released_count;
};

struct job_log { /* zeroed: no marks */
    size_t count, capacity;
    struct job_mark *marks; /* (count), owned, oldest first */
};

void job_log_fini(struct job_log *log);

/* Adds a mark for what is shown from the mark's second on, if it is more
 * than before. */
void job_log_note(struct job_log *log, const struct job_mark *mark);

/* The stored form: [[second,authorised_steps,point_count,released_count],...]. An
 * absent log is read as empty, because earlier versions stored none. */
void job_log_write(struct json_writer *writer, const char *name,
                   const struct job_log *log);
void job_log_read(struct job_log *log, struct json_node node);

#endif
