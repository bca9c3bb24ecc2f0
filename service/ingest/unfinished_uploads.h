/*
 * unfinished_uploads.h - uploads that are not complete yet, kept between requests: each
 * request continues where the one before stopped, no matter why it stopped.
 *
 *   none --taken at 0--> WRITTEN --rested--> RESTING --taken at its size--> WRITTEN
 *     ^                     |                   |
 *     +-------dropped-------+-----discarded-----+
 *
 * Invariants
 *   (1) There is at most one for each blob, and one request at a time writes to it.
 *   (2) The bytes sent so far are in the draft up to its size, without a gap, and
 *       nowhere else: no digest of them is made, and an upload ends with the daemon. A
 *       start could not tell which bytes a power cut took, since none are synced before
 *       the upload is complete, so scratch/ is emptied then (store/blobs/blob.h).
 *   (3) Only the principal that began an upload learns how much of it there is.
 *   (4) If other daemons share the store none rests (upload.h): a client that has begun
 *       the file again at another daemon would otherwise append here to the bytes of an
 *       earlier file.
 *
 * At most LIMIT_UPLOADS_UNFINISHED are kept: the one that has rested for longest makes
 * room for the next.
 *
 * Threads: any, except that an upload which was taken belongs to the thread of the
 * request that took it.
 */
#ifndef SERVICE_INGEST_UNFINISHED_UPLOADS_H
#define SERVICE_INGEST_UNFINISHED_UPLOADS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/principal.h"
#include "store/blobs/blob.h"

struct unfinished_uploads; /* opaque */
struct unfinished_upload;  /* opaque: one of them */

struct unfinished_uploads *unfinished_uploads_create(struct blobs *blobs);
/* Removes all drafts. None may be taken. NULL is allowed. */
void unfinished_uploads_destroy(struct unfinished_uploads *uploads);

struct upload_claim { /* the piece that a request will write */
    struct blob_name name;
    struct principal principal; /* the sender */
    uint64_t offset, length;    /* where the piece begins; the size of the whole file */
};

/* Takes the upload that continues at the claim's offset. At 0 it begins again, and an
 * earlier draft is removed.
 *   *there  on ST_UPLOAD_OFFSET and ST_UPLOAD_LENGTH, where it continues
 *   ST_UPLOAD_BUSY    another request writes to it
 *   ST_UPLOAD_OFFSET  it continues elsewhere: at 0 if nothing is there
 *   ST_UPLOAD_LENGTH  it was begun with another length
 *   ST_QUEUE_FULL     the maximum of uploads is being written
 *   ST_INTERNAL       its draft cannot be made */
enum status unfinished_uploads_take(struct unfinished_uploads *uploads,
                                    const struct upload_claim *claim,
                                    struct unfinished_upload **out, uint64_t *there,
                                    struct error *error);

/* The draft of a taken upload, and its descriptor, open for writing at its end. */
const struct blob_draft *
unfinished_upload_draft(const struct unfinished_upload *upload);
int unfinished_upload_file(const struct unfinished_upload *upload);

/* Sets the current size of a taken upload's draft. */
void unfinished_upload_grew(struct unfinished_upload *upload, uint64_t size);

/* Give back a taken upload: rest keeps it, to continue later; drop removes its draft,
 * unless that was published. An upload that was discarded meanwhile is dropped in
 * either case. */
void unfinished_uploads_rest(struct unfinished_uploads *uploads,
                             struct unfinished_upload *upload_take);
void unfinished_uploads_drop(struct unfinished_uploads *uploads,
                             struct unfinished_upload *upload_take);

/* Removes the upload of this name, at once or when the request that writes to it gives
 * it back. */
void unfinished_uploads_discard(struct unfinished_uploads *uploads,
                                const struct blob_name *name);

/* Returns whether the principal has begun an upload of this name; if so, sets the size
 * so far and the length of the whole. */
bool unfinished_uploads_find(struct unfinished_uploads *uploads,
                             const struct blob_name *name,
                             const struct principal *principal, uint64_t *size,
                             uint64_t *length);

#endif
