/*
 * dispatch.h - gives a request to the thread that handles it next. The row of its route
 * names that thread (api/http/routes.h), and only this file knows which pool or queue
 * belongs to it.
 *
 *   row of the route ------------------------------> write queue, cold read pool,
 *                                                    pricers, cost queue or file
 *                                                    predictors
 *   the request needs a cold account --------------> cold read pool
 *   its file goes to a bucket ---------------------> blob upload pool
 *   its prefetch is due (blob_prefetch.h) ---------> pricers or blob fetch pool
 *
 * Threads: the one that has the request. After ST_OK the other thread has it.
 */
#ifndef SERVICE_SERVER_DISPATCH_H
#define SERVICE_SERVER_DISPATCH_H

#include "service/http/request.h"

struct daemon_state;

/* Queues the request, whose connection is suspended, for the thread that handles it
 * next. session_run is called there.
 *   ST_QUEUE_FULL  that thread's queue is full, or, on the pricers, too many requests
 *                  of the same principal wait */
enum status dispatch_submit(struct daemon_state *context, struct request *request,
                            struct error *error);

#endif
