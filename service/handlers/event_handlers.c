/* The two event streams. Each is opened on the HTTP server's thread, and written from
 * there at ticks (followers.h). */
#include <sys/socket.h>
#include <microhttpd.h>

#include "api/http/query.h"
#include "service/access/access.h"
#include "service/handlers/handlers.h"
#include "service/http/followers.h"
#include "service/jobs/job_events.h"
#include "service/jobs/list_events.h"
#include "service/process/daemon_state.h"

/* Bytes that the system buffers for a client that does not read; the system doubles
 * it. */
enum { SEND_BUFFER = 32 << 10 };

static void bound_send_buffer(const struct request *request)
{
    const int size = SEND_BUFFER;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    setsockopt(info->connect_fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
}

/* Makes the reply a stream of the feed's events from the cursor on. */
static enum status follow(struct request *request, const struct event_feed *feed,
                          struct event_cursor from, struct error *error)
{
    struct stream stream;
    const struct following following = {.feed = *feed,
                                        .from = from,
                                        .principal = &request->caller.principal,
                                        .waiting = request};
    enum status status =
        followers_follow(feed->context->followers, &following, &stream, error);
    if (status != ST_OK)
        return status;
    bound_send_buffer(request);
    reply_header_add(&request->reply, "Cache-Control", "no-store");
    reply_header_add(&request->reply, "X-Accel-Buffering", "no");
    reply_stream(&request->reply, "text/event-stream", &stream);
    return ST_OK;
}

enum status handle_job_events(struct daemon_state *context, struct request *request,
                              struct error *error)
{
    bool ended;
    uint64_t histograms = 0;
    struct job *job = NULL;
    const struct access_question question = handler_question(request);
    enum status status =
        access_find_job(context, &question, request->match.id, &job, error);
    if (status == ST_OK)
        status =
            query_count(&histograms, "histograms", request_query(request, "histograms"),
                        (struct query_range){0, 1, 0}, error);
    if (status != ST_OK)
        return status;
    const struct event_feed feed = job_events_feed(context, job, histograms == 1);
    struct event_cursor from =
        job_events_cursor(&feed, request_header(request, "Last-Event-ID"), &ended);
    if (!ended)
        return follow(request, &feed, from, error);
    reply_empty(&request->reply, MHD_HTTP_NO_CONTENT);
    return ST_OK;
}

enum status handle_events(struct daemon_state *context, struct request *request,
                          struct error *error)
{
    struct dataset_id id;
    struct dataset *dataset = NULL;
    struct access_question question = handler_question(request);
    const char *text = request_query(request, "dataset");
    const char *project =
        access_is_everywhere(&question) ? "" : request->caller.principal.project;
    question.pointer = "?dataset";
    if (text != NULL && !dataset_id_parse(&id, text))
        return query_refuse("dataset", "must match [a-z0-9][a-z0-9._-]{0,62}", error);
    if (text != NULL &&
        access_find_dataset(context, &question, text, &dataset, error) != ST_OK)
        return error->status;
    const struct event_feed feed = list_events_feed(context, dataset, project);
    return follow(request, &feed,
                  list_events_cursor(&feed, request_header(request, "Last-Event-ID")),
                  error);
}
