/*
 * desk.h - how requests are handled that have waited for their turn: one after the other on
 * the desk's one thread, and those that create jobs several at once.
 *
 * Each of these wants its entry in the ledger durable, and the disk takes as long for eight
 * as for one. Those that wait one behind the other are therefore done in one transaction,
 * where nothing stands in the way of any; nobody waits for more to come. Where something
 * does, whatever it is, nothing of it has happened, and each is handled by itself in their
 * order: what a request is answered does not depend on who came with it.
 *
 * Threads: that of the pool which runs the requests.
 */
#ifndef SERVICE_DESK_H
#define SERVICE_DESK_H

#include "service/context.h"
#include "service/request.h"

enum { DESK_TOGETHER_MAX = 8 }; /* requests that one transaction holds at most */

/* requests[0] has been taken; takes those behind it that may be handled with it, and
 * answers how many there are now. */
size_t desk_gather(struct context *context,
                   struct request *requests[DESK_TOGETHER_MAX]);

/* Looks at what other daemons have written (second_look.h), for requests that were gathered and
 * are handled next: whether their principals may still be answered is asked after it. */
void desk_look(struct context *context, struct request *const *requests, size_t count);

/* Makes the replies of requests for which was looked, 1 <= count <= DESK_TOGETHER_MAX. */
void desk_handle(struct context *context, struct request *const *requests,
                 size_t count);

#endif
