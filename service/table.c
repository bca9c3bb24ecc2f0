#include "service/table.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"

static int compare(const void *a, const void *b)
{
    return strcmp(a, b);
}

void table_fini(struct table *table, void (*destroy)(void *item))
{
    for (size_t i = 0; i < table->count; i++) {
        tdelete(table->items[i], &table->tree, compare);
        destroy(table->items[i]);
    }
    free(table->items);
    *table = (struct table){0};
}

void table_add(struct table *table, void *item_take)
{
    if (table->count == table->capacity) {
        table->capacity = table->capacity == 0 ? 64 : 2 * table->capacity;
        table->items =
            reallocarray(table->items, table->capacity, sizeof *table->items);
        CHECK(table->items != NULL);
    }
    void *const *node = tsearch(item_take, &table->tree, compare);
    CHECK(node != NULL && *node == item_take);
    table->items[table->count++] = item_take;
}

void *table_replace(struct table *table, void *item_take)
{
    void **node = tfind(item_take, &table->tree, compare);
    CHECK(node != NULL);
    void *old = *node;
    size_t at = 0;
    while (table->items[at] != old)
        at++;
    table->items[at] = *node = item_take;
    return old;
}

void *table_find(const struct table *table, const char *id)
{
    void *const *node = tfind(id, &table->tree, compare);
    return node != NULL ? *node : NULL;
}
