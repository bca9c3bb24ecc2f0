#include "store/postgres/global_write_lock.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <libpq-fe.h>

#include "base/check.h"

enum { SQL_SIZE = 512 };

#define LOCK_NOT_HAD "55P03"

/* Transactions of marks wait for no others. Every transaction that appends, which is
 * one of STORE_LEDGER, locks the ledger's head in any case. */
static bool takes_turn(const struct global_write_lock *turn)
{
    return turn->scope == STORE_LEDGER ||
           (turn->database->shared && turn->scope != STORE_MARK);
}

/* Renews the lease of this daemon. Nothing has locked its row: its transaction has been
 * rolled back. The update needs no turn, and n does not count it. */
static enum pg_connection_end pulse(struct pg_connection *wire,
                                    const struct pg_commit_outcome *writer)
{
    char sql[SQL_SIZE];
    enum pg_connection_end end = pg_connection_run(wire, "ROLLBACK", NULL);
    snprintf(sql, sizeof sql,
             "UPDATE writer SET seen=clock_timestamp() WHERE id=%" PRId64
             " AND NOT fenced",
             writer->id);
    return end == PG_CONNECTION_DONE ? pg_connection_run(wire, sql, NULL) : end;
}

/* A setting, local to this transaction, tells the triggers the daemon's id for the rows
 * that they write into `change`. */
static void render_begin(char *sql, size_t size, const struct global_write_lock *turn)
{
    char shared[128] = "", follows[64] = "";
    const struct database *database = turn->database;
    if (database->shared)
        snprintf(shared, sizeof shared,
                 ";SELECT set_config('epsilond.daemon','%" PRId64 "',true)",
                 turn->writers->all[0].id);
    if (database->shared && database->first == NULL)
        snprintf(follows, sizeof follows, ",follows='%" PRIu64 "'",
                 (uint64_t)atomic_load(&database->follows));
    snprintf(sql, size,
             "BEGIN;UPDATE writer SET n=n+1,seen=clock_timestamp()%s WHERE id=%" PRId64
             " AND n=%" PRId64 " AND NOT fenced%s%s",
             follows, turn->writer->id, turn->writer->n, shared,
             takes_turn(turn) ? ";SELECT 1 FROM head FOR UPDATE" : "");
}

enum pg_connection_end global_write_lock_begin(struct pg_connection *wire,
                                               const struct global_write_lock *turn,
                                               uint64_t *changed)
{
    char sql[SQL_SIZE];
    enum pg_connection_end end;
    render_begin(sql, sizeof sql, turn);
    do
        end = pg_connection_run(wire, sql, changed);
    while (end == PG_CONNECTION_REFUSED && turn->database->shared &&
           strcmp(pg_connection_sqlstate(wire), LOCK_NOT_HAD) == 0 &&
           (end = pulse(wire, turn->writer)) == PG_CONNECTION_DONE);
    return end;
}

enum pg_connection_end global_write_lock_same(struct pg_connection *wire,
                                              const struct database *database,
                                              bool *same)
{
    PGresult *answer = NULL;
    *same = true;
    if (!database->renewed)
        return PG_CONNECTION_DONE;
    size_t size = SQL_SIZE + strlen(database->position);
    char *sql = malloc(size);
    CHECK(sql != NULL);
    snprintf(sql, size,
             "SELECT 1 FROM change WHERE by>='%" PRIu64 "' AND NOT"
             " pg_visible_in_snapshot(by,'%s') AND daemon<>%" PRIu64 " LIMIT 1",
             (uint64_t)atomic_load(&database->follows), database->position,
             database->daemon);
    enum pg_connection_end end = pg_connection_ask(wire, sql, &answer);
    if (end == PG_CONNECTION_DONE)
        *same = PQntuples(answer) == 0;
    PQclear(answer);
    free(sql);
    return end;
}

enum status global_write_lock_position(struct pg_connection *wire,
                                       struct database *database, struct error *error)
{
    PGresult *answer = NULL;
    if (pg_connection_ask(wire,
                          "SELECT position::text,pg_snapshot_xmin(position)::text FROM"
                          " (SELECT pg_current_snapshot() AS position) AS now",
                          &answer) != PG_CONNECTION_DONE)
        return error_set(error, ST_IO, "the store: %s", pg_connection_said(wire));
    database->position = strdup(PQgetvalue(answer, 0, 0));
    CHECK(database->position != NULL);
    atomic_store(&database->follows, strtoull(PQgetvalue(answer, 0, 1), NULL, 10));
    PQclear(answer);
    return ST_OK;
}
