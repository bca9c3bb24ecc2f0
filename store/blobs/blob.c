/*
 * The data directory. A file's path is made in two steps: a blob's name becomes the
 * name of a file in one of the folders (blob_name.c), and that becomes a path
 * (blobs_path_of). The driver decides where blobs are (blob_place.h); drafts are always
 * in this directory.
 */
#include "store/blobs/blob.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/check.h"
#include "base/log.h"
#include "base/random.h"
#include "store/blobs/blob_place.h"

static const off_t ballast_size = 16 << 20; /* bytes, see store/blobs/README.md */
static const char *const folders[] = {"uploads", "datasets", "models", "weights",
                                      "scratch"};

void blobs_path_of(const struct blobs *blobs, char path[BLOB_PATH_SIZE],
                   const char *file_name)
{
    int length = snprintf(path, BLOB_PATH_SIZE, "%s/%s", blobs->directory, file_name);
    CHECK(length > 0 && length < BLOB_PATH_SIZE);
}

/* --- the directory --- */

enum status blob_failed(struct error *error, const char *path)
{
    return error_set(error, ST_IO, "%s: %s", path, strerror(errno));
}

static enum status make_folder(const char *path, struct error *error)
{
    struct stat found;
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return blob_failed(error, path);
    if (stat(path, &found) != 0)
        return blob_failed(error, path);
    if (!S_ISDIR(found.st_mode))
        return error_set(error, ST_IO, "%s: not a directory", path);
    if ((found.st_mode & 077) != 0)
        return error_set(error, ST_IO, "%s: mode %03o lets others in; chmod 700 it",
                         path, (unsigned)found.st_mode & 0777U);
    return ST_OK;
}

static enum status take_lock(struct blobs *blobs, struct error *error)
{
    char path[BLOB_PATH_SIZE];
    blobs_path_of(blobs, path, "lock");
    blobs->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (blobs->lock < 0)
        return blob_failed(error, path);
    if (flock(blobs->lock, LOCK_EX | LOCK_NB) == 0)
        return ST_OK;
    if (errno == EWOULDBLOCK)
        return error_set(error, ST_IO, "%s is in use by another process",
                         blobs->directory);
    return blob_failed(error, path);
}

enum status blob_sync(const char *path, int flags, struct error *error)
{
    int file = open(path, flags | O_CLOEXEC);
    if (file < 0)
        return blob_failed(error, path);
    enum status status = fsync(file) == 0 ? ST_OK : blob_failed(error, path);
    close(file);
    return status;
}

enum status blob_sync_folder_of(const char *path, struct error *error)
{
    char folder[BLOB_PATH_SIZE];
    const char *slash = strrchr(path, '/');
    CHECK(slash != NULL);
    snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
    return blob_sync(folder[0] != '\0' ? folder : "/", O_RDONLY | O_DIRECTORY, error);
}

enum status blobs_walk(const struct blobs *blobs, const char *folder,
                       bool (*visit)(void *context, const char *file_name),
                       void *context, struct error *error)
{
    char path[BLOB_PATH_SIZE];
    blobs_path_of(blobs, path, folder);
    DIR *open_folder = opendir(path);
    if (open_folder == NULL)
        return blob_failed(error, path);
    struct dirent *entry;
    while (errno = 0, (entry = readdir(open_folder)) != NULL) {
        bool itself =
            strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
        if (!itself && !visit(context, entry->d_name))
            break;
    }
    enum status status = entry == NULL && errno != 0 ? blob_failed(error, path) : ST_OK;
    closedir(open_folder);
    return status;
}

struct emptying {
    struct blobs *blobs;
    enum status status;
    struct error *error;
};

static bool remove_scratch(void *context, const char *file_name)
{
    struct emptying *emptying = context;
    char name[BLOB_PATH_SIZE], path[BLOB_PATH_SIZE];
    int length = snprintf(name, sizeof name, "scratch/%s", file_name);
    CHECK(length > 0 && length < BLOB_PATH_SIZE);
    blobs_path_of(emptying->blobs, path, name);
    if (unlink(path) != 0 && errno != ENOENT)
        emptying->status = blob_failed(emptying->error, path);
    return emptying->status == ST_OK;
}

static enum status prepare(struct blobs *blobs, struct error *error)
{
    char path[BLOB_PATH_SIZE];
    enum status status = make_folder(blobs->directory, error);
    if (status == ST_OK)
        status = take_lock(blobs, error);
    for (size_t i = 0; status == ST_OK && i < sizeof folders / sizeof *folders; i++) {
        blobs_path_of(blobs, path, folders[i]);
        status = make_folder(path, error);
    }
    if (status == ST_OK)
        status = blob_sync(blobs->directory, O_RDONLY | O_DIRECTORY, error);
    if (status != ST_OK)
        return status;
    struct emptying emptying = {blobs, ST_OK, error};
    status = blobs_walk(blobs, "scratch", remove_scratch, &emptying, error);
    return status != ST_OK ? status : emptying.status;
}

/* Sets the ballast aside. A directory without it is served all the same. */
static void load_ballast(struct blobs *blobs)
{
    char path[BLOB_PATH_SIZE];
    struct stat found;
    uint64_t free_bytes = 0;
    blobs_path_of(blobs, path, "ballast");
    if (stat(path, &found) == 0 && found.st_size >= ballast_size)
        return;
    if (blobs_free(blobs, &free_bytes, NULL) != ST_OK ||
        free_bytes < (uint64_t)ballast_size * 4)
        return;
    int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0)
        return;
    bool loaded = posix_fallocate(file, 0, ballast_size) == 0 && fsync(file) == 0;
    close(file);
    if (!loaded)
        unlink(path);
}

void blobs_drop_ballast(struct blobs *blobs)
{
    char path[BLOB_PATH_SIZE];
    blobs_path_of(blobs, path, "ballast");
    unlink(path);
}

enum status blobs_open_read(struct blobs **out, const char *directory,
                            struct error *error)
{
    /* Room for the longest name of a file in one of the folders. */
    enum { NAME_SIZE_MAX = 512 };
    size_t length = strlen(directory);
    while (length > 1 && directory[length - 1] == '/')
        length--;
    if (length == 0 || length >= BLOB_PATH_SIZE - NAME_SIZE_MAX)
        return error_set(error, ST_IO,
                         "the data directory's path is empty or too long");
    struct blobs *blobs = calloc(1, sizeof *blobs);
    CHECK(blobs != NULL);
    blobs->lock = -1;
    blobs->driver = &blob_folder;
    memcpy(blobs->directory, directory, length);
    *out = blobs;
    return ST_OK;
}

enum status blobs_open(struct blobs **out, const char *directory, struct error *error)
{
    struct blobs *blobs = NULL;
    enum status status = blobs_open_read(&blobs, directory, error);
    if (status == ST_OK)
        status = prepare(blobs, error);
    if (status != ST_OK) {
        blobs_close(blobs);
        return status;
    }
    load_ballast(blobs);
    *out = blobs;
    return ST_OK;
}

enum status blobs_make(struct blobs **out, const char *directory, struct error *error)
{
    char path[BLOB_PATH_SIZE];
    struct blobs *blobs = NULL;
    enum status status = blobs_open_read(&blobs, directory, error);
    if (status != ST_OK)
        return status;
    if (mkdir(blobs->directory, 0700) != 0)
        status = errno == EEXIST ? error_set(error, ST_ALREADY_EXISTS, "%s is there",
                                             blobs->directory)
                                 : blob_failed(error, blobs->directory);
    for (size_t i = 0; status == ST_OK && i < sizeof folders / sizeof *folders; i++) {
        blobs_path_of(blobs, path, folders[i]);
        status = make_folder(path, error);
    }
    if (status == ST_OK)
        *out = blobs;
    else
        blobs_close(blobs);
    return status;
}

enum status blobs_sync(const struct blobs *blobs, struct error *error)
{
    char path[BLOB_PATH_SIZE];
    enum status status = ST_OK;
    for (size_t i = 0; status == ST_OK && i < sizeof folders / sizeof *folders; i++) {
        blobs_path_of(blobs, path, folders[i]);
        status = blob_sync(path, O_RDONLY | O_DIRECTORY, error);
    }
    return status == ST_OK ? blob_sync(blobs->directory, O_RDONLY | O_DIRECTORY, error)
                           : status;
}

void blobs_close(struct blobs *blobs)
{
    if (blobs == NULL)
        return;
    blobs->driver->close(blobs);
    if (blobs->lock >= 0)
        close(blobs->lock);
    free(blobs);
}

void blob_door_path(const char *directory, char path[BLOB_PATH_SIZE])
{
    int length = snprintf(path, BLOB_PATH_SIZE, "%s/door", directory);
    CHECK(length > 0 && length < BLOB_PATH_SIZE);
}

void blobs_database_path(const struct blobs *blobs, char path[BLOB_PATH_SIZE])
{
    blobs_path_of(blobs, path, "epsilond.db");
}

enum status blobs_free(struct blobs *blobs, uint64_t *bytes, struct error *error)
{
    struct statvfs found;
    if (statvfs(blobs->directory, &found) != 0)
        return blob_failed(error, blobs->directory);
    *bytes = (uint64_t)found.f_bavail * found.f_frsize;
    return ST_OK;
}

uint64_t blobs_trim(const struct blobs *blobs, uint64_t free_bytes)
{
    return blobs->driver->trim(blobs, free_bytes);
}

enum status blobs_forget_gone(const struct blobs *blobs, struct error *error)
{
    return blobs->driver->forget_gone(blobs, error);
}

enum status blobs_sweep(const struct blobs *blobs,
                        bool (*keep)(void *context, const struct blob_name *name),
                        void *context, struct error *error)
{
    return blobs->driver->sweep(blobs, keep, context, error);
}

void blobs_features_path(const struct blobs *blobs, char path[BLOB_PATH_SIZE])
{
    blobs_path_of(blobs, path, "datasets");
}

/* --- blobs --- */

enum status blob_fetch(const struct blobs *blobs, struct blob_loan *loan,
                       const struct blob_name *name, struct error *error)
{
    enum status status = blobs->driver->fetch(blobs, loan, name, error);
    loan->is_lent = status == ST_OK;
    return status;
}

enum status blob_fetch_here(const struct blobs *blobs, struct blob_loan *loan,
                            const struct blob_name *name, struct error *error)
{
    enum status status = blobs->driver->fetch_here(blobs, loan, name, error);
    loan->is_lent = status == ST_OK;
    return status;
}

void blob_give_back(const struct blobs *blobs, struct blob_loan *loan)
{
    if (loan->is_lent)
        blobs->driver->give_back(blobs, loan);
    loan->is_lent = false;
}

enum status blob_find(const struct blobs *blobs, const struct blob_name *name,
                      struct error *error)
{
    return blobs->driver->find(blobs, name, error);
}

enum status blob_check(const struct blobs *blobs, const struct blob_name *name,
                       const struct file_checksum *seal, struct error *error)
{
    return blobs->driver->check(blobs, name, seal, error);
}

enum status blob_remove(const struct blobs *blobs, const struct blob_name *name,
                        struct error *error)
{
    return blobs->driver->remove(blobs, name, error);
}

/* --- drafts --- */

void blob_draft_init(struct blob_draft *draft, const struct blob_name *name)
{
    draft->name = *name;
    blob_name_in(draft->file_name, "scratch", name);
}

void blob_draft_path(const struct blobs *blobs, char path[BLOB_PATH_SIZE],
                     const struct blob_draft *draft)
{
    blobs_path_of(blobs, path, draft->file_name);
}

enum status blob_draft_create(struct blobs *blobs, struct blob_draft *draft,
                              const struct blob_name *name, int *file,
                              struct error *error)
{
    uint64_t random;
    char path[BLOB_PATH_SIZE];
    draft->name = *name;
    random_bytes(&random, sizeof random);
    snprintf(draft->file_name, sizeof draft->file_name, "scratch/upload-%016llx",
             (unsigned long long)random);
    blob_draft_path(blobs, path, draft);
    int made = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (made < 0)
        return blob_failed(error, path);
    *file = made;
    return ST_OK;
}

enum status blobs_unnamed_file(const struct blobs *blobs, int *file,
                               struct error *error)
{
    char path[BLOB_PATH_SIZE];
    blobs_path_of(blobs, path, "scratch/unnamed-XXXXXX");
    int made = mkstemp(path);
    if (made < 0)
        return blob_failed(error, path);
    fcntl(made, F_SETFD, FD_CLOEXEC);
    unlink(path);
    *file = made;
    return ST_OK;
}

enum status blob_publish(const struct blobs *blobs, const struct blob_draft *draft,
                         struct error *error)
{
    return blobs->driver->publish(blobs, draft, NULL, error);
}

enum status blob_publish_if(const struct blobs *blobs, const struct blob_draft *draft,
                            const struct blob_gate *gate, struct error *error)
{
    return blobs->driver->publish(blobs, draft, gate, error);
}

void blob_discard(struct blobs *blobs, const struct blob_draft *draft)
{
    char path[BLOB_PATH_SIZE];
    blob_draft_path(blobs, path, draft);
    unlink(path);
}
