#include "store/postgres/postgres_tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <libpq-fe.h>

#include "store/postgres/postgres_steps.h"

enum { SQL_SIZE = 96 };

/* Held by the session that looks for the tables and makes them, so that the second
 * of two daemons that start together on an empty database finds what the first has
 * made. */
#define TABLES_LOCK "1702392686"

static int known(void)
{
    size_t count;
    const struct schema_step *steps = postgres_steps(&count);
    return steps[count - 1].number;
}

static int count_of(const char *words)
{
    int found = 0;
    size_t count;
    const struct schema_step *steps = postgres_steps(&count);
    for (size_t i = 0; i < count; i++)
        for (const char *at = steps[i].sql; (at = strstr(at, words)) != NULL; at++)
            found++;
    return found;
}

static int triggers_made(void)
{
    return count_of("CREATE TRIGGER") - count_of("DROP TRIGGER");
}

static enum status failed(struct pg_connection *wire, struct error *error)
{
    return error_set(error, ST_IO, "the store: %s", pg_connection_said(wire));
}

/* *number = the value that the statement returns. */
static enum status ask(struct pg_connection *wire, const char *sql, int *number,
                       struct error *error)
{
    PGresult *answer = NULL;
    if (pg_connection_ask(wire, sql, &answer) != PG_CONNECTION_DONE)
        return failed(wire, error);
    *number = PQntuples(answer) == 1 ? atoi(PQgetvalue(answer, 0, 0)) : 0;
    PQclear(answer);
    return ST_OK;
}

/* found = the step that the database is at; 0 if it is empty. */
static enum status find_step(struct pg_connection *wire, int *found,
                             struct error *error)
{
    int tables = 0, ours = 0;
    enum status status = ask(wire,
                             "SELECT count(*) FROM pg_class WHERE relkind='r' AND"
                             " relnamespace=current_schema()::regnamespace",
                             &tables, error);
    if (status == ST_OK)
        status = ask(wire, "SELECT (to_regclass('schema_step') IS NOT NULL)::int",
                     &ours, error);
    if (status != ST_OK)
        return status;
    if (ours == 0 && tables > 0)
        return error_set(error, ST_CORRUPT, "the store: not a database of epsilond");
    *found = 0;
    if (ours == 1)
        status = ask(wire, "SELECT step FROM schema_step", found, error);
    if (status == ST_OK && *found > known())
        return error_set(error, ST_INVALID,
                         "the store has schema %d, this program knows up to %d", *found,
                         known());
    return status;
}

/* Checks that the head is the ledger's newest entry, and that no trigger is missing or
 * switched off. */
static enum status check(struct pg_connection *wire, struct error *error)
{
    int same = 0, triggers = 0, made = triggers_made();
    enum status status =
        ask(wire,
            "SELECT ((SELECT (seq,hash) FROM head) = coalesce((SELECT (seq,hash) FROM"
            " ledger ORDER BY seq DESC LIMIT 1),"
            "(0::bigint,decode(repeat('00',32),'hex'))))::int",
            &same, error);
    if (status == ST_OK)
        status = ask(wire,
                     "SELECT count(*) FROM pg_trigger t JOIN pg_class c ON"
                     " c.oid=t.tgrelid WHERE NOT tgisinternal AND tgenabled IN('O','A')"
                     " AND relnamespace=current_schema()::regnamespace"
                     " AND tgfoid::regproc::text LIKE 'epsilond\\_%'",
                     &triggers, error);
    if (status != ST_OK)
        return status;
    if (same != 1)
        return error_set(error, ST_CORRUPT,
                         "the store: head is not the ledger's newest entry");
    if (triggers < made)
        return error_set(error, ST_CORRUPT,
                         "the store: of %d triggers %d are missing or switched off",
                         made, made - triggers);
    return ST_OK;
}

enum status postgres_tables_check(struct pg_connection *wire, struct error *error)
{
    int found = 0;
    enum status status = find_step(wire, &found, error);
    if (status != ST_OK)
        return status;
    if (found == 0)
        return error_set(error, ST_CORRUPT, "the store: the database is empty");
    if (found < known())
        return error_set(error, ST_INVALID, "the store has schema %d, not %d", found,
                         known());
    return check(wire, error);
}

static enum status take_steps(struct pg_connection *wire, int found,
                              struct error *error)
{
    char last[SQL_SIZE];
    size_t count;
    const struct schema_step *steps = postgres_steps(&count);
    enum pg_connection_end end =
        pg_connection_run(wire, "BEGIN;SET LOCAL statement_timeout=0", NULL);
    for (size_t i = 0; end == PG_CONNECTION_DONE && i < count; i++)
        if (steps[i].number > found)
            end = pg_connection_run(wire, steps[i].sql, NULL);
    snprintf(last, sizeof last, "UPDATE schema_step SET step=%d;COMMIT", known());
    if (end == PG_CONNECTION_DONE)
        end = pg_connection_run(wire, last, NULL);
    if (end == PG_CONNECTION_DONE && !pg_connection_warned(wire))
        return ST_OK;
    error_set(error, ST_IO, "schema %d: %s", known(), pg_connection_said(wire));
    pg_connection_run(wire, "ROLLBACK", NULL);
    return ST_IO;
}

static enum status move_forward(struct pg_connection *wire, bool migrate,
                                struct error *error)
{
    int found = 0;
    enum status status = find_step(wire, &found, error);
    if (status == ST_OK && found > 0 && found < postgres_steps(&(size_t){0})->number)
        status = error_set(error, ST_INVALID,
                           "the store has schema %d, which no program has made", found);
    if (status == ST_OK && found > 0 && found < known() && !migrate)
        status = error_set(error, ST_INVALID,
                           "the store has schema %d, this program's is %d: make a "
                           "backup, then start it once with --migrate on",
                           found, known());
    if (status == ST_OK && found < known())
        status = take_steps(wire, found, error);
    return status;
}

enum status postgres_tables_forward(struct pg_connection *wire, bool migrate,
                                    struct error *error)
{
    int held = 0;
    enum status status =
        ask(wire, "SELECT 1 FROM pg_advisory_lock(" TABLES_LOCK ")", &held, error);
    if (status == ST_OK)
        status = move_forward(wire, migrate, error);
    if (status == ST_OK)
        status =
            ask(wire, "SELECT pg_advisory_unlock(" TABLES_LOCK ")::int", &held, error);
    return status == ST_OK ? check(wire, error) : status;
}
