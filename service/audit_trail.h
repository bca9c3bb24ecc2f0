/*
 * audit_trail.h - the audit trail: a row for each act, in a chain of its own. A row is
 * appended in the transaction of what it tells of, so that neither is there without the
 * other.
 *
 *   hash   that of a link of a chain (base/chain_hash.h) of version "a1": seq, second,
 *          actor, key, project, via, address, action, object, result, code, request,
 *          detail
 *
 * Invariants
 *   (1) Rows are only ever appended: seq is dense, prev is the hash of the row before.
 *   (2) Nothing in a row is finer than a whole second, and nothing is of a body, a key's
 *       secret or a record.
 *
 * Threads: that of the transaction. Rows are chained under its lock.
 */
#ifndef SERVICE_AUDIT_TRAIL_H
#define SERVICE_AUDIT_TRAIL_H

#include <stdint.h>

#include "base/status.h"
#include "store/store.h"
#include "store/audit_rows.h"

/* hash = the hash of row, from its other members. */
void audit_trail_hash(uint8_t hash[SHA256_SIZE], const struct audit_row *row);

/* Appends what row says, as the next link; its seq, prev and hash are not read.
 *   ST_IO  the store is poisoned */
enum status audit_trail_append(struct store_tx *tx, const struct audit_row *row,
                               struct error *error);

/* Checks the whole chain. head is its newest row, or the last good one.
 *   ST_CORRUPT  the error names the first row that is missing or is not what was written
 *   ST_IO       it cannot be read */
enum status audit_trail_verify(struct store_tx *tx, struct audit_head *head,
                               struct error *error);

#endif
