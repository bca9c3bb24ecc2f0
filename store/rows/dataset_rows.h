/*
 * dataset_rows.h - datasets: their declarations, and their states. Ownership, visitors
 * and ST_IO are as in table_rows.h.
 */
#ifndef STORE_ROWS_DATASET_ROWS_H
#define STORE_ROWS_DATASET_ROWS_H

#include "store/rows/table_rows.h"

struct dataset_row {
    struct dataset_id id;
    uint64_t version;      /* grows by 1 at every update */
    uint64_t replaces;     /* an update was made of this version */
    const char *state;     /* CREATED IMPORTING READY FAILED DELETED */
    const char *spec;      /* the dataset as declared, JSON with its defaults */
    const char *detail;    /* what has changed since the declaration, JSON */
    const uint8_t *sha256; /* (32) the stored matrix's; NULL before an import */
    int64_t create_ms;
    const char *project, *created_by; /* never change; the owner's name */
    bool fetched; /* the daemon fetched a file of it; true is never taken back */
};

/*   ST_ALREADY_EXISTS  the id was used before, even if its dataset is deleted by now */
enum status dataset_row_insert(struct store_tx *tx, const struct dataset_row *row,
                               struct error *error);
/* Replaces state, detail, sha256 and version.
 *   ST_NOT_FOUND  there is no such id
 *   ST_CONFLICT   the row has another version than the one the update was made of */
enum status dataset_row_update(struct store_tx *tx, const struct dataset_row *row,
                               struct error *error);
/* Replaces spec too: the dataset is declared again. The statuses are the same. */
enum status dataset_row_declare(struct store_tx *tx, const struct dataset_row *row,
                                struct error *error);
enum status dataset_rows_walk(struct store_tx *tx,
                              bool (*visit)(void *context,
                                            const struct dataset_row *row),
                              void *context, struct error *error);
/* Calls visit with the row of that id, if there is one. */
enum status dataset_row_find(struct store_tx *tx, const struct dataset_id *id,
                             bool (*visit)(void *context,
                                           const struct dataset_row *row),
                             void *context, struct error *error);

#endif
