/*
 * shuffle.h - puts items of equal size into a uniformly random order, in memory that
 * does not grow with their number. It determines the indices of a dataset's units
 * (privacy.md P1).
 *
 *   shuffle_create --> shuffle_add, any number --> shuffle_next, once an item
 *                        any state --> shuffle_destroy
 *
 * Invariants
 *   (1) The order depends only on the key and the number of items. Two shuffles with
 *       the same key and the same number of items give the same order for items of any
 *       content and size.
 *   (2) With a uniform key every order is equally likely, as far as ChaCha20 is random.
 *   (3) shuffle_destroy zeroes the key and the order. Items that are not in memory are
 *       in a file without a name, mode 0600.
 *
 * Threads: one caller.
 */
#ifndef ENGINE_DATA_SHUFFLE_H
#define ENGINE_DATA_SHUFFLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/stream_position.h"

struct shuffle; /* opaque */

struct shuffle_spec {
    const char *path;   /* a file is created at this path, and its name removed at
                           once */
    size_t item_size;   /* bytes, > 0 */
    const uint8_t *key; /* (STREAM_KEY_SIZE), copied */
};

/* Returns NULL if there is no memory. */
struct shuffle *shuffle_create(const struct shuffle_spec *spec);
void shuffle_destroy(struct shuffle *shuffle); /* NULL is allowed */

/* Adds the next count items, fewer than 2^32 in all.
 *   ST_DISK_FULL, ST_IO, ST_NO_MEMORY */
enum status shuffle_add(struct shuffle *shuffle, const void *items, size_t count,
                        struct error *error);

/* *item = the next item in the random order, or NULL after the last. It is borrowed
 * until the next call. After the first call no item may be added.
 *   ST_IO, ST_NO_MEMORY */
enum status shuffle_next(struct shuffle *shuffle, const void **item,
                         struct error *error);

#endif
