/*
 * Each function looks the blob's row up again, so it sees what another process
 * published a moment ago; a look-up takes some tens of microseconds, little next to an
 * object that takes milliseconds. A blob that is replaced while it is fetched is looked
 * up once more: its old object is removed as soon as the new row is there.
 */
#include "store/blobs/blob_objects.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "store/blobs/blob_place.h"
#include "store/blobs/bucket_claim.h"
#include "store/blobs/found_object.h"
#include "store/blobs/object_publication.h"
#include "store/blobs/object_transfer.h"

/* --- fetching --- */

struct filling {
    struct blob_cache *cache;
    struct cached_blob *cached;
    int file;
    int failure; /* errno */
};

static bool write_piece(void *context, const void *data, size_t size)
{
    struct filling *filling = context;
    const char *next = data;
    if (!blob_cache_grow(filling->cache, filling->cached, size)) {
        filling->failure = ENOSPC;
        return false;
    }
    while (size > 0) {
        ssize_t written = write(filling->file, next, size);
        if (written < 0 && errno == EINTR)
            continue;
        filling->failure = written < 0 ? errno : 0;
        if (written < 0)
            return false;
        next += written;
        size -= (size_t)written;
    }
    return true;
}

static enum status fill(const struct blob_objects *objects,
                        const struct found_object *found, struct cached_blob *cached,
                        const atomic_bool *cancel, struct error *error)
{
    struct error inner = {0};
    const char *path = cached_blob_path(cached);
    struct filling filling = {
        .cache = objects->cache,
        .cached = cached,
        .file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)};
    const struct object_sink sink = {write_piece, &filling, cancel};
    if (filling.file < 0)
        return blob_failed(error, path);
    enum status status =
        object_receive(objects->bucket, &found->object, found->digests, &sink, &inner);
    if (close(filling.file) != 0 && status == ST_OK) {
        filling.failure = errno;
        status = ST_IO;
    }
    if (filling.failure == ENOSPC || filling.failure == EDQUOT)
        return error_set(error, ST_DISK_FULL, "the disk of the cache is full");
    if (filling.failure != 0)
        return error_set(error, ST_IO, "%s: %s", path, strerror(filling.failure));
    if (status == ST_FORBIDDEN)
        status = ST_IO;
    return status == ST_OK ? ST_OK : error_set(error, status, "%s", inner.text);
}

static enum status borrow(const struct blob_objects *objects,
                          const struct found_object *found, struct blob_loan *loan,
                          struct error *error)
{
    bool is_new = false;
    enum status status =
        blob_cache_take(objects->cache, found->object.name, found->object.size,
                        &loan->cached, &is_new, error);
    if (status != ST_OK)
        return status;
    snprintf(loan->path, sizeof loan->path, "%s", cached_blob_path(loan->cached));
    if (!is_new)
        return ST_OK;
    status = fill(objects, found, loan->cached, loan->cancel, error);
    blob_cache_filled(objects->cache, loan->cached, status == ST_OK);
    return status;
}

static enum status fetch_once(const struct blob_objects *objects,
                              struct blob_loan *loan, const struct blob_name *name,
                              bool *is_there, struct error *error)
{
    struct found_object found;
    enum status status = found_object_find(&found, objects, name, error);
    if (status == ST_OK)
        status = found_object_check(&found, name, error);
    *is_there = found.is_there;
    if (status == ST_OK)
        status = borrow(objects, &found, loan, error);
    found_object_fini(&found);
    return status;
}

/* Clients may read why a file is not here. Only the operator may read where it is kept,
 * and what that place answered. */
static enum status not_fetched(const struct blob_name *name, enum status status,
                               const struct error *inner, struct error *error)
{
    char file_name[BLOB_FILE_NAME_SIZE];
    const char *told = "its file cannot be fetched";
    if (status == ST_DISK_FULL)
        told = "the cache has no room for its file";
    else if (status == ST_CORRUPT)
        told = "its file is not what was put there";
    else if (status == ST_NOT_FOUND)
        told = "its file is missing";
    blob_file_name(file_name, name);
    log_event(LOG_WARNING, "file_not_fetched", "file", file_name, "detail", inner->text,
              (char *)NULL);
    return error_set(error, status, "%s", told);
}

static enum status fetch(const struct blobs *blobs, struct blob_loan *loan,
                         const struct blob_name *name, struct error *error)
{
    bool is_there = false;
    struct error inner = {0};
    enum status status = fetch_once(blobs->objects, loan, name, &is_there, &inner);
    if (status == ST_NOT_FOUND && is_there) {
        inner = (struct error){0};
        status = fetch_once(blobs->objects, loan, name, &is_there, &inner);
    }
    return status == ST_OK ? ST_OK : not_fetched(name, status, &inner, error);
}

static enum status fetch_here(const struct blobs *blobs, struct blob_loan *loan,
                              const struct blob_name *name, struct error *error)
{
    struct found_object found;
    enum status status = found_object_find(&found, blobs->objects, name, error);
    if (status == ST_OK)
        status = blob_cache_find(blobs->objects->cache, found.object.name,
                                 &loan->cached, error);
    if (status == ST_OK)
        snprintf(loan->path, sizeof loan->path, "%s", cached_blob_path(loan->cached));
    found_object_fini(&found);
    return status;
}

static void give_back(const struct blobs *blobs, struct blob_loan *loan)
{
    blob_cache_give(blobs->objects->cache, loan->cached);
}

static enum status find(const struct blobs *blobs, const struct blob_name *name,
                        struct error *error)
{
    struct found_object found;
    enum status status = found_object_find(&found, blobs->objects, name, error);
    if (status == ST_OK && !found.is_there)
        status = error_set(error, ST_NOT_FOUND, "%s has no object", name->id);
    found_object_fini(&found);
    return status;
}

static bool hash_piece(void *context, const void *data, size_t size)
{
    sha256_update(context, data, size);
    return true;
}

static enum status check_bytes(const struct blob_objects *objects,
                               const struct found_object *found,
                               const struct file_checksum *seal, struct error *error)
{
    uint8_t sha256[SHA256_SIZE];
    struct sha256 *hash = sha256_create();
    const struct object_sink sink = {.take = hash_piece, .context = hash};
    enum status status =
        object_receive(objects->bucket, &found->object, found->digests, &sink, error);
    sha256_finish(hash, sha256);
    sha256_destroy(hash);
    if (status == ST_NOT_FOUND)
        return ST_CORRUPT;
    if (status != ST_OK)
        return status == ST_CORRUPT ? status : ST_IO;
    if (!hash_equal(sha256, seal->sha256, sizeof sha256))
        return error_set(error, ST_CORRUPT, "it has another SHA-256");
    return ST_OK;
}

static enum status check(const struct blobs *blobs, const struct blob_name *name,
                         const struct file_checksum *seal, struct error *error)
{
    struct found_object found;
    const struct blob_objects *objects = blobs->objects;
    enum status status = found_object_find(&found, objects, name, error);
    if (status == ST_OK && !found.is_there)
        status = error_set(error, ST_CORRUPT, "it has no object");
    if (status == ST_OK && found.object.size != seal->size)
        status = error_set(error, ST_CORRUPT, "its object has another size");
    if (status == ST_OK && objects->bucket != NULL)
        status = found_object_check(&found, name, error);
    if (status == ST_OK && objects->bucket != NULL)
        status = check_bytes(objects, &found, seal, error);
    found_object_fini(&found);
    return status;
}

/* --- removing --- */

/* Removes the row, and queues its object to be removed. */
static enum status remove_found(const struct blob_objects *objects,
                                const struct blob_name *name,
                                struct found_object *found, struct error *error)
{
    struct store_tx *tx = NULL;
    char file_name[BLOB_FILE_NAME_SIZE];
    blob_file_name(file_name, name);
    enum status status = store_begin(objects->store, STORE_ROW, &tx, error);
    if (status != ST_OK)
        return status;
    found_object_fini(found);
    status = found_object_find_in(found, tx, objects, name,
                                  error); /* the row may have changed */
    if (status == ST_OK && found->is_there)
        status = blob_row_delete(tx, file_name, error);
    status = store_end(tx, status, error);
    if (status == ST_OK && found->is_there) {
        blob_cache_drop(objects->cache, found->object.name);
        object_garbage_add(objects->garbage, found->object.name);
    }
    return status;
}

static enum status remove_blob(const struct blobs *blobs, const struct blob_name *name,
                               struct error *error)
{
    struct found_object found;
    enum status status = found_object_find(&found, blobs->objects, name, error);
    if (status == ST_OK && found.is_there)
        status = remove_found(blobs->objects, name, &found, error);
    found_object_fini(&found);
    return status;
}

struct unwanted {
    bool (*keep)(void *context, const struct blob_name *name);
    void *context;
    int64_t before_ms;
    size_t count;
    struct blob_name *names; /* owned */
};

static bool see_unwanted(void *context, const char *file_name, int64_t create_ms)
{
    struct unwanted *unwanted = context;
    struct blob_name name;
    char folder[BLOB_FILE_NAME_SIZE];
    const char *slash = strchr(file_name, '/');
    if (slash == NULL || (size_t)(slash - file_name) >= sizeof folder)
        return true;
    snprintf(folder, sizeof folder, "%.*s", (int)(slash - file_name), file_name);
    if (create_ms >= unwanted->before_ms ||
        !blob_name_parse(&name, folder, slash + 1) ||
        unwanted->keep(unwanted->context, &name))
        return true;
    struct blob_name *names =
        realloc(unwanted->names, (unwanted->count + 1) * sizeof *names);
    CHECK(names != NULL);
    names[unwanted->count++] = name;
    unwanted->names = names;
    return true;
}

/* A row that another process has just committed may not be wanted yet, so only old rows
 * are removed. */
static enum status sweep(const struct blobs *blobs,
                         bool (*keep)(void *context, const struct blob_name *name),
                         void *context, struct error *error)
{
    struct store_tx *tx = NULL;
    struct unwanted unwanted = {.keep = keep, .context = context};
    unwanted.before_ms = clock_wall_ms() - (int64_t)GARBAGE_AGE_S * 1000;
    /* Files computed from records are in a folder even so; the sweep of the folders
     * removes them. */
    enum status status = blob_folder.sweep(blobs, keep, context, error);
    if (status != ST_OK)
        return status;
    do {
        status = store_begin(blobs->objects->store, STORE_READ, &tx, error);
        if (status != ST_OK)
            return status;
        status = blob_names_walk(tx, see_unwanted, &unwanted, error);
    } while (store_again(tx, &status, error));
    for (size_t i = 0; status == ST_OK && i < unwanted.count; i++)
        status = remove_blob(blobs, &unwanted.names[i], error);
    free(unwanted.names);
    return status;
}

static uint64_t trim(const struct blobs *blobs, uint64_t free_bytes)
{
    struct blob_cache *cache = blobs->objects->cache;
    return cache != NULL ? blob_cache_trim(cache, free_bytes) : 0;
}

/* --- what other daemons have removed --- */

/* Drops those of the count objects that no blob has. */
static enum status drop_gone(const struct blob_objects *objects, struct store_tx *tx,
                             const struct cached_object *cached, size_t count,
                             struct error *error)
{
    bool have[BLOB_OBJECTS_AT_ONCE];
    const char *names[BLOB_OBJECTS_AT_ONCE];
    for (size_t i = 0; i < count; i++)
        names[i] = cached[i].name;
    enum status status = blob_rows_have_objects(tx, names, count, have, error);
    for (size_t i = 0; status == ST_OK && i < count; i++)
        if (!have[i])
            blob_cache_drop(objects->cache, names[i]);
    return status;
}

static enum status drop_all_gone(const struct blob_objects *objects,
                                 const struct cached_object *cached, size_t count,
                                 struct error *error)
{
    struct store_tx *tx = NULL;
    enum status status;
    do {
        status = store_begin(objects->store, STORE_READ, &tx, error);
        if (status != ST_OK)
            return status;
        for (size_t at = 0; status == ST_OK && at < count; at += BLOB_OBJECTS_AT_ONCE) {
            size_t left = count - at;
            status = drop_gone(
                objects, tx, cached + at,
                left < BLOB_OBJECTS_AT_ONCE ? left : BLOB_OBJECTS_AT_ONCE, error);
        }
    } while (store_again(tx, &status, error));
    return status;
}

/* A file is cached after its row is committed, and no row comes back: a file without a
 * row is of an object that no longer exists. */
static enum status forget_gone(const struct blobs *blobs, struct error *error)
{
    const struct blob_objects *objects = blobs->objects;
    size_t count = 0;
    if (objects->cache == NULL)
        return ST_OK;
    struct cached_object *cached = blob_cache_objects(objects->cache, &count);
    enum status status =
        count > 0 ? drop_all_gone(objects, cached, count, error) : ST_OK;
    free(cached);
    return status;
}

/* --- opening --- */

static void close_objects(struct blobs *blobs)
{
    struct blob_objects *objects = blobs->objects;
    if (objects == NULL)
        return;
    object_garbage_stop(objects->garbage);
    blob_cache_close(objects->cache);
    if (objects->bucket != NULL)
        objects->bucket->driver->close(objects->bucket);
    hash_zero(objects->operator_key, sizeof objects->operator_key);
    free(objects);
    blobs->objects = NULL;
    blobs->driver = &blob_folder;
}

static const struct blob_driver elsewhere = {
    .fetch = fetch,
    .fetch_here = fetch_here,
    .give_back = give_back,
    .find = find,
    .check = check,
    .remove = remove_blob,
    .publish = object_publish,
    .sweep = sweep,
    .trim = trim,
    .forget_gone = forget_gone,
    .close = close_objects,
};

static bool see_blob(void *context, const char *file_name)
{
    bool *found = context;
    struct blob_name name;
    static const char *const folders[] = {"models", "weights", "datasets", "uploads"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        *found |= blob_name_parse(&name, folders[i], file_name);
    return !*found;
}

/* A directory that has kept blobs in its folders would lose them in a sweep. */
static enum status check_folders(const struct blobs *blobs, struct store *store,
                                 struct error *error)
{
    bool found = false, claimed = false;
    static const char *const folders[] = {"models", "weights", "datasets", "uploads"};
    enum status status = bucket_claim_made(store, &claimed, error);
    for (size_t i = 0;
         status == ST_OK && !claimed && i < sizeof folders / sizeof *folders; i++)
        status = blobs_walk(blobs, folders[i], see_blob, &found, error);
    if (status == ST_OK && found)
        return error_set(error, ST_INVALID,
                         "%.160s keeps its files itself: give no --blobs, or another "
                         "--data-dir and database",
                         blobs->directory);
    return status;
}

static void attach(struct blobs *blobs, const struct blob_objects_setup *setup)
{
    struct blob_objects *objects = calloc(1, sizeof *objects);
    CHECK(objects != NULL && blobs->objects == NULL);
    objects->store = setup->store;
    objects->bucket = setup->bucket;
    memcpy(objects->operator_key, setup->operator_key, sizeof objects->operator_key);
    blobs->objects = objects;
    blobs->driver = &elsewhere;
}

enum status blob_objects_use(struct blobs *blobs,
                             const struct blob_objects_setup *setup,
                             struct error *error)
{
    char folder[BLOB_PATH_SIZE];
    attach(blobs, setup);
    struct blob_objects *objects = blobs->objects;
    blobs_path_of(blobs, folder, "cache");
    enum status status = check_folders(blobs, setup->store, error);
    if (status == ST_OK)
        status =
            bucket_claim(setup->bucket, setup->store, setup->operator_key, true, error);
    if (status == ST_OK)
        status = blob_cache_open(&objects->cache, folder, setup->cache_size, error);
    return status;
}

enum status blob_objects_collect(struct blobs *blobs, struct error *error)
{
    struct blob_objects *objects = blobs->objects;
    if (objects == NULL)
        return ST_OK;
    return object_garbage_start(&objects->garbage, objects->bucket, objects->store,
                                error);
}

enum status blob_objects_use_read(struct blobs *blobs,
                                  const struct blob_objects_setup *setup,
                                  struct error *error)
{
    attach(blobs, setup);
    return setup->bucket == NULL ? ST_OK
                                 : bucket_claim(setup->bucket, setup->store,
                                                setup->operator_key, false, error);
}

void blob_objects_leave(struct blobs *blobs)
{
    if (blobs != NULL)
        blobs->driver->close(blobs);
}

enum status blob_objects_claimed(struct store *store, bool *claimed,
                                 struct error *error)
{
    return bucket_claim_made(store, claimed, error);
}
