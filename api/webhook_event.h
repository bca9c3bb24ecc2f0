/*
 * webhook_event.h - what a webhook may be told of, a row each, and the message in which
 * it is told.
 *
 * A message is thin: what happened, when, to which thing, and the state it has now. It
 * says nothing that is not public, and nothing sooner than everybody may see it: what the
 * timing of a run decides is told from the tick that shows it on (privacy.md P6).
 *
 * Another event is a row here, its name in openapi.yaml, and a call of webhooks_tell in
 * the transaction that makes it happen (service/webhooks.h).
 *
 * Threads: pure.
 */
#ifndef API_WEBHOOK_EVENT_H
#define API_WEBHOOK_EVENT_H

#include <stdbool.h>
#include <stdint.h>

/* X(symbol, name): the last is not subscribed to, but asked for by :test. */
#define WEBHOOK_EVENT_LIST(X)                                                          \
    X(JOB_SUCCEEDED, "job.succeeded")                                                  \
    X(JOB_FAILED, "job.failed")                                                        \
    X(JOB_CANCELLED, "job.cancelled")                                                  \
    X(DATASET_IMPORTED, "dataset.imported")                                            \
    X(BUDGET_LOW, "budget.low")                                                        \
    X(BUDGET_EXHAUSTED, "budget.exhausted")                                            \
    X(GRANT_PENDING, "grant.pending")                                                  \
    X(GRANT_APPROVED, "grant.approved")                                                \
    X(SWEEP_ENDED, "sweep.ended")                                                      \
    X(SWEEP_CANCELLED, "sweep.cancelled")                                              \
    X(TEST, "webhook.test")

enum webhook_event_type {
#define X(symbol, name) EVENT_##symbol,
    WEBHOOK_EVENT_LIST(X)
#undef X
};

enum { WEBHOOK_EVENT_TYPES = EVENT_TEST + 1 };

struct webhook_event {
    enum webhook_event_type type;
    const char *id;    /* of the job, sweep, dataset, grant or webhook */
    const char *state; /* that it has now */
    double left;    /* of BUDGET_LOW: the share of the budget that it fell to; else 0 */
    int64_t second; /* of the wall clock */
    const char *traceparent; /* that is sent beside the message; NULL: none */
};

const char *webhook_event_name(enum webhook_event_type type);
/* False, and type is untouched, where text names no event that may be subscribed to. */
bool webhook_event_parse(enum webhook_event_type *type, const char *text);

/* Answers {"type","timestamp","id","state"}, and "left" of BUDGET_LOW; to be freed. */
char *webhook_event_render(const struct webhook_event *event);

#endif
