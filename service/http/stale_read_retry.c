#include "service/http/stale_read_retry.h"

#include "api/http/routes.h"
#include "service/http/request.h"
#include "service/process/daemon_state.h"
#include "store/sql/scope.h"
#include "store/store.h"

bool stale_read_retry_due(const struct daemon_state *context, struct request *request)
{
    if (request->look != LOOK_NONE || request->refused != ST_NOT_FOUND ||
        request->match.route == NULL || !store_shared(context->store))
        return false;
    request->look = LOOK_DUE;
    return true;
}

bool stale_read_retry_due_first(const struct daemon_state *context,
                                struct request *request, enum status status)
{
    bool unseen = status == ST_NEEDS_REFRESH ||
                  (status == ST_NOT_FOUND && request->match.route != NULL &&
                   (request->match.route->body == BODY_FILE ||
                    request->match.route->body == BODY_ROWS));
    if (!unseen || request->look != LOOK_NONE || !store_shared(context->store))
        return false;
    request->look = LOOK_DUE;
    return true;
}

static void drop_reply(struct request *request)
{
    reply_fini(&request->reply);
    request->refused = ST_OK;
}

bool stale_read_retry_end(struct request *request)
{
    if (request->look != LOOK_DUE)
        return false;
    drop_reply(request);
    request->look = LOOK_DONE;
    return true;
}

/* A failure has poisoned the store, and ends the process at the end of the request. */
void stale_read_retry_before(const struct daemon_state *context)
{
    if (store_shared(context->store))
        store_look(context->store, NULL);
}

/* --- what another daemon writes while a request is handled --- */

void stale_read_retry_begin(const struct daemon_state *context, struct request *request)
{
    drop_reply(request);
    request->followed = atomic_load(&context->followed);
}

enum status stale_read_retry_check(const struct daemon_state *context,
                                   const struct request *request, struct error *error)
{
    if (request->followed == atomic_load(&context->followed))
        return ST_OK;
    return error_set(error, ST_CONFLICT, "another daemon came in between");
}

enum status stale_read_retry_open(const struct daemon_state *context,
                                  const struct request *request, enum store_scope scope,
                                  struct store_tx **tx, struct error *error)
{
    enum status status = store_begin(context->store, scope, tx, error);
    if (status != ST_OK)
        return status;
    status = stale_read_retry_check(context, request, error);
    if (status != ST_OK)
        store_rollback(*tx);
    return status;
}

/* A file's body can be read only once. */
bool stale_read_retry_failed(const struct daemon_state *context,
                             const struct request *request)
{
    const struct route *route = request->match.route;
    return request->refused != ST_OK && !request->prefetch.is_due &&
           (route->run == RUN_ON_WRITE_QUEUE ||
            route->run == RUN_ON_WRITE_QUEUE_PRICED ||
            route->run == RUN_ON_COLD_READ_POOL || route->run == RUN_ON_PRICERS) &&
           route->body != BODY_FILE &&
           (request->refused == ST_CONFLICT ||
            stale_read_retry_check(context, request, NULL) != ST_OK);
}
