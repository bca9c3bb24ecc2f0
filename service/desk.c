#include "service/desk.h"

#include "service/context.h"
#include "service/datasets.h"
#include "service/handlers.h"
#include "service/job_creation.h"
#include "service/pool.h"
#include "service/precondition.h"
#include "service/second_look.h"
#include "service/visits.h"

static bool may_join(const void *item)
{
    const struct request *request = item;
    return request->match.route->together && !precondition_stands(request);
}

size_t desk_gather(struct context *context, struct request *requests[DESK_TOGETHER_MAX])
{
    void *more[DESK_TOGETHER_MAX - 1];
    size_t count = 0;
    if (may_join(requests[0]))
        count = pool_take_along(context->desk, more, DESK_TOGETHER_MAX - 1, may_join);
    for (size_t i = 0; i < count; i++)
        requests[1 + i] = more[i];
    return 1 + count;
}

static void handle(struct context *context, struct request *const *requests,
                   size_t count)
{
    if (count > 1 && job_creation_together(context, requests, count))
        return;
    for (size_t i = 0; i < count; i++)
        handler_handle(context, requests[i]);
}

/* Returns whether the request is handled inside a visit. A prediction is not: it takes
 * long, and reads no dataset that may still be declared again. If it does not find
 * something, it gets a second look afterwards. */
static bool is_visit(const struct request *request)
{
    return request->match.route->run != RUN_ON_PREDICTORS;
}

/* Requests that are handled after this need no second look. */
void desk_look(struct context *context, struct request *const *requests, size_t count)
{
    if (!is_visit(requests[0]))
        return;
    second_look_before(context);
    for (size_t i = 0; i < count; i++) {
        requests[i]->look = LOOK_DONE;
        second_look_begin(context, requests[i]);
    }
}

void desk_handle(struct context *context, struct request *const *requests, size_t count)
{
    struct visit visit;
    bool visits = is_visit(requests[0]);
    if (visits)
        datasets_enter(context->datasets, &visit);
    handle(context, requests, count);
    if (second_look_end(requests[0])) { /* a prediction: count is 1 */
        second_look_before(context);
        handle(context, requests, count);
    }
    if (visits)
        datasets_leave(context->datasets, &visit);
}
