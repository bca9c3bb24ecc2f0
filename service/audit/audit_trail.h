/*
 * audit_trail.h - the audit trail: one row per act, in a hash chain of its own. A row
 * is appended in the transaction of the change that it records, so that neither exists
 * without the other.
 *
 *   hash   that of a link of a chain (base/chain_hash.h) of version "a1": seq, second,
 *          actor, key, project, via, address, action, object, result, code, request,
 *          detail
 *
 * Invariants
 *   (1) Rows are only appended: seq is dense, and prev is the hash of the row before.
 *   (2) No time in a row is finer than a whole second, and nothing in it comes from a
 *       body, from a key's secret or from a record.
 *
 * Threads: that of the transaction. Rows are chained under the transaction's lock.
 */
#ifndef SERVICE_AUDIT_AUDIT_TRAIL_H
#define SERVICE_AUDIT_AUDIT_TRAIL_H

#include <stdint.h>

#include "store/rows/audit_rows.h"

/* Computes the hash of row from its other members. */
void audit_trail_hash(uint8_t hash[SHA256_SIZE], const struct audit_row *row);

/* Appends row as the next link. Its seq, prev and hash are not read.
 *   ST_IO  the store is poisoned */
enum status audit_trail_append(struct store_tx *tx, const struct audit_row *row,
                               struct error *error);

/* Checks the whole chain. head is its newest row, or the last good one.
 *   ST_CORRUPT  the error names the first row that is missing or is not what was
 *               written
 *   ST_IO       the trail cannot be read */
enum status audit_trail_verify(struct store_tx *tx, struct audit_head *head,
                               struct error *error);

#endif
