/*
 * postgres_turn.h - how a transaction that writes begins: with its writer's row, and,
 * if several daemons write, with the turn (follow.h). Inside store only.
 *
 * Threads: as database.h.
 */
#ifndef STORE_POSTGRES_TURN_H
#define STORE_POSTGRES_TURN_H

#include "store/writer.h"

struct postgres_turn {               /* the transaction that begins */
    const struct database *database; /* the connection */
    const struct writers *writers;   /* of the daemon */
    const struct writer *writer;     /* the writer of this connection, one of writers */
    enum store_scope scope;
};

/* Sends the beginning of a transaction that may write, and waits for its turn if it
 * needs one, for as long as others have it; while it waits, its lease does not lapse.
 * *changed is 1 if the writer's row let it begin. */
enum wire_end postgres_turn_begin(struct wire *wire, const struct postgres_turn *turn,
                                  uint64_t *changed);

/* *same = whether the rows that the open transaction has read are unchanged, now that
 * it has taken its turn a second time: no other daemon has written since it renewed
 * memory. */
enum wire_end postgres_turn_same(struct wire *wire, const struct database *database,
                                 bool *same);

/* Takes the present snapshot as the position of a daemon that has read nothing yet.
 *   ST_IO  the server failed */
enum status postgres_turn_position(struct wire *wire, struct database *database,
                                   struct error *error);

#endif
