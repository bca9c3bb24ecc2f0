/*
 * dataset_refresh.h - updates a dataset in memory from the row that another daemon has
 * written.
 *
 * If several daemons share a store (store/sql/server.h), any of them declares, moves,
 * decides and deletes datasets. The others read the rows again with these functions
 * (store_changes.h).
 *
 * Invariants
 *   (1) Memory takes over a row that is newer than what it has, and ignores an older
 *       one.
 *   (2) A dataset that another daemon declared again is a new struct dataset, like one
 *       that was declared again here (datasets.h): a reader inside a visit keeps the
 *       former one.
 *
 * Threads: any.
 */
#ifndef SERVICE_DATASETS_DATASET_REFRESH_H
#define SERVICE_DATASETS_DATASET_REFRESH_H

#include "service/datasets/datasets.h"

/* Reads the row of that id in tx, which has not changed the dataset. A row is never
 * deleted.
 *   ST_CORRUPT  it cannot be read
 *   ST_IO       the store is poisoned */
enum status dataset_renew(struct datasets *datasets, struct store_tx *tx,
                          const char *id, struct error *error);

/* Like dataset_renew, for the dataset's caption. Does nothing if there is no such
 * dataset. */
enum status dataset_caption_renew(struct datasets *datasets, struct store_tx *tx,
                                  const char *id, struct error *error);

#endif
