/*
 * Blobs as files in folders of the data directory.
 *
 * The order of its four calls makes a publication safe against a power cut. The draft
 * is synced first, so that its name never appears before its bytes. The rename is
 * atomic: the blob's name refers to the old file or to the new one. The folder that the
 * name is now in is synced, so that the name stays; and last the folder that it has
 * left. A caller that inserts a row for the blob does so after that.
 */
#include "store/blobs/blob.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/log.h"
#include "store/blobs/blob_place.h"
#include "store/store.h"

static void path_of(const struct blobs *blobs, char path[BLOB_PATH_SIZE],
                    const struct blob_name *name)
{
    char file_name[BLOB_FILE_NAME_SIZE];
    blob_file_name(file_name, name);
    blobs_path_of(blobs, path, file_name);
}

/* Opening the path shows whether the blob exists. */
static enum status fetch(const struct blobs *blobs, struct blob_loan *loan,
                         const struct blob_name *name, struct error *error)
{
    (void)error;
    path_of(blobs, loan->path, name);
    return ST_OK;
}

static void give_back(const struct blobs *blobs, struct blob_loan *loan)
{
    (void)blobs;
    (void)loan;
}

static enum status find(const struct blobs *blobs, const struct blob_name *name,
                        struct error *error)
{
    char path[BLOB_PATH_SIZE], file_name[BLOB_FILE_NAME_SIZE];
    path_of(blobs, path, name);
    if (access(path, R_OK) == 0)
        return ST_OK;
    /* Clients read the text, so it does not name the data directory. */
    int failure = errno;
    blob_file_name(file_name, name);
    return error_set(error, failure == ENOENT ? ST_NOT_FOUND : ST_IO, "%s: %s",
                     file_name, strerror(failure));
}

static enum status check(const struct blobs *blobs, const struct blob_name *name,
                         const struct file_checksum *seal, struct error *error)
{
    char path[BLOB_PATH_SIZE];
    path_of(blobs, path, name);
    return file_checksum_check_path(seal, path, NULL, error);
}

static enum status remove_file(const struct blobs *blobs, const char *file_name,
                               struct error *error)
{
    char path[BLOB_PATH_SIZE];
    blobs_path_of(blobs, path, file_name);
    if (unlink(path) != 0)
        return errno == ENOENT ? ST_OK : blob_failed(error, path);
    return blob_sync_folder_of(path, error);
}

static enum status remove_blob(const struct blobs *blobs, const struct blob_name *name,
                               struct error *error)
{
    char file_name[BLOB_FILE_NAME_SIZE];
    blob_file_name(file_name, name);
    return remove_file(blobs, file_name, error);
}

static enum status move(const char *from, const char *to, struct error *error)
{
    return rename(from, to) == 0 ? ST_OK : blob_failed(error, to);
}

/* The transaction keeps others from changing the dataset until the file is there. */
static enum status move_if(const struct blob_gate *gate, const char *from,
                           const char *to, struct error *error)
{
    struct store_tx *tx = NULL;
    enum status status = store_begin(gate->store, STORE_ROW, &tx, error);
    if (status != ST_OK)
        return status;
    status = gate->may(gate->context, error);
    if (status == ST_OK)
        status = move(from, to, error);
    store_rollback(tx); /* it has written no row */
    return status;
}

static enum status publish(const struct blobs *blobs, const struct blob_draft *draft,
                           const struct blob_gate *gate, struct error *error)
{
    char from[BLOB_PATH_SIZE], to[BLOB_PATH_SIZE];
    blob_draft_path(blobs, from, draft);
    path_of(blobs, to, &draft->name);
    enum status status = blob_sync(from, O_RDONLY, error);
    if (status == ST_OK)
        status = gate != NULL ? move_if(gate, from, to, error) : move(from, to, error);
    if (status != ST_OK)
        return status;
    status = blob_sync_folder_of(to, error);
    return status != ST_OK ? status : blob_sync_folder_of(from, error);
}

struct sweep {
    const struct blobs *blobs;
    const char *folder;
    bool (*keep)(void *context, const struct blob_name *name);
    void *context;
};

static bool sweep_file(void *context, const char *file_name)
{
    const struct sweep *sweep = context;
    struct blob_name name;
    struct error error = {0};
    char found[BLOB_PATH_SIZE];
    if (blob_name_parse(&name, sweep->folder, file_name) &&
        sweep->keep(sweep->context, &name))
        return true;
    int length = snprintf(found, sizeof found, "%s/%s", sweep->folder, file_name);
    CHECK(length > 0 && length < BLOB_PATH_SIZE);
    if (remove_file(sweep->blobs, found, &error) != ST_OK)
        log_event(LOG_ERROR, "not_removed", "file", found, "detail", error.text,
                  (char *)NULL);
    return true;
}

static enum status sweep_folders(const struct blobs *blobs,
                                 bool (*keep)(void *context,
                                              const struct blob_name *name),
                                 void *context, struct error *error)
{
    static const char *const swept[] = {"models", "weights", "datasets", "uploads"};
    enum status status = ST_OK;
    for (size_t i = 0; status == ST_OK && i < sizeof swept / sizeof *swept; i++) {
        struct sweep sweep = {blobs, swept[i], keep, context};
        status = blobs_walk(blobs, swept[i], sweep_file, &sweep, error);
    }
    return status;
}

static uint64_t trim(const struct blobs *blobs, uint64_t free_bytes)
{
    (void)blobs;
    (void)free_bytes;
    return 0;
}

/* In a shared folder, the daemon that removes a blob removes the only file. */
static enum status forget_gone(const struct blobs *blobs, struct error *error)
{
    (void)blobs;
    (void)error;
    return ST_OK;
}

static void close_folder(struct blobs *blobs)
{
    (void)blobs;
}

const struct blob_driver blob_folder = {
    .fetch = fetch,
    .fetch_here = fetch,
    .give_back = give_back,
    .find = find,
    .check = check,
    .remove = remove_blob,
    .publish = publish,
    .sweep = sweep_folders,
    .trim = trim,
    .forget_gone = forget_gone,
    .close = close_folder,
};
