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

struct import_files {              /* NULL where the format has no such file */
    const char *features, *labels; /* idx, npy */
    const char *data;              /* the others */
};

struct import_limits {          /* bytes */
    uint64_t unpacked_size_max; /* each file after gzip, and the matrix */
    uint64_t disk_room;         /* for the matrix; 0: all that are free */
};

enum { IMPORT_LINE_SIZE_MAX = 1 << 20 }; /* bytes of one csv or libsvm record */

struct import_place { /* the first bad place, told to the owner only */
    const char *file; /* "features", "labels", "data" */
    uint64_t line;    /* the line in text formats, else record; from 1, 0: whole file */
    uint64_t column;  /* csv: cell, libsvm: byte, else feature; 0: whole line */
};

struct import_result {
    uint64_t records;
    uint64_t size;               /* the matrix file's, bytes */
    uint8_t sha256[SHA256_SIZE]; /* the whole file's */
    /* The digest of its rows alone. The same records declared with another scale, other
     * classes or other labels make another file, but the same rows. */
    uint8_t rows_sha256[SHA256_SIZE];
};

struct import { /* what is read, and where to */
    const struct schema *schema;
    struct import_files files;
    struct import_limits limits;
    const char *path;          /* where the matrix is written; replaced */
    const atomic_bool *cancel; /* or NULL */
};

/* Writes the matrix of the files under the schema to path.
 *   ST_IMPORT_FAILED  *place and error->text (the reason, which never quotes a value)
 *                     say what is wrong
 *   ST_CANCELLED      *cancel was seen set
 *   ST_DISK_FULL      the disk has no room for the matrix
 *   ST_IO             a file cannot be read or the matrix not written
 *   ST_NO_MEMORY      no room for buffers of one record
 * On failure what was written to path is removed. The file is not synced: publishing
 * is. */
enum status import_run(const struct import *import, struct import_result *result,
                       struct import_place *place, struct error *error);

#endif
