#include "service/handlers/write_queue.h"

#include "service/datasets/datasets.h"
#include "service/handlers/handlers.h"
#include "service/handlers/job_submit.h"
#include "service/http/precondition.h"
#include "service/http/stale_read_retry.h"
#include "service/process/daemon_state.h"
#include "service/threads/epoch_reclaim.h"
#include "service/threads/pool.h"

static bool may_join(const void *item)
{
    const struct request *request = item;
    return request->match.route->together && !precondition_stands(request);
}

size_t write_queue_gather(struct daemon_state *context,
                          struct request *requests[WRITE_QUEUE_TOGETHER_MAX])
{
    void *more[WRITE_QUEUE_TOGETHER_MAX - 1];
    size_t count = 0;
    if (may_join(requests[0]))
        count = pool_take_along(context->write_queue, more,
                                WRITE_QUEUE_TOGETHER_MAX - 1, may_join);
    for (size_t i = 0; i < count; i++)
        requests[1 + i] = more[i];
    return 1 + count;
}

static void handle(struct daemon_state *context, struct request *const *requests,
                   size_t count)
{
    if (count > 1 && job_submit_together(context, requests, count))
        return;
    for (size_t i = 0; i < count; i++)
        handler_handle(context, requests[i]);
}

/* Returns whether the request is handled inside a visit. A prediction is not: it takes
 * long, and reads no dataset that may still be declared again. If it does not find
 * something, it gets a second look afterwards. */
static bool is_visit(const struct request *request)
{
    return request->match.route->run != RUN_ON_COST_QUEUE;
}

/* Requests that are handled after this need no second look. */
void write_queue_look(struct daemon_state *context, struct request *const *requests,
                      size_t count)
{
    if (!is_visit(requests[0]))
        return;
    stale_read_retry_before(context);
    for (size_t i = 0; i < count; i++) {
        requests[i]->look = LOOK_DONE;
        stale_read_retry_begin(context, requests[i]);
    }
}

void write_queue_handle(struct daemon_state *context, struct request *const *requests,
                        size_t count)
{
    struct reclaim_reader visit;
    bool visits = is_visit(requests[0]);
    if (visits)
        datasets_enter(context->datasets, &visit);
    handle(context, requests, count);
    if (stale_read_retry_end(requests[0])) { /* a prediction: count is 1 */
        stale_read_retry_before(context);
        handle(context, requests, count);
    }
    if (visits)
        datasets_leave(context->datasets, &visit);
}
