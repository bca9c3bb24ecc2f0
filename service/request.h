/*
 * request.h - one HTTP request on its way through the process, and its reply.
 *
 *   admitted --> body read --> [desk or predictors] --> answer --> sent
 *                                |  ^                   |  ^
 *                                |  |                   +--+ waits (long poll)
 *                                +--+ has a file brought (errand.h)
 *
 * What would be answered at once, but for an account that is in the store alone, goes to a
 * reader instead (closed_account.h).
 *
 * Threads: one at a time; the connection is suspended while another thread than the
 * HTTP server's holds the request. Its session owns it.
 */
#ifndef SERVICE_REQUEST_H
#define SERVICE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/problem.h"
#include "api/routes.h"
#include "base/id.h"
#include "base/principal.h"
#include "base/status.h"
#include "service/errand.h"
#include "service/reply.h"
#include "service/upload.h"

enum request_ask { ASK_NONE, ASK_DUE, ASK_DONE };     /* closed_account.h */
enum request_look { LOOK_NONE, LOOK_DUE, LOOK_DONE }; /* second_look.h */

enum { REQUEST_ID_SIZE = 65, REQUEST_TAG_SIZE = 35, REQUEST_LISTS = 6 };

struct request {
    struct MHD_Connection *connection;
    char id[REQUEST_ID_SIZE];   /* X-Request-Id, echoed */
    bool named;                 /* by its sender */
    struct principal principal; /* who asks */
    const char *method, *path;
    char *joined[REQUEST_LISTS]; /* list fields that stand in several lines; owned */
    struct route_match match;
    int type;   /* the place of the answer's type in the route's row */
    char *body; /* JSON bodies, owned; body_size bytes and an end */
    size_t body_size, body_capacity;
    struct upload upload; /* where the body is BODY_FILE */
    struct errand errand; /* for files that the desk needs, and does not wait for */
    struct reply reply;
    enum request_look look;
    enum request_ask ask;
    uint64_t followed;   /* how much of other daemons was known when it was handled */
    enum status refused; /* what the reply is a problem of; ST_OK: it is none */
    struct dataset_id about; /* of a plan that is refused; text "": it is not known */
    bool hides_outcome;  /* only its sender may know that it did not succeed */
    bool waited;         /* for a change, before it was answered */
    const void *awaited; /* what it waits for, while it waits */
    int64_t deadline_ns;
    int64_t start_ns;
};

/* These answer the value of a header or a query parameter, NULL if it is absent ("" for
 * `?wait`). A parameter's name must stand in the route's row (api/routes.h). */
const char *request_header(const struct request *request, const char *name);
const char *request_query(const struct request *request, const char *name);

/* Joins the lines of each field that is a list (RFC 9110, 5.3): before request_header is
 * asked for one. */
void request_join_lists(struct request *request);

/* Whether the method is GET or HEAD, which change nothing. */
bool request_reads(const struct request *request);

/* Tells whether If-None-Match names tag, which has its quotes and becomes the ETag. Then
 * the reply is 304; else it is still to be made. */
bool request_knows(struct request *request, const char *tag);

/* Tells whether the client would rather have a packed answer (packing.h). */
bool request_wants_packed(const struct request *request);

/* Packs the reply that was made, if it is one that is packed. */
void request_pack(struct request *request);

/* tag = the ETag of a thing that is answered with this text, with its quotes. */
void request_tag(char tag[REQUEST_TAG_SIZE], const char *text);

/* The reply is JSON text, taken, of a thing that the request has changed: 200, with its new
 * ETag. */
void request_answer_changed(struct request *request, char *text_take);

/* The reply is JSON text, taken, for a GET that may be polled: 200 with an ETag made of the
 * text, or 304 where If-None-Match names it. */
void request_answer(struct request *request, char *text_take);

/* The reply is a problem body, in place of a reply that was made before; more may be
 * NULL. */
void request_refuse(struct request *request, const struct error *error,
                    struct problem *more);

/* Lets go of what the request owns. Its upload must have been abandoned or
 * published. */
void request_fini(struct request *request);

#endif
