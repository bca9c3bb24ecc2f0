#include "store/blobs/blob_name.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"

static const struct place { /* place of the blobs of a kind: FOLDER/ID and the suffix */
    const char *folder, *suffix;
} places[] = {
    [BLOB_MODEL] = {"models", ".safetensors"},
    [BLOB_WEIGHTS] = {"weights", ".safetensors"},
    [BLOB_MATRIX] = {"datasets", ".matrix"},
    [BLOB_FEATURES] = {"uploads", ".features"},
    [BLOB_LABELS] = {"uploads", ".labels"},
    [BLOB_DATA] = {"uploads", ".data"},
    [BLOB_PRIVACY_ID] = {"uploads", ".privacy_id"},
};

enum { KINDS = sizeof places / sizeof *places };

static struct blob_name named(enum blob_kind kind, const char *id)
{
    struct blob_name name = {.kind = kind};
    int length = snprintf(name.id, sizeof name.id, "%s", id);
    CHECK(length > 0 && length < BLOB_ID_SIZE);
    return name;
}

struct blob_name blob_of_model(const struct model_id *id)
{
    return named(BLOB_MODEL, id->text);
}

struct blob_name blob_of_weights(const struct file_id *id)
{
    return named(BLOB_WEIGHTS, id->text);
}

struct blob_name blob_of_dataset(const struct dataset_id *id, enum blob_kind kind)
{
    CHECK(kind != BLOB_MODEL && kind != BLOB_WEIGHTS);
    return named(kind, id->text);
}

void blob_name_in(char out[BLOB_FILE_NAME_SIZE], const char *folder,
                  const struct blob_name *name)
{
    int length = snprintf(out, BLOB_FILE_NAME_SIZE, "%s/%s%s", folder, name->id,
                          places[name->kind].suffix);
    CHECK(length > 0 && length < BLOB_FILE_NAME_SIZE);
}

void blob_file_name(char out[BLOB_FILE_NAME_SIZE], const struct blob_name *name)
{
    blob_name_in(out, places[name->kind].folder, name);
}

bool blob_name_parse(struct blob_name *name, const char *folder, const char *file_name)
{
    size_t length = strlen(file_name);
    for (size_t kind = 0; kind < KINDS; kind++) {
        size_t cut = strlen(places[kind].suffix);
        if (strcmp(places[kind].folder, folder) != 0 || length <= cut ||
            length - cut >= BLOB_ID_SIZE ||
            strcmp(file_name + length - cut, places[kind].suffix) != 0)
            continue;
        *name = (struct blob_name){.kind = (enum blob_kind)kind};
        memcpy(name->id, file_name, length - cut);
        return true;
    }
    return false;
}
