/*
 * write_queue.h - the write queue: handles queued requests one after the other on one
 * thread, and those that create jobs several at a time.
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
#ifndef SERVICE_HANDLERS_WRITE_QUEUE_H
#define SERVICE_HANDLERS_WRITE_QUEUE_H

#include "service/http/request.h"

struct daemon_state;

enum { WRITE_QUEUE_TOGETHER_MAX = 8 }; /* most requests in one transaction */

/* requests[0] was taken from the queue. Takes the requests behind it that may share its
 * transaction, and returns how many there are now. */
size_t write_queue_gather(struct daemon_state *context,
                          struct request *requests[WRITE_QUEUE_TOGETHER_MAX]);

/* Reads what other daemons have written (stale_read_retry.h), for requests that were
 * gathered and are handled next. Call it before checking whether their principals may
 * still be answered. */
void write_queue_look(struct daemon_state *context, struct request *const *requests,
                      size_t count);

/* Makes the replies of requests that write_queue_look was called for, 1 <= count <=
 * WRITE_QUEUE_TOGETHER_MAX. */
void write_queue_handle(struct daemon_state *context, struct request *const *requests,
                        size_t count);

#endif
