/*
 * prefix_run.h - opens the frozen layers that a survey measures the features behind, for
 * moments that a job with such layers buys.
 *
 * Threads: the survey's.
 */
#ifndef SERVICE_RUNS_PREFIX_RUN_H
#define SERVICE_RUNS_PREFIX_RUN_H

#include "engine/scaled_prefix.h"
#include "service/planning/initial_weights.h"

struct daemon_state;
struct statistics_run;

struct prefix_run { /* zeroed: nothing is open */
    struct scaled_prefix *layers;
    struct moments_source source;
    struct initial_weights weights; /* if the layers' weights are in a file */
};

/* Makes the survey's moments read the features behind its layers. On failure some may be
 * open: prefix_run_close must be called in any case.
 *   ST_MODEL_CORRUPT  the weights are gone, or have changed
 *   ST_DISK_FULL, ST_CANCELLED, ST_INTERNAL  as initial_weights_find
 *   ST_NO_MEMORY, ST_NOT_FLOAT_SAFE          as scaled_prefix_open */
enum status prefix_run_open(struct prefix_run *run, struct daemon_state *context,
                            struct statistics_run *survey, struct error *error);
void prefix_run_close(struct prefix_run *run, const struct daemon_state *context);

#endif
