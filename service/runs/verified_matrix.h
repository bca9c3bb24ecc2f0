/*
 * verified_matrix.h - a dataset's matrix, opened only if it is, byte for byte, what was
 * imported. Work on damaged records would be charged, and its certificate would
 * describe records that were never imported.
 *
 * The whole matrix is read and hashed at each opening. Its inode, size and time are not
 * trusted instead: damage on the disk changes none of them, and the read hides how many
 * rows each person has (docs/privacy.md, P6).
 *
 * Threads: any.
 */
#ifndef SERVICE_RUNS_VERIFIED_MATRIX_H
#define SERVICE_RUNS_VERIFIED_MATRIX_H

#include <stdatomic.h>

#include "engine/data/matrix.h"
#include "store/blobs/blob_name.h"

struct daemon_state;
struct dataset_id;

struct verified_matrix {
    struct matrix rows;
    struct blob_loan loan; /* of the file that the rows are mapped from */
};

/* Opens the matrix; the caller closes it. After a failure *matrix is unchanged.
 *   ST_CANCELLED        cancel was set while the file was read
 *   ST_DATASET_CORRUPT  it is not what its row says
 *   ST_DISK_FULL        the cache has no room for it
 *   ST_INTERNAL         it cannot be read, or fetched */
enum status verified_matrix_open(struct daemon_state *context,
                                 const struct dataset_id *id, const atomic_bool *cancel,
                                 struct verified_matrix *matrix, struct error *error);
/* A zeroed one is allowed. */
void verified_matrix_close(struct verified_matrix *matrix,
                           const struct daemon_state *context);

#endif
