/*
 * job_answer.h - the answer to whoever asks for a job: its JSON text, and ready
 * responses of libmicrohttpd around it. It is composed once for each version of the
 * job, and shared by all who ask for that version.
 *
 * Invariants
 *   (1) Nothing in an answer changes but the number of its holders, and the last to
 *       drop it frees it. A response that is being sent lives on until it is sent.
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
    bool terminal;                     /* whether the state that it shows is */
    char tag[JOB_TAG_SIZE];            /* ETag: "NONCE-VERSION" with its quotes */
    size_t size;                       /* bytes of text, without its end */
    const char *text;                  /* JSON; found owns it */
    struct MHD_Response *found;        /* 200, with every header but X-Request-Id */
    struct MHD_Response *not_modified; /* 304, likewise */
};

/* Composes the answer, which the caller then holds. nonce is this start's, at most 16
 * characters. */
struct job_answer *job_answer_create(char *text_take, const char *nonce,
                                     uint64_t version, bool terminal);

/* Holds it once more. The caller holds it already, or has the lock of whoever does. */
struct job_answer *job_answer_hold(struct job_answer *answer);
void job_answer_drop(void *answer); /* NULL is allowed */

/* A response of the caller's own like found or not_modified, to which headers may be
 * added. */
struct MHD_Response *job_answer_found(struct job_answer *answer);
struct MHD_Response *job_answer_not_modified(const struct job_answer *answer);

#endif
