/*
 * handlers.h - the functions of the routes, declared from their rows
 * (api/http/routes.h). The row says where they run:
 *
 *   AT_ONCE                        handle         on the HTTP server's thread
 *   AS_LONG_POLL                   poll           on the HTTP server's thread, repeatedly
 *   ON_WRITE_QUEUE                 handle         in the write queue
 *   ON_WRITE_QUEUE_PRICED          handle, price  in the write queue; on a pricer
 *   ON_WRITE_QUEUE_THEN_LONG_POLL  handle, poll   in the write queue; as a long poll
 *   ON_COLD_READ_POOL              handle         in the cold read pool
 *   ON_PRICERS                     handle         on a pricer
 *   ON_COST_QUEUE                  handle, cost   in the cost queue; on the HTTP
 *                                                 server's thread
 *
 *   handle_NAME  makes the reply, or fails: then a problem is made of the error, with
 *                all that error->faults lists. If a problem has to say more than that,
 *                the function makes it itself and returns ST_OK.
 *   poll_NAME    does the same; or makes no reply, and lets the request wait until
 *                request->awaited changes or request->deadline_ns passes. It is then
 *                called again. After the deadline it makes a reply.
 *   price_NAME   plans what the request asks for and discards the plan, so that the
 *                prices that handle_NAME needs are in the ledger's book. It reports
 *                nothing: handle_NAME finds the request's faults again.
 *   cost_NAME    returns about how many nanoseconds of a core handle_NAME will take
 *                (cost_queue.h).
 *
 * A function on the HTTP server's thread works from memory and never waits. In the
 * write queue, the cold read pool, the pricers and the cost queue a function may wait
 * for the store, the disk and the processor.
 */
#ifndef SERVICE_HANDLERS_HANDLERS_H
#define SERVICE_HANDLERS_HANDLERS_H

#include <stdbool.h>

#include "service/access/access.h"
#include "service/http/request.h"

struct daemon_state;

/* The functions that a route has depend on where it runs. Each is given to the macro of
 * its kind: H for handle, P for poll, C for cost, W for price. */
/* clang-format off */
#define HANDLERS_AT_ONCE(name, H, P, C, W)                H(name)
#define HANDLERS_AS_LONG_POLL(name, H, P, C, W)           P(name)
#define HANDLERS_ON_WRITE_QUEUE(name, H, P, C, W)                H(name)
#define HANDLERS_ON_WRITE_QUEUE_PRICED(name, H, P, C, W)         H(name) W(name)
#define HANDLERS_ON_WRITE_QUEUE_THEN_LONG_POLL(name, H, P, C, W) H(name) P(name)
#define HANDLERS_ON_COLD_READ_POOL(name, H, P, C, W)             H(name)
#define HANDLERS_ON_PRICERS(name, H, P, C, W)             H(name)
#define HANDLERS_ON_COST_QUEUE(name, H, P, C, W)          H(name) C(name)
#define HANDLERS_ON_FILE_PREDICTORS(name, H, P, C, W)     H(name)
/* clang-format on */

typedef enum status handle_function(struct daemon_state *context,
                                    struct request *request, struct error *error);
typedef uint64_t cost_function(struct daemon_state *context,
                               const struct request *request);
typedef void price_function(struct daemon_state *context, struct request *request);

#define DECLARE_HANDLE(name) handle_function handle_##name;
#define DECLARE_POLL(name)   handle_function poll_##name;
#define DECLARE_COST(name)   cost_function cost_##name;
#define DECLARE_PRICE(name)  price_function price_##name;
#define X(name, run, ...)                                                              \
    HANDLERS_##run(name, DECLARE_HANDLE, DECLARE_POLL, DECLARE_COST, DECLARE_PRICE)
ROUTE_LIST(X)
#undef X

/* Returns the question that decides whether the caller reaches the object that the
 * request's path names, with the scope of its route. */
struct access_question handler_question(const struct request *request);

/* Calls handle of the request's route, if its preconditions hold (precondition.h).
 * For a keyed route (api/http/routes.h), an earlier request's answer to the same key
 * is repeated instead, if there is one. If the request's prefetch is due afterwards,
 * there is no reply; if its second look is due, the reply is not final. In both
 * cases the request has to be handled again. */
void handler_handle(struct daemon_state *context, struct request *request);

/* Calls poll of the request's route. Returns false if the request waits. If its second
 * look is due, it has to be called again. */
bool handler_poll(struct daemon_state *context, struct request *request);

/* Calls price of the request's route, on a pricer. Afterwards the request goes back to
 * the write queue, unless its prefetch is due for a file. */
void handler_price(struct daemon_state *context, struct request *request);

/* Calls cost of the request's route. */
uint64_t handler_cost(struct daemon_state *context, const struct request *request);

#endif
