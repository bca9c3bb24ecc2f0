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

/* Whether its look was due. It is done with this, and the reply before it is gone. */
bool second_look_end(struct request *request);

/* Looks, for requests that are about to be handled on a thread that may wait. */
void second_look_before(const struct context *context);

#endif
