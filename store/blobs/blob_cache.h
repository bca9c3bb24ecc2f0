/*
 * blob_cache.h - the files of this machine that hold blobs of an object store, in a
 * folder of their own with a maximal size.
 *
 *   take --> FILLING --filled--> HELD --give--> IDLE --take--> HELD ..
 *               +-----failed--> gone              +--room or drop--> gone
 *
 * Invariants
 *   (1) The sizes of all files together are at most size_max.
 *   (2) To make room, IDLE files are removed, the one whose last loan ended longest ago
 *       first. A file that is FILLING or HELD stays: it may be mapped, and would take
 *       its room until it is no longer.
 *   (3) A file is lent when it is whole. A thread that takes a file which another
 *       thread is filling waits.
 *   (4) A file is taken only if the disk keeps CACHE_DISK_MIN free with it, after IDLE
 *       files have made room; and if less is free at a tick, IDLE files are removed. So
 *       files that can be fetched again leave room for the ledger and for new files.
 *   (5) Nothing outlives the process: the folder is emptied when the cache is opened,
 *       so a file that a power cut left incomplete is never read.
 *
 * Threads: any.
 */
#ifndef STORE_BLOBS_BLOB_CACHE_H
#define STORE_BLOBS_BLOB_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

struct blob_cache;
struct cached_blob;

enum {
    CACHED_OBJECT_SIZE = 64,    /* of an object's name */
    CACHE_DISK_MIN = 128 << 20, /* bytes free; more than what new jobs need */
    CACHE_DISK_LEAST = 64 << 20 /* bytes free while a file is filled */
};

/* Makes the folder, of mode 0700, or empties it.
 *   ST_IO  it cannot be made or emptied */
enum status blob_cache_open(struct blob_cache **out, const char *folder,
                            uint64_t size_max, struct error *error);
void blob_cache_close(struct blob_cache *cache); /* nothing is lent; NULL is allowed */

/* Borrows the file of that object, which has size bytes. If *is_new, the file does not
 * exist yet: the caller writes it at its path and then calls blob_cache_filled.
 *   ST_DISK_FULL  there is no room, in the cache or on the disk, even without all IDLE
 *                 files */
enum status blob_cache_take(struct blob_cache *cache, const char *object, uint64_t size,
                            struct cached_blob **out, bool *is_new,
                            struct error *error);
/* Announces that the caller is about to write size bytes more to the file. Returns
 * false if the disk has become nearly full meanwhile. */
bool blob_cache_grow(struct blob_cache *cache, struct cached_blob *cached, size_t size);
/* Ends the filling: the caller goes on to hold the file or, if the filling failed,
 * holds nothing. */
void blob_cache_filled(struct blob_cache *cache, struct cached_blob *cached,
                       bool whole);

/* Moves the file at path, which holds an object of size bytes, into the cache. Returns
 * false if the cache has no room, or has the object already: the file is then at path
 * as before. */
bool blob_cache_adopt(struct blob_cache *cache, const char *object, uint64_t size,
                      const char *path);

/* Called at ticks with the bytes that are free on its disk; until the first call the
 * cache assumes that they are enough. If the cache measured the disk itself, a client
 * that fetches often could learn when a run put its model there (privacy.md P6).
 * Removes IDLE files while less than CACHE_DISK_MIN is free, and returns how many bytes
 * it removed. */
uint64_t blob_cache_trim(struct blob_cache *cache, uint64_t free_bytes);

/* Borrows the file of that object if it is here and whole; does not wait for one that
 * is being filled.
 *   ST_NOT_FOUND  it is not */
enum status blob_cache_find(struct blob_cache *cache, const char *object,
                            struct cached_blob **out, struct error *error);

void blob_cache_give(struct blob_cache *cache, struct cached_blob *cached);

const char *cached_blob_path(const struct cached_blob *cached);

struct cached_object {
    char name[CACHED_OBJECT_SIZE];
};

/* Returns the objects of all files, including those that are being filled; the caller
 * frees the array. */
struct cached_object *blob_cache_objects(struct blob_cache *cache, size_t *count);

/* Removes the file of an object that no longer exists, once it is IDLE. */
void blob_cache_drop(struct blob_cache *cache, const char *object);

#endif
