/*
 * upload.h - receives a file of a dataset: the body of a route whose row has BODY_FILE,
 * written to a draft as it comes and published when it is complete.
 *
 *   begin --> write, write, ... --> publish
 *     |         |                     |
 *     |         +--> pause            |    the body ended before the file did
 *     |         |                     |
 *     +---------+---------------------+--> abandon
 *
 * A request without Upload-Offset brings the whole file, and if it breaks off nothing
 * is kept. One with Upload-Offset brings a piece: what has come of it is kept
 * (unfinished_uploads.h), and the file is complete at its Upload-Length. If the disk is
 * full or fails, nothing is kept either, since the ledger needs the room more.
 *
 * Threads: one at a time. upload_begin, upload_write and upload_abandon are the HTTP
 * server's, which writes to the page cache; the others are the write queue's, and
 * upload_publish syncs.
 */
#ifndef SERVICE_INGEST_UPLOAD_H
#define SERVICE_INGEST_UPLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/blobs/blob.h"

struct daemon_state;
struct upload_view;

struct upload {        /* a request's; zeroed: none */
    bool open, failed; /* failed: the draft differs from what was sent */
    bool unchecked;    /* its sender gave a digest, which is not compared yet */
    int file;          /* descriptor of the draft, while it is open */
    uint64_t size;     /* of the draft; of a refused upload, where it continues */
    uint64_t begun;    /* size of the draft when the request began */
    uint64_t length;   /* of the whole file; 0 if unfinished is NULL */
    struct blob_draft draft;
    /* Set for a request with Upload-Offset, else NULL. */
    struct unfinished_upload *unfinished;
};

struct upload_start {                /* what a request says before its body */
    const struct route_match *place; /* the dataset and the file's name */
    const struct principal *principal;
    const char *content_length, *offset, *length; /* headers, NULL if absent */
};

/* Checks whether the file at place can be uploaded now: the dataset, the file's name
 * and the disk. The statuses are the corresponding ones of upload_begin. */
enum status upload_check(struct daemon_state *context, const struct route_match *place,
                         struct error *error);

/* Before the first byte: opens the draft of the file at start->place.
 *   ST_INVALID  only one of Upload-Offset and Upload-Length is there, one of them is no
 *               number, the offset is beyond the length, or the announced body goes
 *               beyond it
 *   ST_UPLOAD_OFFSET, ST_UPLOAD_LENGTH, ST_UPLOAD_BUSY, ST_QUEUE_FULL
 *               as unfinished_uploads_take; with the first two, size says where the
 *               upload continues. If other daemons share the store, every request that
 *               says it does not bring the whole file gets the first
 *   ST_BODY_TOO_LARGE  Upload-Length is over the limit
 *   ST_NOT_FOUND, ST_DATASET_BUSY, ST_DATASET_IMMUTABLE  of the dataset or file name
 *   ST_DISK_FULL  the disk is nearly full, or has no room for the rest of the file
 *   ST_INTERNAL   the draft cannot be opened */
enum status upload_begin(struct daemon_state *context, struct upload *upload,
                         const struct upload_start *start, struct error *error);

/* The same for a new file, with a name that is not in use: there is no dataset to
 * check, and the file must come as a whole.
 *   ST_INVALID    a piece was announced
 *   ST_DISK_FULL, ST_INTERNAL  as above */
enum status upload_begin_new(struct daemon_state *context, struct upload *upload,
                             const struct upload_start *start,
                             const struct blob_name *name, struct error *error);

/* Publishes such a new file, and closes it.
 *   ST_INTERNAL  it can only be abandoned */
enum status upload_publish_new(struct daemon_state *context, struct upload *upload,
                               struct error *error);

/* Appends to the draft, or fails with ST_BODY_TOO_LARGE, ST_INVALID (beyond
 * Upload-Length), ST_DISK_FULL or ST_INTERNAL. */
enum status upload_write(struct daemon_state *context, struct upload *upload,
                         const void *data, size_t size, struct error *error);

/* Returns whether the file is complete. */
bool upload_is_whole(const struct upload *upload);

/* Publishes the upload as the file of its dataset, and closes it. The checks of
 * upload_begin are repeated, since the dataset may have changed while the body came in:
 * the last time in the transaction in which the file appears. So an import that has
 * begun, at any daemon, reads the earlier files, and the upload is refused. An
 * unfinished upload of the same file is removed. The file has no sender until the caller
 * notes one (upload_senders.h).
 *   ST_INTERNAL, and those of upload_begin: it can only be abandoned */
enum status upload_publish(struct daemon_state *context, struct upload *upload,
                           const struct route_match *place, struct error *error);

/* Keeps what has come of an incomplete upload, and closes it. The dataset is checked as
 * by upload_publish.
 *   ST_UPLOAD_OFFSET  other daemons share the store, so nothing is kept: size is 0 */
enum status upload_pause(struct daemon_state *context, struct upload *upload,
                         const struct route_match *place, struct error *error);

/* upload_doubt says that the body has a digest: nothing of it is kept until
 * upload_believe. */
void upload_doubt(struct upload *upload);
void upload_believe(struct upload *upload);

/* Closes the upload and removes it if it was not published. What can continue later is
 * kept, without the unchecked bytes. Does nothing if none is open. */
void upload_abandon(struct daemon_state *context, struct upload *upload);

/* Shows what exists of the file at place, as far as the principal may know.
 *   ST_NOT_FOUND, ST_DATASET_IMMUTABLE  of the dataset or file name */
enum status upload_read(struct daemon_state *context, const struct route_match *place,
                        const struct principal *principal, struct upload_view *view,
                        struct error *error);

/* Removes an uploaded file of a dataset, complete or not. Returns false, and logs, if
 * that fails. */
bool upload_remove(struct daemon_state *context, const struct blob_name *name);

#endif
