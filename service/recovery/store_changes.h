/*
 * store_changes.h - updates this daemon's memory after other daemons of a shared store
 * have written (store/change_feed.h).
 *
 *   ledger, dataset, weights, job, model, survey, charge, access key, login, policy
 *   proposal, webhook, caption
 *
 * Each of these has a function that updates one row, in its own file or in its
 * ..._renewal. This file says which of them is called for which change.
 *
 * Invariants
 *   (1) Pointers that callers hold stay valid as long as they would if this daemon
 *       itself made the change.
 *   (2) A row that was deleted from its table is answered like one that was deleted
 *       here.
 *   (3) Processing the same change twice does no harm.
 *   (4) Objects are listed in the order of their rows' numbers, including those that
 *       this daemon itself makes: a daemon takes over all earlier rows before it makes
 *       one.
 *
 * Threads: store_changes_renew by the thread that begins a transaction, inside it.
 */
#ifndef SERVICE_RECOVERY_STORE_CHANGES_H
#define SERVICE_RECOVERY_STORE_CHANGES_H

#include "store/change_feed.h"

struct daemon_state;

/* Marks what a start has read as written by other daemons. Call it before anything
 * else.
 *   ST_CORRUPT  a row does not agree with the ledger */
enum status store_changes_begin(struct daemon_state *context, struct error *error);

/* The function of struct change_feed_hook: argument is the context, whose rows were
 * opened.
 *   ST_CORRUPT  a row cannot be read
 *   ST_IO       the store is poisoned */
enum status store_changes_renew(void *argument, struct store_tx *tx,
                                const struct change_feed_change *changes, size_t count,
                                struct error *error);

#endif
