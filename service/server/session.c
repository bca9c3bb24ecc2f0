/* libmicrohttpd announces a request with its first line (session_create) and then calls
 * session_step: when the headers are complete; with each piece of the body; when the
 * body has ended; and whenever a suspended connection is resumed. So one function is
 * called for four reasons, and the session's stage says which: STAGE_HEADERS ends with
 * the first call, STAGE_BODY with the first call that brings no bytes, and STAGE_ANSWER
 * lasts until a reply is queued.
 *
 * Errors that show in the headers are found by header_check, and answered before the body is
 * read, unless the body is short (refusal_awaits_body). Errors that are found while the
 * body comes in (receive) are kept in refused and answered after the body, since the
 * library can only answer before or after a body. When the body is complete (complete),
 * the route's row says where its answer is made (answer): at once; by another thread,
 * while the connection is suspended (hand_over); or as soon as something changes
 * (poll). */
#include "service/server/session.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "api/http/request_target.h"
#include "api/json/fault.h"
#include "base/check.h"
#include "base/clock.h"
#include "service/audit/access_log.h"
#include "service/audit/audit_event.h"
#include "service/datasets/datasets.h"
#include "service/handlers/handlers.h"
#include "service/handlers/predict_file.h"
#include "service/handlers/write_queue.h"
#include "service/http/admission.h"
#include "service/http/body_digest.h"
#include "service/http/connection_deadlines.h"
#include "service/http/request.h"
#include "service/http/request_body.h"
#include "service/http/request_guard.h"
#include "service/http/request_name.h"
#include "service/http/response.h"
#include "service/http/sessions.h"
#include "service/http/stale_read_retry.h"
#include "service/identity/authentication.h"
#include "service/ingest/upload.h"
#include "service/process/daemon_state.h"
#include "service/server/dispatch.h"
#include "service/server/header_check.h"
#include "service/server/rows_body.h"
#include "service/threads/epoch_reclaim.h"
#include "service/threads/long_polls.h"

/* A waiting connection is checked this often, since only then is a dead peer
 * noticed. */
static const int64_t wait_slice_ns = INT64_C(15000000000);
static const int64_t past_ns = 1;

enum stage { STAGE_HEADERS, STAGE_BODY, STAGE_ANSWER };

struct session {
    struct request request; /* first: handlers and long polls know this part */
    struct upload upload;   /* what request.upload points to */
    struct sessions *sessions;
    struct connection *connection;
    uint64_t number; /* among the requests of its connection, from 1 */
    enum stage stage;
    char *path;                 /* request_target_path */
    struct body_digest *digest; /* that its sender gave for the body; NULL: none */
    struct error refused;       /* an error, to be answered after the body */
    uint64_t dropped;           /* bytes of the body after that */
    uint64_t reply_bytes;       /* memory of the reply, counted with the bodies */
    bool sent;
};

static struct session *session_of(struct request *request)
{
    /* request is the first member. */
    return (struct session *)(void *)request;
}

/* --- other threads, which resume --- */

/* Frees the body; from now on the memory of its reply is counted until it is sent. */
static void exchange_body(struct session *session)
{
    session->reply_bytes = reply_held(&session->request.reply);
    request_body_exchange(&session->request, session->sessions, session->reply_bytes);
}

/* Returns whether the principal may still get the answer, after the request has waited.
 * If not, the request is refused. */
static bool may_stay(struct session *session)
{
    struct error error = {0};
    if (authentication_renew(session->sessions->context, &session->request, &error) ==
        ST_OK)
        return true;
    request_refuse(&session->request, &error, NULL);
    audit_event_refused(session->sessions->context, &session->request);
    return false;
}

static void resume(struct session *session)
{
    sessions_resume(session->sessions, session->request.connection);
}

/* The request has its reply, and needs nothing more from this thread. */
static void finish(struct daemon_state *context, struct session *session)
{
    blob_prefetch_end(&session->request.prefetch, context->blobs);
    exchange_body(session);
    resume(session);
}

/* Computing prices may take seconds, and a key may be revoked meanwhile. */
static void renew_priced(struct request *request)
{
    if (request->prefetch.may_price)
        may_stay(session_of(request));
}

/* Gives the request to the thread that does what it needs next; refuses it if too many
 * requests wait there. */
static void hand_on(struct daemon_state *context, struct request *request)
{
    struct error error = {0};
    if (dispatch_submit(context, request, &error) == ST_OK)
        return;
    request_refuse(request, &error, NULL);
    finish(context, session_of(request));
}

static void handle_queued(struct daemon_state *context, struct request *first)
{
    struct request *all[WRITE_QUEUE_TOGETHER_MAX] = {first},
                   *stay[WRITE_QUEUE_TOGETHER_MAX];
    size_t count = write_queue_gather(context, all), stay_count = 0;
    write_queue_look(context, all, count);
    for (size_t i = 0; i < count; i++)
        if (may_stay(session_of(all[i])))
            stay[stay_count++] = all[i];
    if (stay_count > 0)
        write_queue_handle(context, stay, stay_count);
    for (size_t i = 0; i < stay_count; i++)
        renew_priced(stay[i]);
    for (size_t i = 0; i < count; i++) {
        if (all[i]->prefetch.is_due)
            hand_on(context, all[i]);
        else
            finish(context, session_of(all[i]));
    }
    daemon_state_guard(context);
}

/* On a file predictor, also while the body arrives. The reply is made when it has
 * ended. */
static void run_rows(struct daemon_state *context, struct request *request)
{
    struct session *session = session_of(request);
    if (!rows_body_run(context, request))
        return;
    if (session->stage != STAGE_ANSWER)
        resume(session);
    else {
        if (may_stay(session))
            handler_handle(context, request);
        finish(context, session);
    }
}

void session_run(void *argument, void *item)
{
    struct daemon_state *context = argument;
    struct request *request = item;
    if (request->ask == ASK_DUE)
        request->ask = ASK_DONE;
    if (request->match.route->run == RUN_ON_FILE_PREDICTORS) {
        run_rows(context, request);
        return;
    }
    if (!request->prefetch.is_due) {
        handle_queued(context, request);
        return;
    }
    if (request->prefetch.kind == BLOB_PREFETCH_PRICES)
        handler_price(context, request);
    else
        blob_prefetch_run(&request->prefetch, context->blobs, &context->draining);
    hand_on(context, request);
}

void session_late(void *context, void *item)
{
    struct session *session = session_of(item);
    struct error error = {0};
    (void)context;
    error_set(&error, ST_QUEUE_FULL, "it waited too long for its turn");
    request_refuse(&session->request, &error, NULL);
    exchange_body(session);
    resume(session);
}

/* A stream that is woken gets a new deadline. */
void session_wake(void *waiting)
{
    struct session *session = session_of(waiting);
    if (session->sent)
        connection_deadline_reply_starts(session->connection->deadline, 0);
    resume(session);
}

/* --- streams, on the connection's own thread --- */

/* Returns whether the client has closed its end: libmicrohttpd reads from a client only
 * when it expects a request. */
static bool has_gone(const struct session *session)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(
        session->request.connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    char next;
    ssize_t got =
        recvfrom(info->connect_fd, &next, 1, MSG_PEEK | MSG_DONTWAIT, NULL, NULL);
    return got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
}

bool session_may_stay(void *waiting)
{
    struct session *session = session_of(waiting);
    return authentication_renew(session->sessions->context, &session->request, NULL) ==
           ST_OK;
}

bool session_suspend(void *waiting)
{
    struct session *session = session_of(waiting);
    if (has_gone(session))
        return false;
    connection_deadline_reply_waits(session->connection->deadline);
    return sessions_suspend(session->sessions, session->request.connection);
}

/* --- from its first line to its end --- */

struct session *session_create(struct sessions *sessions,
                               struct MHD_Connection *connection, const char *uri)
{
    struct session *session = calloc(1, sizeof *session);
    CHECK(session != NULL);
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    session->sessions = sessions;
    session->connection = info->socket_context;
    session->number = request_guard_begin(session->connection->gate);
    session->request.upload = &session->upload;
    session->request.upload_size = &session->upload.size;
    session->request.connection = connection;
    session->request.start_ns = clock_monotonic_ns();
    if (!authentication_asks(sessions->context))
        session->request.caller.principal = principal_local;
    session->path = request_target_path(uri);
    session->request.path = session->path;
    sessions_enter(sessions);
    return session;
}

void session_destroy(struct session *session)
{
    if (session == NULL)
        return;
    struct sessions *sessions = session->sessions;
    uint64_t body_bytes = session->request.body_capacity + session->reply_bytes;
    connection_deadline_request_done(session->connection->deadline);
    upload_abandon(sessions->context, session->request.upload);
    predict_file_abandon(session->request.predict_file);
    body_digest_destroy(session->digest);
    request_fini(&session->request);
    free(session->path);
    free(session);
    sessions_leave(sessions, body_bytes);
}

/* --- replying --- */

static enum MHD_Result session_reply(struct session *session)
{
    struct request *request = &session->request;
    const struct reply *reply = &request->reply;
    CHECK(reply->status != 0);
    if (session->sent) /* the server is stopping, and takes no more replies */
        return MHD_NO;
    session->sent = true;
    access_log_note(session->sessions->context, request);
    connection_deadline_reply_starts(session->connection->deadline, reply_size(reply));
    return response_queue(request);
}

static enum MHD_Result session_refuse(struct session *session,
                                      const struct error *error)
{
    request_refuse(&session->request, error, NULL);
    audit_event_refused(session->sessions->context, &session->request);
    return session_reply(session);
}

/* --- the stages --- */

/* Returns whether a refused request is answered only after its body. A connection that
 * is closed with unread bytes is reset, and a reset destroys an answer that is on its
 * way. Expect makes no difference: a proxy may pass it on and send the body at once. */
static bool refusal_awaits_body(const struct session *session,
                                const struct error *error)
{
    const struct request *request = &session->request;
    const char *length = request_header(request, "Content-Length");
    uint64_t size = length != NULL ? strtoull(length, NULL, 10) : 0;
    return size > 0 && size <= REFUSED_BODY_MAX &&
           (error->faults == NULL || error->faults->count == 0) &&
           request_guard_verdict(session->connection->gate, session->number, NULL) ==
               ST_OK;
}

/* Called again after a second look for which the request has waited. */
static enum MHD_Result admit(struct session *session)
{
    struct request *request = &session->request;
    struct faults faults; /* not cleared: most requests have none */
    struct error error = {.faults = &faults};
    faults.count = 0;
    connection_deadline_headers_done(session->connection->deadline);
    if (!stale_read_retry_end(request)) {
        request_join_lists(request);
        request_name_take(request, session->sessions->context->nonce,
                          &session->sessions->named);
    }
    const struct header_check check = {request, session->connection->gate,
                                       session->number, &session->digest};
    enum status status = header_check_run(session->sessions->context, &check, &error);
    if (stale_read_retry_due_first(session->sessions->context, request, status) &&
        sessions_look(session->sessions, request))
        return MHD_YES;
    if (status != ST_OK) {
        request->reply.close = true;
        if (!refusal_awaits_body(session, &error))
            return session_refuse(session, &error);
        session->refused = error;
        session->refused.faults = NULL;
    }
    session->stage = STAGE_BODY;
    return MHD_YES;
}

/* After a refusal the rest of the body is read and dropped, so that a body that ends
 * can be answered (libmicrohttpd answers before a body or after it); one that is too
 * long ends the connection. */
static enum MHD_Result receive(struct session *session, const char *data, size_t *size)
{
    struct request *request = &session->request;
    struct daemon_state *context = session->sessions->context;
    struct connection_deadline *deadline = session->connection->deadline;
    size_t received = *size;
    *size = 0;
    if (session->refused.status != ST_OK) {
        session->dropped += received;
        connection_deadline_body_received(deadline, received);
        return session->dropped <= SESSION_DROPPED_MAX ? MHD_YES : MHD_NO;
    }
    struct error *refused = &session->refused;
    size_t taken = received;
    if (request->match.route->body == BODY_ROWS)
        taken = rows_body_receive(request, session->sessions, deadline, data, received,
                                  refused);
    else if (request->match.route->body == BODY_FILE)
        upload_write(context, request->upload, data, received, refused);
    else
        request_body_append(request, session->sessions, data, received, refused);
    body_digest_take(session->digest, data, taken);
    *size = received - taken;
    if (refused->status == ST_OK)
        connection_deadline_body_received(deadline, taken);
    else
        upload_abandon(context, request->upload);
    return MHD_YES;
}

/* Makes the checks that are possible only when the body has ended. The gate may have
 * cut its chunks short; then the connection cannot be kept. */
static void check_body(struct session *session)
{
    struct request *request = &session->request;
    struct error cut = {0};
    if (request_guard_verdict(session->connection->gate, session->number, &cut) !=
        ST_OK) {
        session->refused = cut;
        request->reply.close = true;
        upload_abandon(session->sessions->context, request->upload);
    }
    if (session->refused.status == ST_OK) {
        if (body_digest_check(session->digest, &session->refused) == ST_OK)
            upload_believe(request->upload);
        else
            upload_abandon(session->sessions->context, request->upload);
    }
    if (session->refused.status == ST_OK && request->predict_file != NULL)
        predict_file_end(request->predict_file);
    if (session->refused.status == ST_OK && request->match.route->body == BODY_EMPTY &&
        !body_is_empty(request->body, request->body_size))
        error_set(&session->refused, ST_INVALID, "this request takes no body, or {}");
}

/* Hands the request to another thread. */
static enum MHD_Result hand_over(struct session *session)
{
    struct daemon_state *context = session->sessions->context;
    struct request *request = &session->request;
    struct error error = {0};
    if (!sessions_suspend(session->sessions, request->connection)) {
        error_set(&error, ST_DRAINING, "the service is stopping");
        return session_refuse(session, &error);
    }
    enum status status = dispatch_submit(context, request, &error);
    if (status != ST_OK) {
        request_refuse(request, &error, NULL);
        resume(session);
    }
    return MHD_YES;
}

static int64_t wait_until(const struct request *request)
{
    int64_t slice_end_ns = clock_monotonic_ns() + wait_slice_ns;
    return request->deadline_ns < slice_end_ns ? request->deadline_ns : slice_end_ns;
}

/* Returns whether the long poll has its reply. If not, the session waits, suspended. */
static bool poll(struct session *session)
{
    struct request *request = &session->request;
    struct daemon_state *context = session->sessions->context;
    if (handler_poll(context, request))
        return true;
    /* Poll again under the lock, so that no change in between is missed. */
    long_polls_lock(context->long_polls);
    bool done = handler_poll(context, request);
    bool waits = !done && sessions_suspend(session->sessions, request->connection);
    request->waited |= waits;
    if (waits && !long_polls_add(context->long_polls, request->awaited, request,
                                 wait_until(request))) {
        request->deadline_ns = past_ns;
        resume(session);
    }
    long_polls_unlock(context->long_polls);
    if (done || waits)
        return done;
    request->deadline_ns = past_ns;
    CHECK(handler_poll(context, request));
    return true;
}

/* Replies; or waits for a second look, after which the request is answered again. */
static enum MHD_Result reply_or_look(struct session *session)
{
    bool waits = session->request.look == LOOK_DUE &&
                 sessions_look(session->sessions, &session->request);
    return waits ? MHD_YES : session_reply(session);
}

/* Makes the answer, on the thread that the route's row names. */
static enum MHD_Result answer(struct session *session)
{
    struct request *request = &session->request;
    session->stage = STAGE_ANSWER;
    enum route_run run = request->match.route->run;
    if (run == RUN_AS_LONG_POLL)
        return poll(session) ? reply_or_look(session) : MHD_YES;
    if (run == RUN_AT_ONCE)
        handler_handle(session->sessions->context, request);
    return run == RUN_AT_ONCE && request->ask != ASK_DUE ? reply_or_look(session)
                                                         : hand_over(session);
}

static enum MHD_Result complete(struct session *session)
{
    if (session->stage == STAGE_BODY) {
        connection_deadline_body_done(session->connection->deadline);
        check_body(session);
        if (session->refused.status != ST_OK)
            return session_refuse(session, &session->refused);
        return answer(session);
    }
    if (stale_read_retry_end(&session->request) && may_stay(session))
        return answer(session);
    if (session->request.reply.status == 0 && may_stay(session) && !poll(session))
        return MHD_YES;
    return reply_or_look(session);
}

static enum MHD_Result step(struct session *session, const char *data, size_t *size)
{
    if (session->stage == STAGE_HEADERS)
        return admit(session);
    if (*size == 0)
        return complete(session);
    return receive(session, data, size);
}

enum MHD_Result session_step(struct session *session, const char *method,
                             const char *data, size_t *size)
{
    struct reclaim_reader visit;
    struct datasets *datasets = session->sessions->context->datasets;
    session->request.method = method;
    datasets_enter(datasets, &visit);
    enum MHD_Result result = step(session, data, size);
    datasets_leave(datasets, &visit);
    return result;
}
