/*
 * dataset_renewal.h - a dataset as another daemon has left its row.
 *
 * Where several daemons share a store (store/server.h) any of them declares, moves, decides
 * and deletes datasets; the others read the rows again by this (following.h).
 *
 * Invariants
 *   (1) Memory takes over a row that is newer than what it knows, and nothing of an older
 *       one.
 *   (2) One that was declared anew elsewhere is a struct dataset of its own, as one that was
 *       declared anew here is (datasets.h): who visits the one before keeps it.
 *
 * Threads: any.
 */
#ifndef SERVICE_DATASET_RENEWAL_H
#define SERVICE_DATASET_RENEWAL_H

#include "service/datasets.h"

/* Reads the row of that id in tx, which has not changed the dataset. A row is never deleted.
 *   ST_CORRUPT  it does not read back
 *   ST_IO       the store is poisoned */
enum status dataset_renew(struct datasets *datasets, struct store_tx *tx,
                          const char *id, struct error *error);

/* The same of what it is called; nothing where there is no such dataset. */
enum status dataset_caption_renew(struct datasets *datasets, struct store_tx *tx,
                                  const char *id, struct error *error);

#endif
