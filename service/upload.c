#include "service/upload.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/check.h"
#include "base/log.h"
#include "service/upload_kind.h"

static const uint64_t disk_check_every = 4 << 20; /* bytes of an upload */

/* Refuses a file and says which there are instead. */
static enum status refuse_file(const struct reader *reader, struct error *error)
{
    if (reader_file_count(reader) == 1)
        return error_set(error, ST_NOT_FOUND,
                         "a dataset of format %s has one file, files/%s", reader->name,
                         reader->files[0]);
    return error_set(error, ST_NOT_FOUND,
                     "a dataset of format %s has files/%s and files/%s", reader->name,
                     reader->files[0], reader->files[1]);
}

static enum status check(struct context *context, const struct route_match *place,
                         struct error *error)
{
    struct dataset_info info;
    struct dataset *dataset = datasets_find(context->datasets, place->id);
    if (dataset == NULL)
        return error_set(error, ST_NOT_FOUND, "no dataset \"%s\"", place->id);
    dataset_read(context->datasets, dataset, &info);
    const struct reader *reader = dataset_spec(dataset)->schema.reader;
    if (info.state == DATASET_DELETED)
        return error_set(error, ST_NOT_FOUND, "the dataset was deleted");
    if (upload_kind_find(reader, place->name) == NULL)
        return refuse_file(reader, error);
    if (info.state == DATASET_IMPORTING)
        return error_set(error, ST_DATASET_BUSY, "it is being imported");
    if (info.state == DATASET_READY)
        return error_set(error, ST_DATASET_IMMUTABLE, "it is imported");
    return disk_room_check(&context->disk_room, error);
}

static enum status check_disk(const struct context *context, uint64_t size,
                              struct error *error)
{
    if (disk_room_left(&context->disk_room) < size)
        return error_set(error, ST_DISK_FULL, "the disk has no room for the file");
    return ST_OK;
}

/* Names the blob that is uploaded there. The dataset has such a file. */
static struct blob_name name_of(struct context *context,
                                const struct route_match *place)
{
    const struct dataset_spec *spec =
        dataset_spec(datasets_find(context->datasets, place->id));
    const struct upload_kind *kind = upload_kind_find(spec->schema.reader, place->name);
    CHECK(kind != NULL);
    return blob_of_dataset(&spec->id, kind->blob);
}

enum status upload_begin(struct context *context, struct upload *upload,
                         const struct route_match *place, const char *length,
                         struct error *error)
{
    enum status status = check(context, place, error);
    if (status == ST_OK && length != NULL)
        status = check_disk(context, strtoull(length, NULL, 10), error);
    if (status != ST_OK)
        return status;
    const struct blob_name name = name_of(context, place);
    status =
        blob_draft_create(context->blobs, &upload->draft, &name, &upload->file, NULL);
    if (status != ST_OK)
        return error_set(error, ST_INTERNAL, "the file cannot be stored");
    upload->open = true;
    return ST_OK;
}

enum status upload_write(struct context *context, struct upload *upload,
                         const void *data, size_t size, struct error *error)
{
    const char *next = data;
    uint64_t max = context->config->upload_size_max;
    if (size > max - upload->size)
        return error_set(error, ST_BODY_TOO_LARGE,
                         "the file may have at most %llu bytes",
                         (unsigned long long)max);
    if (upload->size / disk_check_every != (upload->size + size) / disk_check_every &&
        disk_room_check(&context->disk_room, error) != ST_OK)
        return ST_DISK_FULL;
    upload->size += size;
    disk_room_take(&context->disk_room, size);
    while (size > 0) {
        ssize_t written = write(upload->file, next, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0 && (errno == ENOSPC || errno == EDQUOT))
            return error_set(error, ST_DISK_FULL, "the disk is full");
        if (written < 0)
            return error_set(error, ST_INTERNAL, "the file cannot be stored");
        next += written;
        size -= (size_t)written;
    }
    return ST_OK;
}

static void close_draft(struct upload *upload)
{
    close(upload->file);
    upload->open = false;
}

enum status upload_publish(struct context *context, struct upload *upload,
                           const struct route_match *place, struct error *error)
{
    struct error inner = {0};
    enum status status = check(context, place, error);
    if (status != ST_OK)
        return status;
    if (blob_publish(context->blobs, &upload->draft, &inner) == ST_OK) {
        close_draft(upload);
        return ST_OK;
    }
    /* The file is no part of the ledger, so this must not read as the ledger's failure;
     * nor may it show paths. */
    log_event(LOG_ERROR, "upload_failed", "detail", inner.text, (char *)NULL);
    return error_set(error, ST_INTERNAL, "the file could not be stored");
}

void upload_abandon(struct context *context, struct upload *upload)
{
    if (!upload->open)
        return;
    close_draft(upload);
    blob_discard(context->blobs, &upload->draft);
}
