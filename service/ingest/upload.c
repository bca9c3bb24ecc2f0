#include "service/ingest/upload.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/http/routes.h"
#include "api/limits.h"
#include "base/check.h"
#include "base/log.h"
#include "service/config/config.h"
#include "service/datasets/dataset_info.h"
#include "service/datasets/datasets.h"
#include "service/ingest/unfinished_uploads.h"
#include "service/ingest/upload_kind.h"
#include "service/ingest/upload_senders.h"
#include "service/process/daemon_state.h"
#include "service/process/disk_room.h"
#include "service/threads/epoch_reclaim.h"
#include "store/blobs/blob_name.h"

static const uint64_t disk_check_every = 4 << 20; /* bytes of an upload */

/* Refuses a file name, and lists the names that the dataset has. */
static enum status refuse_file(const struct schema *schema, struct error *error)
{
    char names[128] = "";
    size_t count = schema_file_count(schema), size = 0;
    for (size_t i = 0; i < count; i++)
        size += (size_t)snprintf(names + size, sizeof names - size, "%sfiles/%s",
                                 i == 0          ? ""
                                 : i + 1 < count ? ", "
                                                 : " and ",
                                 schema_file_name(schema, i));
    return error_set(error, ST_NOT_FOUND, "a dataset of format %s has %s%s",
                     schema->reader->name, count == 1 ? "one file, " : "", names);
}

/* Looks up the dataset once: a second look might find it declared in another format,
 * which has no such file. */
static enum status look(struct daemon_state *context, const struct route_match *place,
                        struct dataset_info *info, struct blob_name *name,
                        struct error *error)
{
    struct dataset *dataset = datasets_find(context->datasets, place->id);
    if (dataset == NULL)
        return error_set(error, ST_NOT_FOUND, "no dataset \"%s\"", place->id);
    dataset_read(context->datasets, dataset, info);
    const struct dataset_spec *spec = dataset_spec(dataset);
    if (info->state == DATASET_DELETED)
        return error_set(error, ST_NOT_FOUND, "the dataset was deleted");
    const struct upload_kind *kind = upload_kind_find(&spec->schema, place->name);
    if (kind == NULL)
        return refuse_file(&spec->schema, error);
    *name = blob_of_dataset(&spec->id, kind->blob);
    return ST_OK;
}

/* Finds the dataset that has a file of that name, and the file's blob. */
static enum status find(struct daemon_state *context, const struct route_match *place,
                        struct dataset_info *info, struct blob_name *name,
                        struct error *error)
{
    struct reclaim_reader visit;
    datasets_enter(context->datasets, &visit);
    enum status status = look(context, place, info, name, error);
    datasets_leave(context->datasets, &visit);
    return status;
}

/* The same as upload_check; also sets name to the blob that the file will be. */
static enum status check(struct daemon_state *context, const struct route_match *place,
                         struct blob_name *name, struct error *error)
{
    struct dataset_info info;
    enum status status = find(context, place, &info, name, error);
    if (status != ST_OK)
        return status;
    if (info.state == DATASET_IMPORTING)
        return error_set(error, ST_DATASET_BUSY, "it is being imported");
    if (info.state == DATASET_READY)
        return error_set(error, ST_DATASET_IMMUTABLE, "it is imported");
    return disk_room_check(context->disk_room, error);
}

enum status upload_check(struct daemon_state *context, const struct route_match *place,
                         struct error *error)
{
    struct blob_name name;
    return check(context, place, &name, error);
}

static enum status check_disk(const struct daemon_state *context, uint64_t size,
                              struct error *error)
{
    if (disk_room_left(context->disk_room) < size)
        return error_set(error, ST_DISK_FULL, "the disk has no room for the file");
    return ST_OK;
}

/* --- where a body goes --- */

/* Reads a required header called name, which is a number of bytes. */
static enum status read_count(uint64_t *count, const char *name, const char *text,
                              struct error *error)
{
    enum { DIGITS = 16 }; /* in LIMIT_COUNT */
    size_t length = text != NULL ? strlen(text) : 0;
    bool digits = length > 0 && length <= DIGITS;
    for (size_t i = 0; digits && i < length; i++)
        digits = isdigit((unsigned char)text[i]);
    if (digits)
        *count = strtoull(text, NULL, 10);
    if (!digits || *count >= (uint64_t)LIMIT_COUNT)
        return error_set(error, ST_INVALID,
                         "%s must count bytes: a whole number below 2^53", name);
    return ST_OK;
}

/* Reads the headers of a request that sends a piece of a file. */
static enum status read_claim(const struct daemon_state *context,
                              const struct upload_start *start,
                              struct upload_claim *claim, struct error *error)
{
    const char *announced = start->content_length;
    uint64_t size = announced != NULL ? strtoull(announced, NULL, 10) : 0;
    enum status status =
        read_count(&claim->offset, "Upload-Offset", start->offset, error);
    if (status == ST_OK)
        status = read_count(&claim->length, "Upload-Length", start->length, error);
    if (status != ST_OK)
        return status;
    if (claim->length > context->config->upload_size_max)
        return error_set(error, ST_BODY_TOO_LARGE,
                         "the file may have at most %" PRIu64 " bytes",
                         context->config->upload_size_max);
    if (claim->offset > claim->length)
        return error_set(error, ST_INVALID, "Upload-Offset is beyond Upload-Length");
    if (size > claim->length - claim->offset)
        return error_set(error, ST_INVALID, "the body goes beyond Upload-Length");
    return ST_OK;
}

/* If other daemons share the store, the next piece may reach any of them, and another
 * daemon may hold a piece of another file with the same length. So the whole file must
 * come in one request, or nothing of it is kept; *size says so. */
static enum status refuse_part(uint64_t *size, struct error *error)
{
    *size = 0;
    return error_set(error, ST_UPLOAD_OFFSET,
                     "several daemons take files here, and none keeps a part of one: "
                     "send it whole, from Upload-Offset 0 to Upload-Length");
}

/* Returns whether the request says at its beginning that it does not send the whole
 * file. */
static bool is_part(const struct upload_start *start, const struct upload_claim *claim)
{
    return claim->offset > 0 ||
           (start->content_length != NULL &&
            strtoull(start->content_length, NULL, 10) < claim->length);
}

static enum status begin_piece(struct daemon_state *context, struct upload *upload,
                               const struct upload_start *start,
                               const struct blob_name *name, struct error *error)
{
    struct upload_claim claim = {.name = *name, .principal = *start->principal};
    enum status status = read_claim(context, start, &claim, error);
    if (status == ST_OK && store_shared(context->store) && is_part(start, &claim))
        status = refuse_part(&upload->size, error);
    if (status == ST_OK)
        status = check_disk(context, claim.length - claim.offset, error);
    if (status == ST_OK)
        status = unfinished_uploads_take(context->unfinished_uploads, &claim,
                                         &upload->unfinished, &upload->size, error);
    if (status != ST_OK)
        return status;
    upload->draft = *unfinished_upload_draft(upload->unfinished);
    upload->file = unfinished_upload_file(upload->unfinished);
    upload->size = upload->begun = claim.offset;
    upload->length = claim.length;
    upload->open = true;
    return ST_OK;
}

static enum status begin_whole(struct daemon_state *context, struct upload *upload,
                               const struct upload_start *start,
                               const struct blob_name *name, struct error *error)
{
    const char *length = start->content_length;
    enum status status =
        length != NULL ? check_disk(context, strtoull(length, NULL, 10), error) : ST_OK;
    if (status != ST_OK)
        return status;
    if (blob_draft_create(context->blobs, &upload->draft, name, &upload->file, NULL) !=
        ST_OK)
        return error_set(error, ST_INTERNAL, "the file cannot be stored");
    upload->open = true;
    return ST_OK;
}

enum status upload_begin(struct daemon_state *context, struct upload *upload,
                         const struct upload_start *start, struct error *error)
{
    struct blob_name name;
    enum status status = check(context, start->place, &name, error);
    if (status != ST_OK)
        return status;
    bool is_piece = start->offset != NULL || start->length != NULL;
    return is_piece ? begin_piece(context, upload, start, &name, error)
                    : begin_whole(context, upload, start, &name, error);
}

enum status upload_begin_new(struct daemon_state *context, struct upload *upload,
                             const struct upload_start *start,
                             const struct blob_name *name, struct error *error)
{
    enum status status = disk_room_check(context->disk_room, error);
    if (status != ST_OK)
        return status;
    if (start->offset != NULL || start->length != NULL)
        return error_set(error, ST_INVALID,
                         "this file comes whole: send no Upload-Offset and no "
                         "Upload-Length");
    return begin_whole(context, upload, start, name, error);
}

/* --- the body --- */

static enum status write_all(struct upload *upload, const void *data, size_t size,
                             struct error *error)
{
    const char *next = data;
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

/* Checks the disk's room once every disk_check_every bytes. */
static enum status append(struct daemon_state *context, struct upload *upload,
                          const void *data, size_t size, struct error *error)
{
    if (upload->size / disk_check_every != (upload->size + size) / disk_check_every &&
        disk_room_check(context->disk_room, error) != ST_OK)
        return ST_DISK_FULL;
    disk_room_take(context->disk_room, size);
    return write_all(upload, data, size, error);
}

enum status upload_write(struct daemon_state *context, struct upload *upload,
                         const void *data, size_t size, struct error *error)
{
    uint64_t max = context->config->upload_size_max;
    if (upload->unfinished != NULL && size > upload->length - upload->size)
        return error_set(error, ST_INVALID, "the body goes beyond Upload-Length");
    if (size > max - upload->size)
        return error_set(error, ST_BODY_TOO_LARGE,
                         "the file may have at most %" PRIu64 " bytes", max);
    enum status status = append(context, upload, data, size, error);
    upload->failed = status != ST_OK;
    if (status != ST_OK)
        return status;
    upload->size += size;
    if (upload->unfinished != NULL)
        unfinished_upload_grew(upload->unfinished, upload->size);
    return ST_OK;
}

bool upload_is_whole(const struct upload *upload)
{
    return upload->unfinished == NULL || upload->size == upload->length;
}

/* --- the end --- */

static void close_draft(struct upload *upload)
{
    close(upload->file);
    upload->open = false;
}

/* Returns whether the dataset still takes this file. */
static bool is_awaited(struct daemon_state *context, const struct blob_name *name)
{
    struct reclaim_reader visit;
    struct dataset_info info;
    datasets_enter(context->datasets, &visit);
    const struct dataset *dataset = datasets_find(context->datasets, name->id);
    CHECK(dataset != NULL);
    dataset_read(context->datasets, dataset, &info);
    bool awaited = false;
    for (size_t i = 0; i < UPLOAD_KINDS; i++)
        awaited |= upload_kinds[i].blob == name->kind &&
                   upload_kind_is_of(&upload_kinds[i], &dataset_spec(dataset)->schema);
    datasets_leave(context->datasets, &visit);
    return awaited && info.state != DATASET_READY && info.state != DATASET_DELETED;
}

/* Closes an upload that was published, and so has no draft any more. */
static void close_published(struct daemon_state *context, struct upload *upload)
{
    if (upload->unfinished != NULL) {
        upload->open = false;
        unfinished_uploads_drop(context->unfinished_uploads, upload->unfinished);
    } else {
        close_draft(upload);
        unfinished_uploads_discard(context->unfinished_uploads, &upload->draft.name);
    }
}

/* The file is not part of the ledger: a failure must not look like a failure of the
 * ledger, nor show paths. A failed sync is never tried again. */
static enum status not_published(struct upload *upload, const struct error *inner,
                                 struct error *error)
{
    upload->failed = true;
    log_event(LOG_ERROR, "upload_failed", "detail", inner->text, (char *)NULL);
    return error_set(error, ST_INTERNAL, "the file could not be stored");
}

enum status upload_publish_new(struct daemon_state *context, struct upload *upload,
                               struct error *error)
{
    struct error inner = {0};
    if (blob_publish(context->blobs, &upload->draft, &inner) != ST_OK)
        return not_published(upload, &inner, error);
    close_draft(upload);
    return ST_OK;
}

struct last_check { /* of the dataset, in the transaction that publishes the file */
    struct daemon_state *context;
    const struct route_match *place;
    enum status status;
    struct error *error;
};

static enum status check_last(void *argument, struct error *error)
{
    struct last_check *last = argument;
    (void)error; /* error is for the log, last->error for the client */
    last->status = upload_check(last->context, last->place, last->error);
    return last->status;
}

enum status upload_publish(struct daemon_state *context, struct upload *upload,
                           const struct route_match *place, struct error *error)
{
    struct error inner = {0};
    struct last_check last = {context, place, ST_OK, error};
    const struct blob_gate gate = {context->store, check_last, &last};
    enum status status = upload_check(context, place, error);
    if (status != ST_OK)
        return status;
    upload_senders_forget(context->upload_senders, &upload->draft.name);
    status = blob_publish_if(context->blobs, &upload->draft, &gate, &inner);
    if (last.status != ST_OK)
        return last.status;
    if (status != ST_OK)
        return not_published(upload, &inner, error);
    close_published(context, upload);
    return ST_OK;
}

enum status upload_pause(struct daemon_state *context, struct upload *upload,
                         const struct route_match *place, struct error *error)
{
    enum status status = upload_check(context, place, error);
    if (status != ST_OK)
        return status;
    upload_abandon(context, upload);
    return store_shared(context->store) ? refuse_part(&upload->size, error) : ST_OK;
}

void upload_doubt(struct upload *upload)
{
    upload->unchecked = true;
}

void upload_believe(struct upload *upload)
{
    upload->unchecked = false;
}

/* Cuts off the bytes of this request. */
static void rewind_draft(struct upload *upload)
{
    if (ftruncate(upload->file, (off_t)upload->begun) != 0 ||
        lseek(upload->file, (off_t)upload->begun, SEEK_SET) < 0) {
        upload->failed = true;
        return;
    }
    upload->size = upload->begun;
    unfinished_upload_grew(upload->unfinished, upload->size);
}

/* Code that makes the dataset READY or DELETED, or changes its format, discards its
 * uploads afterwards, so an upload that rests by then is removed. Here the dataset is
 * checked after the upload rests, so one that did not rest by then is removed too. */
static void rest(struct daemon_state *context, struct upload *upload)
{
    upload->open = false;
    if (upload->unchecked)
        rewind_draft(upload);
    if (upload->failed || store_shared(context->store)) {
        unfinished_uploads_drop(context->unfinished_uploads, upload->unfinished);
        return;
    }
    unfinished_uploads_rest(context->unfinished_uploads, upload->unfinished);
    if (!is_awaited(context, &upload->draft.name))
        unfinished_uploads_discard(context->unfinished_uploads, &upload->draft.name);
}

void upload_abandon(struct daemon_state *context, struct upload *upload)
{
    if (!upload->open)
        return;
    if (upload->unfinished != NULL) {
        rest(context, upload);
        return;
    }
    close_draft(upload);
    blob_discard(context->blobs, &upload->draft);
}

/* --- what is there --- */

enum status upload_read(struct daemon_state *context, const struct route_match *place,
                        const struct principal *principal, struct upload_view *view,
                        struct error *error)
{
    struct dataset_info info;
    struct blob_name name;
    enum status status = find(context, place, &info, &name, error);
    if (status != ST_OK)
        return status;
    if (info.state == DATASET_READY)
        return error_set(error, ST_DATASET_IMMUTABLE, "it is imported");
    *view = (struct upload_view){.dataset = place->id, .file = place->name};
    view->is_begun = unfinished_uploads_find(context->unfinished_uploads, &name,
                                             principal, &view->offset, &view->length);
    if (view->is_begun)
        return ST_OK;
    struct error found = {0};
    status = blob_find(context->blobs, &name, &found);
    view->is_whole = status == ST_OK;
    return status == ST_OK || status == ST_NOT_FOUND
               ? ST_OK
               : error_set(error, status, "%s", found.text);
}

bool upload_remove(struct daemon_state *context, const struct blob_name *name)
{
    unfinished_uploads_discard(context->unfinished_uploads, name);
    upload_senders_forget(context->upload_senders, name);
    return daemon_state_remove(context, name);
}
