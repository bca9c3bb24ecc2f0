/*
 * blob_place.h - where the blobs of a data directory are: a driver, the functions that
 * differ between the folders of the directory (blob_folder.c) and objects of a bucket
 * (blob_objects.c). Inside store only; blob.h describes each function.
 */
#ifndef STORE_BLOBS_BLOB_PLACE_H
#define STORE_BLOBS_BLOB_PLACE_H

#include "base/bucket.h"
#include "base/cipher.h"
#include "base/file_checksum.h"
#include "base/status.h"
#include "store/blobs/blob_cache.h"
#include "store/blobs/blob_name.h"
#include "store/blobs/object_garbage.h"

struct blobs;
struct blob_gate; /* blob.h */

struct blob_driver {
    enum status (*fetch)(const struct blobs *blobs, struct blob_loan *loan,
                         const struct blob_name *name, struct error *error);
    enum status (*fetch_here)(const struct blobs *blobs, struct blob_loan *loan,
                              const struct blob_name *name, struct error *error);
    void (*give_back)(const struct blobs *blobs, struct blob_loan *loan);
    enum status (*find)(const struct blobs *blobs, const struct blob_name *name,
                        struct error *error);
    enum status (*check)(const struct blobs *blobs, const struct blob_name *name,
                         const struct file_checksum *seal, struct error *error);
    enum status (*remove)(const struct blobs *blobs, const struct blob_name *name,
                          struct error *error);
    /* gate may be NULL. */
    enum status (*publish)(const struct blobs *blobs, const struct blob_draft *draft,
                           const struct blob_gate *gate, struct error *error);
    enum status (*sweep)(const struct blobs *blobs,
                         bool (*keep)(void *context, const struct blob_name *name),
                         void *context, struct error *error);
    uint64_t (*trim)(const struct blobs *blobs, uint64_t free_bytes);
    enum status (*forget_gone)(const struct blobs *blobs, struct error *error);
    void (*close)(struct blobs *blobs);
};

struct blobs {
    char directory[BLOB_PATH_SIZE];
    int lock; /* file descriptor, -1 if none */
    const struct blob_driver *driver;
    struct blob_objects *objects; /* the driver's state; NULL for a folder */
};

extern const struct blob_driver blob_folder;

struct blob_objects {
    struct store *store;
    struct bucket *bucket; /* NULL: only rows are read */
    struct blob_cache *cache;
    struct object_garbage *garbage;
    uint8_t operator_key[CIPHER_KEY_SIZE];
};

/* path = directory/file_name. */
void blobs_path_of(const struct blobs *blobs, char path[BLOB_PATH_SIZE],
                   const char *file_name);

/* Calls visit with the name of each file of the folder; stops if it returns false.
 *   ST_IO  the folder cannot be read */
enum status blobs_walk(const struct blobs *blobs, const char *folder,
                       bool (*visit)(void *context, const char *file_name),
                       void *context, struct error *error);

/* Sets the error of a failure at path, by errno; returns ST_IO. */
enum status blob_failed(struct error *error, const char *path);

/* Syncs the file or folder at path, which flags tell apart; or the folder that contains
 * it. */
enum status blob_sync(const char *path, int flags, struct error *error);
enum status blob_sync_folder_of(const char *path, struct error *error);

#endif
