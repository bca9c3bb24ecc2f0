#include "service/ingest/upload_kind.h"

#include <string.h>

#include "engine/data/schema.h"

const struct upload_kind upload_kinds[UPLOAD_KINDS] = {
    {"features", BLOB_FEATURES},
    {"labels", BLOB_LABELS},
    {"data", BLOB_DATA},
    {SCHEMA_ID_FILE, BLOB_PRIVACY_ID},
};

bool upload_kind_is_of(const struct upload_kind *kind, const struct schema *schema)
{
    return schema_has_file(schema, kind->name);
}

const struct upload_kind *upload_kind_find(const struct schema *schema,
                                           const char *name)
{
    for (size_t i = 0; i < UPLOAD_KINDS; i++)
        if (strcmp(upload_kinds[i].name, name) == 0)
            return upload_kind_is_of(&upload_kinds[i], schema) ? &upload_kinds[i]
                                                               : NULL;
    return NULL;
}
