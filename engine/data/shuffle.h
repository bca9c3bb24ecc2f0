/*
 * shuffle.h - puts items of equal size into a uniformly random order, in memory that does
 * not grow with their number. A dataset's units get their indices by it (privacy.md P1).
 *
 *   shuffle_create --> shuffle_add, any number --> shuffle_next, once an item
 *                        any state --> shuffle_destroy
 *
 * Invariants
 *   (1) The order is a function of the key and of the number of items, and of nothing else.
 *       Two shuffles with the same key and as many items order them alike, whatever the
 *       items are and however long.
 *   (2) With a uniform key every order is equally likely, as far as ChaCha20 is random.
 *   (3) The key and the order are zeroed by shuffle_destroy. Items that memory does not hold lie in a file
 *       without a name, mode 0600.
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
    const char *path;   /* a file is made at this path, and its name removed at once */
    size_t item_size;   /* bytes, > 0 */
    const uint8_t *key; /* (STREAM_KEY_SIZE), copied */
};

/* NULL: there is no memory. */
struct shuffle *shuffle_create(const struct shuffle_spec *spec);
void shuffle_destroy(struct shuffle *shuffle); /* NULL is allowed */

/* Adds the next count items, fewer than 2^32 in all.
 *   ST_DISK_FULL, ST_IO, ST_NO_MEMORY */
enum status shuffle_add(struct shuffle *shuffle, const void *items, size_t count,
                        struct error *error);

/* *item = the next one in the random order, or NULL behind the last. It is borrowed until the
 * next call. After the first call nothing may be added.
 *   ST_IO, ST_NO_MEMORY */
enum status shuffle_next(struct shuffle *shuffle, const void **item,
                         struct error *error);

#endif
