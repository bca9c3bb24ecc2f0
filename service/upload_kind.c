#include "service/upload_kind.h"

#include <string.h>

const struct upload_kind upload_kinds[UPLOAD_KINDS] = {
    {"features", BLOB_FEATURES},
    {"labels", BLOB_LABELS},
    {"data", BLOB_DATA},
};

bool upload_kind_is_of(const struct upload_kind *kind, enum data_format format)
{
    return data_format_has_two_files(format) == (kind->blob != BLOB_DATA);
}

const struct upload_kind *upload_kind_find(enum data_format format, const char *name)
{
    for (size_t i = 0; i < UPLOAD_KINDS; i++)
        if (strcmp(upload_kinds[i].name, name) == 0)
            return upload_kind_is_of(&upload_kinds[i], format) ? &upload_kinds[i]
                                                               : NULL;
    return NULL;
}
