#include "engine/data/readers/reader_registry.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"

#define ADDRESS(name) &(name),
const struct reader *const readers[] = {READER_TABLE(ADDRESS) NULL};
#undef ADDRESS

enum { READER_COUNT = sizeof readers / sizeof *readers - 1 };

const struct reader *reader_find(const char *name)
{
    for (size_t i = 0; i < READER_COUNT; i++)
        if (strcmp(readers[i]->name, name) == 0)
            return readers[i];
    return NULL;
}

void reader_names(char text[READER_NAMES_SIZE], const enum record_form *form)
{
    const char *names[READER_COUNT];
    size_t count = 0, size = 0;
    for (size_t i = 0; i < READER_COUNT; i++)
        if (form == NULL || readers[i]->form == *form)
            names[count++] = readers[i]->name;
    text[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        const char *before = i == 0 ? "" : i + 1 < count ? ", " : " or ";
        size += (size_t)snprintf(text + size, READER_NAMES_SIZE - size, "%s%s", before,
                                 names[i]);
        CHECK(size < READER_NAMES_SIZE);
    }
}
