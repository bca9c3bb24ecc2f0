#include "engine/nn/embedded_columns.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"

void embedded_columns_fini(struct embedded_columns *columns)
{
    for (size_t i = 0; i < columns->count; i++)
        free(columns->list[i].name);
    free(columns->list);
    *columns = (struct embedded_columns){0};
}

struct embedded_column *embedded_columns_add(struct embedded_columns *columns,
                                             const char *name)
{
    size_t count = columns->count;
    if ((count & (count - 1)) == 0) /* 0 and powers of 2: it is full */
        columns->list = realloc(columns->list,
                                (count == 0 ? 1 : 2 * count) * sizeof *columns->list);
    CHECK(columns->list != NULL);
    struct embedded_column *column = &columns->list[columns->count++];
    *column = (struct embedded_column){.name = strdup(name)};
    CHECK(column->name != NULL);
    return column;
}

void embedded_columns_copy(struct embedded_columns *to,
                           const struct embedded_columns *from)
{
    *to = (struct embedded_columns){0};
    for (size_t i = 0; i < from->count; i++) {
        struct embedded_column *column = embedded_columns_add(to, from->list[i].name);
        column->first = from->list[i].first;
        column->words = from->list[i].words;
    }
}
