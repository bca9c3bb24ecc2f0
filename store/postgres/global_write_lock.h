/*
 * global_write_lock.h - how a transaction that writes begins: with its writer's row,
 * and, if several daemons write, with the turn (change_feed.h). Inside store only.
 *
 * Threads: as database.h.
 */
#ifndef STORE_POSTGRES_GLOBAL_WRITE_LOCK_H
#define STORE_POSTGRES_GLOBAL_WRITE_LOCK_H

#include "store/postgres/pg_commit_outcome.h"

struct global_write_lock {           /* the transaction that begins */
    const struct database *database; /* the connection */
    const struct writers *writers;   /* of the daemon */
    /* the writer of this connection, one of writers */
    const struct pg_commit_outcome *writer;
    enum store_scope scope;
};

/* Sends the beginning of a transaction that may write, and waits for its turn if it
 * needs one, for as long as others have it; while it waits, its lease does not lapse.
 * *changed is 1 if the writer's row let it begin. */
enum pg_connection_end global_write_lock_begin(struct pg_connection *wire,
                                               const struct global_write_lock *turn,
                                               uint64_t *changed);

/* *same = whether the rows that the open transaction has read are unchanged, now that
 * it has taken its turn a second time: no other daemon has written since it renewed
 * memory. */
enum pg_connection_end global_write_lock_same(struct pg_connection *wire,
                                              const struct database *database,
                                              bool *same);

/* Takes the present snapshot as the position of a daemon that has read nothing yet.
 *   ST_IO  the server failed */
enum status global_write_lock_position(struct pg_connection *wire,
                                       struct database *database, struct error *error);

#endif
