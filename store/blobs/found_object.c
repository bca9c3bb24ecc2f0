#include "store/blobs/found_object.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"

void found_object_fini(struct found_object *found)
{
    hash_zero(found->object.key, sizeof found->object.key);
    free(found->digests);
}

static bool see(void *context, const struct blob_row *row)
{
    struct found_object *found = context;
    size_t size = row->chunk_count * SHA256_SIZE;
    found->is_there = true;
    found->is_good = encrypted_object_unwrap(&found->object, row, found->operator_key);
    found->object.size = row->size;
    snprintf(found->object.name, sizeof found->object.name, "%s", row->object);
    found->digests = malloc(size);
    CHECK(found->digests != NULL);
    memcpy(found->digests, row->chunks, size);
    return false;
}

enum status found_object_find_in(struct found_object *found, struct store_tx *tx,
                                 const struct blob_objects *objects,
                                 const struct blob_name *name, struct error *error)
{
    char file_name[BLOB_FILE_NAME_SIZE];
    *found = (struct found_object){.operator_key = objects->operator_key};
    blob_file_name(file_name, name);
    return blob_row_find(tx, file_name, see, found, error);
}

enum status found_object_find(struct found_object *found,
                              const struct blob_objects *objects,
                              const struct blob_name *name, struct error *error)
{
    struct store_tx *tx = NULL;
    *found = (struct found_object){.operator_key = objects->operator_key};
    enum status status;
    do {
        status = store_begin(objects->store, STORE_READ, &tx, error);
        if (status != ST_OK)
            return status;
        status = found_object_find_in(found, tx, objects, name, error);
    } while (store_again(tx, &status, error));
    return status;
}

enum status found_object_check(const struct found_object *found,
                               const struct blob_name *name, struct error *error)
{
    if (!found->is_there)
        return error_set(error, ST_NOT_FOUND, "%s has no object", name->id);
    if (!found->is_good)
        return error_set(error, ST_CORRUPT,
                         "the key of object %s is not as it was written",
                         found->object.name);
    return ST_OK;
}
