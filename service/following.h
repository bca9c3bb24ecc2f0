/*
 * following.h - what this daemon has in memory, put right when other daemons of a shared
 * store have written (store/follow.h).
 *
 *   ledger, dataset, weights, job, model, survey, charge, access key, login, policy
 *   proposal, webhook, caption
 *
 * Each noun has a function that puts one row right, in the file that keeps it or in its
 * ..._renewal; here is which is called for which change.
 *
 * Invariants
 *   (1) Pointers that others hold stay good as long as they do where this daemon itself
 *       makes the change.
 *   (2) A row that stands in no table any more is answered as one that was deleted here.
 *   (3) What has changed is put right twice without harm.
 *   (4) Things are listed in the order of their rows' numbers, as those that this daemon
 *       itself makes are: whoever makes one has taken over all that came before it.
 *
 * Threads: following_renew by whoever begins a transaction, in it.
 */
#ifndef SERVICE_FOLLOWING_H
#define SERVICE_FOLLOWING_H

#include "service/context.h"
#include "store/follow.h"

/* What a start has read is as other daemons have left it: before anything else.
 *   ST_CORRUPT  a row does not agree with the ledger */
enum status following_begin(struct context *context, struct error *error);

/* The function of struct follow_hook: argument is the context, whose rows were opened.
 *   ST_CORRUPT  a row does not read back
 *   ST_IO       the store is poisoned */
enum status following_renew(void *argument, struct store_tx *tx,
                            const struct follow_change *changes, size_t count,
                            struct error *error);

#endif
