/*
 * models.h - every published model, in memory and on disk. A model exists from the
 * moment its row is durable, in the transaction that settles its job; its file was
 * synced before.
 *
 * Threads: any. Rows never change; a pointer is good until models_close.
 */
#ifndef SERVICE_MODELS_H
#define SERVICE_MODELS_H

#include <stddef.h>

#include "store/db.h"
#include "store/table_rows.h"

struct models; /* opaque */

/* Reads all rows.  ST_IO */
enum status models_open(struct models **out, struct store_tx *tx, struct error *error);
void models_close(struct models *models); /* NULL is allowed */

/* Inserts row (copied). */
enum status models_add(struct models *models, struct store_tx *tx,
                       const struct model_row *row, struct error *error);

const struct model_row *models_find(struct models *models,
                                    const char *id); /* NULL: none */
size_t models_count(struct models *models);
const struct model_row *models_at(struct models *models,
                                  size_t index); /* oldest is 0 */

/* Name of the model's file in the data directory, and of the one it is written to
 * first. */
enum { MODEL_NAME_SIZE = 64 };
void model_file_name(char name[MODEL_NAME_SIZE], const struct model_id *id);
void model_scratch_name(char name[MODEL_NAME_SIZE], const struct model_id *id);

#endif
