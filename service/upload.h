/*
 * upload.h - a file of a dataset on its way in: the body of a route whose row has
 * BODY_FILE, written to a draft as it comes and published when all of it is there.
 *
 *   begin --> write, write, ... --> publish
 *     |         |                     |
 *     |         +--> pause            |    the body ended before the file did
 *     |         |                     |
 *     +---------+---------------------+--> abandon
 *
 * A request that says nothing of where its body goes brings the whole file, and if it
 * breaks off nothing is kept. One with Upload-Offset brings a piece: what has come of it
 * is kept (unfinished_uploads.h), and the file is whole at its Upload-Length. Where the
 * disk is full or fails, nothing is kept either, since the ledger needs the room more.
 *
 * Threads: one at a time. upload_begin, upload_write and upload_abandon are the HTTP
 * server's, which writes to the page cache; the others are the desk's, and upload_publish
 * syncs.
 */
#ifndef SERVICE_UPLOAD_H
#define SERVICE_UPLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/dataset_view.h"
#include "api/routes.h"
#include "base/principal.h"
#include "base/status.h"
#include "service/context.h"
#include "store/blob.h"

struct upload {        /* a request's; zeroed: none */
    bool open, failed; /* failed: the draft is not what was sent */
    bool unchecked;    /* its sender gave a digest, which nobody has compared yet */
    int file;          /* descriptor of the draft, while it is open */
    uint64_t size;     /* of the draft; or where a refused one would have gone on */
    uint64_t begun;    /* size of the draft when the request began */
    uint64_t length;   /* of the whole file; 0 where unfinished is NULL */
    struct blob_draft draft;
    struct unfinished_upload
        *unfinished; /* of a request with Upload-Offset, else NULL */
};

struct upload_start {                /* what a request says before its body */
    const struct route_match *place; /* the dataset and the file's name */
    const struct principal *principal;
    const char *content_length, *offset, *length; /* headers, NULL where absent */
};

/* Whether the file at place can be brought now: the statuses of the dataset, the file's
 * name and the disk that upload_begin lists. */
enum status upload_check(struct context *context, const struct route_match *place,
                         struct error *error);

/* Before the first byte: opens the draft of the file at start->place.
 *   ST_INVALID  of Upload-Offset and Upload-Length one is absent or no number, or the
 *               offset is beyond the length, or the announced body goes beyond it
 *   ST_UPLOAD_OFFSET, ST_UPLOAD_LENGTH, ST_UPLOAD_BUSY, ST_QUEUE_FULL
 *               as unfinished_uploads_take; of the first two, size says where the upload
 *               goes on. Where others share the store the first is of every request that
 *               says it does not bring the whole file
 *   ST_BODY_TOO_LARGE  Upload-Length is over the limit
 *   ST_NOT_FOUND, ST_DATASET_BUSY, ST_DATASET_IMMUTABLE  of the dataset or file name
 *   ST_DISK_FULL  the disk is nearly full, or has no room for the rest of the file
 *   ST_INTERNAL   the draft cannot be opened */
enum status upload_begin(struct context *context, struct upload *upload,
                         const struct upload_start *start, struct error *error);

/* The same of a file that is made new, under a name that nothing has: there is no dataset
 * to ask, and it comes whole.
 *   ST_INVALID    a piece was announced
 *   ST_DISK_FULL, ST_INTERNAL  as above */
enum status upload_begin_new(struct context *context, struct upload *upload,
                             const struct upload_start *start,
                             const struct blob_name *name, struct error *error);

/* Publishes one of these, and closes it.
 *   ST_INTERNAL  it can only be abandoned */
enum status upload_publish_new(struct context *context, struct upload *upload,
                               struct error *error);

/* Appends to the draft, or fails with ST_BODY_TOO_LARGE, ST_INVALID (beyond
 * Upload-Length), ST_DISK_FULL or ST_INTERNAL. */
enum status upload_write(struct context *context, struct upload *upload,
                         const void *data, size_t size, struct error *error);

/* Whether all of the file is there. */
bool upload_is_whole(const struct upload *upload);

/* Publishes it as the file of its dataset, and closes it. What upload_begin checked is
 * checked again, since the dataset may have moved while the body came in: the last time in
 * the transaction in which the file appears. So an import that has begun, at whichever
 * daemon, reads the files of before, and the upload is refused. An unfinished upload of the
 * same file goes.
 *   ST_INTERNAL, and those of upload_begin: it can only be abandoned */
enum status upload_publish(struct context *context, struct upload *upload,
                           const struct route_match *place, struct error *error);

/* Keeps what has come of one that is not whole, and closes it. The dataset is checked as
 * by upload_publish.
 *   ST_UPLOAD_OFFSET  others share the store, so nothing is kept: size is 0 */
enum status upload_pause(struct context *context, struct upload *upload,
                         const struct route_match *place, struct error *error);

/* The body's digest is awaited: until upload_believe nothing of it is kept. */
void upload_doubt(struct upload *upload);
void upload_believe(struct upload *upload);

/* Closes it and removes what was not published; what can go on later is kept, without what
 * is unchecked. Does nothing where none is open. */
void upload_abandon(struct context *context, struct upload *upload);

/* What is there of the file at place, as far as the principal may know.
 *   ST_NOT_FOUND, ST_DATASET_IMMUTABLE  of the dataset or file name */
enum status upload_read(struct context *context, const struct route_match *place,
                        const struct principal *principal, struct upload_view *view,
                        struct error *error);

/* Removes a file of a dataset that was uploaded, whole or not. False, which is logged,
 * where that fails. */
bool upload_remove(struct context *context, const struct blob_name *name);

#endif
