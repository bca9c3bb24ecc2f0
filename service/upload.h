/*
 * upload.h - a file of a dataset on its way in: the body of a route whose row has
 * BODY_FILE, written to a draft as it comes and published when all of it is there.
 *
 *   begin --> write, write, ... --> publish
 *     |         |                     |
 *     +---------+---------------------+--> abandon
 *
 * Threads: one at a time. upload_begin, upload_write and upload_abandon are the HTTP
 * server's, which writes to the page cache; upload_publish syncs and is the desk's.
 */
#ifndef SERVICE_UPLOAD_H
#define SERVICE_UPLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/routes.h"
#include "base/status.h"
#include "service/context.h"
#include "store/blob.h"

struct upload { /* a request's; zeroed: none */
    bool open;
    int file; /* descriptor of the draft, while it is open */
    uint64_t size;
    struct blob_draft draft;
};

/* Before the first byte: opens the draft of the file that place names.
 *   length  the header Content-Length, or NULL
 *   ST_NOT_FOUND, ST_DATASET_BUSY, ST_DATASET_IMMUTABLE  of the dataset or file name
 *   ST_DISK_FULL  the disk is nearly full
 *   ST_INTERNAL   the draft cannot be opened */
enum status upload_begin(struct context *context, struct upload *upload,
                         const struct route_match *place, const char *length,
                         struct error *error);

/* Appends to the draft, or fails with ST_BODY_TOO_LARGE, ST_DISK_FULL or
 * ST_INTERNAL. */
enum status upload_write(struct context *context, struct upload *upload,
                         const void *data, size_t size, struct error *error);

/* Publishes it as the file of its dataset, and closes it. What upload_begin checked is
 * checked again, since the dataset may have moved while the body came in.
 *   ST_INTERNAL, and those of upload_begin: it can only be abandoned */
enum status upload_publish(struct context *context, struct upload *upload,
                           const struct route_match *place, struct error *error);

/* Closes it and removes what was not published. Does nothing where none is open. */
void upload_abandon(struct context *context, struct upload *upload);

#endif
