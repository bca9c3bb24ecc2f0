/*
 * person_grouping.h - rewrites a matrix person by person. The persons get their indices
 * in a secret random order (persons.h, privacy.md P1).
 *
 * Threads: one import, one thread.
 */
#ifndef ENGINE_DATA_READERS_PERSON_GROUPING_H
#define ENGINE_DATA_READERS_PERSON_GROUPING_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "engine/data/matrix_writer.h"

struct person_grouping { /* the arguments of a grouping */
    const char *path;    /* of the matrix in the order of the file; it is replaced */
    int who_file; /* holds the person of each row, by first appearance, as uint32 */
    size_t rows, units;          /* > 0; units: persons */
    uint32_t kept;               /* rows that are kept per person, at most */
    struct matrix_bounds bounds; /* of the new file */
    const atomic_bool *cancel;   /* or NULL */
};

/* digest = the digest of the new file.
 *   ST_CANCELLED, ST_DISK_FULL, ST_IO, ST_NO_MEMORY, ST_IMPORT_FAILED as
 *   matrix_writer.h; then there is no file at path */
enum status person_grouping_run(const struct person_grouping *grouping,
                                struct matrix_digest *digest, struct error *error);

#endif
