/*
 * framing.h - finds where each request of a connection begins and ends. Bytes are
 * checked before they are passed to the HTTP library. A byte sequence that could be
 * read in two ways is not passed.
 *
 *     HEAD --no body--> HEAD
 *      | \--Content-Length--> BODY --its last byte--> HEAD
 *      |
 *      +--chunked--> CHUNK --size--> DATA --> DATA_END --> CHUNK
 *                      \-----0-----> LAST --> HEAD
 *
 *     HEAD, CHUNK, DATA_END, LAST --what has two readings--> REFUSED, for good
 *
 * Invariants
 *   (1) A head passes whole, and only after all of it was checked.
 *   (2) After a refusal nothing passes any more. The library is given framing_stand_in
 *       instead, so that it asks us for the response: a head of our own, or the end of
 *       a chunked body.
 *
 * Pure.
 */
#ifndef API_HTTP_FRAMING_H
#define API_HTTP_FRAMING_H

#include <stddef.h>
#include <stdint.h>

#include "api/http/request_head.h"
#include "base/status.h"

enum framing_state {
    FRAMING_HEAD,
    FRAMING_BODY,
    FRAMING_CHUNK,    /* the line with a chunk's size: only digits */
    FRAMING_DATA,     /* a chunk */
    FRAMING_DATA_END, /* the end of line after it */
    FRAMING_LAST,     /* the end of line after the chunk of size 0: no trailers */
    FRAMING_REFUSED,
};

struct framing {
    enum framing_state state;
    struct request_head head; /* being read */
    uint64_t left;            /* bytes of the body or chunk that are still to come */
    /* begun so far; after a refusal, the last is the refused request */
    uint64_t requests;
    const char *stand_in;
    struct error refusal;
};

/* Returns how many of bytes[0..size) may pass. The first of them follows the
 * bytes that passed before. The caller passes the rest again, with more after
 * it. framing is {0} at first. Blanks after a field's value are moved in front
 * of it (api/http/request_head.h). */
size_t framing_pass(struct framing *framing, char *bytes, size_t size);

/* Returns the stand-in, which is static text, or NULL if nothing is refused. */
const char *framing_stand_in(const struct framing *framing);

#endif
