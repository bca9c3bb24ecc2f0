/*
 * fault.h - everything that is wrong with a request, and not only what was found first.
 *
 * A parser records its first fault in the struct error, as all functions do; a caller who
 * gives room for more (error->faults) finds there all that the parser found.
 *
 *   struct faults faults = {0};
 *   struct error error = {.faults = &faults};
 *   job_request_parse(&request, body, size, &error);
 *
 * Ownership: the room is the caller's and must outlive the error.
 */
#ifndef API_FAULT_H
#define API_FAULT_H

#include <stddef.h>

#include "api/limits.h"
#include "base/status.h"

/* This is the closed list of what can be wrong with one place: symbol, `code` of an
 * answer. */
#define FAULT_LIST(X)                                                                  \
    X(MALFORMED, "malformed")       /* what stands there is not JSON */                \
    X(UNKNOWN, "unknown")           /* no such member or parameter */                  \
    X(REPEATED, "repeated")         /* it stands there a second time */                \
    X(MISSING, "missing")           /* it is required */                               \
    X(WRONG_TYPE, "wrong_type")     /* a text where a number is meant, and so on */    \
    X(OUT_OF_RANGE, "out_of_range") /* a number or a length beyond its limits */       \
    X(INVALID, "invalid")           /* anything else that cannot stand there */

enum fault_kind {
#define X(symbol, wire) FAULT_##symbol,
    FAULT_LIST(X)
#undef X
};

struct fault {
    enum fault_kind kind;
    char pointer[sizeof((struct error *)NULL)->pointer]; /* as in struct error */
    char text[sizeof((struct error *)NULL)->text];
};

struct faults {
    size_t count; /* the first so many of list are set */
    struct fault list[LIMIT_FAULTS];
};

/* Answers the kind's name in an answer, which is static text. */
const char *fault_wire(enum fault_kind kind);

/* Records a fault: in error, if it is the first, and in its room for more, if it has any
 * left. The error is then ST_INVALID. NULL is allowed. */
enum status fault_add(struct error *error, const struct fault *fault);

#endif
