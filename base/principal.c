#include "base/principal.h"

#include <string.h>

const struct principal principal_local = {"local"};

bool principal_parse(struct principal *principal, const char *name)
{
    size_t length = strlen(name);
    if (length == 0 || length >= sizeof principal->name)
        return false;
    *principal = (struct principal){0};
    memcpy(principal->name, name, length);
    return true;
}

bool principal_equal(const struct principal *a, const struct principal *b)
{
    return strcmp(a->name, b->name) == 0;
}
