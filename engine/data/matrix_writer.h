/*
 * matrix_writer.h - writes a matrix (matrix.h) as a stream, in one pass, hashing what
 * it writes; memory does not grow with the records. Records get their indices in the order
 * in which they come, or in a secret random order (matrix_writer_shuffle).
 *
 *   matrix_writer_open --> _shuffle, if at all --> _begin --> { _rows, _advance; _class or _value } --> _finish
 *                             any state --> matrix_writer_close
 *
 * Invariants
 *   (1) Rows and targets may come in any order among each other, but as many of each.
 *   (2) A file that was not finished is removed by matrix_writer_close.
 *   (3) Targets, and the rows of a shuffled matrix, wait in files without a name: nothing of
 *       them can stay.
 *   (4) In a shuffled matrix each order of the records is equally likely. It follows from the
 *       key and the number of records alone (shuffle.h), and no digest of the rows shows it.
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
    uint64_t disk_room;   /* bytes that it may take of its disk; 0: all that are free */
};

struct matrix_shape {
    uint32_t features; /* > 0 */
    uint32_t classes;  /* 0: targets are values */
    enum element element;
    float scale; /* for u8 */
};

/* cancel may be NULL.
 *   ST_DISK_FULL, ST_IO  the file cannot be made */
enum status matrix_writer_open(struct matrix_writer **out, const char *path,
                               struct matrix_bounds bounds, const atomic_bool *cancel,
                               struct error *error);
void matrix_writer_close(struct matrix_writer *writer); /* NULL is allowed */

/* Says that the records are to get their indices in the order that the key gives them. The key
 * must be a secret of this import (privacy.md P1). It is copied, and zeroed when the matrix is
 * written. The files that wait take as much of the disk as the matrix. Call it before begin;
 * persons are put in order by whoever groups them (persons.h). */
void matrix_writer_shuffle(struct matrix_writer *writer,
                           const uint8_t key[STREAM_KEY_SIZE]);

/* Says the shape. It is called once, before the first row.
 *   ST_NO_MEMORY  no room for one row */
enum status matrix_writer_begin(struct matrix_writer *writer,
                                const struct matrix_shape *shape, struct error *error);

/* Whether a matrix of so many records stays within the bounds.
 *   ST_IMPORT_FAILED  it does not; error->text says which one
 *   ST_DISK_FULL      it does, but the disk has no room for it */
enum status matrix_writer_fits(const struct matrix_writer *writer, uint64_t records,
                               struct error *error);

/* The place of the next rows, of features elements each; *count >= 1 says for how many.
 * The contents are undefined: all are to be written. */
void *matrix_writer_rows(struct matrix_writer *writer, size_t *count);

/* The next count rows, at most as many as there was place for, are written.
 *   ST_IMPORT_FAILED  more than the bounds allow
 *   ST_DISK_FULL      more than the disk has room for
 *   ST_CANCELLED      *cancel was seen set
 *   ST_IO             it cannot be written for another reason */
enum status matrix_writer_advance(struct matrix_writer *writer, size_t count,
                                  struct error *error);

/* How many rows are written. */
uint64_t matrix_writer_records(const struct matrix_writer *writer);

/* The next target: a class below classes, or a finite value.
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

/* Says that the rows come person by person, slots of each: first the starts[u + 1] -
 * starts[u] that person u has, and then zeros. Call it before the first row of a matrix whose
 * units are persons, and for no other. What starts holds is read by finish, and borrowed
 * until then. */
void matrix_writer_group(struct matrix_writer *writer,
                         const struct matrix_groups *groups);

struct matrix_digest {
    uint64_t records, size;           /* records: rows */
    uint8_t sha256[SHA256_SIZE];      /* the whole file's */
    uint8_t rows_sha256[SHA256_SIZE]; /* that of the rows alone, as they came */
};

/* Writes what is left; there must be at least one record. The file is not synced.
 *   ST_DISK_FULL, ST_IO, ST_CANCELLED  as above */
enum status matrix_writer_finish(struct matrix_writer *writer,
                                 struct matrix_digest *digest, struct error *error);

#endif
