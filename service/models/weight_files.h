/*
 * weight_files.h - the files of public weights that were uploaded, in memory and on
 * disk, for jobs to begin with. A file of weights exists from the moment its row is
 * durable; the file was synced before. It is gone from the moment that the row's
 * deletion is durable.
 *
 * Threads: any. Rows never change; a pointer is valid until weight_files_close, also
 * that of a deleted file, which keeps its place too.
 */
#ifndef SERVICE_MODELS_WEIGHT_FILES_H
#define SERVICE_MODELS_WEIGHT_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "store/rows/weights_rows.h"

struct weight_files; /* opaque */

/* Reads all rows.
 *   ST_CORRUPT  a row does not read back; the error names it
 *   ST_IO       the store cannot be read */
enum status weight_files_open(struct weight_files **out, struct store_tx *tx,
                              struct error *error);
void weight_files_close(struct weight_files *files); /* NULL is allowed */

/* Inserts row, which is copied. It is found once the transaction is durable.
 *   ST_IO  the store is poisoned */
enum status weight_files_add(struct weight_files *files, struct store_tx *tx,
                             const struct weights_row *row, struct error *error);

/* Deletes the row.
 *   ST_IO  the store is poisoned */
enum status weight_files_remove(struct weight_files *files, struct store_tx *tx,
                                const struct weights_row *row, struct error *error);

/* Updates the file of that id from its row in tx, which another daemon has written:
 * adds it, or marks it as removed.
 *   ST_CORRUPT  the row does not read back
 *   ST_IO       the store is poisoned */
enum status weight_files_renew(struct weight_files *files, struct store_tx *tx,
                               const char *id, struct error *error);

const struct weights_row *weight_files_find(struct weight_files *files,
                                            const char *id); /* NULL: none */
/* The number of places, including those of files that were deleted since the start. */
size_t weight_files_count(struct weight_files *files);
const struct weights_row *weight_files_at(struct weight_files *files,
                                          size_t index); /* oldest is 0 */
bool weight_file_is_removed(struct weight_files *files, const struct weights_row *row);

/* Size and SHA-256 of the file, as its row says. */
struct file_checksum weights_row_seal(const struct weights_row *row);

#endif
