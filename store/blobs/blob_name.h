/*
 * blob_name.h - the names of blobs: by their kind and by the id of their model or
 * dataset; and their paths in a data directory that keeps them in its folders.
 *
 * A client chose that id or it was drawn at random: no name is derived from the content
 * of the file (docs/privacy.md).
 *
 * Threads: pure.
 */
#ifndef STORE_BLOBS_BLOB_NAME_H
#define STORE_BLOBS_BLOB_NAME_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/id.h"

enum {
    BLOB_PATH_SIZE = 4096,
    BLOB_FILE_NAME_SIZE = 96,
    BLOB_ID_SIZE = DATASET_ID_LENGTH_MAX + 1,
};

enum blob_kind {
    BLOB_MODEL,
    BLOB_WEIGHTS,
    BLOB_MATRIX,
    BLOB_FEATURES,
    BLOB_LABELS,
    BLOB_DATA,
    BLOB_PRIVACY_ID
};

struct blob_name {
    enum blob_kind kind;
    char id[BLOB_ID_SIZE];
};

struct blob_name blob_of_model(const struct model_id *id);
struct blob_name blob_of_weights(const struct file_id *id);
/* kind is that of a dataset's file. */
struct blob_name blob_of_dataset(const struct dataset_id *id, enum blob_kind kind);

/* out = the blob's path in the data directory, "models/ID.safetensors": for
 * messages. */
void blob_file_name(char out[BLOB_FILE_NAME_SIZE], const struct blob_name *name);

/* The same in another folder. */
void blob_name_in(char out[BLOB_FILE_NAME_SIZE], const char *folder,
                  const struct blob_name *name);

/* Returns whether the file of this name in this folder is a blob; if so, *name is its
 * name. */
bool blob_name_parse(struct blob_name *name, const char *folder, const char *file_name);

struct blob_loan { /* a file of this machine that holds the blob, for a while */
    char path[BLOB_PATH_SIZE];
    const atomic_bool *cancel; /* set by the borrower to end the fetch; or NULL */
    bool is_lent;
    struct cached_blob *cached; /* the driver's */
};

struct blob_draft {        /* a blob that is being written; no reader sees it */
    struct blob_name name; /* the name of the blob that it becomes */
    char file_name[BLOB_FILE_NAME_SIZE]; /* in the data directory */
};

#endif
