/*
 * persons.h - whose each row of an import is. While a file is read, persons notes the id of
 * each row's person; when all are there it puts the rows of each person together, and
 * forgets the ids.
 *
 *   persons_create --> persons_add, once a row --> persons_group --> persons_destroy
 *                            any state --> persons_destroy
 *
 * Invariants
 *   (1) Which person has which index is drawn: each order of the n persons is equally
 *       likely, by a secret of this import (privacy.md P1). So a person's index says nothing
 *       of the file, and one person's rows change nobody else's. Rows of a person keep the
 *       order of the file.
 *   (2) Of a person with more rows than slots so many are kept, a uniform
 *       subset drawn by a secret of this import: which ones depends on that secret, the
 *       person's index and their own number of rows alone. Everybody takes as much of the
 *       file, so its size is a function of n.
 *   (3) Ids live until persons_group at the longest, are compared whole, and are zeroed
 *       (privacy.md P9). What is kept of each row is its person's index, in a file without
 *       a name.
 *   (4) Memory grows with the persons and their ids, not with the rows.
 *
 * Threads: one import, one thread.
 */
#ifndef ENGINE_DATA_READERS_PERSONS_H
#define ENGINE_DATA_READERS_PERSONS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "engine/data/encode.h"
#include "engine/data/matrix_writer.h"

enum {
    PERSON_ID_SIZE_MAX = 256, /* bytes of an id */
    PERSONS_MAX = 10000000    /* with ids of usual length they take a gigabyte */
};

struct persons; /* opaque */

/*   path   that of the matrix being written; files without a name are made beside it
 *   slots  the rows that are kept of a person, in [1, MATRIX_SLOTS_MAX] */
struct persons *persons_create(const char *path, uint32_t slots);
void persons_destroy(struct persons *persons); /* NULL is allowed; zeroes */

/* *id = the cell without the blanks around it.
 *   ST_INVALID  it is empty, longer than PERSON_ID_SIZE_MAX, or holds what nobody sees
 *               (id_text.h); error->text says which, without quoting the cell */
enum status persons_read_id(struct cell *id, struct cell cell, struct error *error);

/* Says whose the next row is. id is what persons_read_id gave.
 *   ST_IMPORT_FAILED  more than PERSONS_MAX persons
 *   ST_DISK_FULL, ST_IO, ST_NO_MEMORY */
enum status persons_add(struct persons *persons, struct cell id, struct error *error);

/* Writes the matrix at path anew, person by person, in the slots of matrix.h. There must be
 * a row.
 *   bounds  of the new file; the old one still takes its room
 *   digest  of the new file, but its rows_sha256 stays what it was: that of the rows in
 *           the order of the file, as where they are records
 *   ST_CANCELLED, ST_DISK_FULL, ST_IO, ST_NO_MEMORY, ST_IMPORT_FAILED as matrix_writer.h;
 *   then there is no file at path */
enum status persons_group(struct persons *persons, const char *path,
                          struct matrix_bounds bounds, const atomic_bool *cancel,
                          struct matrix_digest *digest, uint64_t *count,
                          struct error *error);

#endif
