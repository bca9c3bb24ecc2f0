/*
 * registry.h - things with ids, found by id and listed in the order of their addition.
 *
 * An id is never removed, so that no id can be used again. An item may be replaced by
 * another with its id; the old one is returned, and the caller keeps it as long as a
 * thread may hold its pointer (epoch_reclaim.h). Every item starts with its id, an
 * array of char.
 *
 * Threads: the caller's lock guards a registry.
 */
#ifndef SERVICE_THREADS_REGISTRY_H
#define SERVICE_THREADS_REGISTRY_H

#include <stddef.h>
#include <stdint.h>

#include "base/siphash.h"

struct registry_slot; /* registry.c */

struct registry { /* zeroed: empty */
    size_t count, capacity;
    void **items;                /* (count), oldest first; owned once added */
    struct registry_slot *slots; /* (slot_count) places of items, by hash of the id */
    size_t slot_count;           /* a power of two, at least twice as many as items */
    struct siphash_key key;      /* drawn at random: clients may choose ids */
};

/* Empties the registry, calling destroy with each item. */
void registry_fini(struct registry *registry, void (*destroy)(void *item));

/* Adds an item whose id is new. */
void registry_add(struct registry *registry, void *item_take);

/* Replaces the item that has the id of item, and returns the old one. Precondition:
 * there is one. */
void *registry_replace(struct registry *registry, void *item_take);

/* The item of that id; NULL if there is none. */
void *registry_find(const struct registry *registry, const char *id);

#endif
