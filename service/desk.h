/*
 * desk.h - the write queue: handles queued requests one after the other on one thread,
 * and those that create jobs several at a time.
 *
 * Each of these creations needs a durable entry in the ledger, and the disk takes as
 * long for eight entries as for one. So those that are next to each other in the queue
 * share one transaction, if all of them succeed; none waits for more to arrive. If any
 * of them fails, for any reason, nothing of that transaction has happened, and each is
 * handled by itself in their order: the answer to a request does not depend on the
 * requests that it was handled with.
 *
 * Threads: that of the pool which runs the requests.
 */
#ifndef SERVICE_DESK_H
#define SERVICE_DESK_H

#include "service/request.h"

struct context;

enum { DESK_TOGETHER_MAX = 8 }; /* most requests in one transaction */

/* requests[0] was taken from the queue. Takes the requests behind it that may share its
 * transaction, and returns how many there are now. */
size_t desk_gather(struct context *context,
                   struct request *requests[DESK_TOGETHER_MAX]);

/* Reads what other daemons have written (second_look.h), for requests that were
 * gathered and are handled next. Call it before checking whether their principals may
 * still be answered. */
void desk_look(struct context *context, struct request *const *requests, size_t count);

/* Makes the replies of requests that desk_look was called for, 1 <= count <=
 * DESK_TOGETHER_MAX. */
void desk_handle(struct context *context, struct request *const *requests,
                 size_t count);

#endif
