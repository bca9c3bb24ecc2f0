/*
 * caption_update.h - PATCH of a dataset, a job or a model: its caption, by a merge
 * patch, if the client has read the current version. The audit trail says that the
 * caption changed, but not its text: a text can be deleted, and rows of the trail
 * cannot.
 *
 * Threads: the write queue's.
 */
#ifndef SERVICE_DATASETS_CAPTION_UPDATE_H
#define SERVICE_DATASETS_CAPTION_UPDATE_H

#include "api/json/json_reader.h"
#include "api/requests/caption.h"
struct audit_row;
struct daemon_state;
struct store_tx;

struct caption_update {
    const char *tag;             /* the current ETag of the thing */
    const char *if_match;        /* the request's header; NULL: none */
    struct json_text body;       /* a merge patch */
    const struct audit_row *act; /* written with the change */
    struct caption before_take;  /* its current caption */
    /* Writes the new caption in tx. */
    enum status (*put)(struct daemon_state *context, struct store_tx *tx, void *thing,
                       struct caption *caption_take, struct error *error);
    void *thing;
};

/* Does what If-Match and the body say. If nothing changes, nothing is written.
 *   ST_PRECONDITION_REQUIRED  there is no If-Match
 *   ST_PRECONDITION_FAILED    it does not name tag
 *   ST_INVALID                the body is no such patch
 *   ST_IO                     the store is poisoned */
enum status caption_update_run(struct daemon_state *context,
                               struct caption_update *update, struct error *error);

#endif
