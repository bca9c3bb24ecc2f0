/*
 * daemon.h - the list of daemons of a shared store: what each reports of itself, and
 * whether it is alive (lease.h).
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
    const char *address; /* "" if it serves no one */
    uint64_t silent_s;   /* since it was last seen, by the database's clock */
};

/* Writes the row that describes this daemon, in the place of an earlier one. A no-op if
 * the store is not shared.
 *   ST_IO  the store is poisoned */
enum status daemon_say(struct store *store, const char *role, const char *address,
                       struct error *error);

/* Walks the daemons that have called daemon_say and are not fenced, in the order in
 * which they started; until visit returns false. There are none if the store is not
 * shared.
 *   ST_IO  the store is poisoned */
enum status daemons_walk(struct store_tx *tx,
                         bool (*visit)(void *context, const struct daemon_row *row),
                         void *context, struct error *error);

#endif
