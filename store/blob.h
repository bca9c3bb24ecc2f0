/*
 * blob.h - the data directory: the files of models, datasets and uploads. Their names
 * and paths are made here and nowhere else, and a blob is visible under its name whole
 * and durable, or not at all.
 *
 *   DIR/ (mode 0700)
 *     epsilond.db             the database (store.h)
 *     lock                    held by the process that serves the directory
 *     door                    a socket, where that process takes commands of the host
 *     models/ID.safetensors   a trained model
 *     weights/ID.safetensors  public weights that were uploaded
 *     datasets/ID.matrix      what a dataset was imported to
 *     uploads/ID.features     what was uploaded of a dataset before its import: two
 *     uploads/ID.labels       files, or, as its format wants,
 *     uploads/ID.data         one
 *     scratch/                drafts; emptied at start
 *     ballast                 room kept for the start after a full disk
 *
 *   blob_draft_init,
 *   blob_draft_create --> draft --blob_publish--> blob --blob_remove--> gone
 *                           +-----blob_discard------------------------> gone
 *
 * Invariants
 *   (1) A blob is named by its kind and by the id of its model or dataset. A client
 *       chose that id or it was drawn at random: no name is made of what the file holds
 *       (docs/privacy.md).
 *   (2) A draft is synced before it is renamed, and both folders are synced after.
 *
 * Threads: any; two threads must not work on one name.
 */
#ifndef STORE_BLOB_H
#define STORE_BLOB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/file_seal.h"
#include "base/status.h"
#include "store/blob_name.h"

/* --- the directory --- */

struct store; /* store.h */
struct blobs; /* the data directory, opaque */

/* Makes what is missing of the directory, checks its mode, takes `lock` (flock) for the
 * life of the process and empties scratch/.
 *   ST_IO  it cannot be made, read or locked ("in use by another process") */
enum status blobs_open(struct blobs **out, const char *directory, struct error *error);

/* Opens the directory beside the process that serves it: only blob_fetch, blob_find,
 * blob_check and blobs_database_path may be called. Nothing is made, locked or removed.
 *   ST_IO  the path is empty or too long */
enum status blobs_open_read(struct blobs **out, const char *directory,
                            struct error *error);

/* Makes a directory, with its folders, for copies to be put into: it must not be there,
 * is not locked and has no ballast. blob_copy, blobs_sync and what may be called after
 * blobs_open_read may be.
 *   ST_ALREADY_EXISTS  something of that name is there
 *   ST_IO              it cannot be made */
enum status blobs_make(struct blobs **out, const char *directory, struct error *error);

/* Makes everything durable that was put into the directory's folders.
 *   ST_IO  a folder cannot be synced */
enum status blobs_sync(const struct blobs *blobs, struct error *error);

void blobs_close(struct blobs *blobs); /* NULL is allowed; gives the lock back */

/* path = where the database is. */
void blobs_database_path(const struct blobs *blobs, char path[BLOB_PATH_SIZE]);

/* path = the folder for what is made of the rows of datasets, to be used again while the
 * process lives; a start empties it of that. */
void blobs_features_path(const struct blobs *blobs, char path[BLOB_PATH_SIZE]);

/* path = where the door of a data directory is. */
void blob_door_path(const char *directory, char path[BLOB_PATH_SIZE]);

/* Removes the blobs that keep does not want, and every file beside them whose name is
 * no blob's. What cannot be removed is logged and left for the next sweep.
 *   ST_IO  a folder cannot be read */
enum status blobs_sweep(const struct blobs *blobs,
                        bool (*keep)(void *context, const struct blob_name *name),
                        void *context, struct error *error);

/* Removes the ballast: 16 MiB that blobs_open set aside, where four times as much was
 * free, so that the start after a full disk has room to settle. */
void blobs_drop_ballast(struct blobs *blobs);

/* *bytes = what is free for this user on the directory's file system. */
enum status blobs_free(struct blobs *blobs, uint64_t *bytes, struct error *error);

/* Is told at ticks how much is free there. Where that is little it removes files that could
 * be brought here again, and answers how many bytes went. */
uint64_t blobs_trim(const struct blobs *blobs, uint64_t free_bytes);

/* Removes the files of this machine that hold blobs which are no more, or have been replaced:
 * another daemon of the store has done that, and cannot remove what is here.
 *   ST_IO  the store is poisoned */
enum status blobs_forget_gone(const struct blobs *blobs, struct error *error);

/* --- blobs --- */

/* Sees to it that a file of this machine holds the blob, and lends it until
 * blob_give_back: it may be opened and mapped meanwhile. Blobs in a folder are where they
 * are, and whoever opens the path finds out whether there is one; blobs elsewhere are
 * brought here first.
 *   ST_NOT_FOUND   there is none of that name (of blobs elsewhere)
 *   ST_DISK_FULL   the cache has no room for it
 *   ST_CORRUPT     what is elsewhere is not what was put there
 *   ST_IO          it cannot be brought here
 *   ST_CANCELLED   the loan's flag was seen set while it was brought
 * The text of the error may be told to clients: it says neither where the file is kept nor
 * what that place answered, which is logged. */
enum status blob_fetch(const struct blobs *blobs, struct blob_loan *loan,
                       const struct blob_name *name, struct error *error);
/* The same of what is on this machine already: the network is not asked.
 *   ST_NOT_FOUND  it is not; blob_fetch says whether it can be brought
 *   ST_IO         its row cannot be read */
enum status blob_fetch_here(const struct blobs *blobs, struct blob_loan *loan,
                            const struct blob_name *name, struct error *error);
void blob_give_back(const struct blobs *blobs,
                    struct blob_loan *loan); /* one that is not lent is allowed */

/* Whether the blob is there. A failure does not mean that it is missing.
 *   ST_NOT_FOUND  it is missing
 *   ST_IO         its place cannot be read */
enum status blob_find(const struct blobs *blobs, const struct blob_name *name,
                      struct error *error);

/* Whether the blob is there and is of this seal.
 *   ST_CORRUPT  it is not, or is missing
 *   ST_IO       it cannot be read */
enum status blob_check(const struct blobs *blobs, const struct blob_name *name,
                       const struct file_seal *seal, struct error *error);

/* Copies the blob from one directory into another, where it must not be, and syncs it;
 * its name there is durable after blobs_sync.
 *   ST_NOT_FOUND  it is not in the first
 *   ST_IO         it cannot be read or written */
enum status blob_copy(const struct blobs *from, const struct blobs *to,
                      const struct blob_name *name, struct error *error);

/* Removes the blob durably; one that is not there is ST_OK. */
enum status blob_remove(const struct blobs *blobs, const struct blob_name *name,
                        struct error *error);

/* --- drafts --- */

/* The draft that a writer makes who takes a path. There is one for each blob, and a
 * second writer replaces what the first has written. */
void blob_draft_init(struct blob_draft *draft, const struct blob_name *name);
void blob_draft_path(const struct blobs *blobs, char path[BLOB_PATH_SIZE],
                     const struct blob_draft *draft);

/* Makes an empty draft under a name of its own, so that several of one blob may be
 * under way, and opens it for writing. *file is the caller's to close.
 *   ST_IO  it cannot be made */
enum status blob_draft_create(struct blobs *blobs, struct blob_draft *draft,
                              const struct blob_name *name, int *file,
                              struct error *error);

/* Makes the draft its blob, in the place of one of that name.
 *   ST_IO  the draft cannot be synced or renamed, or a folder cannot be synced */
enum status blob_publish(const struct blobs *blobs, const struct blob_draft *draft,
                         struct error *error);

/* Asks whether a blob may appear. It reads memory only, inside a transaction of STORE_ROW. */
struct blob_gate {
    struct store *store;
    enum status (*may)(void *context, struct error *error);
    void *context;
};

/* The same if the gate lets it. The draft is synced, or in the bucket, before the gate is
 * asked, and the blob appears in the transaction in which it is asked: whoever moves the
 * dataset in another transaction comes before both or after both.
 *   those of may  nothing has changed, and the draft stays */
enum status blob_publish_if(const struct blobs *blobs, const struct blob_draft *draft,
                            const struct blob_gate *gate, struct error *error);

/* Removes the draft, if it is there. */
void blob_discard(struct blobs *blobs, const struct blob_draft *draft);

#endif
