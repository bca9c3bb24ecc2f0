#include "store/writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <libpq-fe.h>

/* "epsl", as SQLite's files have it (sqlite_tables.c). */
#define LOCK "1702392684"

enum {
    LOCK_TRIES = 20,
    LOCK_WAIT_NS = 100000000,
    SQL_SIZE = 256,
};

bool writer_lock(struct wire *wire)
{
    PGresult *answer = NULL;
    bool locked =
        wire_ask(wire, "SELECT pg_try_advisory_lock(" LOCK ")", &answer) == WIRE_DONE &&
        strcmp(PQgetvalue(answer, 0, 0), "t") == 0;
    PQclear(answer);
    return locked;
}

/* Names the daemon that holds the lock. A database that is taken for the first time has
 * no table yet. */
static enum status tell_other(struct wire *wire, struct error *error)
{
    PGresult *answer = NULL;
    char other[128] = "";
    if (wire_ask(wire,
                 "SELECT daemon FROM writer WHERE NOT fenced ORDER BY id DESC LIMIT 1",
                 &answer) == WIRE_DONE &&
        PQntuples(answer) == 1)
        snprintf(other, sizeof other, ", %s,", PQgetvalue(answer, 0, 0));
    PQclear(answer);
    return error_set(error, ST_IO,
                     "another daemon%s serves the store: one database has one daemon",
                     other);
}

enum status writer_lock_wait(struct wire *wire, struct error *error)
{
    static const struct timespec wait = {.tv_nsec = LOCK_WAIT_NS};
    for (int i = 0; i < LOCK_TRIES; i++) {
        if (writer_lock(wire))
            return ST_OK;
        nanosleep(&wait, NULL);
    }
    return tell_other(wire, error);
}

enum status writer_take(struct wire *wire, struct writer *writer, struct error *error)
{
    char host[65] = "", sql[SQL_SIZE];
    PGresult *answer = NULL;
    gethostname(host, sizeof host - 1);
    for (char *at = host; *at != '\0'; at++)
        if (*at == '\'' || *at == '\\')
            *at = '_';
    snprintf(sql, sizeof sql,
             "INSERT INTO writer(daemon) VALUES('process %ld of %s') RETURNING id",
             (long)getpid(), host);
    if (wire_run(wire, "UPDATE writer SET fenced=true WHERE NOT fenced", NULL) !=
            WIRE_DONE ||
        wire_ask(wire, sql, &answer) != WIRE_DONE || wire_warned(wire))
        return error_set(error, ST_IO, "the store: %s", wire_said(wire));
    *writer = (struct writer){.id = strtoll(PQgetvalue(answer, 0, 0), NULL, 10),
                              .locked = true};
    PQclear(answer);
    return ST_OK;
}

enum wire_end writer_find(struct wire *wire, int64_t id, struct writer_found *found)
{
    char sql[SQL_SIZE];
    PGresult *answer = NULL;
    snprintf(sql, sizeof sql,
             "BEGIN;SELECT n,fenced FROM writer WHERE id=%" PRId64 " FOR UPDATE", id);
    enum wire_end end = wire_ask(wire, sql, &answer);
    if (end != WIRE_DONE)
        return end;
    *found = (struct writer_found){.exists = PQntuples(answer) == 1};
    if (found->exists) {
        found->n = strtoll(PQgetvalue(answer, 0, 0), NULL, 10);
        found->fenced = strcmp(PQgetvalue(answer, 0, 1), "t") == 0;
    }
    PQclear(answer);
    snprintf(sql, sizeof sql,
             "UPDATE writer SET seen=clock_timestamp() WHERE id=%" PRId64 ";COMMIT",
             id);
    end = wire_run(wire, sql, NULL);
    return end == WIRE_DONE && wire_warned(wire) ? WIRE_LOST : end;
}
