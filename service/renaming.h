/*
 * renaming.h - PATCH of a dataset, a job or a model: its caption, by a merge patch, under
 * the version that the client has read. The audit trail says that it was, not what it is
 * called: words can be taken back, and rows of the trail cannot.
 *
 * Threads: the desk's.
 */
#ifndef SERVICE_RENAMING_H
#define SERVICE_RENAMING_H

#include "service/context.h"
#include "service/request.h"

struct renaming {
    const char *tag;            /* the ETag of the thing as it is answered now */
    struct caption before_take; /* what it is called */
    /* Puts what it is to be called into tx. */
    enum status (*put)(struct context *context, struct store_tx *tx, void *thing,
                       struct caption *caption_take, struct error *error);
    void *thing;
};

/* Does what the request's If-Match and body say. What changes nothing writes nothing.
 *   ST_PRECONDITION_REQUIRED  there is no If-Match
 *   ST_PRECONDITION_FAILED    it does not name tag
 *   ST_INVALID                the body is no such patch
 *   ST_IO                     the store is poisoned */
enum status renaming_run(struct context *context, const struct request *request,
                         struct renaming *renaming, struct error *error);

#endif
