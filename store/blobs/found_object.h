/*
 * found_object.h - looks up the row of a blob that is an object: it holds what is
 * needed to fetch the object and to check that it is what was put there. Inside store
 * only.
 *
 * Ownership: found_object_fini releases what a lookup has found, and wipes its key.
 * Threads: any.
 */
#ifndef STORE_BLOBS_FOUND_OBJECT_H
#define STORE_BLOBS_FOUND_OBJECT_H

#include "store/blobs/blob_place.h"
#include "store/blobs/encrypted_object.h"

struct found_object {
    const uint8_t *operator_key;
    bool is_there;                  /* there is a row */
    bool is_good;                   /* its key opens with the operator's */
    struct encrypted_object object; /* if is_good; else only its name and size */
    uint8_t *digests;               /* (chunks, SHA256_SIZE) */
};

/* Finds the blob's row, in a transaction of its own or in tx; ST_OK if there is no row.
 *   ST_IO  the store failed */
enum status found_object_find(struct found_object *found,
                              const struct blob_objects *objects,
                              const struct blob_name *name, struct error *error);
enum status found_object_find_in(struct found_object *found, struct store_tx *tx,
                                 const struct blob_objects *objects,
                                 const struct blob_name *name, struct error *error);
void found_object_fini(struct found_object *found);

/*   ST_NOT_FOUND  there is no row
 *   ST_CORRUPT    its key does not open */
enum status found_object_check(const struct found_object *found,
                               const struct blob_name *name, struct error *error);

#endif
