/*
 * counters.h - what is counted while the daemon serves, for metrics.h. All counters
 * start at 0 with the process.
 *
 * What may be counted, and when
 *   (1) Acts of clients, as they happen: answers, refusals, connections. A client's act
 *       is public, and so is its time.
 *   (2) Ends of jobs, in the transaction that makes them known: at a tick, or at a
 *       client's own cancellation.
 *   (3) How long an answer took, only for routes whose row says .timed
 *       (api/http/routes.h) and only if it did not wait for a change. Those are
 *       answered from memory, and the locks that they take are held for microseconds.
 *       Three kinds of answers are not timed: those that may wait for the store or the
 *       ledger, because a run holds these while it authorises steps, at a moment that
 *       depends on its records (tick_clock.h); those that read an upload, because their
 *       duration depends on how large a private file is; and predictions, because their
 *       rows are only their sender's.
 *   (4) How long the commits of registrations and submissions took, from the moment at
 *       which the transaction was held to the moment at which it was on disk. They
 *       write what a client asked for, public numbers. Waiting for the transaction is
 *       not included, for the same reason as in (3). Authorisations and settlements are
 *       not measured, not even counted: the number of authorisations between two ticks
 *       is progress.
 *   (5) Attempts to deliver to webhooks. The first follows a tick or a client's act,
 *       and how it ends depends on the receiver.
 * Load shows in (3) and (4), as it does to anyone who times requests: privacy.md P6
 * leaves that outside the promise.
 *
 * Threads: any.
 */
#ifndef SERVICE_PROCESS_COUNTERS_H
#define SERVICE_PROCESS_COUNTERS_H

#include <stdatomic.h>
#include <stdint.h>

#include "api/http/routes.h"
#include "service/process/delivery_retry.h"
#include "service/process/durations.h"
#include "service/process/job_state.h"

enum {
    COUNTED_STATUS_MIN = 100, /* of HTTP */
    COUNTED_STATUSES = 500,
};

struct counters { /* zeroed: nothing has happened */
    /* By the index of the route, the last one for requests without a route, and by HTTP
     * status. Most pages of this array are never touched. */
    atomic_uint_fast64_t answers[ROUTE_COUNT + 1][COUNTED_STATUSES];
    atomic_uint_fast64_t jobs_refused[STATUS_COUNT]; /* submissions, by code */
    atomic_uint_fast64_t not_let_in[STATUS_COUNT];   /* requests, by code */
    atomic_uint_fast64_t ended[JOB_STATE_COUNT][JOB_REASON_COUNT];
    atomic_uint_fast64_t attempts[DELIVERY_RETRY_STATE_COUNT];
    atomic_uint_fast64_t connections; /* open now */
    struct durations answer_time, commit_time;
};

/* The answer to a request. */
struct answer {
    const struct route *route; /* NULL: no route has its path */
    unsigned http_status;
    enum status status;  /* ST_OK if it is no problem */
    int64_t duration_ns; /* below 0: must not be counted */
};

/* Counts an answer that is about to be sent. */
void counters_answer(struct counters *counters, const struct answer *answer);

/* Counts a submission that is refused. */
void counters_refuse_job(struct counters *counters, enum status status);

/* Counts a job that has ended. */
void counters_end(struct counters *counters, enum job_state state,
                  enum job_reason reason);

/* Counts an attempt to deliver, by the state of the delivery after it. */
void counters_attempt(struct counters *counters, enum delivery_retry_state state);

#endif
