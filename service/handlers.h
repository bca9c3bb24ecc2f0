/*
 * handlers.h - the functions of the routes, declared from their rows (api/routes.h) and
 * called by where a row says that they run:
 *
 *   AT_ONCE                 handle           on the HTTP server's thread
 *   AS_LONG_POLL            poll             on the HTTP server's thread, again and again
 *   ON_DESK                 handle           on the desk
 *   ON_DESK_PRICED          handle, price    on the desk; on a pricer
 *   ON_DESK_THEN_LONG_POLL  handle, poll     on the desk; then as a long poll
 *   ON_PRICERS              handle           on a pricer
 *   ON_PREDICTORS           cost, handle     on the HTTP server's thread; on a predictor
 *
 *   handle_NAME  makes the reply, or fails: then a problem is made of the error, with all
 *                that error->faults lists. Where a problem has to say more than that, the
 *                function makes it itself, and answers ST_OK.
 *   poll_NAME    likewise; or makes no reply, and has the request wait until
 *                request->awaited changes or request->deadline_ns passes. It is then
 *                called again. After the deadline it makes one.
 *   price_NAME   plans what the request asks for and throws the plan away, so that the
 *                prices that handle_NAME needs are in the ledger's book. It answers
 *                nothing: what is wrong with the request handle_NAME finds too.
 *   cost_NAME    how many nanoseconds of a core handle_NAME will take, about
 *                (predictors.h).
 *
 * What runs on the HTTP server's thread does so from memory: it waits for nothing. On the
 * desk and the predictors a function may wait for the store, the disk, the processor.
 */
#ifndef SERVICE_HANDLERS_H
#define SERVICE_HANDLERS_H

#include <stdbool.h>

#include "service/context.h"
#include "service/request.h"

/* Which functions a route has depends on where it runs. Each is given to the macro of
 * its kind: H for handle, P for poll, C for cost, W for price. */
/* clang-format off */
#define HANDLERS_AT_ONCE(name, H, P, C, W)                H(name)
#define HANDLERS_AS_LONG_POLL(name, H, P, C, W)           P(name)
#define HANDLERS_ON_DESK(name, H, P, C, W)                H(name)
#define HANDLERS_ON_DESK_PRICED(name, H, P, C, W)         H(name) W(name)
#define HANDLERS_ON_DESK_THEN_LONG_POLL(name, H, P, C, W) H(name) P(name)
#define HANDLERS_ON_READERS(name, H, P, C, W)             H(name)
#define HANDLERS_ON_PRICERS(name, H, P, C, W)             H(name)
#define HANDLERS_ON_PREDICTORS(name, H, P, C, W)          H(name) C(name)
/* clang-format on */

typedef enum status handle_function(struct context *context, struct request *request,
                                    struct error *error);
typedef uint64_t cost_function(struct context *context, const struct request *request);
typedef void price_function(struct context *context, struct request *request);

#define DECLARE_HANDLE(name) handle_function handle_##name;
#define DECLARE_POLL(name)   handle_function poll_##name;
#define DECLARE_COST(name)   cost_function cost_##name;
#define DECLARE_PRICE(name)  price_function price_##name;
#define X(name, run, ...)                                                              \
    HANDLERS_##run(name, DECLARE_HANDLE, DECLARE_POLL, DECLARE_COST, DECLARE_PRICE)
ROUTE_LIST(X)
#undef X

/* Calls handle of the request's route, if its preconditions hold (precondition.h). A route that is keyed (api/routes.h) repeats the
 * answer of an earlier request with the same key instead, if there was one. Where the
 * request's errand is due then there is no reply, and where its second look is due it is not
 * the last: it is to be handled anew. */
void handler_handle(struct context *context, struct request *request);

/* Calls poll of the request's route. False: the request waits. Where its second look is
 * due it is to be called anew. */
bool handler_poll(struct context *context, struct request *request);

/* Calls price of the request's route, on a pricer. The request goes back to the desk then,
 * unless its errand is due for a file. */
void handler_price(struct context *context, struct request *request);

/* Calls cost of the request's route. */
uint64_t handler_cost(struct context *context, const struct request *request);

#endif
