/*
 * models.h - all published models, in memory and on disk. A model exists from the
 * moment its row is durable, in the transaction that settles its job; its file was
 * synced before. It is gone from the moment that the row's deletion is durable; its
 * file is removed after that, or at the next start if a crash came between.
 *
 * Threads: any. Rows never change; a pointer is valid until models_close, also that of
 * a deleted model, which keeps its place too.
 */
#ifndef SERVICE_MODELS_MODELS_H
#define SERVICE_MODELS_MODELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "service/models/verified_file.h"

struct blobs;
struct caption_search;
struct model_row;
struct store_tx;

struct models; /* opaque */

/* Reads all rows; models_check reads their certificates.
 *   ST_CORRUPT  a row does not read back; the error names it
 *   ST_IO       the store cannot be read */
enum status models_open(struct models **out, struct store_tx *tx, struct error *error);

/* Checks that the certificate of every model belongs to it.
 *   reads_all   read each certificate back completely, not only the fields of a quick
 *               scan
 *   ST_CORRUPT  one does not; the error names its row */
enum status models_check(struct models *models, bool reads_all, struct error *error);
void models_close(struct models *models); /* NULL is allowed */

/* Inserts row, which is copied. The model is found once the transaction is durable.
 *   ST_ALREADY_EXISTS  the model or its job has a row
 *   ST_NOT_FOUND       its job has none
 *   ST_IO              the store is poisoned */
enum status models_add(struct models *models, struct store_tx *tx,
                       const struct model_row *row, struct error *error);

const struct model_row *models_find(struct models *models,
                                    const char *id); /* NULL: none */
/* The number of places, including those of models that were deleted since the start. */
size_t models_count(struct models *models);
const struct model_row *models_at(struct models *models,
                                  size_t index); /* oldest is 0 */

bool model_is_removed(struct models *models, const struct model_row *row);
/* Grows with every change of any model. */
uint64_t models_version(struct models *models);

/* model_caption returns a copy of the caption, to be released; model_fits, whether the
 * caption matches a search. */
struct caption model_caption(struct models *models, const struct model_row *row);
bool model_fits(struct models *models, const struct model_row *row,
                const struct caption_search *search);
/* Sets its caption.
 *   ST_IO  the store is poisoned */
enum status model_caption_put(struct models *models, struct store_tx *tx,
                              const struct model_row *row, struct caption *caption_take,
                              struct error *error);

/* Deletes the model's row and caption. Requests that are sending its file, or
 * predicting with it, are not disturbed.
 *   ST_IO  the store is poisoned */
enum status model_remove(struct models *models, struct store_tx *tx,
                         const struct model_row *row, struct error *error);

/* Updates the model of that id from its row in tx, which another daemon has written:
 * adds it, or marks it as removed.
 *   ST_CORRUPT  its row or its certificate does not read back
 *   ST_IO       the store is poisoned */
enum status models_renew(struct models *models, struct store_tx *tx, const char *id,
                         struct error *error);
/* The same for its caption; does nothing if there is no such model. */
enum status model_caption_renew(struct models *models, struct store_tx *tx,
                                const char *id, struct error *error);

/* Size and SHA-256 of the model's file, as its row says. */
struct file_checksum model_row_seal(const struct model_row *row);

/* Opens the model's file to serve it; the caller closes *file.
 *   ST_NOT_FOUND      the model was deleted meanwhile
 *   ST_MODEL_CORRUPT  it is missing, cannot be read, or is not what its row says
 *   ST_DISK_FULL      the cache has no room for it
 *   ST_INTERNAL       it cannot be opened for another reason */
enum status models_open_file(struct models *models, const struct blobs *blobs,
                             const struct model_row *row, enum check_kind kind,
                             int *file, struct error *error);

#endif
