/*
 * lease.h - which daemons of a shared store are alive (server.h), and how the others
 * are prevented from ever writing again.
 *
 *             LEASE_S without a transaction          lease_sweep
 *   writing ------------------------------> lapsed --------------> fenced
 *      ^                                       |
 *      +---------------------------------------+ a transaction
 *
 * The row of a daemon's first writer (pg_commit_outcome.h) holds the time when it last
 * began a transaction that may write, or renewed its lease. A daemon whose first writer
 * has been silent for longer than a lease is taken for dead: all of its writers are
 * fenced, so that it writes nothing more in case it was only suspended. What it has
 * left is settled after that, in further transactions.
 *
 * Invariants
 *   (1) Times are those of the database's clock only.
 *   (2) What a fenced daemon wrote was durable before it was fenced, or never will be:
 *       the UPDATE that fences waits for its open transactions.
 *   (3) A daemon whose first writer has a transaction open is not lapsed. The server
 *       ends a transaction that its daemon has left.
 *
 * Threads: any.
 */
#ifndef STORE_LEASE_H
#define STORE_LEASE_H

#include <stddef.h>

#include "store/store.h"

enum {
    LEASE_S = 30,
    LEASE_RENEWAL_S = 10, /* a daemon writes at least this often, and sweeps */
};

/* Renews this daemon's lease, by a transaction that does nothing else and waits for no
 * turn (change_feed.h), so it can run during a long transaction or during a start. A
 * no-op if the store is not shared.
 *   ST_IO  the store is poisoned: among other reasons, this daemon was taken for
 *          dead */
enum status lease_renew(struct store *store, struct error *error);

/* Fences the daemons whose leases have lapsed; *fenced = how many. It skips one that
 * another daemon is about to fence. It waits for no turn either: a daemon may have died
 * in its own. It also deletes the changes that no remaining daemon will read
 * (change_feed_forget). A no-op if the store is not shared.
 *   ST_IO  the store is poisoned */
enum status lease_sweep(struct store *store, size_t *fenced, struct error *error);

#endif
