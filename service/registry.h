/*
 * registry.h - things with ids, found by id and listed in the order in which they came.
 * Ids are never removed: none is ever free again. An item may be replaced by another of
 * its id; the old one is handed back, for the caller to keep as long as somebody may hold
 * its pointer.
 *
 * Every item starts with its id, an array of char.
 * Threads: the caller's lock guards a registry.
 */
#ifndef SERVICE_REGISTRY_H
#define SERVICE_REGISTRY_H

#include <stddef.h>

struct registry {
    size_t count, capacity;
    void **items; /* (count), oldest first; owned once added */
    void *tree;   /* the same items by id */
};

/* Forgets the items, calling destroy with each. */
void registry_fini(struct registry *registry, void (*destroy)(void *item));

/* The id must be new. */
void registry_add(struct registry *registry, void *item_take);

/* Puts item in the place of the one that has its id, which there must be, and returns
 * that one: the caller's again. */
void *registry_replace(struct registry *registry, void *item_take);

/* NULL if there is none. */
void *registry_find(const struct registry *registry, const char *id);

#endif
