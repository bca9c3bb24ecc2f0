/*
 * caption_rows.h - labels that people give to datasets, jobs and models. Ownership,
 * visitors and ST_IO are as in table_rows.h.
 */
#ifndef STORE_ROWS_CAPTION_ROWS_H
#define STORE_ROWS_CAPTION_ROWS_H

#include "store/rows/table_rows.h"

enum captioned { CAPTIONED_DATASET, CAPTIONED_JOB, CAPTIONED_MODEL };

struct caption_row { /* the label of a thing; a thing without a row has no label */
    enum captioned kind;
    const char *id;
    const char *text; /* JSON */
};

/* Sets the label of a thing, whether or not it had one. */
enum status caption_row_set(struct store_tx *tx, const struct caption_row *row,
                            struct error *error);
/* Deletes the label of the thing, if it has one. */
enum status caption_row_delete(struct store_tx *tx, enum captioned kind, const char *id,
                               struct error *error);
enum status caption_rows_walk(struct store_tx *tx, enum captioned kind,
                              bool (*visit)(void *context,
                                            const struct caption_row *row),
                              void *context, struct error *error);
/* Calls visit with the row of that thing, if there is one. */
enum status caption_row_find(struct store_tx *tx, enum captioned kind, const char *id,
                             bool (*visit)(void *context,
                                           const struct caption_row *row),
                             void *context, struct error *error);

#endif
