/*
 * system_view.h - the program's description of itself in API responses: its algorithms,
 * its version, and its state.
 */
#ifndef API_VIEWS_SYSTEM_VIEW_H
#define API_VIEWS_SYSTEM_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "accountant/ledger/ledger.h"

/* Renders {"algorithms":[...]} of GET /v1/algorithms: every row of engine/dp's table
 * with the JSON Schema of its parameters. To be freed. */
char *algorithms_render(void);

struct dataset_counts { /* not deleted; of those that the client may see */
    size_t protected_ones, public_ones, waiting; /* waiting: for a second person */
};

struct status_view {
    const char *version;
    bool ready, draining;
    size_t state_count;
    const char *const *states; /* (state_count) names */
    const size_t *jobs;        /* (state_count) number of jobs in each */
    struct dataset_counts datasets;
    size_t workers, queue_length, queue_length_max;
    const struct ledger_entry_name *head;
    int64_t start_ms;
};
/* Renders GET /v1/status: "version","ready","draining","jobs" {state: count},"datasets"
 * {"private","public","waiting"},"workers","queue" {"length","limit"},"ledger"
 * {"seq","hash"},"start_time". To be freed. */
char *status_render(const struct status_view *view);

struct readiness { /* whether the service accepts work, and what prevents it */
    bool writable; /* whether the ledger is writable */
    bool room;     /* whether the disk has room for uploads, imports and jobs */
    bool draining;
};
/* Renders GET /readyz?verbose: {"status","ledger","chain","disk","draining"}, a
 * word each. A serving process verified the chain when it started. */
char *readiness_render(const struct readiness *readiness);

/* Renders the version, API, formats and kernel, on which a client may rely. To
 * be freed. */
char *version_render(const char *version, const char *kernel);

#endif
