#include "store/blobs/object_publication.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "store/blobs/blob.h"
#include "store/blobs/found_object.h"
#include "store/blobs/object_transfer.h"

/* The budget of a trained model is spent, so its publication is tried again while the
 * bucket cannot be reached. Everything else that is published can be made again. */
enum { MODEL_PATIENCE_S = 300, PAUSE_MS = 1000 };

struct publishing {
    const struct blob_objects *objects;
    const struct blob_draft *draft;
    const struct blob_gate *gate; /* or NULL */
    int file;
    int64_t begin_s; /* of a clock that also runs while the machine sleeps */
    struct encrypted_object object;
    uint8_t *digests;
};

static int64_t elapsed_clock_s(void)
{
    struct timespec now;
    CHECK(clock_gettime(CLOCK_BOOTTIME, &now) == 0);
    return now.tv_sec;
}

static void pause_ms(int64_t ms)
{
    const struct timespec pause = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&pause, NULL);
}

static bool is_of_records(const struct blob_name *name)
{
    return name->kind == BLOB_MODEL || name->kind == BLOB_MATRIX;
}

/* The length of a file that was uploaded follows from its rows. */
static enum sealed_padding padding_of(const struct blob_name *name)
{
    switch (name->kind) {
    case BLOB_MODEL:
    case BLOB_WEIGHTS:
    case BLOB_MATRIX: return SEALED_STEPS;
    case BLOB_FEATURES:
    case BLOB_LABELS:
    case BLOB_DATA:
    case BLOB_PRIVACY_ID: break;
    }
    return SEALED_DOUBLED;
}

/* Puts the object; if that fails and it is a model, tries again. */
static enum status put(struct publishing *publishing, struct error *error)
{
    bool is_model = publishing->draft->name.kind == BLOB_MODEL;
    int64_t patience_s = is_model ? MODEL_PATIENCE_S : 0;
    for (;;) {
        struct error failed = {0};
        uint16_t jitter;
        if (is_of_records(&publishing->draft->name))
            pause_ms(1000 - clock_wall_ms() % 1000);
        enum status status =
            object_send(publishing->objects->bucket, &publishing->object,
                        publishing->file, publishing->digests, &failed);
        bool again =
            status == ST_IO && elapsed_clock_s() - publishing->begin_s < patience_s;
        if (status != ST_OK && !again)
            return error_set(error, ST_IO, "%s", failed.text);
        if (status == ST_OK)
            return ST_OK;
        log_event(LOG_WARNING, "publication_waits", "detail", failed.text,
                  (char *)NULL);
        random_bytes(&jitter, sizeof jitter);
        pause_ms(PAUSE_MS + jitter % PAUSE_MS);
    }
}

/* Commits the row; *old = the row that the name had before. */
static enum status insert(struct publishing *publishing, struct found_object *old,
                          struct error *error)
{
    struct store_tx *tx = NULL;
    char file_name[BLOB_FILE_NAME_SIZE];
    const struct blob_objects *objects = publishing->objects;
    const struct encrypted_object *object = &publishing->object;
    blob_file_name(file_name, &publishing->draft->name);
    struct blob_row row = {.name = file_name,
                           .object = object->name,
                           .size = object->size,
                           .chunks = publishing->digests,
                           .chunk_count = encrypted_object_chunks(object),
                           .create_ms = clock_wall_ms()};
    encrypted_object_wrap(object, file_name, objects->operator_key, row.wrapped);
    enum status status = store_begin(objects->store, STORE_ROW, &tx, error);
    if (status != ST_OK)
        return status;
    if (publishing->gate != NULL)
        status = publishing->gate->may(publishing->gate->context, error);
    if (status == ST_OK)
        status =
            found_object_find_in(old, tx, objects, &publishing->draft->name, error);
    if (status == ST_OK)
        status = blob_row_set(tx, &row, error);
    if (status == ST_OK &&
        elapsed_clock_s() - publishing->begin_s > OBJECT_PUBLISH_MAX_S)
        status = error_set(error, ST_IO, "the publication took too long");
    return store_end(tx, status, error);
}

static enum status put_and_insert(struct publishing *publishing, struct error *error)
{
    struct found_object old = {.is_there = false};
    const struct blob_objects *objects = publishing->objects;
    publishing->begin_s = elapsed_clock_s();
    enum status status = put(publishing, error);
    if (status != ST_OK)
        return status;
    status = insert(publishing, &old, error);
    if (status != ST_OK && !store_poisoned(objects->store))
        object_garbage_add(objects->garbage, publishing->object.name);
    if (status == ST_OK && old.is_there) {
        blob_cache_drop(objects->cache, old.object.name);
        object_garbage_add(objects->garbage, old.object.name);
    }
    found_object_fini(&old);
    return status;
}

/* The draft holds the bytes that were published, which will most likely be read next.
 * Another thread may have found the row and fetched the object already. */
static void keep_draft(const struct publishing *publishing, const char *path)
{
    const struct encrypted_object *object = &publishing->object;
    if (!blob_cache_adopt(publishing->objects->cache, object->name, object->size, path))
        unlink(path);
}

enum status object_publish(const struct blobs *blobs, const struct blob_draft *draft,
                           const struct blob_gate *gate, struct error *error)
{
    struct stat info;
    char path[BLOB_PATH_SIZE];
    struct publishing publishing = {
        .objects = blobs->objects, .draft = draft, .gate = gate};
    blob_draft_path(blobs, path, draft);
    publishing.file = open(path, O_RDONLY | O_CLOEXEC);
    if (publishing.file < 0)
        return blob_failed(error, path);
    enum status status =
        fstat(publishing.file, &info) == 0 ? ST_OK : blob_failed(error, path);
    if (status == ST_OK) {
        encrypted_object_make(&publishing.object, (uint64_t)info.st_size,
                              padding_of(&draft->name));
        publishing.digests =
            calloc(encrypted_object_chunks(&publishing.object), SHA256_SIZE);
        CHECK(publishing.digests != NULL);
        status = put_and_insert(&publishing, error);
    }
    if (status == ST_OK)
        keep_draft(&publishing, path);
    hash_zero(publishing.object.key, sizeof publishing.object.key);
    free(publishing.digests);
    close(publishing.file);
    return status;
}
