/*
 * blob_cache.h - the files of this machine that hold blobs of an object store, in a folder
 * of its own and no larger than it may be.
 *
 *   take --> FILLING --filled--> HELD --give--> IDLE --take--> HELD ..
 *               +-----failed--> gone              +--room or drop--> gone
 *
 * Invariants
 *   (1) The sizes of all files together are at most size_max.
 *   (2) Room is made by removing what is IDLE, the one whose last loan ended longest ago
 *       first. What is FILLING or HELD stays: it may be mapped, and would take its room
 *       until it is no longer.
 *   (3) A file is lent when it is whole. Whoever takes one that another is filling waits.
 *   (4) A file is taken only where the disk keeps CACHE_DISK_MIN free with it, after what is
 *       idle has made room; and where less is free at a tick, what is idle goes. So what can
 *       be fetched again leaves room for the ledger and for what is new.
 *   (5) Nothing outlives the process: the folder is emptied when the cache is opened, so a
 *       file that a power cut left by half is never read.
 *
 * Threads: any.
 */
#ifndef STORE_BLOB_CACHE_H
#define STORE_BLOB_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

struct blob_cache;
struct cached_blob;

enum {
    CACHED_OBJECT_SIZE = 64, /* of an object's name */
    CACHE_DISK_MIN = 128 << 20, /* bytes free; more than what new jobs need */
    CACHE_DISK_LEAST = 64 << 20 /* with which a file is still filled */
};

/* Makes the folder, of mode 0700, or empties it.
 *   ST_IO  it cannot be made or emptied */
enum status blob_cache_open(struct blob_cache **out, const char *folder,
                            uint64_t size_max, struct error *error);
void blob_cache_close(struct blob_cache *cache); /* nothing is lent; NULL is allowed */

/* Borrows the file of that object, of so many bytes. Where *is_new it is not there yet: the
 * caller writes it at its path and then calls blob_cache_filled.
 *   ST_DISK_FULL  there is no room, in the cache or on the disk, even without all that is
 *                 idle */
enum status blob_cache_take(struct blob_cache *cache, const char *object, uint64_t size,
                            struct cached_blob **out, bool *is_new,
                            struct error *error);
/* Says that so many bytes more are about to be written to it: false where the disk has
 * become nearly full meanwhile. */
bool blob_cache_grow(struct blob_cache *cache, struct cached_blob *cached, size_t size);
/* Ends the filling: the caller goes on to hold it or, where it failed, holds nothing. */
void blob_cache_filled(struct blob_cache *cache, struct cached_blob *cached,
                       bool whole);

/* Moves the file at path there, which holds an object of so many bytes. False where it has
 * no room, or has the object: the file is then where it was. */
bool blob_cache_adopt(struct blob_cache *cache, const char *object, uint64_t size,
                      const char *path);

/* Is told at ticks how many bytes are free on its disk; until the first time it takes them
 * to be enough. The disk itself would tell whoever fetches often when a run put its model
 * there (privacy.md P6). Removes what is idle while less than CACHE_DISK_MIN is free, and
 * answers how many bytes went. */
uint64_t blob_cache_trim(struct blob_cache *cache, uint64_t free_bytes);

/* Borrows the file of that object if it is here, whole; waits for nobody who fills it.
 *   ST_NOT_FOUND  it is not */
enum status blob_cache_find(struct blob_cache *cache, const char *object,
                            struct cached_blob **out, struct error *error);

void blob_cache_give(struct blob_cache *cache, struct cached_blob *cached);

const char *cached_blob_path(const struct cached_blob *cached);

struct cached_object {
    char name[CACHED_OBJECT_SIZE];
};

/* The objects of all files, those that are being filled too; to be freed. */
struct cached_object *blob_cache_objects(struct blob_cache *cache, size_t *count);

/* Removes the file of an object that is no more, once it is idle. */
void blob_cache_drop(struct blob_cache *cache, const char *object);

#endif
