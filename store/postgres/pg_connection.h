/*
 * pg_connection.h - one connection to a PostgreSQL server: opened by the rules below,
 * with a deadline for every query. Inside store only.
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
 * libpq is called by name in the files that make/layers.mk lists, and in no other file of
 * the program.
 *
 * Threads: one at a time.
 */
#ifndef STORE_POSTGRES_PG_CONNECTION_H
#define STORE_POSTGRES_PG_CONNECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "store/sql/server.h"

struct pg_result;     /* libpq's */
struct pg_connection; /* opaque */

enum pg_connection_end {
    PG_CONNECTION_DONE, /* the server answered */
    PG_CONNECTION_REFUSED, /* the server refused the query: pg_connection_sqlstate, pg_connection_said */
    PG_CONNECTION_LOST, /* the connection is gone; whether the query took effect is unknown */
};

/* Connects. reads: the connection only reads, and the server may be a standby.
 *   ST_INVALID  the URL, the server or its settings will not do: the error names the
 *               reason
 *   ST_IO       it cannot be reached, or refuses that name and password */
enum status pg_connection_open(struct pg_connection **out,
                               const struct store_server *server, bool reads,
                               struct error *error);

void pg_connection_close(struct pg_connection *wire); /* NULL is allowed */

/* Runs SQL without parameters, one statement or several. changed, which may be NULL,
 * gets the number of rows that its UPDATEs changed. */
enum pg_connection_end pg_connection_run(struct pg_connection *wire, const char *sql,
                                         uint64_t *changed);

/* Like pg_connection_run for a statement that answers: the caller clears *out, which
 * is NULL unless PG_CONNECTION_DONE is returned. Columns come as text. */
enum pg_connection_end pg_connection_ask(struct pg_connection *wire, const char *sql,
                                         struct pg_result **out);

/* Prepares a statement with $1, $2 .. under a name. */
enum pg_connection_end pg_connection_prepare(struct pg_connection *wire,
                                             const char *name, const char *sql);

struct pg_connection_values { /* the parameters of a statement */
    int count;
    const char *const *at; /* (count), NULL is null */
    const int *sizes;      /* (count), bytes; used if the format is binary */
    const int *formats;    /* (count), 1: binary, 0: text */
};

/* Runs a prepared statement. Columns come as binary. *out is as in
 * pg_connection_ask. */
enum pg_connection_end pg_connection_execute(struct pg_connection *wire,
                                             const char *name,
                                             const struct pg_connection_values *values,
                                             struct pg_result **out);

/* Results of the last query: whether the server warned while it answered; and, if the
 * query was refused or lost, the reason, with the server's five letters. The texts live
 * until the next query. */
bool pg_connection_warned(const struct pg_connection *wire);
const char *pg_connection_sqlstate(const struct pg_connection *wire);
const char *pg_connection_said(const struct pg_connection *wire);

#endif
