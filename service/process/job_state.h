/*
 * job_state.h - the states of a job, the moves between them, why a job ended, and how
 * far its run has come.
 *
 *   QUEUED ---> RUNNING ----------------> SUCCEEDED, FAILED
 *     |            +----> CANCELLING ---> CANCELLED, SUCCEEDED, FAILED
 *     +---------------------------------> CANCELLED
 *
 * Pure.
 */
#ifndef SERVICE_PROCESS_JOB_STATE_H
#define SERVICE_PROCESS_JOB_STATE_H

#include <stdbool.h>
#include <stdint.h>

enum job_state {
    JOB_QUEUED,
    JOB_RUNNING,
    JOB_CANCELLING,
    JOB_SUCCEEDED,
    JOB_FAILED,
    JOB_CANCELLED,
};

enum { JOB_STATE_COUNT = JOB_CANCELLED + 1 };

/* The reasons of api.md, a closed list, and why a success is shorter than requested. */
enum job_reason {
    REASON_NONE,
    REASON_USER_CANCEL,
    REASON_WORKER_LOST,
    REASON_SHUTDOWN,
    REASON_DIVERGED,
    REASON_NO_MEMORY,
    REASON_NOT_FLOAT_SAFE,  /* floats on that machine do not round as the noise needs */
    REASON_DATASET_CORRUPT, /* a matrix does not match its row */
    REASON_DATASET_ORDER,   /* its parts depend on the order of a file */
    /* The weights to begin with are gone, or have changed. */
    REASON_MODEL_CORRUPT,
    REASON_CACHE_FULL, /* this machine has no room for what it trains on */
    REASON_RANK_LOST,  /* one of its processes ended, or differed from the others */
    REASON_INTERNAL,
    /* It succeeded, and its next step did not fit what was reserved. */
    REASON_USED_UP,
};

enum { JOB_REASON_COUNT = REASON_USED_UP + 1 };

struct job_progress {
    uint64_t step, authorised_steps;
    double epsilon_spent;
};

extern const char *const job_state_names[JOB_STATE_COUNT + 1]; /* NULL ends them */
const char *job_state_name(enum job_state state);
/* Returns false, and leaves state untouched, if text names no state. */
bool job_state_parse(enum job_state *state, const char *text);
bool job_state_may_move(enum job_state from, enum job_state to);
bool job_state_is_terminal(enum job_state state);

const char *job_reason_name(enum job_reason reason); /* "" for REASON_NONE */
bool job_reason_parse(enum job_reason *reason, const char *text);

#endif
