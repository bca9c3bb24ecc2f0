/*
 * system_view.h - what the program answers about itself: its algorithms, its version,
 * and how it is doing.
 */
#ifndef API_SYSTEM_VIEW_H
#define API_SYSTEM_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "accountant/ledger.h"

/* Renders {"algorithms":[...]} of GET /v1/algorithms: every row of engine/dp's table with
 * the JSON Schema of its parameters. To be freed. */
char *algorithms_render(void);

struct status_view {
    const char *version;
    bool ready, draining;
    size_t state_count;
    const char *const *states; /* (state_count) names */
    const size_t *jobs;        /* (state_count) how many there are in each */
    size_t workers, queue_length, queue_length_max;
    const struct ledger_entry_name *head;
    int64_t start_ms;
};
/* Renders GET /v1/status: "version","ready","draining","jobs" {state: count},"workers",
 * "queue" {"length","limit"},"ledger" {"seq","hash"},"start_time". To be freed. */
char *status_render(const struct status_view *view);

struct readiness { /* what decides whether the service takes work, and what limits it */
    bool writable; /* the ledger is */
    bool room;     /* there is room on the disk for uploads, imports and jobs */
    bool draining;
};
/* Renders GET /readyz?verbose: {"status","ledger","chain","disk","draining"}, a word each.
 * The chain of a process that serves was verified at its start. */
char *readiness_render(const struct readiness *readiness);

/* Renders what a client may rely on: version, API, formats, kernel. To be freed. */
char *version_render(const char *version, const char *kernel);

#endif
