#include "service/threads/registry.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/random.h"

struct registry_slot { /* zeroed: free */
    uint32_t hash;     /* half of the id's hash; its low bits say where the search
                          begins */
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

static uint32_t hash_of(const struct registry *registry, const char *id)
{
    return (uint32_t)siphash(&registry->key, id, strlen(id));
}

/* The slot of that id, or the free one where it would be put: half of all slots are
 * free. */
static struct registry_slot *slot_of(const struct registry *registry, const char *id,
                                     uint32_t hash)
{
    size_t mask = registry->slot_count - 1;
    for (size_t i = hash & mask;; i = (i + 1) & mask) {
        struct registry_slot *slot = &registry->slots[i];
        if (slot->place == 0 ||
            (slot->hash == hash && strcmp(registry->items[slot->place - 1], id) == 0))
            return slot;
    }
}

static void enter(struct registry *registry, size_t place)
{
    const char *id = registry->items[place];
    uint32_t hash = hash_of(registry, id);
    struct registry_slot *slot = slot_of(registry, id, hash);
    CHECK(slot->place == 0 && place < UINT32_MAX);
    *slot = (struct registry_slot){hash, (uint32_t)place + 1};
}

/* Moves every slot to its place among twice as many slots. It reads no id: that would
 * be a cache miss for each. */
static void spread(struct registry *registry)
{
    size_t old_count = registry->slot_count;
    struct registry_slot *old = registry->slots;
    registry->slot_count = 2 * registry->capacity;
    registry->slots = calloc(registry->slot_count, sizeof *registry->slots);
    CHECK(registry->slots != NULL);
    size_t mask = registry->slot_count - 1;
    for (size_t k = 0; k < old_count; k++) {
        size_t i = old[k].hash & mask;
        while (registry->slots[i].place != 0)
            i = (i + 1) & mask;
        registry->slots[i] = old[k];
    }
    free(old);
}

static void grow(struct registry *registry)
{
    if (registry->capacity == 0)
        random_bytes(&registry->key, sizeof registry->key);
    registry->capacity =
        registry->capacity == 0 ? SLOTS_AT_FIRST / 2 : 2 * registry->capacity;
    registry->items =
        reallocarray(registry->items, registry->capacity, sizeof *registry->items);
    CHECK(registry->items != NULL);
    spread(registry);
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
    const struct registry_slot *slot =
        slot_of(registry, item_take, hash_of(registry, item_take));
    CHECK(slot->place > 0);
    void *old = registry->items[slot->place - 1];
    registry->items[slot->place - 1] = item_take;
    return old;
}

void *registry_find(const struct registry *registry, const char *id)
{
    if (registry->count == 0)
        return NULL;
    const struct registry_slot *slot = slot_of(registry, id, hash_of(registry, id));
    return slot->place > 0 ? registry->items[slot->place - 1] : NULL;
}
