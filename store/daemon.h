/*
 * daemon.h - which daemons a shared store has: what each says of itself, and whether it is
 * alive (lease.h).
 *
 * Threads: any; those of the transaction.
 */
#ifndef STORE_DAEMON_H
#define STORE_DAEMON_H

#include <stdbool.h>

#include "store/store.h"

struct daemon_row {
    uint64_t id;         /* store_daemon */
    const char *process; /* "process 17 of host" */
    const char *role;
    const char *address;     /* "" where it serves nobody */
    uint64_t silent_s;       /* since it was last seen, by the database's clock */
};

/* Says what this daemon is, in the place of what it said before. Nothing where the store is
 * not shared.
 *   ST_IO  the store is poisoned */
enum status daemon_say(struct store *store, const char *role, const char *address,
                       struct error *error);

/* Walks the daemons that have said something and are not fenced, in the order in which they
 * started; until visit says false. None where the store is not shared.
 *   ST_IO  the store is poisoned */
enum status daemons_walk(struct store_tx *tx,
                         bool (*visit)(void *context, const struct daemon_row *row),
                         void *context, struct error *error);

#endif
