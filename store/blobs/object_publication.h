/*
 * object_publication.h - turns a draft into an object and its row. Inside store only;
 * blob_objects.h states the guarantees.
 *
 *   put --> commit the row --> remove the old object of that name, cache the draft
 *
 * Threads: any.
 */
#ifndef STORE_BLOBS_OBJECT_PUBLICATION_H
#define STORE_BLOBS_OBJECT_PUBLICATION_H

#include "store/blobs/blob_place.h"

/* gate may be NULL.
 *   ST_IO  the draft cannot be read, or the bucket or the store failed; the draft stays
 *   those of the gate: the draft stays too, and its object is removed */
enum status object_publish(const struct blobs *blobs, const struct blob_draft *draft,
                           const struct blob_gate *gate, struct error *error);

#endif
