/*
 * singleton_lease.h - timer work that one daemon of a shared store does at a time: any
 * of them could do it, and if two did, it would be wasted or visible twice.
 *
 *            singleton_lease_take, by one                SINGLETON_LEASE_S without it, or fenced
 *   (free) --------------------> its duty ------------------------------> free
 *                                ^      |
 *                                +------+ singleton_lease_take, by the same
 *
 * Invariants
 *   (1) By the database's clock one daemon has a duty at a time.
 *   (2) A daemon that has a duty and is suspended may go on with the work after the
 *       duty has passed to another. Work that must not be done twice is written in a
 *       transaction that calls singleton_lease_held, with the turn taken
 *       (change_feed.h).
 *
 * If the store is not shared, every duty is this daemon's.
 * Threads: any.
 */
#ifndef STORE_SINGLETON_LEASE_H
#define STORE_SINGLETON_LEASE_H

#include <stdbool.h>

#include "store/store.h"

enum { SINGLETON_LEASE_S = 30 };

/* Takes a duty, or keeps it, for SINGLETON_LEASE_S from now; *mine: this daemon has it.
 * The call waits for no turn. The name is a constant of this program.
 *   ST_IO  the store is poisoned */
enum status singleton_lease_take(struct store *store, const char *name, bool *mine,
                                 struct error *error);

/* *held = whether this daemon has the duty. If so, no other daemon can take it until tx
 * has ended.
 *   ST_IO  the store is poisoned */
enum status singleton_lease_held(struct store_tx *tx, const char *name, bool *held,
                                 struct error *error);

#endif
