/*
 * reader.h - what the format of a dataset's files is: what it is called, what a schema
 * of it declares, which files it has and how they are read. The table of formats is
 * engine/data/readers/reader_registry.h; whatever else depends on a format (parsing a
 * schema, the names of uploads, an import) is derived from its row.
 *
 * Threads: constant data.
 */
#ifndef ENGINE_DATA_READER_H
#define ENGINE_DATA_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* What one record is, and with it what a schema declares of it (schema.h). */
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
    /* which labels these are; NULL where there is one count only */
    const char *meaning;
};

struct reading; /* engine/data/readers/reading.h: one import under way */

struct reader {
    const char *name; /* of the format, as schemas give it */
    enum record_form form;
    bool is_text; /* files are text in UTF-8 or ASCII, never in UTF-16 */

    /* The names of the files that are uploaded; NULL behind the last one. */
    const char *files[READER_FILES_MAX];

    /* What every file begins with, where that tells it from other files; else NULL. */
    const char *magic;

    /* What the format says itself of shaped records, so that a schema need not; a shape
     * of no dimensions leaves all of it to the schema. */
    size_t shape_count;
    uint32_t shape[READER_SHAPE_MAX];
    double scale;

    /* The numbers of classes among which a schema has to choose, and then regression is
     * not for this format. None: the schema may declare any. */
    struct class_count class_counts[READER_CLASS_COUNTS_MAX];

    /* Opens the files, calls reading_begin once, writes every record with its target, and
     * checks all of both; the caller opens, finishes and removes the matrix.
     *   ST_IMPORT_FAILED  the reading says where and why
     *   ST_CANCELLED, ST_DISK_FULL, ST_IO, ST_NO_MEMORY */
    enum status (*read)(struct reading *reading);
};

/* How many files are uploaded. */
size_t reader_file_count(const struct reader *reader);

/* Whether a dataset may have so many classes. */
bool reader_takes_classes(const struct reader *reader, uint32_t classes);

#endif
