#include "engine/text/text_lines.h"

#include <string.h>

bool text_lines_next(struct text *rest, struct text *line)
{
    if (rest->size == 0)
        return false;
    const char *end = memchr(rest->bytes, '\n', rest->size);
    size_t size = end != NULL ? (size_t)(end - rest->bytes) : rest->size;
    size_t used = end != NULL ? size + 1 : size;
    *line = (struct text){rest->bytes, size};
    *rest = (struct text){rest->bytes + used, rest->size - used};
    if (line->size > 0 && line->bytes[line->size - 1] == '\r')
        line->size--;
    return true;
}

size_t text_lines_count(struct text text)
{
    size_t count = 0;
    struct text line;
    while (text_lines_next(&text, &line))
        count++;
    return count;
}
