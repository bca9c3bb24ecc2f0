/*
 * object_garbage.h - removes objects that no row names: those whose row has just been
 * deleted, at once; and those that a publisher left because it died or was refused,
 * once they are old.
 *
 * Invariants
 *   (1) An object is removed only if no row names it, which is checked after it was
 *       listed, in a database whose pages are checked, and only GARBAGE_AGE_S after it
 *       was put, by the bucket's own clock.
 *   (2) Only names of 32 hexadecimal digits are considered, the form of ours.
 *   (3) A publisher commits its row within OBJECT_PUBLISH_MAX_S of beginning to put, or
 *       not at all (blob_objects.h). That is less than GARBAGE_AGE_S, and a new name is
 *       drawn for each object, so an object that is being published is never removed.
 *
 * Several daemons may collect at once: removing twice is harmless.
 *
 * Threads: any; it has one of its own.
 */
#ifndef STORE_BLOBS_OBJECT_GARBAGE_H
#define STORE_BLOBS_OBJECT_GARBAGE_H

#include <stdatomic.h>

#include "base/bucket.h"
#include "store/store.h"

#define OBJECT_MARKER "epsilond" /* identifies the bucket's database; never removed */

enum {
    GARBAGE_AGE_S = 48 * 3600,
    OBJECT_PUBLISH_MAX_S = 24 * 3600,
    GARBAGE_PERIOD_S = 24 * 3600,
};

struct object_garbage;

/* Begins to collect: now, and once a day. Bucket and store are borrowed until the stop.
 * The collection first waits until all pages of the database are checked: with a
 * damaged index a row might not be found, and the object that it names would be removed
 * for good.
 *   ST_CORRUPT, ST_IO  as store_await_check */
enum status object_garbage_start(struct object_garbage **out, struct bucket *bucket,
                                 struct store *store, struct error *error);
/* Stops, after the present call of the bucket but without the rest of the list. NULL is
 * allowed. */
void object_garbage_stop(struct object_garbage *garbage);

/* Queues an object whose row is gone to be removed soon. If too many are queued, or
 * there is no collector yet (NULL), it is left for the next collection. */
void object_garbage_add(struct object_garbage *garbage, const char *object);

/* Collects once; *removed = how many objects were removed. A bucket may hold millions
 * of objects, so *cancel is read before each page of the list.
 *   ST_CANCELLED  *cancel was seen set; what was removed until then is gone
 *   ST_IO, ST_FORBIDDEN, ST_NOT_FOUND  a call of the bucket or the store failed */
enum status object_garbage_collect(struct bucket *bucket, struct store *store,
                                   const atomic_bool *cancel, size_t *removed,
                                   struct error *error);

#endif
