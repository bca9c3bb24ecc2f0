#include "store/postgres/pg_commit_outcome.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <libpq-fe.h>

/* "epsl", as in SQLite's files (sqlite_tables.c) */
#define LOCK "1702392684"

enum {
    LOCK_TRIES = 20,
    LOCK_WAIT_NS = 100000000,
    SQL_SIZE = 512,
};

#define NEXT_ID "nextval(pg_get_serial_sequence('writer','id'))"

bool pg_commit_outcome_lock(struct pg_connection *wire, bool shared)
{
    PGresult *answer = NULL;
    const char *sql = shared ? "SELECT pg_try_advisory_lock_shared(" LOCK ")"
                             : "SELECT pg_try_advisory_lock(" LOCK ")";
    bool locked = pg_connection_ask(wire, sql, &answer) == PG_CONNECTION_DONE &&
                  strcmp(PQgetvalue(answer, 0, 0), "t") == 0;
    PQclear(answer);
    return locked;
}

/* Names a daemon that holds the lock, and why it is in the way. A daemon that shares is
 * kept out by one that has the store for itself. A database that is taken for the first
 * time has no table yet. */
static enum status tell_other(struct pg_connection *wire, bool shared,
                              struct error *error)
{
    PGresult *answer = NULL;
    char other[128] = "";
    bool alone = true;
    if (pg_connection_ask(wire,
                          "SELECT daemon,alone FROM writer WHERE NOT fenced"
                          " ORDER BY id DESC LIMIT 1",
                          &answer) == PG_CONNECTION_DONE &&
        PQntuples(answer) == 1) {
        snprintf(other, sizeof other, ", %s,", PQgetvalue(answer, 0, 0));
        alone = shared || PQgetvalue(answer, 0, 1)[0] == 't';
    }
    PQclear(answer);
    const char *why =
        !alone   ? "shares the store by its --role: whoever has no role, and whatever "
                   "command changes the store, has to have it alone"
        : shared ? "has the store alone: it has no --role, or moves the store forward"
                 : "serves the store: without --role one database has one daemon";
    return error_set(error, ST_IO, "another daemon%s %s", other, why);
}

enum status pg_commit_outcome_lock_wait(struct pg_connection *wire, bool shared,
                                        struct error *error)
{
    static const struct timespec wait = {.tv_nsec = LOCK_WAIT_NS};
    for (int i = 0; i < LOCK_TRIES; i++) {
        if (pg_commit_outcome_lock(wire, shared))
            return ST_OK;
        nanosleep(&wait, NULL);
    }
    return tell_other(wire, shared, error);
}

enum status pg_commit_outcome_lock_share(struct pg_connection *wire,
                                         struct error *error)
{
    PGresult *answer = NULL;
    bool shared = pg_commit_outcome_lock(wire, true) &&
                  pg_connection_ask(wire, "SELECT pg_advisory_unlock(" LOCK ")",
                                    &answer) == PG_CONNECTION_DONE;
    PQclear(answer);
    if (!shared)
        return error_set(error, ST_IO, "the store's lock: %s",
                         pg_connection_said(wire));
    return ST_OK;
}

/* Copies the ids that a statement has answered. */
static bool take_ids(struct writers *writers, const PGresult *answer)
{
    if (PQntuples(answer) != WRITERS)
        return false;
    for (int i = 0; i < WRITERS; i++) {
        writers->all[i].id = strtoll(PQgetvalue(answer, i, 0), NULL, 10);
        atomic_store(&writers->all[i].n, 0);
    }
    return true;
}

/* A daemon that takes the database for itself fences all others, and one that shares it
 * fences those that had it for themselves: one of them may still live, with its lock
 * gone with its connection. The update waits for the transactions that they have open.
 * If none of the others is left, no one will read the changes, so they are deleted. */
static bool fence_others(struct pg_connection *wire, bool shared)
{
    return pg_connection_run(
               wire,
               shared ? "UPDATE writer SET fenced=true WHERE alone AND NOT fenced"
                      : "UPDATE writer SET fenced=true WHERE NOT fenced;"
                        "DELETE FROM change",
               NULL) == PG_CONNECTION_DONE;
}

enum status writers_take(struct pg_connection *wire, bool shared,
                         struct writers *writers, struct error *error)
{
    char host[65] = "", sql[SQL_SIZE];
    PGresult *answer = NULL;
    gethostname(host, sizeof host - 1);
    for (char *at = host; *at != '\0'; at++)
        if (*at == '\'' || *at == '\\')
            *at = '_';
    snprintf(
        sql, sizeof sql,
        "WITH first AS (SELECT " NEXT_ID " AS id)"
        " INSERT INTO writer(id,daemon,lead,alone,follows)"
        " OVERRIDING SYSTEM VALUE SELECT CASE number WHEN 1 THEN first.id ELSE " NEXT_ID
        " END,'process %ld of %s',first.id,%s,pg_snapshot_xmin(pg_current_snapshot())"
        " FROM first,generate_series(1,%d) AS number RETURNING id",
        (long)getpid(), host, shared ? "false" : "true", WRITERS);
    bool taken = fence_others(wire, shared) &&
                 pg_connection_ask(wire, sql, &answer) == PG_CONNECTION_DONE &&
                 !pg_connection_warned(wire) && take_ids(writers, answer);
    PQclear(answer);
    return taken ? ST_OK
                 : error_set(error, ST_IO, "the store: %s", pg_connection_said(wire));
}

/* Compares the daemon's rows with the counts that were acknowledged before they were
 * read. */
static void compare(const struct writers *writers, const int64_t acknowledged[WRITERS],
                    const PGresult *answer, struct writers_found *found)
{
    int rows = PQntuples(answer), ours = 0;
    for (int row = 0; row < rows; row++) {
        int64_t id = strtoll(PQgetvalue(answer, row, 0), NULL, 10);
        int64_t n = strtoll(PQgetvalue(answer, row, 1), NULL, 10);
        for (int i = 0; i < WRITERS; i++) {
            if (writers->all[i].id != id)
                continue;
            ours++;
            found->lost = found->lost || n < acknowledged[i];
            found->fenced = found->fenced || PQgetvalue(answer, row, 2)[0] == 't';
        }
    }
    found->lost = found->lost || ours != WRITERS;
}

enum pg_connection_end writers_find(struct pg_connection *wire, struct writers *writers,
                                    const struct pg_commit_outcome *own,
                                    struct writers_found *found)
{
    char sql[SQL_SIZE];
    int64_t acknowledged[WRITERS];
    PGresult *answer = NULL;
    *found = (struct writers_found){0};
    for (int i = 0; i < WRITERS; i++)
        acknowledged[i] = atomic_load(&writers->all[i].n);
    snprintf(sql, sizeof sql,
             "BEGIN;SELECT n FROM writer WHERE id=%" PRId64 " FOR UPDATE", own->id);
    enum pg_connection_end end = pg_connection_ask(wire, sql, &answer);
    if (end != PG_CONNECTION_DONE)
        return end;
    if (PQntuples(answer) == 1)
        found->n = strtoll(PQgetvalue(answer, 0, 0), NULL, 10);
    PQclear(answer);
    snprintf(sql, sizeof sql,
             "SELECT id,n,fenced FROM writer WHERE id BETWEEN %" PRId64 " AND %" PRId64,
             writers->all[0].id, writers->all[WRITERS - 1].id);
    end = pg_connection_ask(wire, sql, &answer);
    if (end != PG_CONNECTION_DONE)
        return end;
    compare(writers, acknowledged, answer, found);
    PQclear(answer);
    snprintf(sql, sizeof sql,
             "UPDATE writer SET seen=clock_timestamp() WHERE id=%" PRId64 ";COMMIT",
             own->id);
    end = pg_connection_run(wire, sql, NULL);
    return end == PG_CONNECTION_DONE && pg_connection_warned(wire) ? PG_CONNECTION_LOST
                                                                   : end;
}
