/*
 * wire.h - one connection to a server of PostgreSQL: opened by the rules below, and every
 * question with a deadline. Inside store only.
 *
 * Invariants
 *   (1) It is encrypted and the server's certificate is checked, or it stays on this host.
 *   (2) What durability rests on is set and read back: synchronous_commit, fsync,
 *       full_page_writes, data_sync_retry, and, unless one server is said to be enough,
 *       standbys that a commit waits for.
 *   (3) A question that is not answered in time ends the connection. Nothing is ever
 *       cancelled: a COMMIT that is cancelled answers as if it had succeeded, and is lost
 *       at a failover.
 *
 * libpq is called by name in the files that the Makefile lists, and in no other file of the
 * program.
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
    WIRE_DONE,    /* it was answered */
    WIRE_REFUSED, /* the server refused it: wire_sqlstate, wire_said */
    WIRE_LOST,    /* the connection is gone, and what became of the question unknown */
};

/* Connects. reads: it is only read, and may be a standby.
 *   ST_INVALID  the URL, the server or its settings will not do: the error says which
 *   ST_IO       it cannot be reached, or lets nobody in by that name and password */
enum status wire_open(struct wire **out, const struct store_server *server, bool reads,
                      struct error *error);

void wire_close(struct wire *wire); /* NULL is allowed */

/* Runs SQL without parameters, one statement or several. changed, which may be NULL, is
 * how many rows its UPDATEs changed. */
enum wire_end wire_run(struct wire *wire, const char *sql, uint64_t *changed);

/* The same for a statement that answers: *out is the caller's to clear, and NULL unless
 * WIRE_DONE is returned. Columns come as text. */
enum wire_end wire_ask(struct wire *wire, const char *sql, struct pg_result **out);

/* Prepares a statement with $1, $2 .. under a name. */
enum wire_end wire_prepare(struct wire *wire, const char *name, const char *sql);

struct wire_values { /* of the parameters of a statement */
    int count;
    const char *const *at; /* (count), NULL is null */
    const int *sizes;      /* (count), bytes; of those that are binary */
    const int *formats;    /* (count), 1: binary, 0: text */
};

/* Runs a prepared statement. Columns come as binary. *out is as in wire_ask. */
enum wire_end wire_execute(struct wire *wire, const char *name,
                           const struct wire_values *values, struct pg_result **out);

/* They tell of the last question: whether the server warned while it answered; and, where
 * it was refused or lost, why, with the five letters of the server. The texts live until
 * the next. */
bool wire_warned(const struct wire *wire);
const char *wire_sqlstate(const struct wire *wire);
const char *wire_said(const struct wire *wire);

#endif
