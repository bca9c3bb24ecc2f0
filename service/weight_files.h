/*
 * weight_files.h - the files of public weights that were uploaded, in memory and on disk,
 * for jobs to begin with. One exists from the moment its row is durable; its file was
 * synced before. It is gone from the moment that the row's deletion is durable.
 *
 * Threads: any. Rows never change; a pointer is good until weight_files_close, that of a
 * deleted file too, which also keeps its place.
 */
#ifndef SERVICE_WEIGHT_FILES_H
#define SERVICE_WEIGHT_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/file_seal.h"
#include "store/store.h"
#include "store/weights_rows.h"

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

/* Puts the file of that id as another daemon has left its row in tx: it is there from now
 * on, or is removed.
 *   ST_CORRUPT  the row does not read back
 *   ST_IO       the store is poisoned */
enum status weight_files_renew(struct weight_files *files, struct store_tx *tx,
                               const char *id, struct error *error);

const struct weights_row *weight_files_find(struct weight_files *files,
                                            const char *id); /* NULL: none */
/* How many places there are, those of files that were deleted since the start too. */
size_t weight_files_count(struct weight_files *files);
const struct weights_row *weight_files_at(struct weight_files *files,
                                          size_t index); /* oldest is 0 */
bool weight_file_is_removed(struct weight_files *files, const struct weights_row *row);

/* What the row says of the file. */
struct file_seal weights_row_seal(const struct weights_row *row);

#endif
