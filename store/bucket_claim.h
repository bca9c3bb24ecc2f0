/*
 * bucket_claim.h - whose a bucket is. It has an object of a fixed name, OBJECT_MARKER, with
 * nothing in it but a tag under a key that stands in the database: whoever can open it has
 * the database that the bucket belongs to, and the operator's key that it was made with.
 *
 *   row  object
 *   no   no      both are fresh: the row is committed, then the object is put; but not where
 *                anything else is there
 *   yes  no      a start was cut short between the two, where there are no other rows; else
 *                the bucket is not the one that the rows speak of
 *   no   yes     the bucket belongs to another database
 *   yes  yes     it is ours, where the one opens with the other
 *
 * Threads: one.
 */
#ifndef STORE_BUCKET_CLAIM_H
#define STORE_BUCKET_CLAIM_H

#include "base/bucket.h"
#include "base/cipher.h"
#include "store/store.h"

/* Makes the bucket the database's own, or sees that it is.
 *   may_make    false: it has to be already
 *   ST_INVALID  it is not, or may not be; the error says why
 *   ST_IO       it cannot be reached */
enum status bucket_claim(struct bucket *bucket, struct store *store,
                         const uint8_t operator_key[CIPHER_KEY_SIZE], bool may_make,
                         struct error *error);

/* *made = whether the database has a bucket. */
enum status bucket_claim_made(struct store *store, bool *made, struct error *error);

#endif
