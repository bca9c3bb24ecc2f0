/*
 * webhook_event.h - the events that a webhook may receive, a row each, and the message
 * that is sent for an event.
 *
 * A message is short: what happened, when, to which object, and the object's current
 * state. It contains only what is public, and is sent no sooner than everyone may see
 * it: an event whose time depends on a run is reported from the tick that shows it on
 * (privacy.md P6).
 *
 * To add an event, add a row here, its name in openapi.yaml, and a call of
 * webhooks_tell in the transaction that causes it (service/webhooks/webhooks.h).
 *
 * Threads: pure.
 */
#ifndef API_REQUESTS_WEBHOOK_EVENT_H
#define API_REQUESTS_WEBHOOK_EVENT_H

#include <stdbool.h>
#include <stdint.h>

/* X(symbol, name). The last cannot be subscribed to: :test sends it. */
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
    const char *state; /* the current state */
    double left;       /* BUDGET_LOW: the share of the budget that is left; else 0 */
    int64_t second;    /* of the wall clock */
    const char *traceparent; /* sent with the message; NULL: none */
};

const char *webhook_event_name(enum webhook_event_type type);
/* Returns false, and leaves type untouched, if text names no event that may be
 * subscribed to. */
bool webhook_event_parse(enum webhook_event_type *type, const char *text);

/* Renders {"type","timestamp","id","state"}, and "left" for BUDGET_LOW; to be freed. */
char *webhook_event_render(const struct webhook_event *event);

#endif
