/*
 * problem.h - failures as application/problem+json (RFC 9457) and their HTTP numbers
 * (api.md 5: the closed list).
 */
#ifndef API_VIEWS_PROBLEM_H
#define API_VIEWS_PROBLEM_H

#include <stdbool.h>

#include "accountant/ledger/ledger.h"
#include "accountant/pricing/curve.h"
#include "base/status.h"
#include "engine/data/readers/import.h"

/* Returns the HTTP status of an outcome, which is 200 for ST_OK. */
unsigned problem_http_status(enum status status);

/* Returns the seconds for Retry-After, or 0 if the header is not sent. */
unsigned problem_retry_after(enum status status);

struct problem { /* contents of a problem body beyond the error; all optional */
    const char *instance;                 /* request id */
    const struct import_failure *failure; /* import_failed: the file and the position */
    bool has_room; /* 409 about a budget: the figures below are set */
    double largest_epsilon;
    bool has_most_steps; /* false: steps differ, and most_steps is null */
    uint64_t most_steps;
    const struct curve *needed;     /* on g1 */
    const double *available;        /* (LEDGER_WEIGHTED) capacity - committed - held */
    const double *available_orders; /* (LEDGER_WEIGHTED) the orders that carry weight */
    const char *policy;  /* policy_violation: the member of the key's policy, */
    double policy_limit; /* and its value; NaN if it is not a number */
    const struct import_report *report; /* import_failed: all faults; NULL: not shown */
};

/* Renders a problem, to be freed:
 *  {"type":"urn:epsilond:problem:CODE","title","status","detail","instance","code",
 *   "retryable","advice","errors":[{"pointer","parameter","detail","code"}]}
 * A fault of a table has "line", and "column" if it is in a cell.
 * "errors" are those of error->faults, or the error itself if it has a pointer. The
 * members that problem sets follow: "file","line","column","reason";
 * "report" as in import_report_view.h;
 * "largest_epsilon", "most_steps","orders","needed","available", the last three
 * aligned, null if infinite or without weight; "policy","limit". problem NULL: nothing
 * beyond the error. */
char *problem_render(const struct error *error, const struct problem *problem);

#endif
