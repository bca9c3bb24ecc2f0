/*
 * wire.h - one connection to a PostgreSQL server: opened by the rules below, with a
 * deadline for every query. Inside store only.
 *
 * Invariants
 *   (1) It is encrypted and the server's certificate is checked, or it stays on this
 *       host.
 *   (2) The settings that durability depends on are set and read back:
 *       synchronous_commit, fsync, full_page_writes, data_sync_retry, and, unless one
 *       server is declared to be enough, standbys that a commit waits for.
 *   (3) A query that is not answered in time ends the connection. Nothing is ever
 *       cancelled: a COMMIT that is cancelled answers as if it had succeeded, and is
 *       lost at a failover.
 *
 * libpq is called by name in the files that the Makefile lists, and in no other file of
 * the program.
 *
 * Threads: one at a time.
 */
#ifndef STORE_WIRE_H
#define STORE_WIRE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "store/server.h"

struct pg_result; /* libpq's */
struct wire;      /* opaque */

enum wire_end {
    WIRE_DONE,    /* the server answered */
    WIRE_REFUSED, /* the server refused the query: wire_sqlstate, wire_said */
    WIRE_LOST,    /* the connection is gone; whether the query took effect is unknown */
};

/* Connects. reads: the connection only reads, and the server may be a standby.
 *   ST_INVALID  the URL, the server or its settings will not do: the error names the
 *               reason
 *   ST_IO       it cannot be reached, or refuses that name and password */
enum status wire_open(struct wire **out, const struct store_server *server, bool reads,
                      struct error *error);

void wire_close(struct wire *wire); /* NULL is allowed */

/* Runs SQL without parameters, one statement or several. changed, which may be NULL,
 * gets the number of rows that its UPDATEs changed. */
enum wire_end wire_run(struct wire *wire, const char *sql, uint64_t *changed);

/* Like wire_run for a statement that answers: the caller clears *out, which is NULL
 * unless WIRE_DONE is returned. Columns come as text. */
enum wire_end wire_ask(struct wire *wire, const char *sql, struct pg_result **out);

/* Prepares a statement with $1, $2 .. under a name. */
enum wire_end wire_prepare(struct wire *wire, const char *name, const char *sql);

struct wire_values { /* the parameters of a statement */
    int count;
    const char *const *at; /* (count), NULL is null */
    const int *sizes;      /* (count), bytes; used if the format is binary */
    const int *formats;    /* (count), 1: binary, 0: text */
};

/* Runs a prepared statement. Columns come as binary. *out is as in wire_ask. */
enum wire_end wire_execute(struct wire *wire, const char *name,
                           const struct wire_values *values, struct pg_result **out);

/* Results of the last query: whether the server warned while it answered; and, if the
 * query was refused or lost, the reason, with the server's five letters. The texts live
 * until the next query. */
bool wire_warned(const struct wire *wire);
const char *wire_sqlstate(const struct wire *wire);
const char *wire_said(const struct wire *wire);

#endif
