/*
 * The driver of PostgreSQL. A statement is sent when its first row is asked for, and all
 * its rows come at once, so that another may be sent while they are walked. What a
 * transaction has written is kept until it ends, statement and parameters: should the
 * connection break, it is written again on the next one, where the writer's row says that
 * nothing else has happened.
 */
#include "store/postgres.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <libpq-fe.h>

#include "base/check.h"
#include "base/clock.h"
#include "store/postgres_tables.h"
#include "store/writer.h"

enum {
    PARAMETERS_MAX = 24,
    NUMBER_SIZE = 24,
    NAME_SIZE = 16,
    TRIES = 3,         /* of a transaction that another stood in the way of */
    RETURN_MS = 60000, /* for a server that is gone to come back */
    RETURN_WAIT_NS = 100000000,
    NS_PER_MS = 1000000,
};

struct text { /* of a statement, as it was first seen */
    char *seen, *numbered;
    unsigned connection; /* on which it was prepared last */
};

struct prepared {
    struct postgres *postgres;
    size_t text;
    int count; /* of parameters */
    const char *values[PARAMETERS_MAX];
    int sizes[PARAMETERS_MAX], formats[PARAMETERS_MAX];
    char numbers[PARAMETERS_MAX][NUMBER_SIZE];
    PGresult *answer; /* NULL: it was not sent yet */
    int row;
};

struct written { /* a statement of the open transaction, with copies of its values */
    size_t text;
    int count;
    char *values[PARAMETERS_MAX];
    int sizes[PARAMETERS_MAX], formats[PARAMETERS_MAX];
};

struct postgres {
    struct database base;
    struct store_server server; /* its URL is ours */
    struct wire *wire;          /* NULL: it is lost */
    unsigned connection;        /* counts them, from 1 */
    bool read_only;             /* there is no writer */
    struct writer writer;
    enum store_scope scope;
    bool open; /* a transaction is */
    struct text *texts;
    size_t text_count;
    struct written *written;
    size_t written_count, written_capacity;
    char said[256]; /* of the last failure */
};

static struct postgres *own(const struct database *database)
{
    return (struct postgres *)(uintptr_t)database;
}

static enum database_class fail(struct postgres *postgres, const char *said)
{
    snprintf(postgres->said, sizeof postgres->said, "%s", said);
    return DB_FAILED;
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
        {"23502", DB_REFUSED},  {"22021", DB_REFUSED}, /* bytes that are no text */
        {"22P05", DB_REFUSED}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(sqlstate, all[i].sqlstate) == 0)
            return all[i].class;
    return DB_FAILED;
}

/* Somebody else stood in its way: a deadlock, an order of transactions, a lock that was
 * not had in time. The whole transaction may be tried again. */
static bool is_passing(const char *sqlstate)
{
    return strcmp(sqlstate, "40P01") == 0 || strcmp(sqlstate, "40001") == 0 ||
           strcmp(sqlstate, "55P03") == 0;
}

/* --- what was written --- */

static void forget_written(struct postgres *postgres)
{
    for (size_t i = 0; i < postgres->written_count; i++)
        for (int at = 0; at < postgres->written[i].count; at++)
            free(postgres->written[i].values[at]);
    postgres->written_count = 0;
}

static void remember(struct postgres *postgres, const struct prepared *prepared)
{
    if (postgres->written_count == postgres->written_capacity) {
        postgres->written_capacity = 2 * postgres->written_capacity + 8;
        postgres->written = reallocarray(postgres->written, postgres->written_capacity,
                                         sizeof *postgres->written);
        CHECK(postgres->written != NULL);
    }
    struct written *written = &postgres->written[postgres->written_count++];
    *written = (struct written){.text = prepared->text, .count = prepared->count};
    for (int at = 0; at < prepared->count; at++) {
        const char *value = prepared->values[at];
        written->sizes[at] = prepared->sizes[at];
        written->formats[at] = prepared->formats[at];
        if (value == NULL)
            continue;
        size_t size =
            prepared->formats[at] ? (size_t)prepared->sizes[at] : strlen(value) + 1;
        written->values[at] = malloc(size > 0 ? size : 1);
        CHECK(written->values[at] != NULL);
        memcpy(written->values[at], value, size);
    }
}

/* --- statements on the wire --- */

/* A copy of the SQL with $1, $2 .. for its question marks; there are none in its texts. */
static char *number_parameters(const char *sql)
{
    size_t size = strlen(sql) + 3 * PARAMETERS_MAX, used = 0;
    int count = 0;
    char *numbered = malloc(size);
    CHECK(numbered != NULL);
    for (; *sql != '\0'; sql++) {
        if (*sql != '?')
            numbered[used++] = *sql;
        else
            used += (size_t)snprintf(numbered + used, size - used, "$%d", ++count);
    }
    CHECK(count <= PARAMETERS_MAX);
    numbered[used] = '\0';
    return numbered;
}

static size_t find_text(struct postgres *postgres, const char *sql)
{
    size_t at = 0;
    while (at < postgres->text_count && strcmp(postgres->texts[at].seen, sql) != 0)
        at++;
    if (at < postgres->text_count)
        return at;
    postgres->texts = reallocarray(postgres->texts, at + 1, sizeof *postgres->texts);
    CHECK(postgres->texts != NULL);
    char *seen = strdup(sql);
    CHECK(seen != NULL);
    postgres->texts[at] = (struct text){seen, number_parameters(sql), 0};
    postgres->text_count++;
    return at;
}

static enum wire_end say(struct postgres *postgres, size_t at,
                         const struct wire_values *values, PGresult **answer)
{
    char name[NAME_SIZE];
    struct text *text = &postgres->texts[at];
    *answer = NULL;
    if (postgres->wire == NULL)
        return WIRE_LOST;
    snprintf(name, sizeof name, "s%zu", at);
    if (text->connection != postgres->connection) {
        enum wire_end end = wire_prepare(postgres->wire, name, text->numbered);
        if (end != WIRE_DONE)
            return end;
        text->connection = postgres->connection;
    }
    return wire_execute(postgres->wire, name, values, answer);
}

/* --- a new connection --- */

static void drop_wire(struct postgres *postgres)
{
    if (postgres->wire != NULL)
        fail(postgres, wire_said(postgres->wire));
    wire_close(postgres->wire);
    postgres->wire = NULL;
    postgres->writer.locked = false;
}

static bool connect_again(struct postgres *postgres)
{
    struct error error = {0};
    if (wire_open(&postgres->wire, &postgres->server, false, &error) != ST_OK) {
        fail(postgres, error.text);
        return false;
    }
    postgres->connection++;
    postgres->writer.locked = writer_lock(postgres->wire);
    return true;
}

/* Whether what was found is what may be: of the writer's transactions n are durable, or,
 * where the last COMMIT is in doubt, one more. */
static bool is_ours(struct postgres *postgres, const struct writer_found *found,
                    bool doubt)
{
    int64_t n = postgres->writer.n;
    if (found->exists && found->fenced)
        fail(postgres, "another daemon has taken over the store");
    else if (!found->exists || found->n < n)
        fail(postgres, "the store has lost history: it was restored, or failed over to "
                       "a server that did not have it all");
    else if (found->n > n + doubt)
        fail(postgres,
             "the store has transactions of this writer that it did not make");
    else
        return true;
    return false;
}

/* Connects until the writer's row has answered, for RETURN_MS. False: it did not, or what
 * it says ends this daemon. *done: the COMMIT that was in doubt is durable. */
static bool come_back(struct postgres *postgres, bool doubt, bool *done)
{
    static const struct timespec wait = {.tv_nsec = RETURN_WAIT_NS};
    int64_t end_ns = clock_monotonic_ns() + (int64_t)RETURN_MS * NS_PER_MS;
    struct writer_found found;
    drop_wire(postgres);
    if (postgres->read_only)
        return false;
    while (!connect_again(postgres) ||
           writer_find(postgres->wire, postgres->writer.id, &found) != WIRE_DONE) {
        drop_wire(postgres);
        if (clock_monotonic_ns() >= end_ns)
            return false;
        nanosleep(&wait, NULL);
    }
    if (!is_ours(postgres, &found, doubt)) {
        wire_close(postgres->wire);
        postgres->wire = NULL;
        return false;
    }
    *done = found.n > postgres->writer.n;
    postgres->writer.n = found.n;
    return true;
}

/* --- transactions --- */

static enum wire_end send_begin(struct postgres *postgres, uint64_t *changed)
{
    char sql[224];
    if (postgres->wire == NULL)
        return WIRE_LOST;
    if (postgres->scope == STORE_READ || postgres->read_only)
        return wire_run(postgres->wire,
                        "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", changed);
    if (!postgres->writer.locked)
        postgres->writer.locked = writer_lock(postgres->wire);
    snprintf(sql, sizeof sql,
             "BEGIN;UPDATE writer SET n=n+1,seen=clock_timestamp() WHERE id=%" PRId64
             " AND n=%" PRId64 " AND NOT fenced%s",
             postgres->writer.id, postgres->writer.n,
             postgres->scope == STORE_LEDGER ? ";SELECT 1 FROM head FOR UPDATE" : "");
    return wire_run(postgres->wire, sql, changed);
}

static bool send_written(struct postgres *postgres)
{
    enum wire_end end = WIRE_DONE;
    for (size_t i = 0; end == WIRE_DONE && i < postgres->written_count; i++) {
        const struct written *written = &postgres->written[i];
        const char *values[PARAMETERS_MAX];
        PGresult *answer = NULL;
        for (int at = 0; at < written->count; at++)
            values[at] = written->values[at];
        const struct wire_values all = {written->count, values, written->sizes,
                                        written->formats};
        end = say(postgres, written->text, &all, &answer);
        PQclear(answer);
    }
    return end == WIRE_DONE;
}

/* Begins the open transaction, or begins it again with all that it has written. Not DB_OK
 * where the server does not come back or does not let it. */
static enum database_class begin_anew(struct postgres *postgres)
{
    for (int tries = 0; tries < TRIES; tries++) {
        bool done = false;
        uint64_t changed = 0;
        enum wire_end end = send_begin(postgres, &changed);
        bool writes = postgres->scope != STORE_READ && !postgres->read_only;
        if (end == WIRE_DONE && (!writes || changed == 1) && send_written(postgres))
            return DB_OK;
        if (end == WIRE_DONE && writes && changed != 1)
            wire_run(postgres->wire, "ROLLBACK", NULL); /* come_back says why */
        if (!come_back(postgres, false, &done))
            return DB_FAILED;
    }
    return fail(postgres, "the store does not let a transaction begin");
}

static enum database_class begin(struct database *database, enum store_scope scope)
{
    struct postgres *postgres = own(database);
    forget_written(postgres);
    postgres->scope = scope;
    enum database_class class = begin_anew(postgres);
    postgres->open = class == DB_OK;
    return class;
}

/* Sends COMMIT; *doubt: whether it happened cannot be told from the answer. */
static enum database_class send_commit(struct postgres *postgres, bool *doubt)
{
    PGresult *answer = NULL;
    CHECK(postgres->wire != NULL);
    enum wire_end end = wire_ask(postgres->wire, "COMMIT", &answer);
    bool kept = end == WIRE_DONE && strcmp(PQcmdStatus(answer), "COMMIT") == 0;
    *doubt = end == WIRE_LOST || (kept && wire_warned(postgres->wire));
    PQclear(answer);
    if (end == WIRE_REFUSED)
        return fail(postgres, wire_said(postgres->wire));
    return kept ? DB_OK : fail(postgres, "the transaction was given up");
}

/* A transaction that was not done, and never will be, is written once more. */
static enum database_class commit(struct database *database)
{
    struct postgres *postgres = own(database);
    bool writes = postgres->scope != STORE_READ && !postgres->read_only;
    for (int tries = 0; tries < TRIES; tries++) {
        bool doubt = false, done = false;
        enum database_class class = send_commit(postgres, &doubt);
        if (!doubt || !writes) { /* of what only read nothing is lost */
            postgres->writer.n += class == DB_OK && writes;
            postgres->open = false;
            return writes ? class : DB_OK;
        }
        if (!come_back(postgres, true, &done))
            return DB_FAILED;
        if (done) {
            postgres->open = false;
            return DB_OK;
        }
        if (begin_anew(postgres) != DB_OK)
            return DB_FAILED;
    }
    return fail(postgres, "the store does not answer a COMMIT");
}

/* A connection that is lost has rolled back. */
static enum database_class rollback(struct database *database)
{
    struct postgres *postgres = own(database);
    if (postgres->open && postgres->wire != NULL &&
        wire_run(postgres->wire, "ROLLBACK", NULL) != WIRE_DONE)
        drop_wire(postgres);
    postgres->open = false;
    return DB_OK;
}

static enum database_class tidy(struct database *database)
{
    forget_written(own(database));
    return DB_OK;
}

/* --- statements --- */

static enum database_class prepare(struct database *database, struct prepared **out,
                                   const char *sql)
{
    struct prepared *prepared = calloc(1, sizeof *prepared);
    CHECK(prepared != NULL);
    prepared->postgres = own(database);
    prepared->text = find_text(prepared->postgres, sql);
    prepared->row = -1;
    *out = prepared;
    return DB_OK;
}

static enum database_class put(struct prepared *prepared, int at, const char *value,
                               size_t size, int format)
{
    CHECK(at < PARAMETERS_MAX && size <= INT32_MAX);
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
    CHECK(at < PARAMETERS_MAX);
    snprintf(prepared->numbers[at], NUMBER_SIZE, "%" PRId64, number);
    return put(prepared, at, prepared->numbers[at], 0, 0);
}

static enum database_class bind_blob(struct prepared *prepared, int at,
                                     const void *data, size_t size)
{
    return put(prepared, at, data, size, 1);
}

/* Sends it, and once more where the connection broke or another stood in the way. */
static enum database_class execute(struct prepared *prepared)
{
    struct postgres *postgres = prepared->postgres;
    const struct wire_values values = {prepared->count, prepared->values,
                                       prepared->sizes, prepared->formats};
    for (int tries = 0; tries < TRIES; tries++) {
        enum wire_end end = say(postgres, prepared->text, &values, &prepared->answer);
        if (end == WIRE_DONE) {
            if (PQresultStatus(prepared->answer) == PGRES_COMMAND_OK)
                remember(postgres, prepared);
            return DB_OK;
        }
        if (end == WIRE_REFUSED) {
            fail(postgres, wire_said(postgres->wire));
            if (!is_passing(wire_sqlstate(postgres->wire)))
                return class_of(wire_sqlstate(postgres->wire));
            if (wire_run(postgres->wire, "ROLLBACK", NULL) != WIRE_DONE)
                drop_wire(postgres);
        }
        bool done = false;
        if (end == WIRE_LOST && !come_back(postgres, false, &done))
            return DB_FAILED;
        if (begin_anew(postgres) != DB_OK)
            return DB_FAILED;
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

static uint64_t changed(struct prepared *prepared)
{
    return strtoull(PQcmdTuples(prepared->answer), NULL, 10);
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

/* Whole numbers come with four bytes or eight, the greatest first. */
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
    wire_close(postgres->wire);
    forget_written(postgres);
    free(postgres->written);
    for (size_t i = 0; i < postgres->text_count; i++) {
        free(postgres->texts[i].seen);
        free(postgres->texts[i].numbered);
    }
    free(postgres->texts);
    free((char *)(uintptr_t)postgres->server.url);
    free(postgres);
}

static const struct driver driver = {
    .close = close_connection,
    .begin = begin,
    .commit = commit,
    .rollback = rollback,
    .tidy = tidy,
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
    postgres->connection = 1;
    return postgres;
}

enum status postgres_open(struct database **out, const struct store_server *server,
                          struct error *error)
{
    struct postgres *postgres = postgres_create(server, false);
    enum status status = wire_open(&postgres->wire, server, false, error);
    if (status == ST_OK)
        status = writer_lock_wait(postgres->wire, error);
    if (status == ST_OK)
        status = postgres_tables_forward(postgres->wire, server->migrate, error);
    if (status == ST_OK)
        status = writer_take(postgres->wire, &postgres->writer, error);
    if (status == ST_OK)
        status =
            postgres_tables_identity(postgres->wire, postgres->base.identity, error);
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
    enum status status = wire_open(&postgres->wire, server, true, error);
    if (status == ST_OK)
        status = postgres_tables_check(postgres->wire, error);
    if (status == ST_OK)
        status =
            postgres_tables_identity(postgres->wire, postgres->base.identity, error);
    if (status == ST_OK)
        *out = &postgres->base;
    else
        database_close(&postgres->base, false);
    return status;
}
