#include "engine/dp/algorithms/registry.h"

#include <string.h>

/* Only this file declares the algorithms; other files read the table. */
#define DECLARE(name) extern const struct algorithm name;
ALGORITHM_TABLE(DECLARE)
#undef DECLARE

#define ADDRESS(name) &(name),
const struct algorithm *const algorithms[] = {ALGORITHM_TABLE(ADDRESS) NULL};
#undef ADDRESS

const struct algorithm *algorithm_find(const char *name)
{
    for (size_t k = 0; algorithms[k] != NULL; k++)
        if (strcmp(algorithms[k]->name, name) == 0)
            return algorithms[k];
    return NULL;
}
