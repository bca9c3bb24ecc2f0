#include "api/json/json_trail.h"

/* Returns the size of the string that starts at text[0] == '"', including its
 * closing quote. */
static size_t string_size(const char *text, size_t size)
{
    size_t i = 1;
    while (i < size && text[i] != '"')
        i += text[i] == '\\' ? 2 : 1;
    return i < size ? i + 1 : size;
}

static void step(struct json_trail *trail, char c)
{
    struct json_level *level =
        trail->depth > 0 ? &trail->levels[trail->depth - 1] : NULL;
    if (c == '{' || c == '[') {
        trail->levels[trail->depth++] = (struct json_level){.array = c == '['};
    } else if ((c == '}' || c == ']') && level != NULL) {
        trail->depth--;
    } else if (c == ',' && level != NULL) {
        level->index++;
        level->named = false;
    }
}

bool json_trail_follow(struct json_trail *trail, const char *text, size_t size)
{
    *trail = (struct json_trail){0};
    for (size_t i = 0; i < size;) {
        if (text[i] != '"') {
            bool opens = text[i] == '{' || text[i] == '[';
            if (opens && trail->depth == LIMIT_JSON_DEPTH)
                return false;
            step(trail, text[i++]);
            continue;
        }
        size_t length = string_size(text + i, size - i);
        struct json_level *level =
            trail->depth > 0 ? &trail->levels[trail->depth - 1] : NULL;
        if (level != NULL && !level->array && !level->named && length >= 2) {
            level->named = true;
            level->name = text + i + 1;
            level->name_size = length - 2;
        }
        i += length;
    }
    return true;
}

void json_trail_pointer(const struct json_trail *trail, struct json_pointer *pointer)
{
    for (size_t i = 0; i < trail->depth; i++) {
        const struct json_level *level = &trail->levels[i];
        if (level->array)
            json_pointer_index(pointer, level->index);
        else if (level->named)
            json_pointer_name(pointer, level->name, level->name_size);
    }
}
