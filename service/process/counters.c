#include "service/process/counters.h"

static void count(atomic_uint_fast64_t *counter)
{
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

/* Returns whether the answer denies the sender access: an unknown key, one without the
 * scope, or one that has tried too often. */
static bool is_not_let_in(unsigned http_status)
{
    return http_status == 401 || http_status == 403 || http_status == 429;
}

void counters_answer(struct counters *counters, const struct answer *answer)
{
    size_t place = answer->route != NULL ? route_index(answer->route) : ROUTE_COUNT;
    unsigned at = answer->http_status - COUNTED_STATUS_MIN;
    if (at < COUNTED_STATUSES)
        count(&counters->answers[place][at]);
    if (answer->duration_ns >= 0)
        durations_add(&counters->answer_time, answer->duration_ns);
    if (is_not_let_in(answer->http_status))
        count(&counters->not_let_in[answer->status]);
}

void counters_refuse_job(struct counters *counters, enum status status)
{
    count(&counters->jobs_refused[status]);
}

void counters_end(struct counters *counters, enum job_state state,
                  enum job_reason reason)
{
    count(&counters->ended[state][reason]);
}

void counters_attempt(struct counters *counters, enum delivery_retry_state state)
{
    count(&counters->attempts[state]);
}
