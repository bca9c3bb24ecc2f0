#include "api/json/json_pointer.h"

#include <stdio.h>

static void put(struct json_pointer *pointer, const char *text, size_t size)
{
    for (size_t i = 0; i < size && pointer->size + 1 < JSON_POINTER_SIZE; i++)
        pointer->text[pointer->size++] = text[i];
    pointer->text[pointer->size] = '\0';
}

void json_pointer_name(struct json_pointer *pointer, const char *name, size_t size)
{
    put(pointer, "/", 1);
    for (size_t i = 0; i < size; i++) {
        if (name[i] == '~')
            put(pointer, "~0", 2);
        else if (name[i] == '/')
            put(pointer, "~1", 2);
        else
            put(pointer, &name[i], 1);
    }
}

void json_pointer_index(struct json_pointer *pointer, size_t index)
{
    char text[24];
    int size = snprintf(text, sizeof text, "/%zu", index);
    put(pointer, text, (size_t)size);
}
