/*
 * renaming.h - PATCH of a dataset, a job or a model: its caption, by a merge patch, if
 * the client has read the current version. The audit trail says that the caption
 * changed, but not its text: a text can be deleted, and rows of the trail cannot.
 *
 * Threads: the desk's (desk.h).
 */
#ifndef SERVICE_RENAMING_H
#define SERVICE_RENAMING_H

#include "api/caption.h"
#include "service/request.h"

struct context;
struct store_tx;

struct renaming {
    const char *tag;            /* the current ETag of the thing */
    struct caption before_take; /* its current caption */
    /* Writes the new caption in tx. */
    enum status (*put)(struct context *context, struct store_tx *tx, void *thing,
                       struct caption *caption_take, struct error *error);
    void *thing;
};

/* Does what the request's If-Match and body say. If nothing changes, nothing is
 * written.
 *   ST_PRECONDITION_REQUIRED  there is no If-Match
 *   ST_PRECONDITION_FAILED    it does not name tag
 *   ST_INVALID                the body is no such patch
 *   ST_IO                     the store is poisoned */
enum status renaming_run(struct context *context, const struct request *request,
                         struct renaming *renaming, struct error *error);

#endif
