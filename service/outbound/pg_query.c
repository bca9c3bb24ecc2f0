#include "service/outbound/pg_query.h"

#include <libpq-fe.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/hash.h"

#define CURSOR "epsilond_rows"

/* The query cannot switch off READ ONLY: PostgreSQL refuses that once a transaction has
 * read, and the settings have been read before the query is sent. */
static const char begin[] = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
static const char declare[] = "DECLARE " CURSOR " NO SCROLL CURSOR FOR ";
/* The server collects all rows of a FETCH before it sends the first one. */
enum { FETCH_ROWS = 1000 };
static const char settings[] =
    "SELECT pg_catalog.set_config(name, value, true) FROM (VALUES"
    " ('statement_timeout', $1::pg_catalog.text), ('client_min_messages', 'error'),"
    " ('DateStyle', 'ISO, MDY'), ('TimeZone', 'UTC'), ('extra_float_digits', '1'),"
    " ('cursor_tuple_fraction', '1')) AS settings(name, value)";

static const int64_t ns_per_ms = 1000000;

struct session {
    struct pg_login login;
    const struct pg_query *query;
    size_t rows; /* of the current FETCH */
    size_t columns;
    struct pg_cell *cells; /* (columns) of the current row */
    uint64_t received;     /* bytes of the connection when the last row was whole */
};

bool pg_query_is_built(void)
{
    return true;
}

/* --- answers --- */

static uint64_t received(const struct session *session)
{
    struct tcp_info info = {0};
    socklen_t size = sizeof info;
    getsockopt(PQsocket(session->login.connection), IPPROTO_TCP, TCP_INFO, &info,
               &size);
    return info.tcpi_bytes_received;
}

/* Waits until there is a result. */
static enum pg_end await(struct session *session)
{
    PGconn *connection = session->login.connection;
    for (;;) {
        int unsent = PQflush(connection);
        if (unsent < 0)
            return PG_BROKEN;
        if (unsent == 0 && !PQisBusy(connection))
            return PG_DONE;
        enum pg_end end =
            pg_login_wait(&session->login, (short)(POLLIN | (unsent ? POLLOUT : 0)));
        if (end != PG_DONE)
            return end;
        if (!PQconsumeInput(connection))
            return PG_BROKEN;
        if (received(session) - session->received > PG_ROW_SIZE_MAX)
            return PG_TOO_LARGE;
    }
}

/* Returns the end that a server's error means; other if it is about the query. */
static enum pg_end end_of(const struct session *session, const PGresult *result,
                          enum pg_end other)
{
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    if (state == NULL || PQstatus(session->login.connection) == CONNECTION_BAD ||
        strncmp(state, "57P", 3) == 0 || strncmp(state, "08", 2) == 0)
        return PG_BROKEN;
    if (strcmp(state, "25006") == 0)
        return PG_WRITES;
    return strcmp(state, "57014") == 0 ? PG_TOO_SLOW : other;
}

/* Makes the cells of a result's only row, and passes them on. */
static enum pg_end take_row(struct session *session, const PGresult *result)
{
    if ((size_t)PQnfields(result) != session->columns)
        return PG_BROKEN;
    for (size_t i = 0; i < session->columns; i++) {
        int column = (int)i;
        session->cells[i] =
            PQgetisnull(result, 0, column)
                ? (struct pg_cell){NULL, 0}
                : (struct pg_cell){PQgetvalue(result, 0, column),
                                   (size_t)PQgetlength(result, 0, column)};
    }
    session->received = received(session);
    session->rows++;
    return session->query->take(session->query->context, session->cells,
                                session->columns)
               ? PG_DONE
               : PG_NOT_TAKEN;
}

/* Looks at the columns of the cursor, once it is declared. */
static enum pg_end take_columns(struct session *session, const PGresult *result)
{
    const size_t count = (size_t)PQnfields(result);
    const char **names = calloc(count + 1, sizeof *names);
    session->cells = calloc(count + 1, sizeof *session->cells);
    session->columns = count;
    CHECK(names != NULL && session->cells != NULL);
    for (size_t i = 0; i < count; i++)
        names[i] = PQfname(result, (int)i);
    bool accepted = session->query->accept(session->query->context, names, count);
    free(names);
    return accepted ? PG_DONE : PG_COLUMNS;
}

typedef enum pg_end take_function(struct session *session, const PGresult *result);

/* Reads the results of a statement that was sent. take gets those of the status wanted.
 * other is the end if the server refuses the statement. */
static enum pg_end collect(struct session *session, ExecStatusType wanted,
                           take_function *take, enum pg_end other)
{
    for (;;) {
        enum pg_end end = await(session);
        if (end != PG_DONE)
            return end;
        PGresult *result = PQgetResult(session->login.connection);
        if (result == NULL)
            return PG_DONE;
        ExecStatusType status = PQresultStatus(result);
        if (status == wanted && take != NULL)
            end = take(session, result);
        else if (status == PGRES_FATAL_ERROR)
            end = end_of(session, result, other);
        else if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
            end = PG_BROKEN;
        PQclear(result);
        PGnotify *notify;
        while ((notify = PQnotifies(session->login.connection)) != NULL)
            PQfreemem(notify);
        if (end != PG_DONE)
            return end;
    }
}

/* Sends one statement, by the protocol that takes only one, and reads its results. */
static enum pg_end run(struct session *session, const char *sql)
{
    if (PQsendQueryParams(session->login.connection, sql, 0, NULL, NULL, NULL, NULL,
                          0) != 1)
        return PG_BROKEN;
    return collect(session, PGRES_COMMAND_OK, NULL, PG_REFUSED);
}

/* --- the steps --- */

static enum pg_end set_up(struct session *session)
{
    char timeout[32];
    const char *const values[] = {timeout};
    int64_t left_ms = (session->login.deadline_ns - clock_monotonic_ns()) / ns_per_ms;
    snprintf(timeout, sizeof timeout, "%lldms", (long long)(left_ms > 0 ? left_ms : 1));
    if (PQsendQueryParams(session->login.connection, settings, 1, NULL, values, NULL,
                          NULL, 0) != 1)
        return PG_BROKEN;
    return collect(session, PGRES_TUPLES_OK, NULL, PG_REFUSED);
}

static enum pg_end declare_cursor(struct session *session)
{
    char sql[sizeof declare + LIMIT_TEXT];
    snprintf(sql, sizeof sql, "%s%s", declare, session->query->server.request->query);
    enum pg_end end = run(session, sql);
    hash_zero(sql, sizeof sql);
    if (end != PG_DONE)
        return end;
    if (PQsendDescribePortal(session->login.connection, CURSOR) != 1)
        return PG_BROKEN;
    end = collect(session, PGRES_COMMAND_OK, take_columns, PG_REFUSED);
    return end == PG_DONE && session->cells == NULL ? PG_BROKEN : end;
}

/* Reads the next rows. *more is false after the last ones. */
static enum pg_end read_some(struct session *session, bool *more)
{
    char fetch[64];
    PGconn *connection = session->login.connection;
    snprintf(fetch, sizeof fetch, "FETCH %d FROM " CURSOR, FETCH_ROWS);
    session->rows = 0;
    session->received = received(session);
    if (PQsendQueryParams(connection, fetch, 0, NULL, NULL, NULL, NULL, 0) != 1 ||
        PQsetSingleRowMode(connection) != 1)
        return PG_BROKEN;
    enum pg_end end = collect(session, PGRES_SINGLE_TUPLE, take_row, PG_FAILED);
    *more = session->rows == FETCH_ROWS;
    return end;
}

static enum pg_end read_rows(struct session *session)
{
    enum pg_end end = PG_DONE;
    for (bool more = true; more && end == PG_DONE;)
        end = read_some(session, &more);
    return end;
}

enum pg_end pg_query_run(const struct pg_query *query)
{
    struct session session = {.query = query};
    enum pg_end end = pg_login_open(&session.login, &query->server);
    if (end == PG_DONE)
        end = run(&session, begin);
    if (end == PG_DONE)
        end = set_up(&session);
    if (end == PG_DONE)
        end = declare_cursor(&session);
    if (end == PG_DONE)
        end = read_rows(&session);
    pg_login_close(&session.login);
    free(session.cells);
    return end;
}
