/*
 * postgres_turn.h - how a transaction that writes begins: with its writer's row, and, where
 * several daemons write, with the turn (follow.h). Inside store only.
 *
 * Threads: as database.h.
 */
#ifndef STORE_POSTGRES_TURN_H
#define STORE_POSTGRES_TURN_H

#include "store/writer.h"

struct postgres_turn {              /* what is to begin */
    const struct database *database; /* the connection */
    const struct writers *writers;   /* of the daemon */
    const struct writer *writer;     /* the connection's of them */
    enum store_scope scope;
};

/* Sends the beginning of a transaction that may write, and waits for its turn where it
 * takes one, for as long as others have it; who waits is not taken for dead. *changed is
 * 1 where the writer's row let it begin. */
enum wire_end postgres_turn_begin(struct wire *wire, const struct postgres_turn *turn,
                                  uint64_t *changed);

/* Whether what the open transaction has read is what is there, now that its turn was
 * taken a second time: nobody else has written since it renewed memory. */
enum wire_end postgres_turn_same(struct wire *wire, const struct database *database,
                                 bool *same);

/* Takes the present snapshot as the position of a daemon that has read nothing yet.
 *   ST_IO  the server failed */
enum status postgres_turn_position(struct wire *wire, struct database *database,
                                   struct error *error);

#endif
