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
#ifndef SERVICE_JOB_STATE_H
#define SERVICE_JOB_STATE_H

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

/* The reasons of api.md, a closed list, and why a success is shorter than asked. */
enum job_reason {
    REASON_NONE,
    REASON_USER_CANCEL,
    REASON_WORKER_LOST,
    REASON_SHUTDOWN,
    REASON_DIVERGED,
    REASON_NO_MEMORY,
    REASON_NOT_FLOAT_SAFE,  /* floats are not rounded there as its noise needs */
    REASON_DATASET_CORRUPT, /* a matrix is not what its row says */
    REASON_DATASET_ORDER,   /* its parts follow from the order of a file */
    REASON_MODEL_CORRUPT, /* the weights to begin with are gone, or not what they were */
    REASON_CACHE_FULL,    /* what it trains on has no room on this machine */
    REASON_RANK_LOST,     /* one of its processes ended, or was not like the others */
    REASON_INTERNAL,
    REASON_USED_UP, /* it succeeded, and its next step did not fit what was reserved */
};

enum { JOB_REASON_COUNT = REASON_USED_UP + 1 };

struct job_progress {
    uint64_t step, authorised_steps;
    double epsilon_spent;
};

extern const char *const job_state_names[JOB_STATE_COUNT + 1]; /* NULL ends them */
const char *job_state_name(enum job_state state);
/* False, and state is untouched, if text names none. */
bool job_state_parse(enum job_state *state, const char *text);
bool job_state_may_move(enum job_state from, enum job_state to);
bool job_state_is_terminal(enum job_state state);

const char *job_reason_name(enum job_reason reason); /* "" for REASON_NONE */
bool job_reason_parse(enum job_reason *reason, const char *text);

#endif
