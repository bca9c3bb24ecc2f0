/*
 * csv_plain.h - reads csv records without quotes, which most records are, in one pass
 * from line to features. It does not explain faults: if a record is not as declared,
 * the csv reader splits it cell by cell and reports what is wrong.
 *
 * Threads: pure.
 */
#ifndef ENGINE_DATA_READERS_CSV_PLAIN_H
#define ENGINE_DATA_READERS_CSV_PLAIN_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/data/readers/table_row.h"

struct csv_plain {
    const struct table_row *row;
    size_t cells; /* of a record: one for each column, or fewer for predictions */
    const size_t *places; /* (cells) the declared column of each column of the file */
};

/* Reads the record text[0..size), which holds no quote. False if a cell, or the number
 * of cells, is not as declared; features and *target are then undefined.
 *   features  (schema_features + schema_text_floats) */
bool csv_plain_read(const struct csv_plain *plain, float *features,
                    struct table_target *target, const char *text, size_t size);

#endif
