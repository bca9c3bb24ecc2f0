/*
 * reading.h - a running import, as its reader sees it: the schema, the files and the
 * matrix to write, and functions that report an error at a place of a file.
 *
 * Threads: one import, one thread.
 */
#ifndef ENGINE_DATA_READERS_READING_H
#define ENGINE_DATA_READERS_READING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "engine/data/matrix_writer.h"
#include "engine/data/readers/source.h"
#include "engine/data/schema.h"

struct tokenizer;     /* engine/text/tokenizer.h */
struct persons;       /* engine/data/readers/persons.h */
struct import_report; /* engine/data/readers/import_report.h */

struct reading_place {
    size_t file;           /* index in the schema's files (schema_file_name) */
    uint64_t line, column; /* as in struct import_failure (import.h) */
};

struct reading {
    const struct schema *schema;
    const char *const *paths; /* paths of the schema's files; NULL: not uploaded */
    struct source_bounds bounds;
    struct matrix_writer *writer;
    struct persons *persons; /* the persons of the rows; NULL if units are records */
    const struct tokenizer *tokenizer; /* of the column of texts; NULL: there is none */
    struct reading_place place;        /* the place that a failure names */
    struct error *error;               /* receives the status and the reason */
    /* No record is refused for its content (struct import). */
    bool takes_any;
    /* Receives every fault of a table; NULL: the first fault ends the import. */
    struct import_report *report;

    /* Of csv: rows are read for predictions, so that only the columns that make features
     * are needed (csv_rows.h). Then cells is the number of cells of each row; 0: it is
     * not known yet. */
    bool predicts;
    size_t cells;
};

/* Opens an uploaded file, by its index in the schema's files. Later failures name this
 * file as a whole.
 *   ST_IMPORT_FAILED  it was not uploaded, or is larger than the bound
 *   ST_IO, ST_NO_MEMORY */
enum status reading_open(struct reading *reading, struct source **source, size_t file);

/* Checks that bytes over the declared scale are finite in float32.
 *   ST_IMPORT_FAILED  they are not; the failure names the file as a whole */
enum status reading_check_scale(struct reading *reading);

/* Calls matrix_writer_begin for the schema's features and classes. */
enum status reading_begin(struct reading *reading, enum element element);

/* Returns how many cells a csv record must have. */
size_t reading_cells(const struct reading *reading);

/* Reports a failure at line and column of the file being read, and returns
 * ST_IMPORT_FAILED. */
enum status reading_refuse(struct reading *reading, uint64_t line, uint64_t column,
                           const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
