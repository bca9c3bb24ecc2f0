/*
 * The driver of PostgreSQL. A statement is sent when its first row is read, and all its
 * rows come at once, so that another may be sent while they are walked. The connection
 * may break meanwhile: postgres_session.h.
 */
#include "store/postgres/postgres.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <libpq-fe.h>

#include "base/check.h"
#include "store/postgres/global_write_lock.h"
#include "store/postgres/postgres_session.h"
#include "store/postgres/postgres_tables.h"

enum { NUMBER_SIZE = 24 };

struct prepared {
    struct postgres *postgres;
    size_t text;
    int count; /* number of parameters */
    const char *values[POSTGRES_PARAMETERS_MAX];
    int sizes[POSTGRES_PARAMETERS_MAX], formats[POSTGRES_PARAMETERS_MAX];
    char numbers[POSTGRES_PARAMETERS_MAX][NUMBER_SIZE];
    PGresult *answer; /* NULL: not sent yet */
    int row;
};

static struct postgres *own(const struct database *database)
{
    return (struct postgres *)(uintptr_t)database;
}

static const char *message(const struct database *database)
{
    return own(database)->said;
}

/* --- answers --- */

static enum database_class class_of(const char *sqlstate)
{
    static const struct {
        const char *sqlstate;
        enum database_class class;
    } all[] = {
        {"23505", DB_KEY_USED}, {"23503", DB_NO_PARENT}, {"23514", DB_REFUSED},
        {"23502", DB_REFUSED},  {"22021", DB_REFUSED}, /* bytes that are not a text */
        {"22P05", DB_REFUSED}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(sqlstate, all[i].sqlstate) == 0)
            return all[i].class;
    return DB_FAILED;
}

/* Another transaction stood in its way: a deadlock, a serialization failure, a lock
 * that was not granted in time. The whole transaction may be tried again. */
static bool is_passing(const char *sqlstate)
{
    return strcmp(sqlstate, "40P01") == 0 || strcmp(sqlstate, "40001") == 0 ||
           strcmp(sqlstate, "55P03") == 0;
}

/* --- transactions --- */

static enum database_class begin(struct database *database, enum store_scope scope)
{
    return postgres_session_begin(own(database), scope);
}

static enum database_class commit(struct database *database)
{
    return postgres_session_commit(own(database));
}

static enum database_class rollback(struct database *database)
{
    return postgres_session_rollback(own(database));
}

static enum database_class tidy(struct database *database)
{
    postgres_session_forget(own(database));
    return DB_OK;
}

static uint64_t acknowledged(const struct database *database)
{
    const struct postgres *postgres = own(database);
    uint64_t count = 0;
    for (int i = 0; !postgres->read_only && i < WRITERS; i++)
        count += (uint64_t)atomic_load(&postgres->writers->all[i].n);
    return count;
}

/* --- statements --- */

static enum database_class prepare(struct database *database, struct prepared **out,
                                   const char *sql)
{
    struct prepared *prepared = calloc(1, sizeof *prepared);
    CHECK(prepared != NULL);
    prepared->postgres = own(database);
    prepared->text = postgres_session_text(prepared->postgres, sql);
    prepared->row = -1;
    *out = prepared;
    return DB_OK;
}

static enum database_class put(struct prepared *prepared, int at, const char *value,
                               size_t size, int format)
{
    CHECK(at < POSTGRES_PARAMETERS_MAX && size <= INT32_MAX);
    prepared->values[at] = value;
    prepared->sizes[at] = (int)size;
    prepared->formats[at] = format;
    prepared->count = at + 1;
    return DB_OK;
}

static enum database_class bind_text(struct prepared *prepared, int at,
                                     const char *text)
{
    return put(prepared, at, text, 0, 0);
}

static enum database_class bind_number(struct prepared *prepared, int at,
                                       int64_t number)
{
    CHECK(at < POSTGRES_PARAMETERS_MAX);
    snprintf(prepared->numbers[at], NUMBER_SIZE, "%" PRId64, number);
    return put(prepared, at, prepared->numbers[at], 0, 0);
}

static enum database_class bind_blob(struct prepared *prepared, int at,
                                     const void *data, size_t size)
{
    return put(prepared, at, data, size, 1);
}

static uint64_t changed(struct prepared *prepared)
{
    return strtoull(PQcmdTuples(prepared->answer), NULL, 10);
}

/* Sends the statement, and again after the connection broke or another transaction was
 * in the way, if the transaction may go on (postgres_session_again). */
static enum database_class execute(struct prepared *prepared)
{
    struct postgres *postgres = prepared->postgres;
    const struct pg_connection_values values = {prepared->count, prepared->values,
                                                prepared->sizes, prepared->formats};
    for (int tries = 0; tries < POSTGRES_TRIES; tries++) {
        enum pg_connection_end said =
            postgres_session_say(postgres, prepared->text, &values, &prepared->answer);
        if (said == PG_CONNECTION_DONE) {
            if (PQresultStatus(prepared->answer) != PGRES_COMMAND_OK)
                postgres->has_read = true;
            else
                postgres_session_remember(postgres, prepared->text, &values,
                                          changed(prepared));
            return DB_OK;
        }
        if (said == PG_CONNECTION_REFUSED) {
            postgres_session_fail(postgres, pg_connection_said(postgres->wire));
            if (!is_passing(pg_connection_sqlstate(postgres->wire)))
                return class_of(pg_connection_sqlstate(postgres->wire));
        }
        enum database_class class =
            postgres_session_again(postgres, said == PG_CONNECTION_LOST);
        if (class != DB_OK)
            return class;
    }
    return DB_FAILED;
}

static enum database_class next(struct prepared *prepared, bool *row)
{
    if (prepared->answer == NULL) {
        enum database_class class = execute(prepared);
        if (class != DB_OK)
            return class;
    }
    *row = ++prepared->row < PQntuples(prepared->answer);
    return DB_OK;
}

static bool is_null(struct prepared *prepared, int column)
{
    return PQgetisnull(prepared->answer, prepared->row, column) == 1;
}

static const char *text(struct prepared *prepared, int column)
{
    return is_null(prepared, column)
               ? NULL
               : PQgetvalue(prepared->answer, prepared->row, column);
}

static size_t size_of(struct prepared *prepared, int column)
{
    return (size_t)PQgetlength(prepared->answer, prepared->row, column);
}

/* Whole numbers come with four or eight bytes, the most significant first. */
static int64_t number(struct prepared *prepared, int column)
{
    const uint8_t *bytes = (const uint8_t *)text(prepared, column);
    size_t size = size_of(prepared, column);
    uint64_t read = bytes != NULL && (bytes[0] & 0x80) != 0 ? UINT64_MAX : 0;
    for (size_t i = 0; bytes != NULL && i < size; i++)
        read = read << 8 | bytes[i];
    return (int64_t)read;
}

static const uint8_t *blob(struct prepared *prepared, int column)
{
    return size_of(prepared, column) > 0 ? (const uint8_t *)text(prepared, column)
                                         : NULL;
}

static void end(struct prepared *prepared)
{
    if (prepared == NULL)
        return;
    PQclear(prepared->answer);
    free(prepared);
}

/* --- opening --- */

static void close_connection(struct database *database, bool clean)
{
    struct postgres *postgres = own(database);
    (void)clean;
    pg_connection_close(postgres->wire);
    postgres_session_forget(postgres);
    free(postgres->written);
    for (size_t i = 0; i < postgres->text_count; i++) {
        free(postgres->texts[i].seen);
        free(postgres->texts[i].numbered);
    }
    free(postgres->texts);
    free((char *)(uintptr_t)postgres->server.url);
    free(postgres->base.position);
    if (postgres->base.first == NULL)
        free(postgres->writers);
    free(postgres);
}

static const char columns[] =
    "SELECT c.relname::text,a.attname::text,CASE a.atttypid WHEN 'text'::regtype THEN"
    " 'TEXT' WHEN 'bigint'::regtype THEN 'INTEGER' WHEN 'bytea'::regtype THEN 'BLOB'"
    " ELSE format_type(a.atttypid,a.atttypmod) END,"
    " coalesce(array_position(i.indkey::int2[],a.attnum)+1,0),"
    " (a.attidentity<>'')::int FROM pg_class c JOIN pg_attribute a ON a.attrelid=c.oid"
    " LEFT JOIN pg_index i ON i.indrelid=c.oid AND i.indisprimary"
    " WHERE c.relkind IN('r','p') AND c.relnamespace=current_schema()::regnamespace"
    " AND a.attnum>0 AND NOT a.attisdropped"
    " AND c.relname NOT IN('migration','schema_step','head','writer','claim',"
    "'change','duty','daemon','hold')"
    " ORDER BY c.oid,a.attnum";

static const char next_number[] = "SELECT nextval(pg_get_serial_sequence(?,'number'))";

static struct database *beside(struct database *first, unsigned number);
static struct database *reader(struct database *first);

static const struct driver driver = {
    .dialect = {.columns = columns,
                .as_given = " OVERRIDING SYSTEM VALUE",
                .next = next_number},
    .close = close_connection,
    .beside = beside,
    .reader = reader,
    .begin = begin,
    .commit = commit,
    .rollback = rollback,
    .tidy = tidy,
    .acknowledged = acknowledged,
    .message = message,
    .prepare = prepare,
    .bind_text = bind_text,
    .bind_number = bind_number,
    .bind_blob = bind_blob,
    .next = next,
    .changed = changed,
    .text = text,
    .number = number,
    .blob = blob,
    .size = size_of,
    .is_null = is_null,
    .end = end,
};

static struct postgres *postgres_create(const struct store_server *server,
                                        bool read_only)
{
    struct postgres *postgres = calloc(1, sizeof *postgres);
    CHECK(postgres != NULL);
    postgres->base.driver = &driver;
    postgres->server = *server;
    postgres->server.url = strdup(server->url);
    CHECK(postgres->server.url != NULL);
    postgres->read_only = read_only;
    postgres->base.shared = server->shared && !read_only;
    postgres->connection = 1;
    return postgres;
}

/* The new connection begins like one that was lost: the first transaction connects
 * it. */
static struct database *beside(struct database *first, unsigned number)
{
    struct postgres *of = own(first);
    struct postgres *postgres = postgres_create(&of->server, of->read_only);
    postgres->base.first = first;
    if (!of->read_only) {
        postgres->writers = of->writers;
        postgres->writer = &of->writers->all[number];
    }
    return &postgres->base;
}

/* Takes the lock, and checks the tables against this program's. A daemon that may move
 * them forward takes the database for itself meanwhile: a daemon of an older program
 * would go on with tables that it does not know. */
static enum status enter(struct pg_connection *wire, const struct store_server *server,
                         struct error *error)
{
    enum status status =
        pg_commit_outcome_lock_wait(wire, server->shared && !server->migrate, error);
    if (status == ST_OK)
        status = postgres_tables_forward(wire, server->migrate, error);
    if (status == ST_OK && server->shared && server->migrate)
        status = pg_commit_outcome_lock_share(wire, error);
    return status;
}

/* This connection writes nothing, yet has a writer's row: a connection that is made
 * again must find out whether the server is the one it was connected to before. */
static struct database *reader(struct database *first)
{
    return own(first)->read_only ? NULL : beside(first, PG_COMMIT_OUTCOME_READER);
}

enum status postgres_open(struct database **out, const struct store_server *server,
                          struct error *error)
{
    struct postgres *postgres = postgres_create(server, false);
    postgres->writers = calloc(1, sizeof *postgres->writers);
    CHECK(postgres->writers != NULL);
    postgres->writer = &postgres->writers->all[0];
    enum status status = pg_connection_open(&postgres->wire, server, false, error);
    if (status == ST_OK)
        status = enter(postgres->wire, server, error);
    postgres->locked = status == ST_OK;
    if (status == ST_OK)
        status = writers_take(postgres->wire, server->shared, postgres->writers, error);
    postgres->base.daemon = (uint64_t)postgres->writer->id;
    if (status == ST_OK && server->shared)
        status = global_write_lock_position(postgres->wire, &postgres->base, error);
    if (status == ST_OK)
        *out = &postgres->base;
    else
        database_close(&postgres->base, false);
    return status;
}

enum status postgres_open_read(struct database **out, const struct store_server *server,
                               struct error *error)
{
    struct postgres *postgres = postgres_create(server, true);
    enum status status = pg_connection_open(&postgres->wire, server, true, error);
    if (status == ST_OK)
        status = postgres_tables_check(postgres->wire, error);
    if (status == ST_OK)
        *out = &postgres->base;
    else
        database_close(&postgres->base, false);
    return status;
}
