/*
 * charge_lease.h - extends and ends a charge. A block is granted in one transaction:
 * the ledger authorises its steps, and the charge records it. The end is also one
 * transaction: the ledger commits what was authorised and releases the rest, and the
 * charge moves to its last state. What was authorised is spent, no matter who ends the
 * charge and how much of the work was run.
 *
 * Threads: any; a store transaction is begun.
 */
#ifndef SERVICE_PLANNING_CHARGE_LEASE_H
#define SERVICE_PLANNING_CHARGE_LEASE_H

#include <stdint.h>

#include "service/jobs/charges.h"

struct block_request;
struct charge;
struct charge_info;
struct daemon_state;
struct error;
struct store_tx;

/* Grants the charge's next block in tx, and copies the charge as it will be to *info.
 * The grant is valid once tx is durable and the store is not poisoned
 * (ledger_authorise_in).
 *   ST_CHARGE_ENDED, ST_BLOCK_GRANTED, ST_BLOCK_OUT_OF_ORDER  as charge_check_block
 *   ST_DATASET_FROZEN  a restored backup closed the budget's epoch
 *   ST_IO              the store is poisoned */
enum status charge_grant(struct daemon_state *context, struct store_tx *tx,
                         struct charge *charge, const struct block_request *asked,
                         struct charge_info *info, struct error *error);

/* Ends the charge, which is OPEN, in tx.
 *   ST_IO  the store is poisoned */
enum status charge_settle(struct daemon_state *context, struct store_tx *tx,
                          struct charge *charge, enum charge_state state,
                          int64_t second, struct error *error);

/* Ends every charge whose lease ended at `second` or before. A charge that cannot be
 * ended is logged, and tried again. */
void charges_lapse(struct daemon_state *context, int64_t second);

/* At start: ends every charge that holds a part of an epoch that a restored backup has
 * closed, and whose steps therefore all count as authorised. The others go on.
 *   ST_IO  the store is poisoned */
enum status charges_recover(struct daemon_state *context, struct error *error);

#endif
