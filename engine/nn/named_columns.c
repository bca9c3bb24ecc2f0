#include "engine/nn/named_columns.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"

void named_columns_fini(struct named_columns *columns)
{
    for (size_t i = 0; i < columns->count; i++)
        free(columns->list[i].name);
    free(columns->list);
    *columns = (struct named_columns){0};
}

struct named_column *named_columns_add(struct named_columns *columns, const char *name)
{
    size_t count = columns->count;
    if ((count & (count - 1)) == 0) /* 0 and powers of 2: it is full */
        columns->list = realloc(columns->list,
                                (count == 0 ? 1 : 2 * count) * sizeof *columns->list);
    CHECK(columns->list != NULL);
    struct named_column *column = &columns->list[columns->count++];
    *column = (struct named_column){.name = strdup(name)};
    CHECK(column->name != NULL);
    return column;
}

void named_columns_copy(struct named_columns *to, const struct named_columns *from)
{
    *to = (struct named_columns){0};
    for (size_t i = 0; i < from->count; i++) {
        struct named_column *column = named_columns_add(to, from->list[i].name);
        column->first = from->list[i].first;
        column->words = from->list[i].words;
    }
}
