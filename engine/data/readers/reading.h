/*
 * reading.h - what every format's reader is given, and the readers. To add a format, write
 * a file, a line here and a row in import.c's table.
 *
 * A reader opens its files, calls matrix_writer_begin once, writes every record with
 * its target, and checks all of both; import.c opens, finishes and removes the matrix.
 */
#ifndef ENGINE_DATA_READERS_READING_H
#define ENGINE_DATA_READERS_READING_H

#include <stdint.h>

#include "base/status.h"
#include "engine/data/readers/import.h"
#include "engine/data/matrix_writer.h"
#include "engine/data/schema.h"
#include "engine/data/readers/source.h"

struct reading {
    const struct schema *schema;
    const struct import_files *files;
    struct source_bounds bounds;
    struct matrix_writer *writer;
    struct import_place place; /* what a failure is blamed on */
    struct error *error;
};

/* All readers return
 *   ST_IMPORT_FAILED  reading->place and reading->error say where and why
 *   ST_CANCELLED, ST_DISK_FULL, ST_IO, ST_NO_MEMORY */
enum status idx_read(struct reading *reading);
enum status csv_read(struct reading *reading);
enum status libsvm_read(struct reading *reading);
enum status cifar_read(struct reading *reading); /* cifar10 and cifar100 */
enum status npy_read(struct reading *reading);

/* Opens an uploaded file and blames what follows on it as a whole.
 *   name  as in struct import_place, static text
 *   path  NULL: it was not uploaded, ST_IMPORT_FAILED */
enum status reading_open(struct reading *reading, struct source **source,
                         const char *name, const char *path);

/* Checks that bytes over the declared scale are finite in float32.
 *   ST_IMPORT_FAILED  they are not; the file as a whole is blamed */
enum status reading_check_scale(struct reading *reading);

/* Calls matrix_writer_begin for the schema's features and classes. */
enum status reading_begin(struct reading *reading, enum element element);

/* Blames line and column of the file being read, and returns ST_IMPORT_FAILED. */
enum status reading_refuse(struct reading *reading, uint64_t line, uint64_t column,
                           const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
