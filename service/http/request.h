/*
 * request.h - one HTTP request on its way through the process, and its reply.
 *
 *   admitted --> body read --> [another thread] --> answer --> sent
 *                                |  ^                   |  ^
 *                                |  |                   +--+ waits (long poll)
 *                                +--+ waits for a file (blob_prefetch.h)
 *
 * A request that could be answered at once, except that it needs an account that is
 * only in the store, goes to a reader instead (cold_account.h).
 *
 * Threads: one at a time; the connection is suspended while a thread other than the
 * HTTP server's has the request. The session owns the request.
 */
#ifndef SERVICE_HTTP_REQUEST_H
#define SERVICE_HTTP_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/http/routes.h"
#include "api/json/json_reader.h"
#include "service/http/blob_prefetch.h"
#include "service/http/caller.h"
#include "service/http/reply.h"

struct problem;

enum request_ask { ASK_NONE, ASK_DUE, ASK_DONE };     /* cold_account.h */
enum request_look { LOOK_NONE, LOOK_DUE, LOOK_DONE }; /* stale_read_retry.h */

enum { REQUEST_TAG_SIZE = 35, REQUEST_LISTS = 6 };

struct request {
    struct MHD_Connection *connection;
    struct caller caller;
    bool named; /* its sender set caller.request_id */
    const char *method, *path;
    char *joined[REQUEST_LISTS]; /* list fields that came in several lines; owned */
    struct route_match match;
    int type;   /* index of the answer's type in the route's row */
    char *body; /* JSON bodies, owned; body_size bytes and a NUL */
    size_t body_size, body_capacity;
    struct json_text json;             /* the same, parsed; request_text */
    struct upload *upload;             /* if the body is BODY_FILE */
    struct predict_file *predict_file; /* if the body is BODY_ROWS; its session's */
    const uint64_t *upload_size; /* its size: of a refused one, where it continues */
    struct blob_prefetch
        prefetch; /* for files that the write queue needs, without waiting */
    struct reply reply;
    enum request_look look;
    enum request_ask ask;
    uint64_t followed;       /* the count of other daemons' changes known when it was
                            handled */
    enum status refused;     /* the status of the problem in the reply; ST_OK: none */
    struct dataset_id about; /* the dataset of its plan, job, model or sweep; text "":
                              * not known */
    bool hides_outcome;      /* only its sender may know that it failed */
    bool queried;            /* it began a query (query_import.h) */
    bool waited;             /* for a change, before it was answered */
    const void *awaited;     /* what it waits for, while it waits */
    int64_t deadline_ns;
    int64_t start_ns;
};

/* Return the value of a header or a query parameter, NULL if it is absent ("" for
 * `?wait`). The route's row must have the parameter's name (api/http/routes.h). */
const char *request_header(const struct request *request, const char *name);
const char *request_query(const struct request *request, const char *name);

/* Joins the lines of each field that is a list (RFC 9110, 5.3). Must be called before
 * request_header reads one of them. */
void request_join_lists(struct request *request);

/* Returns whether the method is GET or HEAD, which change nothing. */
bool request_reads(const struct request *request);

/* Returns whether If-None-Match names tag, which has its quotes and becomes the ETag.
 * If so, the reply is 304; otherwise the caller must still make it. */
bool request_knows(struct request *request, const char *tag);

/* Returns whether the client prefers a compressed answer (compression.h). */
bool request_wants_packed(const struct request *request);

/* Compresses the reply, if it is of a kind that is compressed. */
void request_pack(struct request *request);

/* Sets tag to the ETag, with its quotes, of a thing whose answer is this text. */
void request_tag(char tag[REQUEST_TAG_SIZE], const char *text);

/* Replies with the JSON text, which is taken, of a thing that the request has changed:
 * 200, with its new ETag. */
void request_answer_changed(struct request *request, char *text_take);

/* Replies with JSON text, which is taken, to a GET that may be polled: 200 with an ETag
 * made of the text, or 304 if If-None-Match names it. */
void request_answer(struct request *request, char *text_take);

/* Replaces any reply by a problem body; more may be NULL. */
void request_refuse(struct request *request, const struct error *error,
                    struct problem *more);

/* Returns the JSON body, "" if there is none. The body of a keyed route is read more
 * than once, so it is parsed here, once. */
struct json_text request_text(struct request *request);

/* Frees the body and its parsed form. */
void request_forget_body(struct request *request);

/* Frees what the request owns. Its upload must have been abandoned or published. */
void request_fini(struct request *request);

#endif
