/*
 * partition.h - assigns every record to exactly one of an epoch's batches: the records
 * in a random order, cut into batches whose sizes differ by one at most
 * (papers/dicesgd.md A7).
 *
 * Invariants
 *   (1) No record is in two batches of a deal. This limits how often a record takes
 *       part.
 *   (2) The batch of each record is raw data: fini zeroes it (privacy.md P9).
 * Only one proof depends on the order being uniform: the bound on the number of records
 * in a cell, which holds for draws without replacement too (Hoeffding 1963, section 6).
 *
 * Threads: one at a time.
 */
#ifndef ENGINE_SAMPLING_PARTITION_H
#define ENGINE_SAMPLING_PARTITION_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "engine/noise/noise_key.h"

struct partition {
    uint32_t *batch_of; /* (records) the batch of each record */
    size_t records;
};

/*   ST_NO_MEMORY  no room for records numbers */
enum status partition_init(struct partition *partition, size_t records,
                           struct error *error);
void partition_fini(struct partition *partition); /* a zeroed one is allowed */

/* Assigns all records again to batches [0, batches), 0 < batches <= records: a pure
 * function of (key, records, batches). */
void partition_deal(struct partition *partition, size_t batches,
                    const struct noise_key *key);

/* Writes the records of batch in ascending order and returns their number.
 *   indices  room for records */
size_t partition_take(const struct partition *partition, uint32_t *indices,
                      size_t batch);

#endif
