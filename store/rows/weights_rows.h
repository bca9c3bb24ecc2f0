/*
 * weights_rows.h - public files that were uploaded: weights, and the files of tokenizers.
 * Ownership, visitors and ST_IO are as in table_rows.h.
 */
#ifndef STORE_ROWS_WEIGHTS_ROWS_H
#define STORE_ROWS_WEIGHTS_ROWS_H

#include "store/rows/table_rows.h"

/* What a file was checked to be when it was uploaded. */
enum file_kind { FILE_WEIGHTS, FILE_TOKENIZER };
extern const char *const file_kind_names[]; /* NULL-ended */

struct weights_row { /* an uploaded file */
    struct file_id id;
    uint64_t number;                  /* drawn like a job's */
    const char *project, *created_by; /* never change; the owner's name */
    const char *kind;                 /* of file_kind_names */
    const char *note;                 /* the uploader's text: where it is from */
    uint8_t sha256[SHA256_SIZE];      /* the file's */
    uint64_t size;                    /* the file's, bytes */
    int64_t create_ms;
};

enum status weights_row_insert(struct store_tx *tx, const struct weights_row *row,
                               struct error *error);
/*   ST_NOT_FOUND  there is no such id */
enum status weights_row_delete(struct store_tx *tx, const struct file_id *id,
                               struct error *error);
/* Walks them in the order in which they were inserted. */
enum status weights_rows_walk(struct store_tx *tx,
                              bool (*visit)(void *context,
                                            const struct weights_row *row),
                              void *context, struct error *error);
/* Calls visit with the row of that id, if there is one. */
enum status weights_row_find(struct store_tx *tx, const struct file_id *id,
                             bool (*visit)(void *context,
                                           const struct weights_row *row),
                             void *context, struct error *error);

#endif
