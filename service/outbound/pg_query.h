/*
 * pg_query.h - one query of a foreign PostgreSQL server, by libpq. The store's own server
 * has other rules (store/postgres).
 *
 * Invariants
 *   (1) The connection goes to an address that host_address_is_allowed accepts, and the
 *       host's name is resolved once. With TLS the server's certificate is verified for
 *       this name, against the system's authorities or the operator's.
 *   (2) Nothing but the request decides how to connect: no variable of the environment,
 *       no service or password file, no certificate and no ticket of the daemon's account.
 *       There is no socket of this host.
 *   (3) The query is the SELECT of a cursor in a transaction that is read-only and has
 *       one snapshot, and is sent as a single statement. The transaction is never
 *       committed.
 *   (4) Memory holds one row for any number of rows: the server waits while the
 *       caller takes a row.
 *   (5) No message of the server is logged or kept, since it may quote a cell.
 *   (6) A query that ends before its rows do is cancelled at the server too.
 *
 * A program without libpq has none of it: then pg_query_is_built returns false.
 *
 * Threads: any; the calling thread waits.
 */
#ifndef SERVICE_OUTBOUND_PG_QUERY_H
#define SERVICE_OUTBOUND_PG_QUERY_H

#include <stdbool.h>
#include <stddef.h>

#include "service/outbound/pg_login.h"

struct pg_cell {
    const char *text; /* size bytes; NULL: the cell is null */
    size_t size;
};

struct pg_query {
    struct pg_server server;
    /* Returns whether the query has the right columns. It is called before any row is
     * read, and only with their names, which the query itself contains or which are those
     * of tables. */
    bool (*accept)(void *context, const char *const *names, size_t count);
    /* Takes a row of as many cells; false ends the query. */
    bool (*take)(void *context, const struct pg_cell *cells, size_t count);
    void *context;
};

/* Bytes that are received without a whole row. It is compared after each read, and
 * libpq reads on while the server sends as fast as that: a server can make it keep up to
 * one message, which PostgreSQL limits to 1 GiB. */
enum { PG_ROW_SIZE_MAX = 64 << 20 };

bool pg_query_is_built(void);

/* Runs the query and passes its rows to take, until the end. */
enum pg_end pg_query_run(const struct pg_query *query);

#endif
