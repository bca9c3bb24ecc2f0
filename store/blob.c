#include "store/blob.h"

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

struct blobs {
    char directory[BLOB_PATH_SIZE];
    int lock; /* file descriptor, -1 if none */
};

static const off_t ballast_size = 16 << 20; /* bytes (store/README.md) */
static const char *const folders[] = {"uploads", "datasets", "models", "scratch"};

void blob_path(const struct blobs *blobs, char path[BLOB_PATH_SIZE], const char *name)
{
    int length = snprintf(path, BLOB_PATH_SIZE, "%s/%s", blobs->directory, name);
    CHECK(length > 0 && length < BLOB_PATH_SIZE);
}

static enum status failed(struct error *error, const char *path)
{
    return error_set(error, ST_IO, "%s: %s", path, strerror(errno));
}

static enum status make_folder(const char *path, struct error *error)
{
    struct stat found;
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return failed(error, path);
    if (stat(path, &found) != 0)
        return failed(error, path);
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
    blob_path(blobs, path, "lock");
    blobs->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (blobs->lock < 0)
        return failed(error, path);
    if (flock(blobs->lock, LOCK_EX | LOCK_NB) == 0)
        return ST_OK;
    if (errno == EWOULDBLOCK)
        return error_set(error, ST_IO, "%s is in use by another process",
                         blobs->directory);
    return failed(error, path);
}

static enum status sync_path(const char *path, int flags, struct error *error)
{
    int file = open(path, flags | O_CLOEXEC);
    if (file < 0)
        return failed(error, path);
    enum status status = fsync(file) == 0 ? ST_OK : failed(error, path);
    close(file);
    return status;
}

static enum status sync_folder_of(const char *path, struct error *error)
{
    char folder[BLOB_PATH_SIZE];
    const char *slash = strrchr(path, '/');
    CHECK(slash != NULL);
    snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
    return sync_path(folder[0] != '\0' ? folder : "/", O_RDONLY | O_DIRECTORY, error);
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
    blob_path(emptying->blobs, path, name);
    if (unlink(path) != 0 && errno != ENOENT)
        emptying->status = failed(emptying->error, path);
    return emptying->status == ST_OK;
}

static enum status prepare(struct blobs *blobs, struct error *error)
{
    char path[BLOB_PATH_SIZE];
    enum status status = make_folder(blobs->directory, error);
    if (status == ST_OK)
        status = take_lock(blobs, error);
    for (size_t i = 0; status == ST_OK && i < sizeof folders / sizeof *folders; i++) {
        blob_path(blobs, path, folders[i]);
        status = make_folder(path, error);
    }
    if (status == ST_OK)
        status = sync_path(blobs->directory, O_RDONLY | O_DIRECTORY, error);
    if (status != ST_OK)
        return status;
    struct emptying emptying = {blobs, ST_OK, error};
    status = blobs_walk(blobs, "scratch", remove_scratch, &emptying, error);
    return status != ST_OK ? status : emptying.status;
}

/* A directory without ballast is worse off, but serves. */
static void load_ballast(struct blobs *blobs)
{
    char path[BLOB_PATH_SIZE];
    struct stat found;
    uint64_t free_bytes = 0;
    blob_path(blobs, path, "ballast");
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
    blob_path(blobs, path, "ballast");
    unlink(path);
}

enum status blobs_open(struct blobs **out, const char *directory, struct error *error)
{
    /* Room for the longest name: a folder, an id and a suffix. */
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
    memcpy(blobs->directory, directory, length);
    enum status status = prepare(blobs, error);
    if (status != ST_OK) {
        blobs_close(blobs);
        return status;
    }
    load_ballast(blobs);
    *out = blobs;
    return ST_OK;
}

void blobs_close(struct blobs *blobs)
{
    if (blobs == NULL)
        return;
    if (blobs->lock >= 0)
        close(blobs->lock);
    free(blobs);
}

enum status blob_publish(struct blobs *blobs, const char *scratch_name,
                         const char *name, struct error *error)
{
    char from[BLOB_PATH_SIZE], to[BLOB_PATH_SIZE];
    blob_path(blobs, from, scratch_name);
    blob_path(blobs, to, name);
    enum status status = sync_path(from, O_RDONLY, error);
    if (status != ST_OK)
        return status;
    if (rename(from, to) != 0)
        return failed(error, to);
    status = sync_folder_of(to, error);
    return status != ST_OK ? status : sync_folder_of(from, error);
}

enum status blob_remove(struct blobs *blobs, const char *name, struct error *error)
{
    char path[BLOB_PATH_SIZE];
    blob_path(blobs, path, name);
    if (unlink(path) != 0)
        return errno == ENOENT ? ST_OK : failed(error, path);
    return sync_folder_of(path, error);
}

enum status blobs_walk(struct blobs *blobs, const char *folder,
                       bool (*visit)(void *context, const char *file_name),
                       void *context, struct error *error)
{
    char path[BLOB_PATH_SIZE];
    blob_path(blobs, path, folder);
    DIR *open_folder = opendir(path);
    if (open_folder == NULL)
        return failed(error, path);
    struct dirent *entry;
    while (errno = 0, (entry = readdir(open_folder)) != NULL) {
        bool itself =
            strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
        if (!itself && !visit(context, entry->d_name))
            break;
    }
    enum status status = entry == NULL && errno != 0 ? failed(error, path) : ST_OK;
    closedir(open_folder);
    return status;
}

enum status blobs_free(struct blobs *blobs, uint64_t *bytes, struct error *error)
{
    struct statvfs found;
    if (statvfs(blobs->directory, &found) != 0)
        return failed(error, blobs->directory);
    *bytes = (uint64_t)found.f_bavail * found.f_frsize;
    return ST_OK;
}
