#include "service/audit/access_log.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <microhttpd.h>

#include "api/http/trace_context.h"
#include "base/clock.h"
#include "base/log.h"
#include "service/http/reply.h"
#include "service/http/request.h"
#include "service/process/counters.h"
#include "service/process/daemon_state.h"

/* Returns how long the answer took, or -1 if that must not be disclosed
 * (counters.h). */
static int64_t duration_told(const struct request *request)
{
    const struct route *route = request->match.route;
    bool told = route != NULL && route->timed && !request->waited;
    return told ? clock_monotonic_ns() - request->start_ns : -1;
}

/* Reads that do not fail are logged at level debug, everything else at info. */
static enum log_level access_level(const struct request *request)
{
    bool reads =
        strcmp(request->method, "GET") == 0 || strcmp(request->method, "HEAD") == 0;
    return reads && request->reply.status < 500 ? LOG_DEBUG : LOG_INFO;
}

/* Writes one line per answer. The line has the route's template instead of the path:
 * the text in the path's variable parts and in the query comes from the sender. */
static void log_access(const struct request *request, int64_t duration_ns)
{
    enum { NS_PER_MS = 1000000 };
    enum log_level level = access_level(request);
    const struct route *route = request->match.route;
    char status[16], bytes[24] = "", ms[24], trace_id[TRACE_ID_SIZE];
    struct trace_context trace;
    if (!log_shows(level))
        return;
    snprintf(status, sizeof status, "%u", request->reply.status);
    if (!request->hides_outcome)
        snprintf(bytes, sizeof bytes, "%" PRIu64, reply_size(&request->reply));
    snprintf(ms, sizeof ms, "%" PRId64, duration_ns / NS_PER_MS);
    trace_context_parse(&trace, request->caller.traceparent);
    trace_context_id(&trace, trace_id);
    log_event(level, "request", "id", request->caller.request_id, "method",
              request->method, "route", route != NULL ? route->path : "", "status",
              status, "bytes", bytes, "ms", duration_ns >= 0 ? ms : "", "actor",
              request->caller.principal.name, "key", request->caller.principal.key,
              "trace_id", trace_id, (char *)NULL);
}

void access_log_note(struct daemon_state *context, const struct request *request)
{
    if (request->hides_outcome && request->reply.status != MHD_HTTP_OK)
        return;
    const struct answer answer = {.route = request->match.route,
                                  .http_status = request->reply.status,
                                  .status = request->refused,
                                  .duration_ns = duration_told(request)};
    counters_answer(context->counters, &answer);
    log_access(request, answer.duration_ns);
}
