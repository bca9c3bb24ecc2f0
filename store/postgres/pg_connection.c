/*
 * Every query is sent and then awaited with poll, because libpq's own calls wait for as
 * long as the server takes: a COMMIT whose standby does not answer never returns. The
 * server's warnings come through a notice receiver.
 */
#include "store/postgres/pg_connection.h"

#include <errno.h>
#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <libpq-fe.h>
#include <sys/socket.h>

#include "base/check.h"
#include "base/clock.h"

enum {
    STEP_MS = 600000, /* for a database that is only read, and may be walked whole */
    SERVER_VERSION_LEAST = 150000,
    NS_PER_MS = 1000000,
};

struct pg_connection {
    PGconn *connection; /* NULL: it is lost */
    int answer_ms;
    bool warned;
    char sqlstate[6];
    char said[200];
};

/* --- messages --- */

/* Copies a text of the server or of libpq, as one line. */
static void note(struct pg_connection *wire, const char *sqlstate, const char *said)
{
    snprintf(wire->sqlstate, sizeof wire->sqlstate, "%s",
             sqlstate != NULL ? sqlstate : "");
    snprintf(wire->said, sizeof wire->said, "%s", said != NULL ? said : "");
    for (char *at = wire->said; *at != '\0'; at++)
        if (*at == '\n')
            *at = at[1] == '\0' ? '\0' : ' ';
}

static void take_notice(void *context, const PGresult *notice)
{
    struct pg_connection *wire = context;
    const char *severity = PQresultErrorField(notice, PG_DIAG_SEVERITY_NONLOCALIZED);
    if (severity == NULL || strcmp(severity, "WARNING") != 0)
        return;
    wire->warned = true;
    note(wire, PQresultErrorField(notice, PG_DIAG_SQLSTATE),
         PQresultErrorField(notice, PG_DIAG_MESSAGE_PRIMARY));
}

bool pg_connection_warned(const struct pg_connection *wire)
{
    return wire->warned;
}

const char *pg_connection_sqlstate(const struct pg_connection *wire)
{
    return wire->sqlstate;
}

const char *pg_connection_said(const struct pg_connection *wire)
{
    return wire->said;
}

/* --- queries --- */

static enum pg_connection_end lose(struct pg_connection *wire, const char *said)
{
    note(wire, NULL, said);
    PQfinish(wire->connection);
    wire->connection = NULL;
    return PG_CONNECTION_LOST;
}

/* Waits until there is a result, or no more will come. Returns false if the connection
 * broke or the deadline has passed. */
static bool await(struct pg_connection *wire, int64_t end_ns)
{
    for (;;) {
        int unsent = PQflush(wire->connection);
        if (unsent < 0)
            return false;
        if (unsent == 0 && !PQisBusy(wire->connection))
            return true;
        int64_t left_ms = (end_ns - clock_monotonic_ns()) / NS_PER_MS;
        struct pollfd socket = {.fd = PQsocket(wire->connection),
                                .events = (short)(POLLIN | (unsent ? POLLOUT : 0))};
        if (left_ms <= 0 || (poll(&socket, 1, (int)left_ms) < 0 && errno != EINTR))
            return false;
        if ((socket.revents & ~POLLOUT) != 0 && !PQconsumeInput(wire->connection))
            return false;
    }
}

/* With these codes the server announces that it ends the connection: it shuts down, or
 * an open transaction was idle for too long. */
static bool is_farewell(const char *sqlstate)
{
    return strncmp(sqlstate, "57P0", 4) == 0 || strncmp(sqlstate, "08", 2) == 0 ||
           strcmp(sqlstate, "25P03") == 0;
}

static bool is_good(const PGresult *result)
{
    ExecStatusType status = PQresultStatus(result);
    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

/* Reads the results of a query that was sent, and keeps the last in *out. */
static enum pg_connection_end take(struct pg_connection *wire, bool sent,
                                   PGresult **out, uint64_t *changed)
{
    enum pg_connection_end end = PG_CONNECTION_DONE;
    int64_t end_ns = clock_monotonic_ns() + (int64_t)wire->answer_ms * NS_PER_MS;
    if (!sent)
        return lose(wire, PQerrorMessage(wire->connection));
    for (;;) {
        if (!await(wire, end_ns)) {
            const char *said = PQerrorMessage(wire->connection);
            return lose(wire, said[0] != '\0' ? said : "no answer in time");
        }
        PGresult *result = PQgetResult(wire->connection);
        if (result == NULL)
            break;
        if (is_good(result) && changed != NULL &&
            strncmp(PQcmdStatus(result), "UPDATE", 6) == 0)
            *changed += strtoull(PQcmdTuples(result), NULL, 10);
        if (!is_good(result) && end == PG_CONNECTION_DONE) {
            end = PG_CONNECTION_REFUSED;
            note(wire, PQresultErrorField(result, PG_DIAG_SQLSTATE),
                 PQresultErrorMessage(result));
        }
        if (end == PG_CONNECTION_DONE && out != NULL) {
            PQclear(*out);
            *out = result;
        } else {
            PQclear(result);
        }
    }
    if (PQstatus(wire->connection) == CONNECTION_BAD ||
        (end == PG_CONNECTION_REFUSED && is_farewell(wire->sqlstate))) {
        char said[sizeof wire->said];
        memcpy(said, wire->said, sizeof said);
        return lose(wire,
                    end == PG_CONNECTION_REFUSED ? said : "the connection was closed");
    }
    return end;
}

/* Like take, but *out is NULL unless PG_CONNECTION_DONE is returned. */
static enum pg_connection_end finish(struct pg_connection *wire, bool sent,
                                     PGresult **out)
{
    *out = NULL;
    enum pg_connection_end end = take(wire, sent, out, NULL);
    if (end != PG_CONNECTION_DONE) {
        PQclear(*out);
        *out = NULL;
    }
    return end;
}

static bool begin_question(struct pg_connection *wire)
{
    wire->warned = false;
    return wire->connection != NULL;
}

enum pg_connection_end pg_connection_run(struct pg_connection *wire, const char *sql,
                                         uint64_t *changed)
{
    if (changed != NULL)
        *changed = 0;
    if (!begin_question(wire))
        return PG_CONNECTION_LOST;
    return take(wire, PQsendQuery(wire->connection, sql) == 1, NULL, changed);
}

enum pg_connection_end pg_connection_ask(struct pg_connection *wire, const char *sql,
                                         struct pg_result **out)
{
    *out = NULL;
    if (!begin_question(wire))
        return PG_CONNECTION_LOST;
    return finish(wire, PQsendQuery(wire->connection, sql) == 1, out);
}

enum pg_connection_end pg_connection_prepare(struct pg_connection *wire,
                                             const char *name, const char *sql)
{
    if (!begin_question(wire))
        return PG_CONNECTION_LOST;
    return take(wire, PQsendPrepare(wire->connection, name, sql, 0, NULL) == 1, NULL,
                NULL);
}

enum pg_connection_end pg_connection_execute(struct pg_connection *wire,
                                             const char *name,
                                             const struct pg_connection_values *values,
                                             struct pg_result **out)
{
    *out = NULL;
    if (!begin_question(wire))
        return PG_CONNECTION_LOST;
    return finish(wire,
                  PQsendQueryPrepared(wire->connection, name, values->count, values->at,
                                      values->sizes, values->formats, 1) == 1,
                  out);
}

/* --- the URL --- */

static bool is_on_host(const char *host)
{
    struct in_addr four;
    struct in6_addr six;
    if (host[0] == '/' || host[0] == '@' || strcmp(host, "localhost") == 0)
        return true;
    if (inet_pton(AF_INET, host, &four) == 1)
        return (ntohl(four.s_addr) >> 24) == IN_LOOPBACKNET;
    return inet_pton(AF_INET6, host, &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
}

/* Returns whether all hosts of a list with commas are on this host. */
static bool are_on_host(const char *hosts)
{
    char host[256];
    for (const char *at = hosts;; at++) {
        size_t size = strcspn(at, ",");
        if (size >= sizeof host)
            return false;
        snprintf(host, sizeof host, "%.*s", (int)size, at);
        if (host[0] != '\0' && !is_on_host(host))
            return false;
        at += size;
        if (*at == '\0')
            return true;
    }
}

static const char *option_of(const PQconninfoOption *options, const char *name)
{
    for (; options->keyword != NULL; options++)
        if (strcmp(options->keyword, name) == 0 && options->val != NULL)
            return options->val;
    return "";
}

static enum status check_options(const PQconninfoOption *options, struct error *error)
{
    const char *mode = option_of(options, "sslmode");
    bool checked = strcmp(mode, "verify-full") == 0 || strcmp(mode, "verify-ca") == 0;
    const char *host = option_of(options, "host"),
               *address = option_of(options, "hostaddr");
    if (option_of(options, "service")[0] != '\0')
        return error_set(error, ST_INVALID,
                         "the store's URL names a service: say its host and database "
                         "themselves");
    if (host[0] == '\0' && address[0] == '\0')
        return error_set(error, ST_INVALID, "the store's URL names no host");
    if (!checked && !(are_on_host(host) && are_on_host(address)))
        return error_set(error, ST_INVALID,
                         "the store is not on this host: its URL needs "
                         "sslmode=verify-full (or verify-ca), or the ledger would "
                         "travel readable");
    return ST_OK;
}

static enum status check_url(const char *url, struct error *error)
{
    char *said = NULL;
    if (strncmp(url, "postgresql://", 13) != 0 && strncmp(url, "postgres://", 11) != 0)
        return error_set(error, ST_INVALID,
                         "the store's URL does not begin with postgresql://");
    PQconninfoOption *options = PQconninfoParse(url, &said);
    if (options == NULL) {
        PQfreemem(said); /* it may quote the password */
        return error_set(error, ST_INVALID, "the store's URL cannot be read");
    }
    enum status status = check_options(options, error);
    PQconninfoFree(options);
    return status;
}

/* --- settings --- */

struct setting {
    const char *name, *value;
};

/* Settings that we make. The server ends an open transaction that is idle, so that a
 * writer that is suspended blocks the others only briefly. */
static const struct setting writing[] = {
    {"synchronous_commit", "on"},
    {"statement_timeout", "10s"},
    {"lock_timeout", "5s"},
    {"idle_in_transaction_session_timeout", "2s"},
};
static const struct setting reading[] = {
    {"statement_timeout", "10min"},
    {"idle_in_transaction_session_timeout", "0"},
};
/* Settings that the server itself must have. */
static const struct setting expected[] = {
    {"fsync", "on"},
    {"full_page_writes", "on"},
    {"data_sync_retry", "off"},
    {"server_encoding", "UTF8"},
};

static enum status unreachable(struct pg_connection *wire, struct error *error)
{
    return error_set(error, ST_IO, "the store: %s", pg_connection_said(wire));
}

/* value = the server's answer to SHOW name. */
static enum status show(struct pg_connection *wire, const char *name, char *value,
                        size_t size, struct error *error)
{
    char sql[96];
    PGresult *answer = NULL;
    snprintf(sql, sizeof sql, "SHOW %s", name);
    if (pg_connection_ask(wire, sql, &answer) != PG_CONNECTION_DONE)
        return unreachable(wire, error);
    snprintf(value, size, "%s", PQgetvalue(answer, 0, 0));
    PQclear(answer);
    return ST_OK;
}

static enum status expect(struct pg_connection *wire, const struct setting *setting,
                          struct error *error)
{
    char value[64];
    enum status status = show(wire, setting->name, value, sizeof value, error);
    if (status != ST_OK || strcmp(value, setting->value) == 0)
        return status;
    return error_set(error, ST_INVALID, "the store: the server has %s=%s, not %s",
                     setting->name, value, setting->value);
}

static enum status set(struct pg_connection *wire, const struct setting *setting,
                       struct error *error)
{
    char sql[128];
    snprintf(sql, sizeof sql, "SET %s='%s'", setting->name, setting->value);
    if (pg_connection_run(wire, sql, NULL) != PG_CONNECTION_DONE)
        return unreachable(wire, error);
    return expect(wire, setting, error);
}

static enum status check_standbys(struct pg_connection *wire, struct error *error)
{
    char names[64], senders[16];
    enum status status =
        show(wire, "synchronous_standby_names", names, sizeof names, error);
    if (status == ST_OK)
        status = show(wire, "max_wal_senders", senders, sizeof senders, error);
    if (status != ST_OK || (names[0] != '\0' && strcmp(senders, "0") != 0))
        return status;
    return error_set(
        error, ST_INVALID,
        "the store: the server has no synchronous standby, so a failover "
        "may forget what was spent; set synchronous_standby_names, or give "
        "--single-server on where there is no failover");
}

static enum status set_up(struct pg_connection *wire, const struct store_server *server,
                          bool reads, struct error *error)
{
    const struct setting *all = reads ? reading : writing;
    size_t count =
        reads ? sizeof reading / sizeof *reading : sizeof writing / sizeof *writing;
    enum status status = ST_OK;
    /* These have no effect on a connection within the host. A peer that vanishes
     * without a word is noticed after 25 s at most, and then its transaction and its
     * lock end. */
    if (pg_connection_run(wire,
                          "SET tcp_keepalives_idle=10;SET tcp_keepalives_interval=5;"
                          "SET tcp_keepalives_count=3;SET client_min_messages=warning",
                          NULL) != PG_CONNECTION_DONE)
        return unreachable(wire, error);
    for (size_t i = 0; status == ST_OK && i < count; i++)
        status = set(wire, &all[i], error);
    for (size_t i = 0;
         status == ST_OK && !reads && i < sizeof expected / sizeof *expected; i++)
        status = expect(wire, &expected[i], error);
    if (status == ST_OK && !reads && !server->single_server)
        status = check_standbys(wire, error);
    return status;
}

/* --- opening --- */

static void connect_to(struct pg_connection *wire, const struct store_server *server,
                       bool reads)
{
    const char *const names[] = {"dbname",
                                 "application_name",
                                 "client_encoding",
                                 "connect_timeout",
                                 "tcp_user_timeout",
                                 "keepalives_idle",
                                 "keepalives_interval",
                                 "keepalives_count",
                                 "target_session_attrs",
                                 NULL};
    const char *const values[] = {server->url, "epsilond", "UTF8",
                                  "10",        "10000",    "10",
                                  "5",         "3",        reads ? "any" : "read-write",
                                  NULL};
    wire->connection = PQconnectdbParams(names, values, 1);
}

/* libpq's environment and files may add options to a URL that lead it elsewhere. */
static bool is_private(PGconn *connection)
{
    struct sockaddr_storage peer;
    socklen_t size = sizeof peer;
    if (PQsslInUse(connection))
        return true;
    if (getpeername(PQsocket(connection), (struct sockaddr *)&peer, &size) != 0)
        return false;
    return peer.ss_family == AF_UNIX || is_on_host(PQhostaddr(connection));
}

static enum status check_connection(struct pg_connection *wire, bool reads,
                                    struct error *error)
{
    if (PQstatus(wire->connection) != CONNECTION_OK) {
        note(wire, NULL, PQerrorMessage(wire->connection));
        bool replica = !reads && strstr(wire->said, "read-only") != NULL;
        return error_set(error, ST_IO, "the store: %s%s", wire->said,
                         replica ? "; a daemon needs the primary, not a replica" : "");
    }
    if (!is_private(wire->connection))
        return error_set(error, ST_INVALID,
                         "the store: the connection is not encrypted and leaves this "
                         "host");
    if (PQserverVersion(wire->connection) < SERVER_VERSION_LEAST)
        return error_set(error, ST_INVALID,
                         "the store: the server is older than PostgreSQL 15");
    return ST_OK;
}

enum status pg_connection_open(struct pg_connection **out,
                               const struct store_server *server, bool reads,
                               struct error *error)
{
    enum status status = check_url(server->url, error);
    if (status != ST_OK)
        return status;
    struct pg_connection *wire = calloc(1, sizeof *wire);
    CHECK(wire != NULL);
    /* Three times the time that the server gives a statement (settings, above). */
    wire->answer_ms = server->answer_ms > 0 ? server->answer_ms : STORE_ANSWER_MS;
    if (reads)
        wire->answer_ms = STEP_MS;
    connect_to(wire, server, reads);
    CHECK(wire->connection != NULL);
    status = check_connection(wire, reads, error);
    if (status == ST_OK) {
        PQsetnonblocking(wire->connection, 1);
        PQsetNoticeReceiver(wire->connection, take_notice, wire);
        status = set_up(wire, server, reads, error);
    }
    if (status == ST_OK)
        *out = wire;
    else
        pg_connection_close(wire);
    return status;
}

void pg_connection_close(struct pg_connection *wire)
{
    if (wire == NULL)
        return;
    PQfinish(wire->connection);
    free(wire);
}
