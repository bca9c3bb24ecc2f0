/*
 * fault.h - the list of all faults of a request, not only the first.
 *
 * A parser records its first fault in the struct error, as all functions do. If the
 * caller provides a list (error->faults), the parser also records every fault that it
 * finds there.
 *
 *   struct faults faults = {0};
 *   struct error error = {.faults = &faults};
 *   job_request_parse(&request, json_text_sized(body, size), &error);
 *
 * Ownership: the list is the caller's and must outlive the error.
 */
#ifndef API_JSON_FAULT_H
#define API_JSON_FAULT_H

#include <stddef.h>
#include <stdint.h>

#include "api/limits.h"
#include "base/status.h"

/* The closed list of kinds of faults at one place: symbol, `code` in a response. */
#define FAULT_LIST(X)                                                                  \
    X(MALFORMED, "malformed")       /* the text is not JSON */                         \
    X(UNKNOWN, "unknown")           /* no such member or parameter */                  \
    X(REPEATED, "repeated")         /* it occurs a second time */                      \
    X(MISSING, "missing")           /* it is required */                               \
    X(WRONG_TYPE, "wrong_type")     /* for instance a text instead of a number */      \
    X(OUT_OF_RANGE, "out_of_range") /* a number or a length beyond its limits */       \
    X(INVALID, "invalid")           /* any other invalid value */

enum fault_kind {
#define X(symbol, wire) FAULT_##symbol,
    FAULT_LIST(X)
#undef X
};

struct fault {
    enum fault_kind kind;
    char pointer[sizeof((struct error *)NULL)->pointer]; /* as in struct error */
    char text[sizeof((struct error *)NULL)->text];
    uint64_t line, column; /* of a body that is a table, from 1; 0: none */
};

struct faults {
    size_t count; /* the number of entries of list that are set */
    struct fault list[LIMIT_FAULTS];
};

/* Returns the kind's name in a response, which is static text. */
const char *fault_wire(enum fault_kind kind);

/* Records a fault: in error, if it is the first, and in its list of faults, if there is
 * one with room. The error is then ST_INVALID. NULL is allowed. */
enum status fault_add(struct error *error, const struct fault *fault);

#endif
