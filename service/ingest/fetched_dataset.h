/*
 * fetched_dataset.h - datasets whose records the daemon reads from another system itself.
 * Their owner may not be able to read those records, so no answer may depend on them: an
 * owner who declares a range and sees whether the import is refused finds a column's
 * maximum in 12 imports. So such an import takes every record (privacy.md P7), nobody is
 * shown a report, and the rows are not compared with those of other datasets, since a
 * declaration can make rows equal.
 *
 * Threads: the write queue's.
 */
#ifndef SERVICE_INGEST_FETCHED_DATASET_H
#define SERVICE_INGEST_FETCHED_DATASET_H

#include "base/status.h"

struct daemon_state;
struct dataset;
struct schema;

/* Checks that the declaration says what becomes of each cell.
 *   ST_INVALID  a column of words has no place for other words (the text says which), or
 *               the unit is the person, whose number would show how many different cells
 *               there are in a column that the declaration chooses */
enum status fetched_dataset_check(const struct schema *schema, struct error *error);

/* Marks the dataset for good, durably. Call it before the first byte is asked for.
 *   ST_INVALID   as fetched_dataset_check
 *   ST_CONFLICT  another daemon has changed the dataset
 *   ST_IO        the store is poisoned */
enum status fetched_dataset_mark(struct daemon_state *context, struct dataset *dataset,
                                 struct error *error);

#endif
