/*
 * import.h - turns uploaded files into a stored matrix, in one pass. Everything is
 * checked, and the result is all or nothing.
 *
 * Files are read as a stream, through gzip where their first bytes say so; memory does
 * not grow with them. The result is written to a scratch path that the caller publishes
 * or removes. The first bad place ends the import.
 *
 * Threads: one import a call; the cancel flag may be set by another thread.
 */
#ifndef ENGINE_DATA_READERS_IMPORT_H
#define ENGINE_DATA_READERS_IMPORT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/status.h"
#include "engine/data/schema.h"

struct import_files {
    /* Where the files of the schema are (schema_file_name), in its order; NULL: it was
     * not uploaded. */
    const char *paths[SCHEMA_FILES_MAX];
};

struct import_limits {          /* bytes */
    uint64_t unpacked_size_max; /* each file after gzip, and the matrix */
    uint64_t disk_room;         /* for the matrix; 0: all that are free */
};

/* Why an import failed. Where its status is ST_IMPORT_FAILED it is about the first bad
 * place, for the owner alone. */
struct import_failure {
    enum status status; /* ST_OK: it did not fail */
    char file[16];      /* a name of the schema's files; "": no file is to blame */
    uint64_t line;   /* in text formats, else the record; from 1, 0: the whole file */
    uint64_t column; /* csv: cell, libsvm: byte, else feature; from 1, 0: whole line */
    char text[256];  /* the reason, which never quotes a value of a record */
};

struct import_result {
    uint64_t records; /* n: of persons where these are the units, not of rows */
    uint64_t size;    /* the matrix file's, bytes */
    uint8_t sha256[SHA256_SIZE]; /* the whole file's */
    /* The digest of its rows alone, in the order of the uploaded file. The same records
     * declared with another scale, other classes or other labels, or put into another secret
     * order, make another matrix, but the same rows. */
    uint8_t rows_sha256[SHA256_SIZE];
};

struct import { /* what is read, and where to */
    const struct schema *schema;
    /* Units get their indices in a secret order that each import draws (privacy.md P1), as
     * persons always do. Otherwise records keep the order of the file. */
    bool is_private;
    struct import_files files;
    struct import_limits limits;
    const char *path;          /* where the matrix is written; replaced */
    const atomic_bool *cancel; /* or NULL */
};

/* Writes the matrix of the files under the schema to path. On failure the outcome is
 * failure->status too, and failure->text says more of it:
 *   ST_IMPORT_FAILED  a file is at fault; file, line and column say where
 *   ST_CANCELLED      *cancel was seen set
 *   ST_DISK_FULL      the disk has no room for the matrix
 *   ST_IO             a file cannot be read or the matrix not written
 *   ST_NO_MEMORY      no room for buffers of one record
 * On failure what was written to path is removed. The file is not synced: publishing
 * is. On success failure is left as it was. */
enum status import_run(const struct import *import, struct import_result *result,
                       struct import_failure *failure);

#endif
