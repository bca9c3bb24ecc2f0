/*
 * second_look.h - before a daemon of a shared store says that there is no such thing, it asks
 * the store: another daemon may have made it a moment ago (lookout.h). A client that was
 * answered 201 by one daemon is answered by any other.
 *
 *   handled --404--> LOOK_DUE -- a look --> LOOK_DONE, handled anew --> answered
 *
 * A thing that is not seen is asked for as one that is not there (access.h), so the time of a
 * 404 tells nothing of which it was. What the desk does is done after a look of its own.
 *
 * Threads: the one that has the request.
 */
#ifndef SERVICE_SECOND_LOOK_H
#define SERVICE_SECOND_LOOK_H

#include "service/context.h"
#include "service/request.h"

/* Whether the request, which was handled, is to be handled anew after a look: its look is due
 * then. */
bool second_look_due(const struct context *context, struct request *request);

/* The same of a request that is refused with status by its headers: a key that nobody has
 * made, a login, or what a file is sent to. */
bool second_look_due_first(const struct context *context, struct request *request,
                           enum status status);

/* Whether its look was due. It is done with this, and the reply before it is gone. */
bool second_look_end(struct request *request);

/* Looks, for requests that are about to be handled on a thread that may wait. */
void second_look_before(const struct context *context);

/* --- what another daemon writes while a request is handled --- */

enum { SECOND_LOOKS_MAX = 8 }; /* so often it is handled, if need be */

/* The request begins to be handled by what is in memory now, without a reply. */
void second_look_begin(const struct context *context, struct request *request);

/* Whether memory is still what the request was handled by: asked in its transaction, before
 * which it was held against memory.
 *   ST_CONFLICT  others have written since: the request is to be handled anew */
enum status second_look_check(const struct context *context,
                              const struct request *request, struct error *error);

/* Begins a transaction (store_begin) of a request that was held against memory before it.
 *   ST_CONFLICT  as above; there is no transaction
 *   ST_IO        the store is poisoned */
enum status second_look_open(const struct context *context,
                             const struct request *request, enum store_scope scope,
                             struct store_tx **tx, struct error *error);

/* Whether the request was refused for what others may have written meanwhile, and is to be
 * handled anew. */
bool second_look_failed(const struct context *context, const struct request *request);

#endif
