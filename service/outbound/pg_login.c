/* libpq takes each setting that it is not given from the environment, from files of the
 * account, or from a service file, and counts an empty text as not given. So each setting
 * is given, with a text that is not empty. */
#define _GNU_SOURCE /* pthread_timedjoin_np */
#include "service/outbound/pg_login.h"

#include <errno.h>
#include <libpq-fe.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/hash.h"
#include "service/outbound/host_lookup.h"

enum { CONNECT_SECONDS = 10, CANCEL_SECONDS = 2, SLICE_MS = 50, SETTINGS_MAX = 48 };
static const int64_t ns_per_s = 1000000000;

#define NO_FILE "/dev/null/none" /* a path that no file can have */

static const struct setting {
    const char *name, *value;
} fixed[] = {
    {"application_name", "epsilond"},
    {"channel_binding", "prefer"},
    {"client_encoding", "UTF8"},
    {"gssencmode", "disable"},
    {"keepalives", "1"},
    {"keepalives_count", "3"},
    {"keepalives_idle", "10"},
    {"keepalives_interval", "5"},
    {"krbsrvname", "none"}, /* a ticket of the account is for another service */
    {"options", " "},
    {"passfile", NO_FILE},
    {"requirepeer", "none"},
    {"sslcert", NO_FILE},
    {"sslcompression", "0"},
    {"sslcrl", NO_FILE},
    {"sslcrldir", NO_FILE},
    {"sslkey", NO_FILE},
    {"sslsni", "1"},
    {"ssl_min_protocol_version", "TLSv1.2"},
    {"target_session_attrs", "any"},
    {"tcp_user_timeout", "25000"},
    /* Newer versions of libpq know these too. */
    {"gssdelegation", "0"},
    {"load_balance_hosts", "disable"},
    {"require_auth", "password,md5,scram-sha-256,none"},
    {"sslcertmode", "disable"},
    {"sslnegotiation", "postgres"},
};

struct settings {
    const char *names[SETTINGS_MAX], *values[SETTINGS_MAX]; /* end with NULL */
    size_t count;
};

static void add(struct settings *settings, const char *name, const char *value)
{
    CHECK(settings->count < SETTINGS_MAX - 1);
    settings->names[settings->count] = name;
    settings->values[settings->count++] = value;
}

static bool is_known(const PQconninfoOption *options, const char *name)
{
    while (options->keyword != NULL && strcmp(options->keyword, name) != 0)
        options++;
    return options->keyword != NULL;
}

static void add_fixed(struct settings *settings)
{
    PQconninfoOption *known = PQconninfoParse("host=none", NULL);
    CHECK(known != NULL);
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        if (is_known(known, fixed[i].name))
            add(settings, fixed[i].name, fixed[i].value);
    PQconninfoFree(known);
}

/* The server's notices may quote cells, and libpq would print them. */
static void drop_notice(void *context, const PGresult *notice)
{
    (void)context;
    (void)notice;
}

static void start(struct pg_login *login, const struct pg_server *server,
                  const char *address)
{
    const struct query_request *request = server->request;
    struct settings settings = {.count = 0};
    char port[8];
    snprintf(port, sizeof port, "%u", request->port);
    add(&settings, "host", request->host); /* the name that the certificate must have */
    add(&settings, "hostaddr", address);
    add(&settings, "port", port);
    add(&settings, "dbname", request->database);
    add(&settings, "user", request->user);
    add(&settings, "password", request->password);
    add(&settings, "sslmode", request->plain ? "disable" : "verify-full");
    add(&settings, "sslrootcert", transfer_authorities(server->rules));
    add_fixed(&settings);
    login->connection = PQconnectStartParams(settings.names, settings.values, 0);
    CHECK(login->connection != NULL);
    PQsetNoticeReceiver(login->connection, drop_notice, NULL);
}

enum pg_end pg_login_wait(const struct pg_login *login, short events)
{
    struct pollfd socket = {.fd = PQsocket(login->connection), .events = events};
    if (atomic_load(login->cancel))
        return PG_CANCELLED;
    if (clock_monotonic_ns() >= login->deadline_ns)
        return PG_TOO_SLOW;
    poll(&socket, 1, SLICE_MS);
    return atomic_load(login->cancel) ? PG_CANCELLED : PG_DONE;
}

static bool is_ready(const struct pg_login *login, short events)
{
    struct pollfd socket = {.fd = PQsocket(login->connection), .events = events};
    return poll(&socket, 1, 0) != 0;
}

/* Returns why a connection failed that had come that far. */
static enum pg_end end_at(ConnStatusType reached)
{
    switch ((int)reached) {
    case CONNECTION_SSL_STARTUP: return PG_UNTRUSTED;
    case CONNECTION_AWAITING_RESPONSE:
    case CONNECTION_AUTH_OK: return PG_LOGIN_REFUSED;
    default: return PG_UNREACHABLE;
    }
}

static enum pg_end connect_to(struct pg_login *login)
{
    PostgresPollingStatusType wanted = PGRES_POLLING_WRITING;
    for (;;) {
        ConnStatusType reached = PQstatus(login->connection);
        short events = wanted == PGRES_POLLING_READING ? POLLIN : POLLOUT;
        if (reached == CONNECTION_BAD)
            return PG_UNREACHABLE;
        enum pg_end end = pg_login_wait(login, events);
        if (end == PG_TOO_SLOW)
            return end_at(reached) == PG_UNREACHABLE ? PG_UNREACHABLE : end;
        if (end != PG_DONE)
            return end;
        if (!is_ready(login, events))
            continue;
        wanted = PQconnectPoll(login->connection);
        if (wanted == PGRES_POLLING_FAILED)
            return end_at(reached);
        if (wanted == PGRES_POLLING_OK)
            return PQsetnonblocking(login->connection, 1) == 0 ? PG_DONE : PG_BROKEN;
    }
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

enum pg_end pg_login_open(struct pg_login *login, const struct pg_server *server)
{
    const int64_t now = clock_monotonic_ns();
    const int64_t whole_ns = now + server->request->seconds * ns_per_s;
    const struct host_lookup lookup = {
        .host = server->request->host,
        .plain = server->request->plain,
        .listed = &server->rules->allowed,
        .deadline_ns = earlier(now + CONNECT_SECONDS * ns_per_s, whole_ns),
        .cancel = server->cancel,
    };
    struct host_found found;
    enum pg_end end = PG_UNREACHABLE;
    *login = (struct pg_login){.cancel = server->cancel};
    host_lookup_run(&lookup, &found);
    for (size_t i = 0; i < found.count && end == PG_UNREACHABLE; i++) {
        login->deadline_ns =
            earlier(clock_monotonic_ns() + CONNECT_SECONDS * ns_per_s, whole_ns);
        start(login, server, found.texts[i]);
        end = connect_to(login);
        if (end != PG_DONE)
            pg_login_close(login);
    }
    login->deadline_ns = whole_ns;
    return atomic_load(server->cancel) ? PG_CANCELLED : end;
}

/* --- the end --- */

static void *cancel(void *context)
{
    char said[256];
    PQcancel(context, said, sizeof said);
    PQfreeCancel(context);
    return NULL;
}

/* PQcancel waits for the server as long as it takes, so a thread of its own calls it,
 * and is left to itself if the server does not answer. */
static void cancel_query(struct pg_login *login)
{
    pthread_t thread;
    struct timespec end;
    PGcancel *handle = PQgetCancel(login->connection);
    if (handle == NULL)
        return;
    if (pthread_create(&thread, NULL, cancel, handle) != 0) {
        PQfreeCancel(handle);
        return;
    }
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += CANCEL_SECONDS;
    if (pthread_timedjoin_np(thread, NULL, &end) != 0)
        pthread_detach(thread);
}

void pg_login_close(struct pg_login *login)
{
    if (login->connection == NULL)
        return;
    if (PQtransactionStatus(login->connection) == PQTRANS_ACTIVE)
        cancel_query(login);
    PQfinish(login->connection);
    login->connection = NULL;
}
