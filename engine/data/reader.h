/*
 * reader.h - defines a format of a dataset's files: its name, the members that a schema
 * of it declares, its files and the function that reads them. The table of formats is
 * engine/data/readers/reader_registry.h. All other code that depends on a format
 * (parsing a schema, the names of uploads, an import) is derived from its row.
 *
 * Threads: constant data.
 */
#ifndef ENGINE_DATA_READER_H
#define ENGINE_DATA_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* The form of a record, which determines the members that a schema declares
 * (schema.h). */
enum record_form {
    FORM_SHAPED,  /* an array of a declared shape, of values over a scale */
    FORM_INDEXED, /* a declared count of numbers, which have a range or none */
    FORM_COLUMNS, /* a cell for each declared column; the label is one of them */
};

enum {
    READER_SHAPE_MAX = 4, /* dimensions of one record */
    READER_FILES_MAX = 2,
    READER_CLASS_COUNTS_MAX = 2,
};

/* A number of classes that a dataset may declare. */
struct class_count {
    uint32_t count;
    /* the labels that this count means; NULL if there is only one count */
    const char *meaning;
};

struct reading; /* engine/data/readers/reading.h: a running import */

struct reader {
    const char *name; /* of the format, as in schemas */
    enum record_form form;
    bool is_text; /* files are text in UTF-8 or ASCII, never in UTF-16 */
    /* Of columns: a schema declares the header and the dialect (dialect.h). Else each
     * record names its cells. */
    bool has_dialect;

    /* The names of the uploaded files; NULL after the last one. */
    const char *files[READER_FILES_MAX];

    /* The bytes with which every file begins, if they distinguish it from other files;
     * else NULL. */
    const char *magic;

    /* The shape and scale of shaped records, if the format itself fixes them, so that a
     * schema does not declare them. A shape without dimensions leaves both to the
     * schema. */
    size_t shape_count;
    uint32_t shape[READER_SHAPE_MAX];
    double scale;

    /* The numbers of classes among which a schema must choose; the format then does not
     * allow regression. None: the schema may declare any number. */
    struct class_count class_counts[READER_CLASS_COUNTS_MAX];

    /* Opens the files, calls reading_begin once, writes every record with its target,
     * and checks all records and targets. The caller opens, finishes and removes the
     * matrix.
     *   ST_IMPORT_FAILED  reading->place and reading->error say where and why
     *   ST_CANCELLED, ST_DISK_FULL, ST_IO, ST_NO_MEMORY */
    enum status (*read)(struct reading *reading);
};

/* Returns how many files are uploaded. */
size_t reader_file_count(const struct reader *reader);

/* Returns whether a dataset may have this number of classes. */
bool reader_takes_classes(const struct reader *reader, uint32_t classes);

#endif
