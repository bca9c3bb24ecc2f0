#include "service/server/dispatch.h"

#include "service/handlers/handlers.h"
#include "service/planning/pricers.h"
#include "service/process/daemon_state.h"
#include "service/threads/cost_queue.h"
#include "service/threads/pool.h"

static enum status submit_to_pricers(struct daemon_state *context,
                                     struct request *request, struct error *error)
{
    return pricers_submit(context->pricers, request, &request->caller.principal, error);
}

/* Submits work that the request needs before it can be handled. */
static enum status submit_prefetch(struct daemon_state *context,
                                   struct request *request, struct error *error)
{
    return request->prefetch.kind == BLOB_PREFETCH_PRICES
               ? submit_to_pricers(context, request, error)
               : pool_submit(context->blob_fetchers, request, error);
}

/* A file that goes to a bucket has threads of its own, so that no write waits for the
 * network. */
static struct pool *writers_of(const struct daemon_state *context,
                               const struct request *request)
{
    bool sends =
        context->blob_uploaders != NULL && request->match.route->body == BODY_FILE;
    return sends ? context->blob_uploaders : context->write_queue;
}

enum status dispatch_submit(struct daemon_state *context, struct request *request,
                            struct error *error)
{
    if (request->prefetch.is_due)
        return submit_prefetch(context, request, error);
    switch (request->match.route->run) {
    case RUN_ON_WRITE_QUEUE:
    case RUN_ON_WRITE_QUEUE_PRICED:
    case RUN_ON_WRITE_QUEUE_THEN_LONG_POLL:
        return pool_submit(writers_of(context, request), request, error);
    case RUN_ON_PRICERS:
        request->prefetch.may_price = true;
        return submit_to_pricers(context, request, error);
    case RUN_ON_COST_QUEUE:
        return cost_queue_submit(context->cost_queue, request,
                                 handler_cost(context, request), error);
    case RUN_ON_FILE_PREDICTORS:
        return pool_submit(context->file_predictors, request, error);
    case RUN_AT_ONCE: /* it needs a cold account (cold_account.h) */
    case RUN_AS_LONG_POLL:
    case RUN_ON_COLD_READ_POOL: break;
    }
    return pool_submit(context->cold_readers, request, error);
}
