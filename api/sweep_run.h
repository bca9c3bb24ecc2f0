/*
 * sweep_run.h - which run of which sweep a job is; stored with the job, so that a sweep is
 * there as long as its runs are, and needs nothing kept beside them.
 *
 * Ownership: owns its settings.
 */
#ifndef API_SWEEP_RUN_H
#define API_SWEEP_RUN_H

#include <stdint.h>

#include "base/id.h"

struct json_node;
struct json_writer;

struct sweep_run { /* zeroed: of none */
    struct sweep_id id;
    uint64_t run, runs; /* which, from 0, and of how many */
    double epsilon; /* all runs together, composed at the grant's delta; 0: public */
    char *settings; /* what this run has of its own: a JSON object, a JSON pointer
                           into the job each, and its value */
};

void sweep_run_fini(struct sweep_run *run); /* a zeroed one is allowed */

/* Writes it as an object, and reads it back; a node that is not there leaves it zeroed. */
void sweep_run_write(struct json_writer *writer, const char *name,
                     const struct sweep_run *run);
void sweep_run_read(struct sweep_run *run, struct json_node node);

#endif
