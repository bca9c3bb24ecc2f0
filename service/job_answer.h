/*
 * job_answer.h - the answer to whoever asks for a job: its JSON text, and ready
 * responses of libmicrohttpd around it. It is composed once for each version of the
 * job, and shared by all who ask for that version.
 *
 * Invariants
 *   (1) Nothing in an answer changes but the number of its holders, and the last to
 *       drop it frees it. A response that is being sent lives on until it is sent.
 *   (2) The same by gzip (packing.h) is an answer of its own, made when it is first asked
 *       for, and kept with that of the text.
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
    bool is_packed;                    /* by gzip */
    char tag[JOB_TAG_SIZE];            /* ETag: a digest of the text, with its quotes */
    size_t size;                       /* bytes of text, without its end */
    const char *text;                  /* JSON, or that by gzip; found owns it */
    struct MHD_Response *found;        /* 200, with every header but X-Request-Id */
    struct MHD_Response *not_modified; /* 304, likewise */
    _Atomic(struct job_answer *) packed; /* held; NULL: nobody asked for it yet */
};

/* Composes the answer, which the caller then holds. Its tag is the same in every daemon that
 * shows the job so, and after a restart. */
struct job_answer *job_answer_create(char *text_take, uint64_t version, bool terminal);

/* Holds it once more. The caller holds it already, or has the lock of whoever does. */
struct job_answer *job_answer_hold(struct job_answer *answer);
void job_answer_drop(void *answer); /* NULL is allowed */

/* Answers the same by gzip, held, in exchange for the caller's hold of the answer; or the
 * answer itself, where packing does not pay. */
struct job_answer *job_answer_packed(struct job_answer *answer_take);

/* A response of the caller's own like found or not_modified, to which headers may be
 * added. */
struct MHD_Response *job_answer_found(struct job_answer *answer);
struct MHD_Response *job_answer_not_modified(const struct job_answer *answer);

#endif
