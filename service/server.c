#include "service/server.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <microhttpd.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "service/admission.h"
#include "service/handlers.h"
#include "service/watch.h"

enum {
    POOL_MIN = 2, /* one is no pool to libmicrohttpd */
    POOL_MAX = 4,
    CONNECTIONS_MAX = 4096,
    CONNECTION_MEMORY = 64 << 10,
    BACKLOG = 1024,
    BODY_STEP = 16 << 10,
};

enum stage { STAGE_HEADERS, STAGE_BODY, STAGE_WORK, STAGE_ANSWER };

struct server {
    struct service *service;
    struct MHD_Daemon *daemon;
    struct watch *watch;
    pthread_mutex_t lock; /* guards the two below */
    pthread_cond_t none_suspended;
    size_t suspended;
    bool closing;
};

/* A request as the server keeps it. */
struct session {
    struct request request; /* first: handlers and waiters know this part */
    struct server *server;
    enum stage stage;
    char *uri;            /* as it came, before decoding */
    struct error refused; /* found while the body came in */
};

static struct session *session_of(struct request *request)
{
    /* request is the first member. */
    return (struct session *)(void *)request;
}

/* --- suspending --- */

/* False when the server is closing: the caller answers at once. */
static bool session_suspend(struct session *session)
{
    struct server *server = session->server;
    pthread_mutex_lock(&server->lock);
    bool open = !server->closing;
    if (open) {
        server->suspended++;
        MHD_suspend_connection(session->request.connection);
    }
    pthread_mutex_unlock(&server->lock);
    return open;
}

static void session_resume(struct session *session)
{
    struct server *server = session->server;
    pthread_mutex_lock(&server->lock);
    MHD_resume_connection(session->request.connection);
    if (--server->suspended == 0)
        pthread_cond_broadcast(&server->none_suspended);
    pthread_mutex_unlock(&server->lock);
}

static void run_work(void *context, void *item)
{
    struct service *service = context;
    struct request *request = item;
    handler_of(request->match.route)->work(service, request);
    session_resume(session_of(request));
    service_guard(service);
}

static void resume_waiting(void *waiting)
{
    session_resume(session_of(waiting));
}

const struct service_hooks server_hooks = {run_work, run_work, resume_waiting};

/* --- replying --- */

static struct MHD_Response *response_create(struct reply *reply)
{
    struct MHD_Response *response;
    if (reply->file >= 0) {
        response = MHD_create_response_from_fd_at_offset64(
            reply->file_size, reply->file, reply->file_offset);
        reply->file = -1;
    } else if (reply->fixed != NULL) {
        /* MHD never writes to a persistent buffer. */
        union {
            const void *fixed;
            void *buffer;
        } body = {.fixed = reply->fixed};
        response = MHD_create_response_from_buffer(reply->size, body.buffer,
                                                   MHD_RESPMEM_PERSISTENT);
    } else {
        response = MHD_create_response_from_buffer(reply->size, reply->body,
                                                   MHD_RESPMEM_MUST_FREE);
        reply->body = NULL;
    }
    CHECK(response != NULL);
    return response;
}

static void log_access(const struct session *session)
{
    const struct request *request = &session->request;
    char status[16];
    bool read =
        strcmp(request->method, "GET") == 0 || strcmp(request->method, "HEAD") == 0;
    snprintf(status, sizeof status, "%u", request->reply.status);
    log_event(read && request->reply.status < 500 ? LOG_DEBUG : LOG_INFO, "request",
              "id", request->id, "method", request->method, "path", request->path,
              "status", status, (char *)NULL);
}

static enum MHD_Result send_reply(struct session *session)
{
    struct request *request = &session->request;
    struct reply *reply = &request->reply;
    CHECK(reply->status != 0);
    log_access(session);
    struct MHD_Response *response = response_create(reply);
    if (reply->type != NULL)
        MHD_add_response_header(response, "Content-Type", reply->type);
    MHD_add_response_header(response, "X-Request-Id", request->id);
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    for (size_t i = 0; i < reply->header_count; i++)
        MHD_add_response_header(response, reply->headers[i].name,
                                reply->headers[i].value);
    if (reply->close)
        MHD_add_response_header(response, "Connection", "close");
    enum MHD_Result result =
        MHD_queue_response(request->connection, reply->status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result refuse(struct session *session, const struct error *error)
{
    reply_problem(&session->request, error, NULL);
    return send_reply(session);
}

/* --- the stages of a request --- */

static struct watched *watched_of(struct session *session)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(
        session->request.connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info->socket_context;
}

static void request_id(struct request *request)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789-_.";
    const char *given = request_header(request, "X-Request-Id");
    if (given != NULL && given[0] != '\0' && strlen(given) < REQUEST_ID_SIZE &&
        strspn(given, allowed) == strlen(given)) {
        snprintf(request->id, sizeof request->id, "%s", given);
        return;
    }
    uint64_t random[2];
    random_bytes(random, sizeof random);
    snprintf(request->id, sizeof request->id, "%016llx%016llx",
             (unsigned long long)random[0], (unsigned long long)random[1]);
}

static enum MHD_Result admit(struct session *session)
{
    struct request *request = &session->request;
    struct error error = {0};
    watch_headers_done(session->server->watch, watched_of(session));
    request_id(request);
    enum status status = admission_check(request, session->uri,
                                         session->server->service->config, &error);
    if (status == ST_OK && request->match.route == ROUTE_DATASET_FILE_PUT)
        status = upload_begin(session->server->service, request, &error);
    if (status != ST_OK) {
        request->reply.close = true;
        return refuse(session, &error);
    }
    session->stage = STAGE_BODY;
    return MHD_YES;
}

static enum status body_append(struct request *request, const char *data, size_t size,
                               uint64_t max, struct error *error)
{
    if (size > max - request->body_size)
        return error_set(error, ST_BODY_TOO_LARGE,
                         "the body may have at most %llu bytes",
                         (unsigned long long)max);
    if (request->body_capacity - request->body_size <= size) {
        size_t capacity = 2 * request->body_capacity + size + BODY_STEP;
        char *body = realloc(request->body, capacity);
        if (body == NULL)
            return error_set(error, ST_NO_MEMORY, "no memory for the body");
        request->body = body;
        request->body_capacity = capacity;
    }
    memcpy(request->body + request->body_size, data, size);
    request->body_size += size;
    request->body[request->body_size] = '\0';
    return ST_OK;
}

/* After a refusal the rest is read and dropped: the reply can only go out at its end.
 */
static void receive(struct session *session, const char *data, size_t size)
{
    struct request *request = &session->request;
    struct service *service = session->server->service;
    enum route_body kind = route_info(request->match.route)->body;
    watch_body_received(session->server->watch, watched_of(session), size);
    if (session->refused.status != ST_OK)
        return;
    if (kind == BODY_FILE)
        upload_write(service, request, data, size, &session->refused);
    else
        body_append(request, data, size, admission_body_max(kind, service->config),
                    &session->refused);
}

static enum status check_empty_body(const struct request *request, struct error *error)
{
    const char *rest = request->body;
    if (route_info(request->match.route)->body != BODY_EMPTY || rest == NULL)
        return ST_OK;
    rest += strspn(rest, " \t\r\n");
    if (*rest == '{') {
        rest++;
        rest += strspn(rest, " \t\r\n");
        rest += *rest == '}';
        rest += strspn(rest, " \t\r\n");
    }
    if (*rest != '\0')
        return error_set(error, ST_INVALID, "this request takes no body, or {}");
    return ST_OK;
}

/* Hands the request to another thread. */
static enum MHD_Result dispatch(struct session *session, const struct handler *handler)
{
    struct service *service = session->server->service;
    struct pool *pool = handler->thread == ON_READER ? service->reader : service->desk;
    struct error error = {0};
    session->stage = STAGE_ANSWER;
    if (!session_suspend(session)) {
        error_set(&error, ST_DRAINING, "the service is stopping");
        return refuse(session, &error);
    }
    if (pool_submit(pool, &session->request, &error) != ST_OK) {
        reply_problem(&session->request, &error, NULL);
        session_resume(session);
    }
    return MHD_YES;
}

/* Calls the route's answer until it has one; false: the session waits, suspended. */
static bool answer(struct session *session, const struct handler *handler)
{
    static const int64_t past_ns = 1;
    struct request *request = &session->request;
    struct service *service = session->server->service;
    if (handler->answer(service, request))
        return true;
    /* Asked again under the lock, so that no change is missed in between. */
    waiters_lock(service->waiters);
    bool done = handler->answer(service, request);
    bool waits = !done && session_suspend(session);
    if (waits && !waiters_add(service->waiters, request->subject, request,
                              request->deadline_ns)) {
        request->deadline_ns = past_ns;
        session_resume(session);
    }
    waiters_unlock(service->waiters);
    if (done || waits)
        return done;
    request->deadline_ns = past_ns;
    CHECK(handler->answer(service, request));
    return true;
}

static enum MHD_Result complete(struct session *session)
{
    struct request *request = &session->request;
    const struct handler *handler = handler_of(request->match.route);
    if (session->stage == STAGE_BODY) {
        watch_body_done(session->server->watch, watched_of(session));
        if (session->refused.status == ST_OK)
            check_empty_body(request, &session->refused);
        if (session->refused.status != ST_OK)
            return refuse(session, &session->refused);
        if (handler->work != NULL)
            return dispatch(session, handler);
        session->stage = STAGE_ANSWER;
    }
    if (request->reply.status == 0 && !answer(session, handler))
        return MHD_YES;
    return send_reply(session);
}

/* --- what libmicrohttpd calls --- */

static void *on_uri(void *context, const char *uri, struct MHD_Connection *connection)
{
    struct session *session = calloc(1, sizeof *session);
    CHECK(session != NULL);
    session->server = context;
    session->request.connection = connection;
    session->request.upload = -1;
    session->request.reply.file = -1;
    session->request.start_ns = clock_monotonic_ns();
    session->uri = strdup(uri);
    CHECK(session->uri != NULL);
    return session;
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *connection,
                                  const char *path, const char *method,
                                  const char *version, const char *data, size_t *size,
                                  void **held)
{
    struct session *session = *held;
    (void)context, (void)connection, (void)version;
    session->request.method = method;
    session->request.path = path;
    if (session->stage == STAGE_HEADERS)
        return admit(session);
    if (*size > 0) {
        receive(session, data, *size);
        *size = 0;
        return MHD_YES;
    }
    return complete(session);
}

static void on_completed(void *context, struct MHD_Connection *connection, void **held,
                         enum MHD_RequestTerminationCode why)
{
    struct server *server = context;
    struct session *session = *held;
    (void)connection, (void)why;
    if (session == NULL)
        return;
    *held = NULL;
    watch_request_done(server->watch, watched_of(session));
    upload_abandon(server->service, &session->request);
    free(session->uri);
    request_destroy(&session->request);
}

static void on_connection(void *context, struct MHD_Connection *connection,
                          void **socket_context,
                          enum MHD_ConnectionNotificationCode what)
{
    struct server *server = context;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (what == MHD_CONNECTION_NOTIFY_STARTED)
        *socket_context = watch_add(server->watch, info->connect_fd);
    else
        watch_remove(server->watch, *socket_context);
}

static void on_log(void *context, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));

static void on_log(void *context, const char *format, va_list arguments)
{
    char text[256];
    (void)context;
    vsnprintf(text, sizeof text, format, arguments);
    text[strcspn(text, "\n")] = '\0';
    log_event(LOG_DEBUG, "http", "detail", text, (char *)NULL);
}

/* --- opening and closing --- */

union address {
    struct sockaddr any;
    struct sockaddr_in four;
    struct sockaddr_in6 six;
};

/* Whether the configured address is IPv6. */
static bool address_parse(union address *address, const struct config *config)
{
    *address = (union address){0};
    if (inet_pton(AF_INET, config->address, &address->four.sin_addr) == 1) {
        address->four.sin_family = AF_INET;
        address->four.sin_port = htons(config->port);
        return false;
    }
    CHECK(inet_pton(AF_INET6, config->address, &address->six.sin6_addr) == 1);
    address->six.sin6_family = AF_INET6;
    address->six.sin6_port = htons(config->port);
    return true;
}

static void log_listening(const struct server *server)
{
    char port[8];
    const union MHD_DaemonInfo *info =
        MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_BIND_PORT);
    snprintf(port, sizeof port, "%u", info != NULL ? info->port : 0u);
    log_event(LOG_INFO, "listening", "address", server->service->config->address,
              "port", port, "version", EPSILOND_VERSION, "libmicrohttpd",
              MHD_get_version(), (char *)NULL);
}

static unsigned pool_size(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (cores < POOL_MIN)
        return POOL_MIN;
    return cores > POOL_MAX ? POOL_MAX : (unsigned)cores;
}

static struct MHD_Daemon *daemon_start(struct server *server)
{
    union address address;
    bool six = address_parse(&address, server->service->config);
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME |
                     MHD_USE_ERROR_LOG | (six ? MHD_USE_IPv6 : 0u);
    return MHD_start_daemon(
        flags, server->service->config->port, NULL, NULL, on_request, server,
        MHD_OPTION_EXTERNAL_LOGGER, on_log, NULL, MHD_OPTION_SOCK_ADDR, &address.any,
        MHD_OPTION_THREAD_POOL_SIZE, pool_size(), MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)WATCH_IDLE_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)CONNECTION_MEMORY, MHD_OPTION_LISTEN_BACKLOG_SIZE, (unsigned)BACKLOG,
        MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_LISTENING_ADDRESS_REUSE, 1u,
        MHD_OPTION_URI_LOG_CALLBACK, on_uri, server, MHD_OPTION_NOTIFY_COMPLETED,
        on_completed, server, MHD_OPTION_NOTIFY_CONNECTION, on_connection, server,
        MHD_OPTION_END);
}

enum status server_open(struct server **out, struct service *service,
                        struct error *error)
{
    struct server *server = calloc(1, sizeof *server);
    CHECK(server != NULL);
    server->service = service;
    pthread_mutex_init(&server->lock, NULL);
    pthread_cond_init(&server->none_suspended, NULL);
    server->watch = watch_create();
    server->daemon = daemon_start(server);
    if (server->daemon == NULL) {
        server_close(server);
        return error_set(error, ST_IO, "cannot listen on %s port %u",
                         service->config->address, service->config->port);
    }
    log_listening(server);
    *out = server;
    return ST_OK;
}

void server_close(struct server *server)
{
    if (server == NULL)
        return;
    pthread_mutex_lock(&server->lock);
    server->closing = true;
    pthread_mutex_unlock(&server->lock);
    waiters_close(server->service->waiters);
    pthread_mutex_lock(&server->lock);
    while (server->suspended > 0)
        pthread_cond_wait(&server->none_suspended, &server->lock);
    pthread_mutex_unlock(&server->lock);
    if (server->daemon != NULL)
        MHD_stop_daemon(server->daemon);
    watch_destroy(server->watch);
    pthread_cond_destroy(&server->none_suspended);
    pthread_mutex_destroy(&server->lock);
    free(server);
}
