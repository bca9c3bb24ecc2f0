/*
 * job_answer.h - a job as answered, composed once for each version of it and shared by
 * all who ask for that version: as text, and as libmicrohttpd's ready responses.
 *
 * Invariants
 *   (1) Nothing of it changes but the number of its holders; the last to drop it frees
 *       it. A response that is being sent lives on until it is.
 *
 * Threads: any.
 */
#ifndef SERVICE_JOB_ANSWER_H
#define SERVICE_JOB_ANSWER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { JOB_TAG_SIZE = 48 };

struct MHD_Response;

struct job_answer {
    atomic_uint holders;
    uint64_t version;
    bool terminal;                     /* of the state that it shows */
    char tag[JOB_TAG_SIZE];            /* ETag: "NONCE-VERSION" with its quotes */
    size_t size;                       /* of text, without its end */
    const char *text;                  /* JSON; found's */
    struct MHD_Response *found;        /* of 200, every header set but X-Request-Id */
    struct MHD_Response *not_modified; /* of 304, likewise */
};

/* Held once, by the caller. nonce is of this start, at most 16 characters. */
struct job_answer *job_answer_create(char *text_take, const char *nonce,
                                     uint64_t version, bool terminal);

/* Holds it once more. The caller has it already, or the lock of whoever does. */
struct job_answer *job_answer_hold(struct job_answer *answer);
void job_answer_drop(void *answer); /* NULL is allowed */

/* A response like found or not_modified, to which headers may be added; the caller's. */
struct MHD_Response *job_answer_found(struct job_answer *answer);
struct MHD_Response *job_answer_not_modified(const struct job_answer *answer);

#endif
