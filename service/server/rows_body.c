#define _GNU_SOURCE /* POLLRDHUP */
#include "service/server/rows_body.h"

#include <poll.h>
#include <microhttpd.h>

#include "service/handlers/predict_file.h"
#include "service/http/connection_deadlines.h"
#include "service/http/request.h"
#include "service/http/sessions.h"
#include "service/identity/authentication.h"
#include "service/process/daemon_state.h"
#include "service/server/dispatch.h"
#include "service/threads/pool.h"

/* Returns whether the client has closed its end. While the connection is suspended,
 * libmicrohttpd does not look; and what the client sent before may still wait to be
 * read. */
static bool has_left(const struct request *request)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct pollfd end = {.fd = info->connect_fd, .events = POLLRDHUP};
    return poll(&end, 1, 0) > 0 && (end.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

static void hand_over(struct request *request, struct sessions *sessions,
                      struct connection_deadline *deadline, struct error *error)
{
    if (!sessions_suspend(sessions, request->connection)) {
        error_set(error, ST_DRAINING, "the service is stopping");
        return;
    }
    connection_deadline_body_waits(deadline);
    if (dispatch_submit(sessions->context, request, error) != ST_OK) {
        connection_deadline_body_goes_on(deadline);
        sessions_resume(sessions, request->connection);
    }
}

/* libmicrohttpd has the next chunk at once for a handler that took the last one whole,
 * even if that suspended the connection. So a byte is left when it is suspended. */
size_t rows_body_receive(struct request *request, struct sessions *sessions,
                         struct connection_deadline *deadline, const char *data,
                         size_t size, struct error *error)
{
    struct predict_file *file = request->predict_file;
    bool is_due = size >= predict_file_room(file);
    size_t taken = is_due ? size - 1 : size;
    connection_deadline_body_goes_on(deadline);
    if (predict_file_feed(file, data, taken, error) == ST_OK && is_due)
        hand_over(request, sessions, deadline, error);
    return taken;
}

/* Ends the work if no client waits for it any more. */
static void check(struct daemon_state *context, struct request *request)
{
    struct error error = {0};
    if (atomic_load(&context->draining))
        error_set(&error, ST_DRAINING, "the service is stopping");
    else if (has_left(request))
        error_set(&error, ST_CANCELLED, "the client has left");
    else
        authentication_renew(context, request, &error);
    if (error.status != ST_OK)
        predict_file_refuse(request->predict_file, &error);
}

bool rows_body_run(struct daemon_state *context, struct request *request)
{
    check(context, request);
    bool more = predict_file_run(request->predict_file);
    /* The queue has room for all files. */
    return !more || pool_submit(context->file_predictors, request, NULL) != ST_OK;
}
