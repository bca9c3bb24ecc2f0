#include "service/registry.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/random.h"

struct registry_slot { /* zeroed: nobody is here */
    uint32_t hash;     /* a part of it */
    uint32_t place;    /* in items, from 1 */
};

enum { SLOTS_AT_FIRST = 128 };

void registry_fini(struct registry *registry, void (*destroy)(void *item))
{
    for (size_t i = 0; i < registry->count; i++)
        destroy(registry->items[i]);
    free(registry->items);
    free(registry->slots);
    *registry = (struct registry){0};
}

/* The slot of that id, or the free one where it would be: half of all are free. */
static struct registry_slot *slot_of(const struct registry *registry, const char *id,
                                     uint32_t *part)
{
    uint64_t hash = siphash(&registry->key, id, strlen(id));
    size_t mask = registry->slot_count - 1;
    *part = (uint32_t)(hash >> 32);
    for (size_t i = (size_t)hash & mask;; i = (i + 1) & mask) {
        struct registry_slot *slot = &registry->slots[i];
        if (slot->place == 0 ||
            (slot->hash == *part && strcmp(registry->items[slot->place - 1], id) == 0))
            return slot;
    }
}

static void enter(struct registry *registry, size_t place)
{
    uint32_t part;
    struct registry_slot *slot = slot_of(registry, registry->items[place], &part);
    CHECK(slot->place == 0 && place < UINT32_MAX);
    *slot = (struct registry_slot){part, (uint32_t)place + 1};
}

static void grow(struct registry *registry)
{
    if (registry->capacity == 0)
        random_bytes(&registry->key, sizeof registry->key);
    registry->capacity =
        registry->capacity == 0 ? SLOTS_AT_FIRST / 2 : 2 * registry->capacity;
    registry->items =
        reallocarray(registry->items, registry->capacity, sizeof *registry->items);
    free(registry->slots);
    registry->slot_count = 2 * registry->capacity;
    registry->slots = calloc(registry->slot_count, sizeof *registry->slots);
    CHECK(registry->items != NULL && registry->slots != NULL);
    for (size_t i = 0; i < registry->count; i++)
        enter(registry, i);
}

void registry_add(struct registry *registry, void *item_take)
{
    if (registry->count == registry->capacity)
        grow(registry);
    registry->items[registry->count] = item_take;
    enter(registry, registry->count);
    registry->count++;
}

void *registry_replace(struct registry *registry, void *item_take)
{
    uint32_t part;
    const struct registry_slot *slot = slot_of(registry, item_take, &part);
    CHECK(slot->place > 0);
    void *old = registry->items[slot->place - 1];
    registry->items[slot->place - 1] = item_take;
    return old;
}

void *registry_find(const struct registry *registry, const char *id)
{
    uint32_t part;
    if (registry->count == 0)
        return NULL;
    const struct registry_slot *slot = slot_of(registry, id, &part);
    return slot->place > 0 ? registry->items[slot->place - 1] : NULL;
}
