/*
 * cached_response.h - the answer to a request for a job: its JSON text, and ready
 * responses of libmicrohttpd around it. It is composed once for each version of the
 * job, and shared by all requests for that version.
 *
 * Invariants
 *   (1) Only the number of holders of an answer changes, and the last holder to drop it
 *       frees it. A response that is being sent lives on until it is sent.
 *   (2) The gzip form (compression.h) is an answer of its own. It is made at the first
 *       request for it, and kept with the answer of the plain text.
 *
 * Threads: any.
 */
#ifndef SERVICE_HTTP_CACHED_RESPONSE_H
#define SERVICE_HTTP_CACHED_RESPONSE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { JOB_TAG_SIZE = 48 };

struct MHD_Response;

struct cached_response {
    atomic_uint holders;
    uint64_t version;
    bool terminal;                     /* whether the state that it shows is terminal */
    bool is_packed;                    /* by gzip */
    char tag[JOB_TAG_SIZE];            /* ETag: a digest of the text, with its quotes */
    size_t size;                       /* bytes of text, without its end */
    const char *text;                  /* JSON, or its gzip form; found owns it */
    struct MHD_Response *found;        /* 200, with every header but X-Request-Id */
    struct MHD_Response *not_modified; /* 304, with the same headers */
    _Atomic(struct cached_response *) packed; /* held; NULL: no request for it yet */
};

/* Composes the answer; the caller holds it. All daemons that show the same job give it
 * the same tag, also after a restart. */
struct cached_response *cached_response_create(char *text_take, uint64_t version,
                                               bool terminal);

/* Adds a hold. The caller holds the answer already, or has the lock that guards a
 * holder. */
struct cached_response *cached_response_hold(struct cached_response *answer);
void cached_response_drop(void *answer); /* NULL is allowed */

/* Exchanges the caller's hold of the answer for a hold of its gzip form, and returns
 * that; returns the answer itself if compression does not pay. */
struct cached_response *cached_response_packed(struct cached_response *answer_take);

/* Make a response like found or not_modified for this caller only, so that headers may
 * be added. */
struct MHD_Response *cached_response_found(struct cached_response *answer);
struct MHD_Response *cached_response_not_modified(const struct cached_response *answer);

#endif
