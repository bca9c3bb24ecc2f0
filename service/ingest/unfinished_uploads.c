#include "service/ingest/unfinished_uploads.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/limits.h"
#include "base/check.h"
#include "service/ingest/upload_senders.h"

struct unfinished_upload {
    struct blob_draft draft;
    struct principal principal;
    int file;
    uint64_t length;
    atomic_uint_fast64_t size;
    bool taken, unwanted; /* guarded by the lock of the uploads */
    uint64_t rested;      /* also: the count of rests when it was last rested */
};

struct unfinished_uploads {
    /* Guards all below, and the members above that say so. */
    pthread_mutex_t lock;
    struct blobs *blobs;
    uint64_t rests;
    size_t count;
    struct unfinished_upload *list[LIMIT_UPLOADS_UNFINISHED];
};

struct unfinished_uploads *unfinished_uploads_create(struct blobs *blobs)
{
    struct unfinished_uploads *uploads = calloc(1, sizeof *uploads);
    CHECK(uploads != NULL);
    pthread_mutex_init(&uploads->lock, NULL);
    uploads->blobs = blobs;
    return uploads;
}

/* Removes the upload at index from the list, and its draft. */
static void remove_at(struct unfinished_uploads *uploads, size_t index)
{
    struct unfinished_upload *upload = uploads->list[index];
    uploads->list[index] = uploads->list[--uploads->count];
    close(upload->file);
    blob_discard(uploads->blobs, &upload->draft);
    free(upload);
}

void unfinished_uploads_destroy(struct unfinished_uploads *uploads)
{
    if (uploads == NULL)
        return;
    while (uploads->count > 0) {
        CHECK(!uploads->list[0]->taken);
        remove_at(uploads, 0);
    }
    pthread_mutex_destroy(&uploads->lock);
    free(uploads);
}

/* The index of the upload of this name; count if there is none. */
static size_t index_of(const struct unfinished_uploads *uploads,
                       const struct blob_name *name)
{
    size_t i = 0;
    while (i < uploads->count &&
           (uploads->list[i]->draft.name.kind != name->kind ||
            strcmp(uploads->list[i]->draft.name.id, name->id) != 0))
        i++;
    return i;
}

/* Makes room in the list for one more. */
static enum status make_room(struct unfinished_uploads *uploads, struct error *error)
{
    size_t oldest = uploads->count;
    if (uploads->count < LIMIT_UPLOADS_UNFINISHED)
        return ST_OK;
    for (size_t i = 0; i < uploads->count; i++)
        if (!uploads->list[i]->taken &&
            (oldest == uploads->count ||
             uploads->list[i]->rested < uploads->list[oldest]->rested))
            oldest = i;
    if (oldest == uploads->count)
        return error_set(error, ST_QUEUE_FULL, "too many uploads are under way");
    remove_at(uploads, oldest);
    return ST_OK;
}

static enum status begin(struct unfinished_uploads *uploads,
                         const struct upload_claim *claim,
                         struct unfinished_upload **out, struct error *error)
{
    enum status status = make_room(uploads, error);
    if (status != ST_OK)
        return status;
    struct unfinished_upload *upload = calloc(1, sizeof *upload);
    CHECK(upload != NULL);
    if (blob_draft_create(uploads->blobs, &upload->draft, &claim->name, &upload->file,
                          NULL) != ST_OK) {
        free(upload);
        return error_set(error, ST_INTERNAL, "the file cannot be stored");
    }
    upload->principal = claim->principal;
    upload->length = claim->length;
    uploads->list[uploads->count++] = upload;
    *out = upload;
    return ST_OK;
}

/* Checks that the upload, NULL if there is none, continues where the claim says. */
static enum status check_claim(const struct unfinished_upload *upload,
                               const struct upload_claim *claim, uint64_t *there,
                               struct error *error)
{
    uint64_t size = upload != NULL ? atomic_load(&upload->size) : 0;
    if (size != claim->offset) {
        *there = size;
        return error_set(error, ST_UPLOAD_OFFSET,
                         "Upload-Offset must be %" PRIu64 ", which is how much of the "
                         "file is there, or 0 to begin again",
                         size);
    }
    if (upload->length != claim->length) {
        *there = size;
        return error_set(error, ST_UPLOAD_LENGTH,
                         "Upload-Length was %" PRIu64 " when the upload began",
                         upload->length);
    }
    return ST_OK;
}

static enum status take(struct unfinished_uploads *uploads,
                        const struct upload_claim *claim,
                        struct unfinished_upload **out, uint64_t *there,
                        struct error *error)
{
    size_t index = index_of(uploads, &claim->name);
    struct unfinished_upload *upload =
        index < uploads->count ? uploads->list[index] : NULL;
    if (upload != NULL && upload->taken)
        return error_set(error, ST_UPLOAD_BUSY, "another request is sending this file");
    if (claim->offset == 0) {
        if (upload != NULL)
            remove_at(uploads, index);
        return begin(uploads, claim, out, error);
    }
    if (upload != NULL && !upload_sender_same(&upload->principal, &claim->principal))
        upload = NULL; /* the whole file has one sender, who may be shown its cells */
    enum status status = check_claim(upload, claim, there, error);
    if (status == ST_OK)
        *out = upload;
    return status;
}

enum status unfinished_uploads_take(struct unfinished_uploads *uploads,
                                    const struct upload_claim *claim,
                                    struct unfinished_upload **out, uint64_t *there,
                                    struct error *error)
{
    pthread_mutex_lock(&uploads->lock);
    enum status status = take(uploads, claim, out, there, error);
    if (status == ST_OK)
        (*out)->taken = true;
    pthread_mutex_unlock(&uploads->lock);
    return status;
}

const struct blob_draft *unfinished_upload_draft(const struct unfinished_upload *upload)
{
    return &upload->draft;
}

int unfinished_upload_file(const struct unfinished_upload *upload)
{
    return upload->file;
}

void unfinished_upload_grew(struct unfinished_upload *upload, uint64_t size)
{
    CHECK(size <= upload->length);
    atomic_store(&upload->size, size);
}

static void give_back(struct unfinished_uploads *uploads,
                      struct unfinished_upload *upload, bool rests)
{
    pthread_mutex_lock(&uploads->lock);
    CHECK(upload->taken);
    upload->taken = false;
    upload->rested = uploads->rests++;
    if (upload->unwanted || !rests)
        remove_at(uploads, index_of(uploads, &upload->draft.name));
    pthread_mutex_unlock(&uploads->lock);
}

void unfinished_uploads_rest(struct unfinished_uploads *uploads,
                             struct unfinished_upload *upload_take)
{
    give_back(uploads, upload_take, true);
}

void unfinished_uploads_drop(struct unfinished_uploads *uploads,
                             struct unfinished_upload *upload_take)
{
    give_back(uploads, upload_take, false);
}

void unfinished_uploads_discard(struct unfinished_uploads *uploads,
                                const struct blob_name *name)
{
    pthread_mutex_lock(&uploads->lock);
    size_t index = index_of(uploads, name);
    if (index < uploads->count && uploads->list[index]->taken)
        uploads->list[index]->unwanted = true;
    else if (index < uploads->count)
        remove_at(uploads, index);
    pthread_mutex_unlock(&uploads->lock);
}

bool unfinished_uploads_find(struct unfinished_uploads *uploads,
                             const struct blob_name *name,
                             const struct principal *principal, uint64_t *size,
                             uint64_t *length)
{
    pthread_mutex_lock(&uploads->lock);
    size_t index = index_of(uploads, name);
    const struct unfinished_upload *upload =
        index < uploads->count ? uploads->list[index] : NULL;
    bool found = upload != NULL && !upload->unwanted &&
                 principal_equal(&upload->principal, principal);
    if (found) {
        *size = atomic_load(&upload->size);
        *length = upload->length;
    }
    pthread_mutex_unlock(&uploads->lock);
    return found;
}
