/*
 * transfer.h - one request of the daemon to a foreign server, by libcurl.
 *
 *   create --> run, or added to transfers (transfers.h) --> result --> destroy
 *
 * Invariants
 *   (1) Every address is checked when its socket is opened, and it is the address that
 *       is then connected to: even if the name resolves to another address a moment
 *       later, nothing is sent to an address that host_address.h and the operator's
 *       list do not allow. http goes only to loopback addresses of that list.
 *   (2) Certificates are verified, against the system's authorities or the operator's.
 *       No proxy is used, even if the environment names one, and no netrc.
 *   (3) A redirection is an answer like any other, unless the request follows some;
 *       then each is checked by (1), goes only from https to https, and carries no
 *       credentials.
 *   (4) At most answer_max bytes of an answer are read, and its head is bounded too.
 *       Nothing of it is logged.
 *   (5) A connection serves one request: none is kept.
 *
 * Threads: one at a time. transfer_library_open comes before the first thread.
 */
#ifndef SERVICE_OUTBOUND_TRANSFER_H
#define SERVICE_OUTBOUND_TRANSFER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "service/outbound/host_address.h"

enum { TRANSFER_HEADERS_MAX = 6, TRANSFER_TAG_SIZE = 128 };

struct transfer_rules { /* of the operator; must outlive the transfers */
    struct host_address_list allowed;
    const char *ca_file; /* file of certificates; "": the system's */
};

struct transfer_signature { /* for S3 (AWS Signature Version 4) */
    const char *region, *access_key_id, *secret_access_key;
    const char *session_token; /* NULL: none */
};

struct transfer_request {
    const char *url;                           /* accepted by target_check */
    const char *headers[TRANSFER_HEADERS_MAX]; /* "Name: value"; NULL-ended */
    const char *body;                          /* of a POST; NULL: it is a GET */
    uint64_t answer_max;                       /* bytes of the answer's body */
    int64_t connect_ms;                        /* limit for connecting, */
    int64_t whole_ms;                          /* and for the whole transfer; 0: none */
    int64_t stalled_s;                         /* seconds without a byte; 0: no limit */
    unsigned redirects_max;
    const struct transfer_signature *signature; /* NULL: none */
    unsigned wanted; /* the status of the answer whose body is passed to take */
    /* Takes a piece of that body; false ends the transfer. NULL: bodies are dropped,
     * and more than answer_max of them is no failure. */
    bool (*take)(void *context, const void *data, size_t size);
    /* Gets the size of that body before its first piece, if the answer says it. */
    void (*announced)(void *context, uint64_t size);
    void *context;
    const atomic_bool *cancel; /* NULL: it is never cancelled */
};

enum transfer_end {
    TRANSFER_ANSWERED, /* with any status */
    /* No address that the daemon may connect to accepted the connection. */
    TRANSFER_UNREACHABLE,
    TRANSFER_UNTRUSTED, /* TLS failed: its certificate, or its parameters */
    TRANSFER_TOO_SLOW,
    TRANSFER_TOO_LARGE,  /* than answer_max, or its head */
    TRANSFER_REDIRECTED, /* too often, or to a forbidden address */
    TRANSFER_NOT_HTTP,   /* the peer does not speak HTTP */
    TRANSFER_BROKEN,     /* the connection broke, or the answer is cut short */
    TRANSFER_NOT_TAKEN,  /* take returned false */
    TRANSFER_CANCELLED,
};

struct transfer_result {
    enum transfer_end end;
    unsigned status; /* HTTP status if ANSWERED; else 0 */
};

struct transfer; /* opaque */

/* Initialises libcurl, for the life of the process. */
void transfer_library_open(void);

/* Returns the file of the certificates that servers are verified against: the
 * operator's, or libcurl's own; "" if libcurl has none. */
const char *transfer_authorities(const struct transfer_rules *rules);

/* Copies the request, but borrows its body, context and cancel until the end. */
struct transfer *transfer_create(const struct transfer_rules *rules,
                                 const struct transfer_request *request);
void transfer_destroy(struct transfer *transfer); /* NULL is allowed */

/* Makes the request and waits for its end. */
struct transfer_result transfer_run(struct transfer *transfer);

/* Writes the strong entity tag of the final answer, with its quotes; "": it had none
 * that fits. */
void transfer_tag(const struct transfer *transfer, char tag[TRANSFER_TAG_SIZE]);

/* Returns the name of an end, from a closed list: "answered", "unreachable", ... */
const char *transfer_end_name(enum transfer_end end);

/* For transfers.c: the handle, and the result for libcurl's code. */
void *transfer_handle(struct transfer *transfer);
struct transfer_result transfer_result(const struct transfer *transfer, int code);

#endif
