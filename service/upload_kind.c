#include "service/upload_kind.h"

#include <string.h>

const struct upload_kind upload_kinds[UPLOAD_KINDS] = {
    {"features", BLOB_FEATURES},
    {"labels", BLOB_LABELS},
    {"data", BLOB_DATA},
};

bool upload_kind_is_of(const struct upload_kind *kind, const struct reader *reader)
{
    return reader_has_file(reader, kind->name);
}

const struct upload_kind *upload_kind_find(const struct reader *reader,
                                           const char *name)
{
    for (size_t i = 0; i < UPLOAD_KINDS; i++)
        if (strcmp(upload_kinds[i].name, name) == 0)
            return upload_kind_is_of(&upload_kinds[i], reader) ? &upload_kinds[i]
                                                               : NULL;
    return NULL;
}
