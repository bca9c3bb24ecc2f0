#include "service/ending.h"

#include <stdlib.h>

#include "base/check.h"

struct ending *ending_create(void)
{
    struct ending *ending = calloc(1, sizeof *ending);
    CHECK(ending != NULL);
    return ending;
}

void ending_destroy(struct ending *ending)
{
    if (ending == NULL)
        return;
    publication_fini(&ending->model);
    free(ending);
}
