/*
 * matrix_writer.h - writes a matrix (matrix.h) as a stream, in one pass, and hashes the
 * bytes that it writes. Memory does not grow with the number of records. Records get
 * their indices in the order in which they come, or in a secret random order
 * (matrix_writer_shuffle).
 *
 *   matrix_writer_open --> _shuffle, optional --> _begin
 *                      --> { _rows, _advance; _class or _value } --> _finish
 *   any state          --> matrix_writer_close
 *
 * Invariants
 *   (1) Rows and targets may be written in any interleaving, but there must be as many
 *       rows as targets.
 *   (2) matrix_writer_close removes a file that was not finished.
 *   (3) Targets, and the rows of a shuffled matrix, are kept in files without a name
 *       until they are written, so nothing of them can remain on disk.
 *   (4) In a shuffled matrix each order of the records is equally likely. The order
 *       depends only on the key and the number of records (shuffle.h), and no digest of
 *       the rows depends on it.
 *
 * Threads: one caller; the cancel flag may be set by any thread.
 */
#ifndef ENGINE_DATA_MATRIX_WRITER_H
#define ENGINE_DATA_MATRIX_WRITER_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/status.h"
#include "base/stream_position.h"
#include "engine/data/matrix.h"

struct matrix_writer; /* opaque */

struct matrix_bounds {
    uint64_t records_max; /* at most MATRIX_RECORDS_MAX */
    uint64_t size_max;    /* the file's, bytes */
    uint64_t disk_room;   /* bytes of disk space that it may take; 0: all that are
                             free */
};

struct matrix_shape {
    uint32_t features; /* > 0 */
    uint32_t classes;  /* 0: targets are values */
    enum element element;
    float scale;    /* for u8 */
    uint32_t texts; /* floats of texts behind the features; 0 for u8 */
};

/* cancel may be NULL.
 *   ST_DISK_FULL, ST_IO  the file cannot be created */
enum status matrix_writer_open(struct matrix_writer **out, const char *path,
                               struct matrix_bounds bounds, const atomic_bool *cancel,
                               struct error *error);
void matrix_writer_close(struct matrix_writer *writer); /* NULL is allowed */

/* Makes the records get their indices in the order that the key determines. The key
 * must be a secret of this import (privacy.md P1). It is copied, and zeroed when the
 * matrix is written. The files of waiting rows and targets take as much disk space as
 * the matrix. Call it before begin. Do not call it for persons: persons_group puts them
 * in order (persons.h). */
void matrix_writer_shuffle(struct matrix_writer *writer,
                           const uint8_t key[STREAM_KEY_SIZE]);

/* Sets the shape. Call it once, before the first row.
 *   ST_NO_MEMORY  no room for one row */
enum status matrix_writer_begin(struct matrix_writer *writer,
                                const struct matrix_shape *shape, struct error *error);

/* Checks that a matrix of this many records stays within the bounds.
 *   ST_IMPORT_FAILED  it exceeds one; error->text says which
 *   ST_DISK_FULL      it is within the bounds, but the disk has no room for it */
enum status matrix_writer_fits(const struct matrix_writer *writer, uint64_t records,
                               struct error *error);

/* Returns the memory for the next *count >= 1 rows, of features + texts elements each. Its
 * contents are undefined: the caller must write every element. */
void *matrix_writer_rows(struct matrix_writer *writer, size_t *count);

/* Adds the next count rows, which the caller has filled in: at most the count of
 * matrix_writer_rows.
 *   ST_IMPORT_FAILED  more than the bounds allow
 *   ST_DISK_FULL      more than the disk has room for
 *   ST_CANCELLED      *cancel was seen set
 *   ST_IO             it cannot be written for another reason */
enum status matrix_writer_advance(struct matrix_writer *writer, size_t count,
                                  struct error *error);

/* Returns how many rows were added. */
uint64_t matrix_writer_records(const struct matrix_writer *writer);

/* Add the next target: a class below classes, or a finite value.
 *   ST_DISK_FULL, ST_IO  as above */
enum status matrix_writer_class(struct matrix_writer *writer, uint32_t class_index,
                                struct error *error);
enum status matrix_writer_value(struct matrix_writer *writer, float value,
                                struct error *error);

struct matrix_groups {
    const uint32_t *starts; /* (units + 1) ascending from 0 by at most slots */
    uint64_t units;         /* > 0 */
    uint32_t slots;         /* > 0 */
};

/* Declares that the rows come person by person, slots rows per person: first the
 * starts[u + 1] - starts[u] rows of person u, then zeros. Call it before the first row
 * of a matrix whose units are persons, and for no other matrix. starts is borrowed
 * until finish, which reads it. */
void matrix_writer_group(struct matrix_writer *writer,
                         const struct matrix_groups *groups);

struct matrix_digest {
    uint64_t records, size;           /* records: rows */
    uint8_t sha256[SHA256_SIZE];      /* the whole file's */
    uint8_t rows_sha256[SHA256_SIZE]; /* of the rows only, in the order in which they
                                         were added */
};

/* Writes all remaining rows, targets and the trailer. There must be at least one
 * record. The file is not synced.
 *   ST_DISK_FULL, ST_IO, ST_CANCELLED  as above */
enum status matrix_writer_finish(struct matrix_writer *writer,
                                 struct matrix_digest *digest, struct error *error);

#endif
