/*
 * feature_cache.h - files of features that stay for a while behind the run that made them,
 * for the next run on the same dataset with the same frozen layers.
 *
 * Invariants
 *   (1) A file is found by its dataset's id and a digest of all that its bits follow from
 *       (frozen_features.c), never by content: equal records of two datasets share nothing
 *       (privacy.md, Duplicates). Names and digests stay in the process.
 *   (2) All files together take at most so many bytes, and leave as much free on the disk
 *       as they take; a file that nobody has used for so long is let go. Those that were
 *       not used for longest go first.
 *   (3) What is let go stays with the runs that hold it, and no longer.
 *
 * Threads: any.
 */
#ifndef ENGINE_FEATURE_CACHE_H
#define ENGINE_FEATURE_CACHE_H

#include <stdint.h>

#include "base/hash.h"
#include "engine/feature_file.h"

struct feature_cache; /* opaque */

struct feature_cache_limits {
    uint64_t size;  /* bytes */
    int64_t idle_s; /* seconds without use */
};

struct feature_cache *feature_cache_create(const struct feature_cache_limits *limits);
void feature_cache_destroy(struct feature_cache *cache); /* NULL is allowed */

struct feature_name {
    const char *dataset; /* borrowed; shorter than FEATURE_DATASET_SIZE */
    uint8_t digest[SHA256_SIZE];
};
enum { FEATURE_DATASET_SIZE = 256 };

/* The file of that name, held for the caller; NULL: there is none. */
struct feature_file *feature_cache_find(struct feature_cache *cache,
                                        const struct feature_name *name);

/* Keeps a mapped file under the name, where the limits leave room for it, in place of
 * others; the caller goes on holding it. A file that has the name already stays. */
void feature_cache_keep(struct feature_cache *cache, const struct feature_name *name,
                        struct feature_file *file);

/* Lets go of all files of a dataset. */
void feature_cache_forget(struct feature_cache *cache, const char *dataset);

/* Lets go of what is idle, and of more while files take more than is free on the disk.
 * To be called often; times of use are those of the call before.
 *   now_s      of any clock that never goes back
 *   disk_free  bytes */
void feature_cache_trim(struct feature_cache *cache, int64_t now_s, uint64_t disk_free);

/* Bytes of all files that were kept at the last trim. */
uint64_t feature_cache_size(struct feature_cache *cache);

#endif
