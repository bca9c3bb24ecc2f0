/*
 * problem.h - failures as application/problem+json (RFC 9457) and their HTTP numbers
 * (api.md 5: the closed list).
 */
#ifndef API_PROBLEM_H
#define API_PROBLEM_H

#include <stdbool.h>

#include "accountant/curve.h"
#include "accountant/ledger.h"
#include "base/status.h"
#include "engine/data/readers/import.h"

/* Answers the HTTP status of an outcome, which is 200 for ST_OK. */
unsigned problem_http_status(enum status status);

/* Answers the seconds for Retry-After, or 0 where the header is not sent. */
unsigned problem_retry_after(enum status status);

struct problem {          /* what a problem body says beyond the error; all optional */
    const char *instance; /* request id */
    const struct import_failure *failure; /* import_failed: the file and the place */
    bool has_room;                        /* a budget's 409 says the rest, too */
    double largest_epsilon;
    bool has_most_steps; /* false: steps differ, and it is null */
    uint64_t most_steps;
    const struct curve *needed;     /* on g1 */
    const double *available;        /* (LEDGER_WEIGHTED) capacity - committed - held */
    const double *available_orders; /* (LEDGER_WEIGHTED) the orders that carry weight */
    const char *policy;  /* policy_violation: the member of the key's policy, */
    double policy_limit; /* and its value; NaN where it is no number */
};

/* {"type":"urn:epsilond:problem:CODE","title","status","detail","instance","code",
 *  "retryable","advice","errors":[{"pointer","parameter","detail","code"}]}: those of
 *  error->faults, or the error itself where it is of a place; then what problem has:
 *  "file","line","column","reason"; "largest_epsilon","most_steps","orders","needed",
 *  "available", the last three aligned, null where infinite or without weight; "policy",
 *  "limit".
 * problem NULL: nothing beyond the error. To be freed. */
char *problem_render(const struct error *error, const struct problem *problem);

#endif
