/*
 * file_check.h - compares the files of models, weights and datasets with their rows, for
 * `epsilond verify` and for a copy. A start does not read whole files: a job or a
 * request checks its own file.
 *
 * Threads: one.
 */
#ifndef SERVICE_RECOVERY_FILE_CHECK_H
#define SERVICE_RECOVERY_FILE_CHECK_H

#include "store/store.h"

struct blobs;
struct consistency_check;

/* Checks that the files have the sizes and digests of their rows. A dataset or model
 * that a running daemon has deleted in the meantime is left out: its row is read again
 * from store.
 *   ST_CORRUPT  a file is missing or is not what its row says; the error names table,
 *               row and file
 *   ST_IO       a file cannot be read */
enum status file_check_run(const struct consistency_check *inventory,
                           struct store *store, const struct blobs *blobs,
                           struct error *error);

#endif
