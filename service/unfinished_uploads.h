/*
 * unfinished_uploads.h - uploads that are not whole yet, kept between requests: each goes
 * on where the request before stopped, whatever ended that one.
 *
 *   none --taken at 0--> WRITTEN --rested--> RESTING --taken at its size--> WRITTEN
 *     ^                     |                   |
 *     +-------dropped-------+-----discarded-----+
 *
 * Invariants
 *   (1) There is at most one for each blob, and one request at a time writes to it.
 *   (2) What was sent is in the draft up to its size, without a gap, and in nothing else:
 *       no digest of it is made, and the daemon's end is its end. A start could not tell
 *       which bytes a power cut took, for none are synced before the upload is whole, so
 *       scratch/ is emptied then (store/blob.h).
 *   (3) Only who began an upload is told how much of it there is.
 *   (4) Where others share the store none rests (upload.h): who has begun a file anew at
 *       another daemon would go on here behind what was sent before, of another file.
 *
 * At most LIMIT_UPLOADS_UNFINISHED are kept: the one that has rested for longest makes
 * room for the next.
 *
 * Threads: any, but that an upload which was taken belongs to the thread of the request
 * that took it.
 */
#ifndef SERVICE_UNFINISHED_UPLOADS_H
#define SERVICE_UNFINISHED_UPLOADS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/principal.h"
#include "base/status.h"
#include "store/blob.h"

struct unfinished_uploads; /* opaque */
struct unfinished_upload;  /* opaque: one of them */

struct unfinished_uploads *unfinished_uploads_create(struct blobs *blobs);
/* Removes all drafts. None may be taken. NULL is allowed. */
void unfinished_uploads_destroy(struct unfinished_uploads *uploads);

struct upload_claim { /* what a request is going to write */
    struct blob_name name;
    struct principal principal; /* who sends it */
    uint64_t offset, length;    /* where it goes on; the size of the whole file */
};

/* Takes the upload that goes on at the claim's offset. At 0 it is begun anew, and what
 * was there of it goes.
 *   *there  on ST_UPLOAD_OFFSET and ST_UPLOAD_LENGTH where it goes on
 *   ST_UPLOAD_BUSY    another request writes to it
 *   ST_UPLOAD_OFFSET  it goes on elsewhere: at 0 if nothing is there
 *   ST_UPLOAD_LENGTH  it was begun with another length
 *   ST_QUEUE_FULL     as many as are kept are being written
 *   ST_INTERNAL       its draft cannot be made */
enum status unfinished_uploads_take(struct unfinished_uploads *uploads,
                                    const struct upload_claim *claim,
                                    struct unfinished_upload **out, uint64_t *there,
                                    struct error *error);

/* The draft of one that was taken, and its descriptor, open for writing at its end. */
const struct blob_draft *
unfinished_upload_draft(const struct unfinished_upload *upload);
int unfinished_upload_file(const struct unfinished_upload *upload);

/* Says how large the draft of one that was taken is by now. */
void unfinished_upload_grew(struct unfinished_upload *upload, uint64_t size);

/* Gives back one that was taken: to go on later; or with its draft removed, unless that
 * was published. One that was discarded meanwhile is dropped either way. */
void unfinished_uploads_rest(struct unfinished_uploads *uploads,
                             struct unfinished_upload *upload_take);
void unfinished_uploads_drop(struct unfinished_uploads *uploads,
                             struct unfinished_upload *upload_take);

/* Removes the upload of this name, at once or when the request that writes to it gives
 * it back. */
void unfinished_uploads_discard(struct unfinished_uploads *uploads,
                                const struct blob_name *name);

/* Answers whether the principal has begun an upload of this name, of which size bytes
 * are there, of length. */
bool unfinished_uploads_find(struct unfinished_uploads *uploads,
                             const struct blob_name *name,
                             const struct principal *principal, uint64_t *size,
                             uint64_t *length);

#endif
