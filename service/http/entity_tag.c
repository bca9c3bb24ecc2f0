#include "service/http/entity_tag.h"

#include <stdio.h>
#include <string.h>

void tag_pack(char *packed, size_t size, const char *tag)
{
    snprintf(packed, size, "%.*s-gzip\"", (int)strlen(tag) - 1, tag);
}

void tag_unpack(char *packed)
{
    static const char end[] = "-gzip\"";
    size_t size = strlen(packed);
    if (size >= strlen(end) && strcmp(packed + size - strlen(end), end) == 0)
        memcpy(packed + size - strlen(end), "\"", 2);
}

/* Returns whether the entry of a list is the tag. */
static bool is_tag(const char *entry, const char *tag)
{
    size_t length = strlen(tag);
    return strncmp(entry, tag, length) == 0 &&
           (entry[length] == '\0' || strchr(" \t,", entry[length]) != NULL);
}

/* Skips the blanks, commas and the mark of a weak tag before the next entry of the
 * list, and returns that entry; NULL at the end. */
static const char *next_entry(const char *list)
{
    list += strspn(list, " \t,");
    return *list == '\0' ? NULL : strncmp(list, "W/", 2) == 0 ? list + 2 : list;
}

bool tag_list_holds_packed(const char *list, const char *tag)
{
    char packed[PACKED_TAG_SIZE];
    tag_pack(packed, sizeof packed, tag);
    while (list != NULL && (list = next_entry(list)) != NULL) {
        if (is_tag(list, packed))
            return true;
        list += strcspn(list, ",");
    }
    return false;
}

static bool holds(const char *list, const char *tag, bool weakly)
{
    char packed[PACKED_TAG_SIZE];
    const char *entry;
    tag_pack(packed, sizeof packed, tag);
    while (list != NULL && (entry = next_entry(list)) != NULL) {
        bool is_weak = entry > list && entry[-1] == '/';
        if ((weakly || !is_weak) &&
            (*entry == '*' || is_tag(entry, tag) || is_tag(entry, packed)))
            return true;
        list = entry + strcspn(entry, ",");
    }
    return false;
}

bool tag_list_holds_any(const char *list)
{
    while (list != NULL && (list = next_entry(list)) != NULL) {
        if (*list == '*')
            return true;
        list += strcspn(list, ",");
    }
    return false;
}

bool tag_list_holds(const char *list, const char *tag)
{
    return holds(list, tag, true);
}

bool tag_list_holds_strongly(const char *list, const char *tag)
{
    return holds(list, tag, false);
}
