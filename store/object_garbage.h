/*
 * object_garbage.h - objects that no row names, and their end: those whose row has just gone,
 * at once; and those that a publisher left who died or was refused, once they are old.
 *
 * Invariants
 *   (1) An object is removed only where no row names it, which is asked after it was listed,
 *       in a database whose pages are checked, and only GARBAGE_AGE_S after it was put, by the bucket's own clock.
 *   (2) Only names of 32 hexadecimal digits are looked at, as ours are.
 *   (3) A publisher commits its row within OBJECT_PUBLISH_MAX_S of beginning to put, or not
 *       at all (blob_objects.h). That is less than GARBAGE_AGE_S, and names are drawn anew
 *       for each object, so what is being published is never removed.
 *
 * Several daemons may collect at once: removing twice is harmless.
 *
 * Threads: any; it has one of its own.
 */
#ifndef STORE_OBJECT_GARBAGE_H
#define STORE_OBJECT_GARBAGE_H

#include <stdatomic.h>

#include "base/bucket.h"
#include "store/store.h"

#define OBJECT_MARKER "epsilond" /* says whose the bucket is; never removed */

enum {
    GARBAGE_AGE_S = 48 * 3600,
    OBJECT_PUBLISH_MAX_S = 24 * 3600,
    GARBAGE_PERIOD_S = 24 * 3600,
};

struct object_garbage;

/* Begins to collect: now, and once a day. Both are borrowed until the stop. Waits first
 * until all pages of the database are checked: by a damaged index a row is not found, and
 * what it names would be removed for good.
 *   ST_CORRUPT, ST_IO  as store_await_check */
enum status object_garbage_start(struct object_garbage **out, struct bucket *bucket,
                                 struct store *store, struct error *error);
/* Waits for the call of the bucket that is under way, and for no more of the list. NULL is
 * allowed. */
void object_garbage_stop(struct object_garbage *garbage);

/* Has an object removed soon whose row is gone. Where too many wait, or nobody collects yet
 * (NULL), it is left to be collected. */
void object_garbage_add(struct object_garbage *garbage, const char *object);

/* Collects once; *removed: how many went. A bucket may hold millions of objects, so *cancel is
 * read before each page of the list.
 *   ST_CANCELLED  *cancel was seen set; what was removed until then is gone
 *   ST_IO, ST_FORBIDDEN, ST_NOT_FOUND  the bucket or the store failed on the way */
enum status object_garbage_collect(struct bucket *bucket, struct store *store,
                                   const atomic_bool *cancel, size_t *removed,
                                   struct error *error);

#endif
