/*
 * sweep_run.h - the sweep that a job belongs to, and its run in it. It is stored with
 * the job, so that a sweep exists as long as its runs do, and needs no other storage.
 *
 * Ownership: owns its settings.
 */
#ifndef API_REQUESTS_SWEEP_RUN_H
#define API_REQUESTS_SWEEP_RUN_H

#include <stdint.h>

#include "base/id.h"

struct json_node;
struct json_writer;

struct sweep_run { /* zeroed: not part of a sweep */
    struct sweep_id id;
    uint64_t run, runs; /* index from 0, and number of runs */
    double epsilon; /* of all runs together, composed at the grant's delta; 0: public */
    char *settings; /* of this run: a JSON object, each member a JSON pointer into the
                     * job and its value */
};

void sweep_run_fini(struct sweep_run *run); /* a zeroed one is allowed */

/* Write it as an object, and read it back. If the node is absent, the run
 * stays zeroed. */
void sweep_run_write(struct json_writer *writer, const char *name,
                     const struct sweep_run *run);
void sweep_run_read(struct sweep_run *run, struct json_node node);

#endif
