/*
 * bucket_claim.h - which database a bucket belongs to. The bucket has an object of a
 * fixed name, OBJECT_MARKER, whose only content is a tag under a key in the database: a
 * process that can open it has the database that the bucket belongs to, and the
 * operator's key that it was made with.
 *
 *   row  object
 *   no   no      both are fresh: the row is committed, then the object is put; but not
 *                if anything else is there
 *   yes  no      if there are no other rows, a start was cut short between the two;
 *                else the bucket is not the one that the rows are about
 *   no   yes     the bucket belongs to another database
 *   yes  yes     it is ours if the row's key opens the object
 *
 * Threads: one.
 */
#ifndef STORE_BLOBS_BUCKET_CLAIM_H
#define STORE_BLOBS_BUCKET_CLAIM_H

#include "base/bucket.h"
#include "base/cipher.h"
#include "store/store.h"

/* Binds the bucket to the database, or checks that it is bound.
 *   may_make    false: it has to be bound already
 *   ST_INVALID  it is not, or may not be; the error says why
 *   ST_IO       it cannot be reached */
enum status bucket_claim(struct bucket *bucket, struct store *store,
                         const uint8_t operator_key[CIPHER_KEY_SIZE], bool may_make,
                         struct error *error);

/* *made = whether the database has a bucket. */
enum status bucket_claim_made(struct store *store, bool *made, struct error *error);

#endif
