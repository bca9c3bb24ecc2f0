/*
 * The statements and parameters by which a transaction has written are kept until it
 * ends. If the connection breaks, they are run again on the next one, if the writer's
 * row says that nothing else has happened.
 */
#include "store/postgres/postgres_session.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <libpq-fe.h>

#include "base/check.h"
#include "base/clock.h"
#include "store/postgres/global_write_lock.h"

enum {
    NAME_SIZE = 16,
    RETURN_WAIT_NS = 100000000,
    NS_PER_MS = 1000000,
};

enum database_class postgres_session_fail(struct postgres *postgres, const char *said)
{
    snprintf(postgres->said, sizeof postgres->said, "%s", said);
    return DB_FAILED;
}

/* --- writes of the open transaction --- */

void postgres_session_forget(struct postgres *postgres)
{
    for (size_t i = 0; i < postgres->written_count; i++)
        for (int at = 0; at < postgres->written[i].count; at++)
            free(postgres->written[i].values[at]);
    postgres->written_count = 0;
}

void postgres_session_remember(struct postgres *postgres, size_t at,
                               const struct pg_connection_values *values,
                               uint64_t changed)
{
    if (postgres->written_count == postgres->written_capacity) {
        postgres->written_capacity = 2 * postgres->written_capacity + 8;
        postgres->written = reallocarray(postgres->written, postgres->written_capacity,
                                         sizeof *postgres->written);
        CHECK(postgres->written != NULL);
    }
    struct written *written = &postgres->written[postgres->written_count++];
    *written = (struct written){.text = at, .count = values->count, .changed = changed};
    for (int i = 0; i < values->count; i++) {
        const char *value = values->at[i];
        written->sizes[i] = values->sizes[i];
        written->formats[i] = values->formats[i];
        if (value == NULL)
            continue;
        size_t size = values->formats[i] ? (size_t)values->sizes[i] : strlen(value) + 1;
        written->values[i] = malloc(size > 0 ? size : 1);
        CHECK(written->values[i] != NULL);
        memcpy(written->values[i], value, size);
    }
}

/* --- running statements --- */

/* Returns a copy of the SQL with $1, $2 .. for its question marks; its string literals
 * have none. */
static char *number_parameters(const char *sql)
{
    size_t size = strlen(sql) + 3 * POSTGRES_PARAMETERS_MAX, used = 0;
    int count = 0;
    char *numbered = malloc(size);
    CHECK(numbered != NULL);
    for (; *sql != '\0'; sql++) {
        if (*sql != '?')
            numbered[used++] = *sql;
        else
            used += (size_t)snprintf(numbered + used, size - used, "$%d", ++count);
    }
    CHECK(count <= POSTGRES_PARAMETERS_MAX);
    numbered[used] = '\0';
    return numbered;
}

size_t postgres_session_text(struct postgres *postgres, const char *sql)
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

enum pg_connection_end postgres_session_say(struct postgres *postgres, size_t at,
                                            const struct pg_connection_values *values,
                                            struct pg_result **answer)
{
    char name[NAME_SIZE];
    struct text *text = &postgres->texts[at];
    *answer = NULL;
    if (postgres->wire == NULL)
        return PG_CONNECTION_LOST;
    snprintf(name, sizeof name, "s%zu", at);
    if (text->connection != postgres->connection) {
        enum pg_connection_end end =
            pg_connection_prepare(postgres->wire, name, text->numbered);
        if (end != PG_CONNECTION_DONE)
            return end;
        text->connection = postgres->connection;
    }
    return pg_connection_execute(postgres->wire, name, values, answer);
}

/* --- a new connection --- */

static void drop_wire(struct postgres *postgres)
{
    if (postgres->wire != NULL)
        postgres_session_fail(postgres, pg_connection_said(postgres->wire));
    pg_connection_close(postgres->wire);
    postgres->wire = NULL;
    postgres->locked = false;
}

static bool connect_again(struct postgres *postgres)
{
    struct error error = {0};
    if (pg_connection_open(&postgres->wire, &postgres->server, false, &error) !=
        ST_OK) {
        postgres_session_fail(postgres, error.text);
        return false;
    }
    postgres->connection++;
    return true;
}

/* Checks what writers_find has read: n of the writer's transactions are durable, or one
 * more if the last COMMIT is in doubt. */
static bool is_ours(struct postgres *postgres, const struct writers_found *found,
                    bool doubt)
{
    if (found->fenced)
        postgres_session_fail(postgres, "another daemon has taken over the store");
    else if (found->lost)
        postgres_session_fail(
            postgres, "the store has lost history: it was restored, or failed over to "
                      "a server that did not have it all");
    else if (found->n > postgres->writer->n + doubt)
        postgres_session_fail(
            postgres, "the store has transactions of this writer that it did not make");
    else
        return true;
    return false;
}

static int64_t return_ns(const struct postgres *postgres)
{
    int ms =
        postgres->server.return_ms > 0 ? postgres->server.return_ms : STORE_RETURN_MS;
    return (int64_t)ms * NS_PER_MS;
}

/* Connects until the writer's row was read, for at most return_ns. Returns false if it
 * could not be read, or if it says that this daemon must end. *done: the COMMIT that
 * was in doubt is durable. */
static bool come_back(struct postgres *postgres, bool doubt, bool *done)
{
    static const struct timespec wait = {.tv_nsec = RETURN_WAIT_NS};
    int64_t end_ns = clock_monotonic_ns() + return_ns(postgres);
    struct writers_found found;
    drop_wire(postgres);
    if (postgres->read_only)
        return false;
    while (!connect_again(postgres) ||
           writers_find(postgres->wire, postgres->writers, postgres->writer, &found) !=
               PG_CONNECTION_DONE) {
        drop_wire(postgres);
        if (clock_monotonic_ns() >= end_ns)
            return false;
        nanosleep(&wait, NULL);
    }
    if (!is_ours(postgres, &found, doubt)) {
        pg_connection_close(postgres->wire);
        postgres->wire = NULL;
        return false;
    }
    *done = found.n > postgres->writer->n;
    postgres->writer->n = found.n;
    return true;
}

/* --- transactions --- */

static bool only_reads(const struct postgres *postgres)
{
    return postgres->scope == STORE_READ || postgres->read_only;
}

/* A transaction that only reads may be idle for longer than the session allows: it
 * locks no row, and a start computes while it reads. */
static enum pg_connection_end send_begin(struct postgres *postgres, uint64_t *changed)
{
    if (postgres->wire == NULL)
        return PG_CONNECTION_LOST;
    if (only_reads(postgres))
        return pg_connection_run(
            postgres->wire,
            "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;"
            "SET LOCAL idle_in_transaction_session_timeout='10min'",
            changed);
    if (postgres->base.first == NULL && !postgres->locked)
        postgres->locked =
            pg_commit_outcome_lock(postgres->wire, postgres->server.shared);
    return global_write_lock_begin(
        postgres->wire,
        &(struct global_write_lock){&postgres->base, postgres->writers,
                                    postgres->writer, postgres->scope},
        changed);
}

static uint64_t rows_changed(struct pg_result *answer)
{
    return strtoull(PQcmdTuples(answer), NULL, 10);
}

/* Repeats the writes of the transaction. Returns false if the connection breaks, or if
 * a statement changes another number of rows than it did: another daemon has written
 * meanwhile the rows that the transaction was computed from. */
static bool send_written(struct postgres *postgres)
{
    enum pg_connection_end end = PG_CONNECTION_DONE;
    for (size_t i = 0; end == PG_CONNECTION_DONE && i < postgres->written_count; i++) {
        const struct written *written = &postgres->written[i];
        const char *values[POSTGRES_PARAMETERS_MAX];
        PGresult *answer = NULL;
        for (int at = 0; at < written->count; at++)
            values[at] = written->values[at];
        const struct pg_connection_values all = {written->count, values, written->sizes,
                                                 written->formats};
        end = postgres_session_say(postgres, written->text, &all, &answer);
        if (end == PG_CONNECTION_DONE && rows_changed(answer) != written->changed)
            end = PG_CONNECTION_REFUSED;
        PQclear(answer);
    }
    return end == PG_CONNECTION_DONE;
}

/* Returns whether other daemons may have changed rows that the open transaction has
 * read, without a trace that global_write_lock_same would find. */
static bool reads_unguarded(const struct postgres *postgres)
{
    const struct database *base = &postgres->base;
    return postgres->has_read && base->shared && base->first == NULL && !base->renewed;
}

/* Begins the open transaction, or begins it again and repeats its writes. Not DB_OK if
 * the server does not come back or refuses. */
static enum database_class begin_anew(struct postgres *postgres)
{
    if (reads_unguarded(postgres))
        return postgres_session_fail(
            postgres, "another daemon may have written what the transaction read");
    for (int tries = 0; tries < POSTGRES_TRIES; tries++) {
        bool done = false, same = true;
        uint64_t changed = 0;
        enum pg_connection_end end = send_begin(postgres, &changed);
        bool writes = !only_reads(postgres);
        if (end == PG_CONNECTION_DONE && writes && changed == 1)
            end = global_write_lock_same(postgres->wire, &postgres->base, &same);
        if (!same)
            return postgres_session_fail(
                postgres, "another daemon has written what the transaction read");
        if (end == PG_CONNECTION_DONE && (!writes || changed == 1) &&
            send_written(postgres))
            return DB_OK;
        if (end == PG_CONNECTION_DONE && writes && changed != 1)
            pg_connection_run(postgres->wire, "ROLLBACK",
                              NULL); /* come_back finds the reason */
        if (!come_back(postgres, false, &done))
            return DB_FAILED;
    }
    return postgres_session_fail(postgres,
                                 "the store does not let a transaction begin");
}

/* Another snapshot may show other rows, and a transaction that reads, or that renews
 * memory, must see those of one moment. */
static bool must_be_repeated(const struct postgres *postgres)
{
    return postgres->has_read && !postgres->read_only &&
           (postgres->scope == STORE_READ || postgres->base.renewing);
}

enum database_class postgres_session_again(struct postgres *postgres, bool lost)
{
    bool done = false;
    if (must_be_repeated(postgres)) {
        if (lost)
            drop_wire(postgres);
        postgres_session_fail(postgres, "the connection was cut while rows were read");
        return DB_LOST;
    }
    if (!lost &&
        pg_connection_run(postgres->wire, "ROLLBACK", NULL) != PG_CONNECTION_DONE)
        drop_wire(postgres);
    if (lost && !come_back(postgres, false, &done))
        return DB_FAILED;
    return begin_anew(postgres);
}

enum database_class postgres_session_begin(struct postgres *postgres,
                                           enum store_scope scope)
{
    postgres_session_forget(postgres);
    postgres->scope = scope;
    postgres->has_read = false;
    postgres->base.renewed = false;
    enum database_class class = begin_anew(postgres);
    postgres->open = class == DB_OK;
    return class;
}

/* Sends COMMIT; *doubt: the answer does not show whether it happened. */
static enum database_class send_commit(struct postgres *postgres, bool *doubt)
{
    PGresult *answer = NULL;
    CHECK(postgres->wire != NULL);
    enum pg_connection_end end = pg_connection_ask(postgres->wire, "COMMIT", &answer);
    bool kept = end == PG_CONNECTION_DONE && strcmp(PQcmdStatus(answer), "COMMIT") == 0;
    *doubt =
        end == PG_CONNECTION_LOST || (kept && pg_connection_warned(postgres->wire));
    PQclear(answer);
    if (end == PG_CONNECTION_REFUSED)
        return postgres_session_fail(postgres, pg_connection_said(postgres->wire));
    return kept ? DB_OK
                : postgres_session_fail(postgres, "the transaction was given up");
}

/* A transaction that was not committed, and never will be, is written again. */
enum database_class postgres_session_commit(struct postgres *postgres)
{
    bool writes = !only_reads(postgres);
    for (int tries = 0; tries < POSTGRES_TRIES; tries++) {
        bool doubt = false, done = false;
        enum database_class class = send_commit(postgres, &doubt);
        if (!doubt || !writes) { /* a transaction that only read loses nothing */
            if (class == DB_OK && writes)
                postgres->writer->n++;
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
    return postgres_session_fail(postgres, "the store does not answer a COMMIT");
}

/* A connection that is lost has rolled back. */
enum database_class postgres_session_rollback(struct postgres *postgres)
{
    if (postgres->open && postgres->wire != NULL &&
        pg_connection_run(postgres->wire, "ROLLBACK", NULL) != PG_CONNECTION_DONE)
        drop_wire(postgres);
    postgres->open = false;
    return DB_OK;
}
