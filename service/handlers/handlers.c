#include "service/handlers/handlers.h"

#include <stdlib.h>
#include <string.h>

#include "api/json/fault.h"
#include "base/check.h"
#include "service/audit/audit_event.h"
#include "service/datasets/datasets.h"
#include "service/handlers/idempotency.h"
#include "service/http/precondition.h"
#include "service/http/stale_read_retry.h"
#include "service/process/daemon_state.h"
#include "service/process/disk_room.h"
#include "service/threads/epoch_reclaim.h"

struct handler {
    handle_function *handle, *poll;
    cost_function *cost;
    price_function *price;
};

#define SET_HANDLE(name) .handle = handle_##name,
#define SET_POLL(name)   .poll = poll_##name,
#define SET_COST(name)   .cost = cost_##name,
#define SET_PRICE(name)  .price = price_##name,

static const struct handler handlers[ROUTE_COUNT] = {
#define X(name, run, ...)                                                              \
    {HANDLERS_##run(name, SET_HANDLE, SET_POLL, SET_COST, SET_PRICE)},
    ROUTE_LIST(X)
#undef X
};

static const struct handler *handler_of(const struct request *request)
{
    return &handlers[route_index(request->match.route)];
}

/* Calls a function. If it fails, the error becomes the reply, in place of one that it
 * had made. A reply may be streamed only if the route's row says so. */
static void call(handle_function *function, struct daemon_state *context,
                 struct request *request)
{
    struct faults faults; /* not cleared: most requests have none */
    struct error error = {.faults = &faults};
    faults.count = 0;
    enum status status = function(context, request, &error);
    if (status == ST_OK && request_reads(request))
        status = precondition_check_reply(request, &error);
    if (status != ST_OK)
        request_refuse(request, &error, NULL);
    request_pack(request);
    CHECK(!reply_is_streamed(&request->reply) || request->match.route->streamed);
}

/* Returns whether the request stores something: if the disk is nearly full, the rest is
 * reserved for the ledger. Ending, stopping and deleting have no body, and logging in
 * adds little. */
static bool is_kept(const struct route *route)
{
    bool says_something = route->body == BODY_JSON || route->body == BODY_PATCH;
    return says_something && route->act[0] != '\0';
}

/* Finds the ETag of the thing that a change is about: the one that GET of its path
 * would answer now. An action is about the thing whose path is before its colon.
 * Returns false if there is no such thing. If GET has no answer for it, it has no
 * ETag. */
static bool find_tag(struct daemon_state *context, const struct request *request,
                     char tag[PRECONDITION_TAG_SIZE])
{
    bool exists = true;
    struct request read = *request;
    char *path = strndup(request->path, strcspn(request->path, ":"));
    CHECK(path != NULL);
    tag[0] = '\0';
    read.reply = (struct reply){0};
    read.method = "GET";
    read.body = NULL;
    read.body_size = 0;
    read.json = (struct json_text){0};
    read.ask = ASK_DONE; /* this thread may wait */
    if (route_find(&read.match, "GET", path, NULL) == ST_OK) {
        const struct handler *handler = handler_of(&read);
        handle_function *show = handler->poll != NULL ? handler->poll : handler->handle;
        enum status status = show(context, &read, &(struct error){0});
        exists = status != ST_NOT_FOUND && status != ST_GONE;
        if (status == ST_OK)
            precondition_tag_of(tag, &read.reply);
        reply_fini(&read.reply);
    }
    free(path);
    return exists;
}

/* Checks the preconditions. If the thing does not exist, the handler refuses it as not
 * found. */
static enum status check_version(struct daemon_state *context,
                                 const struct request *request, struct error *error)
{
    char tag[PRECONDITION_TAG_SIZE];
    if (request_reads(request) || !precondition_stands(request) ||
        !find_tag(context, request, tag))
        return ST_OK;
    return precondition_check(request, tag, error);
}

static enum status handle(struct daemon_state *context, struct request *request,
                          struct error *error)
{
    const struct route *route = request->match.route;
    if (check_version(context, request, error) != ST_OK)
        return error->status;
    if (is_kept(route) && disk_room_check(context->disk_room, error) != ST_OK)
        return error->status;
    return handler_of(request)->handle(context, request, error);
}

static enum status handle_keyed(struct daemon_state *context, struct request *request,
                                struct error *error)
{
    enum status status = idempotency_find(context, request, error);
    if (status != ST_OK || request->reply.status != 0)
        return status;
    return handle(context, request, error);
}

struct access_question handler_question(const struct request *request)
{
    return (struct access_question){&request->caller.principal,
                                    request->match.route->scope, ""};
}

void handler_handle(struct daemon_state *context, struct request *request)
{
    handle_function *function = request->match.route->keyed ? handle_keyed : handle;
    request->prefetch.is_due = false;
    for (int i = 0; i < SECOND_LOOKS_MAX; i++) {
        stale_read_retry_begin(context, request);
        call(function, context, request);
        if (!stale_read_retry_failed(context, request))
            break;
    }
    if (!request->prefetch.is_due && request->ask != ASK_DUE &&
        !stale_read_retry_due(context, request))
        audit_event_refused(context, request);
}

bool handler_poll(struct daemon_state *context, struct request *request)
{
    call(handler_of(request)->poll, context, request);
    stale_read_retry_due(context, request);
    return request->reply.status != 0;
}

void handler_price(struct daemon_state *context, struct request *request)
{
    struct reclaim_reader visit;
    blob_prefetch_price_begin(&request->prefetch);
    datasets_enter(context->datasets, &visit);
    handler_of(request)->price(context, request);
    datasets_leave(context->datasets, &visit);
    blob_prefetch_price_end(&request->prefetch);
}

uint64_t handler_cost(struct daemon_state *context, const struct request *request)
{
    return handler_of(request)->cost(context, request);
}
