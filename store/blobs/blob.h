/*
 * blob.h - the data directory: the files of models, datasets and uploads. Their names
 * and paths are made here and nowhere else, and a blob is visible under its name whole
 * and durable, or not at all.
 *
 *   DIR/ (mode 0700)
 *     epsilond.db             the database (store.h)
 *     lock                    held by the process that serves the directory
 *     door                    a socket on which that process takes commands from the
 *                             host
 *     models/ID.safetensors   a trained model
 *     weights/ID.safetensors  public weights that were uploaded
 *     datasets/ID.matrix      the matrix that a dataset was imported to
 *     uploads/ID.features     what was uploaded of a dataset before its import: by its
 *     uploads/ID.labels       format either these two files
 *     uploads/ID.data         or this one
 *     scratch/                drafts; emptied at start
 *     ballast                 room kept for the start after a full disk
 *
 *   blob_draft_init,
 *   blob_draft_create --> draft --blob_publish--> blob --blob_remove--> gone
 *                           +-----blob_discard------------------------> gone
 *
 * Invariants
 *   (1) A blob is named by its kind and by the id of its model or dataset. A client
 *       chose that id or it was drawn at random: no name is derived from the content of
 *       the file (docs/privacy.md).
 *   (2) A draft is synced before it is renamed, and both folders are synced after.
 *
 * Threads: any; two threads must not work on one name.
 */
#ifndef STORE_BLOBS_BLOB_H
#define STORE_BLOBS_BLOB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/file_checksum.h"
#include "base/status.h"
#include "store/blobs/blob_name.h"

/* --- the directory --- */

struct store; /* store.h */
struct blobs; /* the data directory, opaque */

/* Makes the missing parts of the directory, checks its mode, takes `lock` (flock) for
 * the life of the process and empties scratch/.
 *   ST_IO  it cannot be made, read or locked ("in use by another process") */
enum status blobs_open(struct blobs **out, const char *directory, struct error *error);

/* Opens the directory without its lock, so another process may serve it: only
 * blob_fetch, blob_find, blob_check and blobs_database_path may be called. Nothing is
 * made, locked or removed.
 *   ST_IO  the path is empty or too long */
enum status blobs_open_read(struct blobs **out, const char *directory,
                            struct error *error);

/* Makes a directory, with its folders, to be filled with copies: it must not exist
 * before, is not locked and has no ballast. Only blob_copy, blobs_sync and the
 * functions that blobs_open_read allows may be called.
 *   ST_ALREADY_EXISTS  something of that name is there
 *   ST_IO              it cannot be made */
enum status blobs_make(struct blobs **out, const char *directory, struct error *error);

/* Makes all files in the directory's folders durable.
 *   ST_IO  a folder cannot be synced */
enum status blobs_sync(const struct blobs *blobs, struct error *error);

void blobs_close(struct blobs *blobs); /* NULL is allowed; releases the lock */

/* path = the path of the database. */
void blobs_database_path(const struct blobs *blobs, char path[BLOB_PATH_SIZE]);

/* path = the folder for data computed from the rows of datasets, which is reused while
 * the process lives; a start empties it. */
void blobs_features_path(const struct blobs *blobs, char path[BLOB_PATH_SIZE]);

/* path = the path of the socket `door` of a data directory. */
void blob_door_path(const char *directory, char path[BLOB_PATH_SIZE]);

/* Makes an empty file in scratch/ that has no name, so that it is gone when the caller
 * closes *file, and opens it for reading and writing.
 *   ST_IO  it cannot be made */
enum status blobs_unnamed_file(const struct blobs *blobs, int *file,
                               struct error *error);

/* Removes the blobs for which keep returns false, and every other file of those folders
 * whose name is not a blob's. A file that cannot be removed is logged and left for the
 * next sweep.
 *   ST_IO  a folder cannot be read */
enum status blobs_sweep(const struct blobs *blobs,
                        bool (*keep)(void *context, const struct blob_name *name),
                        void *context, struct error *error);

/* Removes the ballast, so that the start after a full disk has room to settle: 16 MiB
 * that blobs_open set aside, if four times as much was free. */
void blobs_drop_ballast(struct blobs *blobs);

/* *bytes = the bytes available to this user on the directory's file system. */
enum status blobs_free(struct blobs *blobs, uint64_t *bytes, struct error *error);

/* Called at ticks with the bytes that are free there. If that is little, removes files
 * that can be fetched again, and returns how many bytes it removed. */
uint64_t blobs_trim(const struct blobs *blobs, uint64_t free_bytes);

/* Removes the files of this machine whose blobs have been deleted or replaced by
 * another daemon of the store, which cannot remove files here.
 *   ST_IO  the store is poisoned */
enum status blobs_forget_gone(const struct blobs *blobs, struct error *error);

/* --- blobs --- */

/* Makes sure that a file of this machine holds the blob, and lends it until
 * blob_give_back: it may be opened and mapped meanwhile. A blob in a folder is lent as
 * it is, and may be missing: opening the path shows that. A blob elsewhere is fetched
 * first.
 *   ST_NOT_FOUND   there is none of that name (of blobs elsewhere)
 *   ST_DISK_FULL   the cache has no room for it
 *   ST_CORRUPT     the object elsewhere is not what was put there
 *   ST_IO          it cannot be fetched
 *   ST_CANCELLED   the loan's flag was seen set while it was fetched
 * The text of the error may be shown to clients: it says neither where the file is kept
 * nor what that place answered, which is logged. */
enum status blob_fetch(const struct blobs *blobs, struct blob_loan *loan,
                       const struct blob_name *name, struct error *error);
/* Like blob_fetch, but only for a file that is on this machine already; uses no
 * network.
 *   ST_NOT_FOUND  it is not here; blob_fetch finds out whether it can be fetched
 *   ST_IO         its row cannot be read */
enum status blob_fetch_here(const struct blobs *blobs, struct blob_loan *loan,
                            const struct blob_name *name, struct error *error);
void blob_give_back(const struct blobs *blobs,
                    struct blob_loan *loan); /* one that is not lent is allowed */

/* Returns ST_OK if the blob exists. ST_IO does not mean that it is missing.
 *   ST_NOT_FOUND  it is missing
 *   ST_IO         its place cannot be read */
enum status blob_find(const struct blobs *blobs, const struct blob_name *name,
                      struct error *error);

/* Checks that the blob exists and has this seal.
 *   ST_CORRUPT  its seal is another, or it is missing
 *   ST_IO       it cannot be read */
enum status blob_check(const struct blobs *blobs, const struct blob_name *name,
                       const struct file_checksum *seal, struct error *error);

/* Copies the blob from one directory into another, which must not have it yet, and
 * syncs it; its name there is durable after blobs_sync.
 *   ST_NOT_FOUND  it is not in the first
 *   ST_IO         it cannot be read or written */
enum status blob_copy(const struct blobs *from, const struct blobs *to,
                      const struct blob_name *name, struct error *error);

/* Removes the blob durably; ST_OK if it does not exist. */
enum status blob_remove(const struct blobs *blobs, const struct blob_name *name,
                        struct error *error);

/* --- drafts --- */

/* Sets the draft for a writer that opens a path itself. There is one such draft for
 * each blob, and a second writer replaces what the first has written. */
void blob_draft_init(struct blob_draft *draft, const struct blob_name *name);
void blob_draft_path(const struct blobs *blobs, char path[BLOB_PATH_SIZE],
                     const struct blob_draft *draft);

/* Makes an empty draft under a name of its own, so that a blob may have several at a
 * time, and opens it for writing. The caller closes *file.
 *   ST_IO  it cannot be made */
enum status blob_draft_create(struct blobs *blobs, struct blob_draft *draft,
                              const struct blob_name *name, int *file,
                              struct error *error);

/* Makes the draft its blob, and replaces an existing one of that name.
 *   ST_IO  the draft cannot be synced or renamed, or a folder cannot be synced */
enum status blob_publish(const struct blobs *blobs, const struct blob_draft *draft,
                         struct error *error);

/* A condition for a blob to appear. may reads memory only, inside a transaction of
 * STORE_ROW. */
struct blob_gate {
    struct store *store;
    enum status (*may)(void *context, struct error *error);
    void *context;
};

/* Like blob_publish, if the gate allows it. The draft is synced, or in the bucket,
 * before the gate is called, and the blob appears in the transaction in which the gate
 * is called: another transaction that changes the dataset comes before both or after
 * both.
 *   those of may  nothing has changed, and the draft stays */
enum status blob_publish_if(const struct blobs *blobs, const struct blob_draft *draft,
                            const struct blob_gate *gate, struct error *error);

/* Removes the draft, if it exists. */
void blob_discard(struct blobs *blobs, const struct blob_draft *draft);

#endif
