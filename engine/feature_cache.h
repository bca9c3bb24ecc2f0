/*
 * feature_cache.h - keeps files of features for a while after the run that computed
 * them, for the next run on the same dataset with the same frozen layers.
 *
 * Invariants
 *   (1) A file is found by its dataset's id and a digest of everything that determines
 *       its bits (frozen_features.c), never by content: equal records of two datasets
 *       share nothing (privacy.md, Duplicates). Names and digests stay in the process.
 *   (2) All files together take at most limits.size bytes, and the disk keeps at least
 *       as much free space as they take. A file that was not used for limits.idle_s is
 *       removed. The least recently used files are removed first.
 *   (3) A removed file exists only until the last run that holds a reference to it
 *       releases it.
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

/* The file of that name, with a new reference for the caller; NULL: there is none. */
struct feature_file *feature_cache_find(struct feature_cache *cache,
                                        const struct feature_name *name);

/* Keeps a mapped file under the name, if the limits allow it, and removes other files
 * to make room. The caller keeps its own reference. A file that already has the name
 * stays. */
void feature_cache_keep(struct feature_cache *cache, const struct feature_name *name,
                        struct feature_file *file);

/* Removes all files of a dataset. */
void feature_cache_forget(struct feature_cache *cache, const char *dataset);

/* Removes idle files, and further files while the files take more space than is free on
 * the disk. Call it often: a use is recorded with the time of the previous call.
 *   now_s      from any monotonic clock
 *   disk_free  bytes */
void feature_cache_trim(struct feature_cache *cache, int64_t now_s, uint64_t disk_free);

/* Bytes of all files that were kept at the last trim. */
uint64_t feature_cache_size(struct feature_cache *cache);

#endif
