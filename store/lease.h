/*
 * lease.h - which daemons of a shared store are alive (server.h), and how the others are kept
 * from ever writing again.
 *
 *             LEASE_S without a transaction          lease_sweep
 *   writing ------------------------------> lapsed --------------> fenced
 *      ^                                       |
 *      +---------------------------------------+ a transaction
 *
 * A daemon's first writer (writer.h) says when it last began a transaction that may write,
 * or renewed its lease.
 * Whose writer has been silent for longer than a lease is taken for dead: all of its
 * writers are fenced, so that it writes nothing more, should it only have slept. What it
 * has left is settled after that, in further transactions.
 *
 * Invariants
 *   (1) Times are the database's clock alone.
 *   (2) What a fenced daemon wrote was durable before it was fenced, or never will be: the
 *       UPDATE that fences waits for its open transactions.
 *   (3) A daemon whose first writer has a transaction open is not lapsed. The server ends one
 *       that its daemon has left.
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

/* Says that this daemon is alive, by a transaction that does nothing else and waits for no
 * turn (follow.h): beside one that takes long, or beside a start. Nothing where the store
 * is not shared.
 *   ST_IO  the store is poisoned: this daemon was taken for dead, among others */
enum status lease_renew(struct store *store, struct error *error);

/* Fences the daemons whose leases have lapsed; *fenced tells how many. One that another
 * daemon is about to fence is left to it. It waits for no turn either: a daemon may have
 * died in its own. What no daemon that is left will ask for is forgotten (follow_forget).
 * Nothing where the store is not shared.
 *   ST_IO  the store is poisoned */
enum status lease_sweep(struct store *store, size_t *fenced, struct error *error);

#endif
