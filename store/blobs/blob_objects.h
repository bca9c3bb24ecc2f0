/*
 * blob_objects.h - blobs as objects of a bucket (base/bucket.h), encrypted before they
 * leave the machine (encrypted_object.h). The files that a data directory would keep in
 * its folders are then in the bucket; drafts are in scratch/ as ever, and files that
 * are being read are in cache/.
 *
 * Invariants
 *   (1) A blob exists when its row is committed. A publisher puts an object under a
 *       name that was drawn at random, and then commits the row that names it, within
 *       OBJECT_PUBLISH_MAX_S or not at all. So nothing depends on a conditional PUT,
 *       and a publisher that dies leaves an object without a row (object_garbage.h).
 *   (2) Neither an object's name nor its bytes follow from what the blob holds, no two
 *       blobs have one object or one key, and no object is ever put in another's place.
 *   (3) A bucket belongs to one database: an object of a fixed name in it, sealed under
 *       a key in the database, identifies it.
 *   (4) An object made of private records is put at a whole second of the clock: the
 *       bucket's owner sees when an object comes, no finer than everyone else
 *       (privacy.md P6).
 *
 * Threads: as blob.h. None of its functions may be called with a transaction open.
 */
#ifndef STORE_BLOBS_BLOB_OBJECTS_H
#define STORE_BLOBS_BLOB_OBJECTS_H

#include "base/bucket.h"
#include "base/cipher.h"
#include "store/blobs/blob.h"
#include "store/store.h"

struct blob_objects_setup {
    struct store *store;                   /* borrowed until blob_objects_leave */
    struct bucket *bucket;                 /* taken; NULL: only rows are read */
    uint8_t operator_key[CIPHER_KEY_SIZE]; /* the keys of blobs are wrapped by it */
    uint64_t cache_size;                   /* bytes */
};

/* From now on the blobs of a directory that blobs_open opened are objects. A bucket and
 * a database that are both fresh are bound to each other.
 *   ST_INVALID  the bucket is another database's, the key is another, the directory
 *               keeps files of its own, or the bucket's server refuses us
 *   ST_CORRUPT  a row is not as it was written
 *   ST_IO       the bucket cannot be reached */
enum status blob_objects_use(struct blobs *blobs,
                             const struct blob_objects_setup *setup,
                             struct error *error);

/* From now on removes objects that no row names (object_garbage.h), once all pages of
 * the database are checked. A directory without objects is allowed.
 *   ST_CORRUPT, ST_IO  as store_await_check */
enum status blob_objects_collect(struct blobs *blobs, struct error *error);

/* Like blob_objects_use for a directory that is only read (blobs_open_read), with the
 * objects themselves or, without a bucket, with their rows only: blob_find and
 * blob_check may be called. */
enum status blob_objects_use_read(struct blobs *blobs,
                                  const struct blob_objects_setup *setup,
                                  struct error *error);

/* Ends the use that blob_objects_use began, before the store is closed. Nothing is lent
 * any more, and only blobs_close may be called from then on. A directory without
 * objects is allowed. */
void blob_objects_leave(struct blobs *blobs);

/* *elsewhere = whether the database's blobs are objects of a bucket. */
enum status blob_objects_claimed(struct store *store, bool *elsewhere,
                                 struct error *error);

#endif
