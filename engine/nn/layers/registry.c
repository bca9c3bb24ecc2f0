#include "engine/nn/layers/registry.h"

#include <stdio.h>
#include <string.h>

#define ADDRESS(name) &layer_##name,
const struct layer_kind *const layer_kinds[] = {LAYER_TABLE(ADDRESS) NULL};
#undef ADDRESS

const struct layer_kind *layer_find(const char *name)
{
    for (size_t k = 0; layer_kinds[k] != NULL; k++)
        if (strcmp(layer_kinds[k]->name, name) == 0)
            return layer_kinds[k];
    return NULL;
}

void layer_names(char *text, size_t size, bool (*wanted)(const struct layer_kind *kind),
                 const char *last)
{
    size_t count = 0, length = 0;

    for (size_t k = 0; layer_kinds[k] != NULL; k++)
        count += wanted(layer_kinds[k]);
    *text = '\0';
    for (size_t k = 0, named = 0; layer_kinds[k] != NULL && length < size; k++) {
        bool ends = named + 1 == count;
        const char *before = named == 0 ? "" : ends ? " " : ", ";
        if (!wanted(layer_kinds[k]))
            continue;
        length += (size_t)snprintf(text + length, size - length, "%s%s%s%s", before,
                                   named > 0 && ends ? last : "",
                                   named > 0 && ends ? " " : "", layer_kinds[k]->name);
        named++;
    }
}
