/*
 * import.h - converts uploaded files to a stored matrix, in one pass. Everything is
 * checked, and the result is all or nothing.
 *
 * Files are read as a stream, through gzip if their first bytes say so. Memory does not
 * grow with their size. The result is written to a scratch path that the caller
 * publishes or removes. The first error ends the import, unless the caller wants a report
 * of all of them, and only of a table.
 *
 * Threads: one import per call; another thread may set the cancel flag.
 */
#ifndef ENGINE_DATA_READERS_IMPORT_H
#define ENGINE_DATA_READERS_IMPORT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/status.h"
#include "engine/data/schema.h"

struct tokenizer;     /* engine/text/tokenizer.h */
struct import_report; /* engine/data/readers/import_report.h */

struct import_files {
    /* The paths of the schema's files (schema_file_name), in its order; NULL: the file
     * was not uploaded. */
    const char *paths[SCHEMA_FILES_MAX];
};

struct import_limits {          /* bytes */
    uint64_t unpacked_size_max; /* each file after gzip, and the matrix */
    uint64_t disk_room;         /* for the matrix; 0: all free bytes */
};

/* Why an import failed. If its status is ST_IMPORT_FAILED it describes the first error
 * in the files, and only the owner may see it. */
struct import_failure {
    enum status status; /* ST_OK: the import did not fail */
    char file[16];      /* a name of the schema's files; "": the fault is in no file */
    uint64_t line; /* in text formats, else the record; from 1, 0: the whole file */
    uint64_t
        column; /* csv: cell, jsonl and libsvm: byte, else feature; from 1, 0: all */
    char text[256]; /* the reason; it never quotes a value of a record */
};

/* Makes failure that of no file, with the status and a copy of the text. Returns the
 * status. */
enum status import_failure_set(struct import_failure *failure, enum status status,
                               const char *text);

struct import_result {
    uint64_t records;            /* n: persons if these are the units, not rows */
    uint64_t size;               /* the matrix file's, bytes */
    uint8_t sha256[SHA256_SIZE]; /* the whole file's */
    /* The digest of its rows only, in the order of the uploaded file. With another
     * scale, other classes or other labels, or in another secret order, the same
     * records give another matrix, but the same rows_sha256. */
    uint8_t rows_sha256[SHA256_SIZE];
    uint8_t sources_sha256[SHA256_SIZE]; /* of the uploaded files as they came */
};

struct import { /* input and output of an import */
    const struct schema *schema;
    /* True: units get their indices in a secret order that each import draws
     * (privacy.md P1). Persons always do. False: records keep the order of the file. */
    bool is_private;
    struct import_files files;
    struct import_limits limits;
    /* True: the service fetched a file, so that whether it is refused must not depend on
     * the content of a record. Every record is then a function of its own bytes and of
     * the schema, whose unit must be the record and for which schema_takes_any must
     * hold; privacy.md P7 has the map. Still refused is a file without records, one that
     * is larger than the limits, and one that is none of its format as a whole: its
     * compression, its header, its size. */
    bool takes_any;
    /* Empty, or NULL. Receives every fault of a table, and not only the first. */
    struct import_report *report;
    const struct tokenizer *tokenizer; /* of the column of texts; NULL: there is none */
    const char *path;                  /* of the matrix; an existing file is replaced */
    const atomic_bool *cancel;         /* or NULL */
};

/* Writes the matrix of the files under the schema to path. On failure the status is
 * stored in failure->status too, and failure->text gives the details:
 *   ST_IMPORT_FAILED  a file has an error; file, line and column say where
 *   ST_CANCELLED      *cancel was seen set
 *   ST_DISK_FULL      the disk has no room for the matrix
 *   ST_IO             a file cannot be read, or the matrix cannot be written
 *   ST_NO_MEMORY      no room for buffers of one record
 * On failure the file at path is removed. import_run does not sync the file; publishing
 * it does. On success failure is unchanged. */
enum status import_run(const struct import *import, struct import_result *result,
                       struct import_failure *failure);

#endif
