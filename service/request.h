/*
 * request.h - one HTTP request on its way through the process, and its reply.
 *
 *   admitted --> body read --> [desk or predictors] --> answer --> sent
 *                                                       |  ^
 *                                                       +--+ waits (long poll)
 *
 * Threads: one at a time; the connection is suspended while another thread than the
 * HTTP server's holds the request. Ownership: the server creates and destroys; reply
 * bodies are taken.
 */
#ifndef SERVICE_REQUEST_H
#define SERVICE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/problem.h"
#include "api/routes.h"
#include "base/principal.h"
#include "base/status.h"
#include "service/job_answer.h"
#include "service/upload.h"
#include "store/blob.h"

enum { REPLY_HEADERS_MAX = 10, REQUEST_ID_SIZE = 65 };

struct reply_header {
    const char *name; /* static text */
    char *value;      /* owned */
};

struct reply {
    unsigned status; /* HTTP; 0: no reply yet */
    const char *type;
    char *body; /* owned; NULL: none, or the file */
    size_t size;
    const void *fixed;         /* body that outlives every request, instead of body */
    struct job_answer *answer; /* held: the reply of 200 or 304, headers and all */
    int file;                  /* descriptor, owned, or -1 */
    uint64_t file_offset, file_size;
    size_t header_count;
    struct reply_header headers[REPLY_HEADERS_MAX];
    bool close; /* the connection cannot go on */
};

struct request {
    struct MHD_Connection *connection;
    char id[REQUEST_ID_SIZE];   /* X-Request-Id, echoed */
    bool named;                 /* by its sender */
    struct principal principal; /* who asks */
    const char *method, *path;
    struct route_match match;
    int type;   /* the place of the answer's type in the route's row */
    char *body; /* JSON bodies, owned; body_size bytes and an end */
    size_t body_size, body_capacity;
    struct upload upload; /* of BODY_FILE */
    struct reply reply;
    const void *awaited; /* what it waits for, while it waits */
    int64_t deadline_ns;
    int64_t start_ns;
};

/* A header's or query parameter's value, NULL if absent ("" for `?wait`). A parameter's
 * name must stand in the route's row (api/routes.h). */
const char *request_header(const struct request *request, const char *name);
const char *request_query(const struct request *request, const char *name);

/* Adds a header to the reply. */
void reply_header_add(struct request *request, const char *name, const char *format,
                      ...) __attribute__((format(printf, 3, 4)));

/* The reply is JSON text, taken. */
void reply_json(struct request *request, unsigned status, char *text_take);

/* The same for a GET that may be polled: with an ETag made of the text, and 304 where
 * If-None-Match names it. */
void reply_json_tagged(struct request *request, char *text_take);

/* The reply is the job as answered: 200, or 304. */
void reply_job(struct request *request, unsigned status,
               struct job_answer *answer_take);

void reply_empty(struct request *request, unsigned status);

/* The reply is a problem body; more may be NULL. Replaces a reply made before. */
void reply_problem(struct request *request, const struct error *error,
                   struct problem *more);

/* Whether the list of entity tags (or *) holds tag, by weak comparison. */
bool tag_list_holds(const char *list, const char *tag);

void request_destroy(struct request *request); /* NULL is allowed */

#endif
