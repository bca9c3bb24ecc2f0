#include "service/registry.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"

static int compare(const void *a, const void *b)
{
    return strcmp(a, b);
}

void registry_fini(struct registry *registry, void (*destroy)(void *item))
{
    for (size_t i = 0; i < registry->count; i++) {
        tdelete(registry->items[i], &registry->tree, compare);
        destroy(registry->items[i]);
    }
    free(registry->items);
    *registry = (struct registry){0};
}

void registry_add(struct registry *registry, void *item_take)
{
    if (registry->count == registry->capacity) {
        registry->capacity = registry->capacity == 0 ? 64 : 2 * registry->capacity;
        registry->items =
            reallocarray(registry->items, registry->capacity, sizeof *registry->items);
        CHECK(registry->items != NULL);
    }
    void *const *node = tsearch(item_take, &registry->tree, compare);
    CHECK(node != NULL && *node == item_take);
    registry->items[registry->count++] = item_take;
}

void *registry_replace(struct registry *registry, void *item_take)
{
    void **node = tfind(item_take, &registry->tree, compare);
    CHECK(node != NULL);
    void *old = *node;
    size_t at = 0;
    while (registry->items[at] != old)
        at++;
    registry->items[at] = *node = item_take;
    return old;
}

void *registry_find(const struct registry *registry, const char *id)
{
    void *const *node = tfind(id, &registry->tree, compare);
    return node != NULL ? *node : NULL;
}
