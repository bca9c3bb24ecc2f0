/*
 * blob.h - files of the data directory: written beside, synced, renamed, the folder
 * synced.
 *
 *   DIR/ (0700)  epsilond.db  lock  uploads/  datasets/ID.matrix  models/ID.safetensors
 *                scratch/ (emptied at start)  ballast (room kept for a full disk)
 *
 * A name is relative to the data directory and made of ids this program has checked; a
 * file is visible under its name whole and durable, or not at all.
 *
 * Threads: any; two threads must not work on one name.
 */
#ifndef STORE_BLOB_H
#define STORE_BLOB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

enum { BLOB_PATH_SIZE = 4096 };

struct blobs; /* the data directory, opaque */

/* Makes what is missing of the directory, checks its mode, takes `lock` (flock) for the
 * life of the process and empties scratch/.
 *   ST_IO  cannot be made, read or locked ("in use by another process") */
enum status blobs_open(struct blobs **out, const char *directory, struct error *error);
void blobs_close(struct blobs *blobs); /* NULL is allowed; gives the lock back */

/* path = directory/name. For readers, and for writers of scratch files. */
void blob_path(const struct blobs *blobs, char path[BLOB_PATH_SIZE], const char *name);

/* Syncs the scratch file, renames it to name and syncs both folders. */
enum status blob_publish(struct blobs *blobs, const char *scratch_name,
                         const char *name, struct error *error);

/* Removes name durably; absent is ST_OK. */
enum status blob_remove(struct blobs *blobs, const char *name, struct error *error);

/* Calls visit with each file name (no folder part) in folder; false from visit stops. */
enum status blobs_walk(struct blobs *blobs, const char *folder,
                       bool (*visit)(void *context, const char *file_name),
                       void *context, struct error *error);

/* Removes the ballast: 16 MiB that blobs_open set aside, where four times as much was
 * free, so that the start after a full disk has room to settle. */
void blobs_drop_ballast(struct blobs *blobs);

/* Bytes free for this user on the directory's file system. */
enum status blobs_free(struct blobs *blobs, uint64_t *bytes, struct error *error);

#endif
