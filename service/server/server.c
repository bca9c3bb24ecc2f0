#include "service/server/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <gnutls/abstract.h>
#include <microhttpd.h>

#include "base/check.h"
#include "base/log.h"
#include "service/config/unix_socket.h"
#include "service/http/certificates.h"
#include "service/http/connection_deadlines.h"
#include "service/http/connection_shares.h"
#include "service/http/request_guard.h"
#include "service/http/sessions.h"
#include "service/identity/authentication.h"
#include "service/identity/sso.h"
#include "service/process/counters.h"
#include "service/process/daemon_state.h"
#include "service/server/session.h"

enum {
    POOL_MIN = 2, /* libmicrohttpd allows no pool of one */
    POOL_MAX = 4,
    /* LIMIT_FOLLOWERS, LONG_POLLS_MAX, and some that do not wait. */
    CONNECTIONS_MAX = 4096,
    CONNECTIONS_PARTS = 4,        /* one client network may have one of these parts */
    CONNECTION_MEMORY = 32 << 10, /* cleared after every request */
    BACKLOG = 1024,
    FILES_MAX = 16384,
    FILES_RESERVED = 512, /* descriptors reserved for everything else */
    END_TIMEOUT_MS = 5000,
};

/* TLS with forward secrecy, and ciphers that authenticate. */
static const char tls_priorities[] =
    "SECURE128:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-RSA:-CIPHER-ALL:+AES-128-GCM:"
    "+AES-256-GCM:+CHACHA20-POLY1305";

struct server {
    struct sessions sessions;
    struct certificates *certificates; /* NULL: plain HTTP */
    struct connection_shares *shares;
    unsigned connections_max;
    int unix_socket; /* -1: it listens on an address, or not yet */
    struct MHD_Daemon *daemon;
};

const struct daemon_lifecycle_hooks server_hooks = {
    session_run, session_late, session_wake, session_suspend, session_may_stay};

/* --- what libmicrohttpd calls --- */

static void *on_uri(void *context, const char *uri, struct MHD_Connection *connection)
{
    struct server *server = context;
    return session_create(&server->sessions, connection, uri);
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *connection,
                                  const char *path, const char *method,
                                  const char *version, const char *data, size_t *size,
                                  void **held)
{
    (void)context, (void)connection, (void)path, (void)version;
    return session_step(*held, method, data, size);
}

static void on_completed(void *context, struct MHD_Connection *connection, void **held,
                         enum MHD_RequestTerminationCode why)
{
    (void)context, (void)connection, (void)why;
    session_destroy(*held);
    *held = NULL;
}

static const struct sockaddr *peer_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    CHECK(info != NULL && info->client_addr != NULL);
    return info->client_addr;
}

/* Returns whether many people share this address, so that its share of connections says
 * nothing about one of them: a proxy's, a socket in the file system, and this host's as
 * long as it requires no key. */
static bool is_shared(const struct server *server, const struct sockaddr *peer)
{
    const struct daemon_state *context = server->sessions.context;
    const struct config *config = context->config;
    return peer->sa_family == AF_UNIX || config->behind_proxy ||
           proxy_trust_holds(&config->trust_proxy, peer) ||
           !authentication_asks(context);
}

/* libmicrohttpd closes what is not accepted. Its threads call this concurrently, so
 * each of them may let in one connection too many. */
static enum MHD_Result on_accept(void *context, const struct sockaddr *peer,
                                 socklen_t size)
{
    const struct server *server = context;
    (void)size;
    bool room =
        is_shared(server, peer) || connection_shares_count(server->shares, peer) <
                                       server->connections_max / CONNECTIONS_PARTS;
    return room ? MHD_YES : MHD_NO;
}

static struct connection *connection_begin(struct server *server,
                                           struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    int socket = info->connect_fd;
    gnutls_session_t tls = NULL;
    struct connection *mine = calloc(1, sizeof *mine);
    CHECK(mine != NULL);
    if (server->certificates != NULL) {
        info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
        CHECK(info != NULL && info->tls_session != NULL);
        tls = info->tls_session;
        mine->certificate = certificate_hold(server->certificates, tls);
    }
    mine->deadline = connection_deadline_add(server->sessions.deadlines, socket);
    mine->gate = request_guard_open(socket, tls);
    mine->share = connection_share_take(server->shares, peer_of(connection));
    return mine;
}

static void connection_end(struct server *server, struct connection *connection)
{
    connection_share_give_back(server->shares, connection->share);
    request_guard_close(connection->gate);
    connection_deadline_remove(connection->deadline);
    certificate_release(connection->certificate);
    free(connection);
}

static void on_connection(void *context, struct MHD_Connection *connection,
                          void **socket_context,
                          enum MHD_ConnectionNotificationCode what)
{
    struct server *server = context;
    struct counters *counters = server->sessions.context->counters;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        *socket_context = connection_begin(server, connection);
        atomic_fetch_add(&counters->connections, 1);
    } else {
        atomic_fetch_sub(&counters->connections, 1);
        connection_end(server, *socket_context);
    }
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

/* Reads the configured address and returns whether it is IPv6. */
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
    const struct config *config = server->sessions.context->config;
    const union MHD_DaemonInfo *info =
        MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_BIND_PORT);
    snprintf(port, sizeof port, "%u", info != NULL ? info->port : 0u);
    log_event(LOG_INFO, "listening", "address",
              server->unix_socket >= 0 ? config->socket_path : config->address, "port",
              port, "tls", server->certificates != NULL ? "on" : "off", "version",
              EPSILOND_VERSION, "libmicrohttpd", MHD_get_version(), (char *)NULL);
}

static unsigned pool_size(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (cores < POOL_MIN)
        return POOL_MIN;
    return cores > POOL_MAX ? POOL_MAX : (unsigned)cores;
}

/* Returns how many connections the limit of descriptors allows, after those of the jobs
 * and the store. */
static unsigned connection_limit(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0)
        return FILES_RESERVED;
    rlim_t wanted = files.rlim_max < FILES_MAX ? files.rlim_max : FILES_MAX;
    if (files.rlim_cur < wanted) {
        files.rlim_cur = wanted;
        setrlimit(RLIMIT_NOFILE, &files);
        getrlimit(RLIMIT_NOFILE, &files);
    }
    rlim_t left = files.rlim_cur > 2 * FILES_RESERVED ? files.rlim_cur - FILES_RESERVED
                                                      : files.rlim_cur / 2;
    return left < CONNECTIONS_MAX ? (unsigned)left : CONNECTIONS_MAX;
}

/* libmicrohttpd requires a source of certificates before the first connection. Each
 * connection gets its own certificates (connection_begin), so that this is never
 * called; if it were, there would be no handshake. */
static int no_certificate(gnutls_session_t session,
                          const struct gnutls_cert_retr_st *info,
                          gnutls_pcert_st **list, unsigned *count,
                          gnutls_ocsp_data_st **ocsp, unsigned *ocsp_count,
                          gnutls_privkey_t *key, unsigned *flags)
{
    (void)session, (void)info, (void)list, (void)count, (void)ocsp, (void)ocsp_count;
    (void)key, (void)flags;
    return -1;
}

static struct MHD_Daemon *daemon_start(struct server *server)
{
    union address address;
    const struct config *config = server->sessions.context->config;
    bool six = address_parse(&address, config), tls = server->certificates != NULL;
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME |
                     MHD_USE_ERROR_LOG | (six ? MHD_USE_IPv6 : 0u) |
                     (tls ? MHD_USE_TLS : 0u);
    return MHD_start_daemon(
        flags, config->port, on_accept, server, on_request, server,
        MHD_OPTION_EXTERNAL_LOGGER, on_log, NULL, MHD_OPTION_SOCK_ADDR, &address.any,
        MHD_OPTION_LISTEN_SOCKET, server->unix_socket, MHD_OPTION_THREAD_POOL_SIZE,
        pool_size(), MHD_OPTION_CONNECTION_LIMIT, server->connections_max,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)DEADLINE_IDLE_S,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY,
        MHD_OPTION_LISTEN_BACKLOG_SIZE, (unsigned)BACKLOG, MHD_OPTION_STRICT_FOR_CLIENT,
        1, MHD_OPTION_URI_LOG_CALLBACK, on_uri, server, MHD_OPTION_NOTIFY_COMPLETED,
        on_completed, server, MHD_OPTION_NOTIFY_CONNECTION, on_connection, server,
        tls ? MHD_OPTION_HTTPS_PRIORITIES : MHD_OPTION_END, tls_priorities,
        MHD_OPTION_HTTPS_CERT_CALLBACK2, no_certificate, MHD_OPTION_END);
}

/* Older versions have bugs that admission does not work around (api.md 7). */
static bool library_is_known(void)
{
    unsigned major = 0, minor = 0, patch = 0;
    sscanf(MHD_get_version(), "%u.%u.%u", &major, &minor, &patch);
    return major > 0 || minor > 9 || (minor == 9 && patch >= 75);
}

static enum status open_certificates(struct server *server, const struct config *config,
                                     struct error *error)
{
    if (config->tls_certificate[0] == '\0')
        return ST_OK;
    return certificates_open(&server->certificates, config->tls_certificate,
                             config->tls_key, error);
}

static enum status listen_and_serve(struct server *server, const struct config *config,
                                    struct error *error)
{
    bool local = config->socket_path[0] != '\0';
    if (local && unix_socket_listen(&server->unix_socket, config->socket_path, BACKLOG,
                                    error) != ST_OK)
        return ST_IO;
    errno = 0;
    server->daemon = daemon_start(server);
    if (server->daemon != NULL)
        return ST_OK;
    return error_set(error, ST_IO, "cannot listen on %s port %u: %s",
                     local ? config->socket_path : config->address, config->port,
                     errno != 0 ? strerror(errno) : "libmicrohttpd gives no reason");
}

enum status server_open(struct server **out, struct daemon_state *context,
                        struct error *error)
{
    if (!library_is_known())
        return error_set(error, ST_IO, "libmicrohttpd %s is older than 0.9.75",
                         MHD_get_version());
    struct server *server = calloc(1, sizeof *server);
    CHECK(server != NULL);
    server->unix_socket = -1;
    server->shares = connection_shares_create();
    server->connections_max = connection_limit();
    sessions_init(&server->sessions, context);
    enum status status = open_certificates(server, context->config, error);
    if (status == ST_OK)
        status = listen_and_serve(server, context->config, error);
    if (status != ST_OK) {
        server_close(server);
        return status;
    }
    log_listening(server);
    *out = server;
    return ST_OK;
}

static void log_reload(const char *what, enum status status, const struct error *error)
{
    if (status == ST_OK)
        log_event(LOG_INFO, "reloaded", "what", what, (char *)NULL);
    else
        log_event(LOG_ERROR, "not_reloaded", "what", what, "detail", error->text,
                  (char *)NULL);
}

void server_reload(struct server *server)
{
    struct error certificate = {0}, groups = {0};
    struct sso *sso = server->sessions.context->sso;
    if (server->certificates != NULL)
        log_reload("certificate",
                   certificates_reload(server->certificates, &certificate),
                   &certificate);
    if (sso != NULL)
        log_reload("groups", sso_reload(sso, &groups), &groups);
}

void server_close(struct server *server)
{
    if (server == NULL)
        return;
    MHD_socket listening = server->unix_socket;
    if (server->daemon != NULL)
        listening = MHD_quiesce_daemon(server->daemon);
    if (listening != MHD_INVALID_SOCKET) /* must not be closed before the threads end */
        shutdown(listening, SHUT_RD);
    if (server->unix_socket >= 0)
        unlink(server->sessions.context->config->socket_path);
    sessions_close(&server->sessions);
    sessions_await_end(&server->sessions, END_TIMEOUT_MS);
    if (server->daemon != NULL)
        MHD_stop_daemon(server->daemon);
    if (listening != MHD_INVALID_SOCKET)
        close(listening);
    sessions_fini(&server->sessions);
    certificates_close(server->certificates);
    connection_shares_destroy(server->shares);
    free(server);
}
