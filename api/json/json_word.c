#include "api/json/json_word.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"

/* Writes "a, b or c". */
static void list_words(char *text, size_t room, const char *const *words)
{
    size_t size = 0;
    for (size_t i = 0; words[i] != NULL; i++) {
        const char *between = i == 0 ? "" : words[i + 1] == NULL ? " or " : ", ";
        size += (size_t)snprintf(text + size, room - size, "%s%s", between, words[i]);
        CHECK(size < room);
    }
}

bool json_read_word(size_t *index, struct json_node node, const char *const *words)
{
    char list[200];
    const char *text = json_read_text(node);
    for (size_t i = 0; words[i] != NULL; i++)
        if (strcmp(text, words[i]) == 0) {
            *index = i;
            return true;
        }
    list_words(list, sizeof list, words);
    json_refuse(node, "must be %s", list);
    return false;
}
