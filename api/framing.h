/*
 * framing.h - where each request of a connection begins and ends. Bytes are looked at
 * before they pass to the HTTP library; what could be read in two ways does not pass.
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
 *   (2) After a refusal nothing passes any more. framing_stand_in is what the library is
 *       given instead, so that it asks us for the answer: a head of our own, or the end
 *       of a chunked body.
 *
 * Pure.
 */
#ifndef API_FRAMING_H
#define API_FRAMING_H

#include <stddef.h>
#include <stdint.h>

#include "api/request_head.h"
#include "base/status.h"

enum framing_state {
    FRAMING_HEAD,
    FRAMING_BODY,
    FRAMING_CHUNK,    /* the line of a chunk's size: digits and nothing else */
    FRAMING_DATA,     /* a chunk */
    FRAMING_DATA_END, /* the end of line behind it */
    FRAMING_LAST,     /* that behind the chunk of size 0: no trailers */
    FRAMING_REFUSED,
};

struct framing {
    enum framing_state state;
    struct request_head head; /* being read */
    uint64_t left;            /* bytes of the body or chunk that are still to come */
    uint64_t
        requests; /* begun so far; when refused, the last of them is the refused one */
    const char *stand_in;
    struct error refusal;
};

/* Answers how many of bytes[0..size) may pass; the first of them follows what passed
 * before. The caller gives the rest again, with more behind it. framing is {0} at
 * first. Blanks behind a field's value are moved in front of it (api/request_head.h). */
size_t framing_pass(struct framing *framing, char *bytes, size_t size);

/* Answers the stand-in, which is static text, or NULL where nothing is refused. */
const char *framing_stand_in(const struct framing *framing);

#endif
