#include "service/process/job_state.h"

#include <stddef.h>
#include <string.h>

const char *const job_state_names[JOB_STATE_COUNT + 1] = {
    [JOB_QUEUED] = "QUEUED",         [JOB_RUNNING] = "RUNNING",
    [JOB_CANCELLING] = "CANCELLING", [JOB_SUCCEEDED] = "SUCCEEDED",
    [JOB_FAILED] = "FAILED",         [JOB_CANCELLED] = "CANCELLED",
};

static const char *const reason_names[] = {
    [REASON_NONE] = "",
    [REASON_USER_CANCEL] = "user_cancel",
    [REASON_WORKER_LOST] = "worker_lost",
    [REASON_SHUTDOWN] = "shutdown",
    [REASON_DIVERGED] = "diverged",
    [REASON_NO_MEMORY] = "no_memory",
    [REASON_DATASET_CORRUPT] = "dataset_corrupt",
    [REASON_DATASET_ORDER] = "dataset_order",
    [REASON_MODEL_CORRUPT] = "model_corrupt",
    [REASON_NOT_FLOAT_SAFE] = "not_float_safe",
    [REASON_CACHE_FULL] = "cache_full",
    [REASON_RANK_LOST] = "rank_lost",
    [REASON_INTERNAL] = "internal",
    [REASON_USED_UP] = "used_up",
};
enum { REASON_COUNT = sizeof reason_names / sizeof *reason_names };

#define TO(state) (1u << (state))
static const unsigned moves[] = {
    [JOB_QUEUED] = TO(JOB_RUNNING) | TO(JOB_CANCELLED),
    [JOB_RUNNING] = TO(JOB_CANCELLING) | TO(JOB_SUCCEEDED) | TO(JOB_FAILED),
    [JOB_CANCELLING] = TO(JOB_CANCELLED) | TO(JOB_SUCCEEDED) | TO(JOB_FAILED),
    [JOB_SUCCEEDED] = 0,
    [JOB_FAILED] = 0,
    [JOB_CANCELLED] = 0,
};

/* The index of text among names; count if it is none of them. */
static size_t name_index(const char *const *names, size_t count, const char *text)
{
    size_t i = 0;
    while (i < count && strcmp(text, names[i]) != 0)
        i++;
    return i;
}

const char *job_state_name(enum job_state state)
{
    return job_state_names[state];
}

bool job_state_parse(enum job_state *state, const char *text)
{
    size_t i = name_index(job_state_names, JOB_STATE_COUNT, text);
    if (i == JOB_STATE_COUNT)
        return false;
    *state = (enum job_state)i;
    return true;
}

bool job_state_may_move(enum job_state from, enum job_state to)
{
    return (moves[from] & TO(to)) != 0;
}

bool job_state_is_terminal(enum job_state state)
{
    return moves[state] == 0;
}

const char *job_reason_name(enum job_reason reason)
{
    return reason_names[reason];
}

bool job_reason_parse(enum job_reason *reason, const char *text)
{
    size_t i = name_index(reason_names, REASON_COUNT, text);
    if (i == REASON_COUNT)
        return false;
    *reason = (enum job_reason)i;
    return true;
}
