/*
 * persons.h - records to which person each row of an import belongs. While a file is
 * read, persons stores the person of each row by its id. After the last row it groups
 * the rows by person, and erases the ids.
 *
 *   persons_create --> persons_add, once a row --> persons_group --> persons_destroy
 *                            any state --> persons_destroy
 *
 * Invariants
 *   (1) The indices of the persons are drawn from a secret of this import: each order
 *       of the n persons is equally likely (privacy.md P1). So a person's index reveals
 *       nothing about the file, and one person's rows change no other person's rows.
 *       Rows of a person keep the order of the file.
 *   (2) If a person has more rows than slots, a uniform subset of slots rows is kept,
 *       drawn from a secret of this import. The choice depends only on that secret, the
 *       person's index and the person's own number of rows. Every person takes the same
 *       room in the file, so its size depends only on n and the shape of a row.
 *   (3) Ids are in memory until persons_group at the longest, are compared as a whole,
 *       and are zeroed (privacy.md P9). Of each row only its person's number is kept,
 *       in a file without a name.
 *   (4) Memory grows with the number of persons and their ids, not with the number of
 *       rows.
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
    PERSONS_MAX = 10000000    /* with ids of usual length this many take a gigabyte */
};

struct persons; /* opaque */

/*   path   of the matrix being written; files without a name are created in its folder
 *   slots  rows that are kept per person, in [1, MATRIX_SLOTS_MAX] */
struct persons *persons_create(const char *path, uint32_t slots);
void persons_destroy(struct persons *persons); /* NULL is allowed; zeroes */

/* *id = the cell without the blanks around it.
 *   ST_INVALID  it is empty, longer than PERSON_ID_SIZE_MAX, or is not UTF-8 or holds
 *               an invisible character (id_text.h); error->text says which, without
 *               quoting the cell */
enum status persons_read_id(struct cell *id, struct cell cell, struct error *error);

/* Sets the person of the next row. id comes from persons_read_id.
 *   ST_IMPORT_FAILED  more than PERSONS_MAX persons
 *   ST_DISK_FULL, ST_IO, ST_NO_MEMORY */
enum status persons_add(struct persons *persons, struct cell id, struct error *error);

/* Rewrites the matrix at path, person by person, in the slots of matrix.h. There must
 * be at least one row.
 *   bounds  of the new file; the old file still takes disk space
 *   digest  of the new file, but rows_sha256 is not changed: it covers the rows in the
 *           order of the uploaded file, as for datasets of records
 *   ST_CANCELLED, ST_DISK_FULL, ST_IO, ST_NO_MEMORY, ST_IMPORT_FAILED as
 *   matrix_writer.h; then there is no file at path */
enum status persons_group(struct persons *persons, const char *path,
                          struct matrix_bounds bounds, const atomic_bool *cancel,
                          struct matrix_digest *digest, uint64_t *count,
                          struct error *error);

#endif
