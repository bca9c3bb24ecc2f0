/*
 * The data directory. A file's path is made in two steps: a blob's name becomes the
 * name of a file in one of the folders (the table of places), and that becomes a path
 * (path_of).
 *
 * What makes a publication safe against a power cut is the order of its four calls. The
 * draft is synced first, so that its name can never stand before its bytes. The rename
 * is atomic: the blob's name stands for the old file or for the new one. The folder
 * that the name is now in is synced, so that the name stays; and last the folder that
 * it has left. Whoever inserts a row for the blob does so after that.
 */
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
#include "base/log.h"
#include "base/random.h"

struct blobs {
    char directory[BLOB_PATH_SIZE];
    int lock; /* file descriptor, -1 if none */
};

static const off_t ballast_size = 16 << 20; /* bytes, see store/README.md */
static const char *const folders[] = {"uploads", "datasets", "models", "weights",
                                      "scratch"};

/* --- names --- */

static const struct place { /* of the blobs of a kind: FOLDER/ID and the suffix */
    const char *folder, *suffix;
} places[] = {
    [BLOB_MODEL] = {"models", ".safetensors"},
    [BLOB_WEIGHTS] = {"weights", ".safetensors"},
    [BLOB_MATRIX] = {"datasets", ".matrix"},
    [BLOB_FEATURES] = {"uploads", ".features"},
    [BLOB_LABELS] = {"uploads", ".labels"},
    [BLOB_DATA] = {"uploads", ".data"},
    [BLOB_PRIVACY_ID] = {"uploads", ".privacy_id"},
};

enum { KINDS = sizeof places / sizeof *places };

static struct blob_name named(enum blob_kind kind, const char *id)
{
    struct blob_name name = {.kind = kind};
    int length = snprintf(name.id, sizeof name.id, "%s", id);
    CHECK(length > 0 && length < BLOB_ID_SIZE);
    return name;
}

struct blob_name blob_of_model(const struct model_id *id)
{
    return named(BLOB_MODEL, id->text);
}

struct blob_name blob_of_weights(const struct file_id *id)
{
    return named(BLOB_WEIGHTS, id->text);
}

struct blob_name blob_of_dataset(const struct dataset_id *id, enum blob_kind kind)
{
    CHECK(kind != BLOB_MODEL && kind != BLOB_WEIGHTS);
    return named(kind, id->text);
}

static void file_in(char out[BLOB_FILE_NAME_SIZE], const char *folder,
                    const struct blob_name *name)
{
    int length = snprintf(out, BLOB_FILE_NAME_SIZE, "%s/%s%s", folder, name->id,
                          places[name->kind].suffix);
    CHECK(length > 0 && length < BLOB_FILE_NAME_SIZE);
}

void blob_file_name(char out[BLOB_FILE_NAME_SIZE], const struct blob_name *name)
{
    file_in(out, places[name->kind].folder, name);
}

/* Whether the file of this name in this folder is a blob, and which. */
static bool name_parse(struct blob_name *name, const char *folder,
                       const char *file_name)
{
    size_t length = strlen(file_name);
    for (size_t kind = 0; kind < KINDS; kind++) {
        size_t cut = strlen(places[kind].suffix);
        if (strcmp(places[kind].folder, folder) != 0 || length <= cut ||
            length - cut >= BLOB_ID_SIZE ||
            strcmp(file_name + length - cut, places[kind].suffix) != 0)
            continue;
        *name = (struct blob_name){.kind = (enum blob_kind)kind};
        memcpy(name->id, file_name, length - cut);
        return true;
    }
    return false;
}

/* path = directory/file_name. */
static void path_of(const struct blobs *blobs, char path[BLOB_PATH_SIZE],
                    const char *file_name)
{
    int length = snprintf(path, BLOB_PATH_SIZE, "%s/%s", blobs->directory, file_name);
    CHECK(length > 0 && length < BLOB_PATH_SIZE);
}

/* --- the directory --- */

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
    path_of(blobs, path, "lock");
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

/* Calls visit with the name of each file of the folder; false from it stops. */
static enum status walk(struct blobs *blobs, const char *folder,
                        bool (*visit)(void *context, const char *file_name),
                        void *context, struct error *error)
{
    char path[BLOB_PATH_SIZE];
    path_of(blobs, path, folder);
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
    path_of(emptying->blobs, path, name);
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
        path_of(blobs, path, folders[i]);
        status = make_folder(path, error);
    }
    if (status == ST_OK)
        status = sync_path(blobs->directory, O_RDONLY | O_DIRECTORY, error);
    if (status != ST_OK)
        return status;
    struct emptying emptying = {blobs, ST_OK, error};
    status = walk(blobs, "scratch", remove_scratch, &emptying, error);
    return status != ST_OK ? status : emptying.status;
}

/* Sets the ballast aside. A directory without it is worse off, but serves. */
static void load_ballast(struct blobs *blobs)
{
    char path[BLOB_PATH_SIZE];
    struct stat found;
    uint64_t free_bytes = 0;
    path_of(blobs, path, "ballast");
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
    path_of(blobs, path, "ballast");
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
                                 : failed(error, blobs->directory);
    for (size_t i = 0; status == ST_OK && i < sizeof folders / sizeof *folders; i++) {
        path_of(blobs, path, folders[i]);
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
        path_of(blobs, path, folders[i]);
        status = sync_path(path, O_RDONLY | O_DIRECTORY, error);
    }
    return status == ST_OK ? sync_path(blobs->directory, O_RDONLY | O_DIRECTORY, error)
                           : status;
}

void blobs_close(struct blobs *blobs)
{
    if (blobs == NULL)
        return;
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
    path_of(blobs, path, "epsilond.db");
}

enum status blobs_free(struct blobs *blobs, uint64_t *bytes, struct error *error)
{
    struct statvfs found;
    if (statvfs(blobs->directory, &found) != 0)
        return failed(error, blobs->directory);
    *bytes = (uint64_t)found.f_bavail * found.f_frsize;
    return ST_OK;
}

static enum status remove_file(struct blobs *blobs, const char *file_name,
                               struct error *error)
{
    char path[BLOB_PATH_SIZE];
    path_of(blobs, path, file_name);
    if (unlink(path) != 0)
        return errno == ENOENT ? ST_OK : failed(error, path);
    return sync_folder_of(path, error);
}

struct sweep {
    struct blobs *blobs;
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
    if (name_parse(&name, sweep->folder, file_name) &&
        sweep->keep(sweep->context, &name))
        return true;
    int length = snprintf(found, sizeof found, "%s/%s", sweep->folder, file_name);
    CHECK(length > 0 && length < BLOB_PATH_SIZE);
    if (remove_file(sweep->blobs, found, &error) != ST_OK)
        log_event(LOG_ERROR, "not_removed", "file", found, "detail", error.text,
                  (char *)NULL);
    return true;
}

enum status blobs_sweep(struct blobs *blobs,
                        bool (*keep)(void *context, const struct blob_name *name),
                        void *context, struct error *error)
{
    static const char *const swept[] = {"models", "datasets", "uploads"};
    enum status status = ST_OK;
    for (size_t i = 0; status == ST_OK && i < sizeof swept / sizeof *swept; i++) {
        struct sweep sweep = {blobs, swept[i], keep, context};
        status = walk(blobs, swept[i], sweep_file, &sweep, error);
    }
    return status;
}

/* --- blobs --- */

void blob_fetch(const struct blobs *blobs, char path[BLOB_PATH_SIZE],
                const struct blob_name *name)
{
    char file_name[BLOB_FILE_NAME_SIZE];
    blob_file_name(file_name, name);
    path_of(blobs, path, file_name);
}

bool blob_is_there(const struct blobs *blobs, const struct blob_name *name)
{
    char path[BLOB_PATH_SIZE];
    blob_fetch(blobs, path, name);
    return access(path, R_OK) == 0;
}

enum status blob_remove(struct blobs *blobs, const struct blob_name *name,
                        struct error *error)
{
    char file_name[BLOB_FILE_NAME_SIZE];
    blob_file_name(file_name, name);
    return remove_file(blobs, file_name, error);
}

/* --- drafts --- */

void blob_draft_init(struct blob_draft *draft, const struct blob_name *name)
{
    draft->name = *name;
    file_in(draft->file_name, "scratch", name);
}

void blob_draft_path(const struct blobs *blobs, char path[BLOB_PATH_SIZE],
                     const struct blob_draft *draft)
{
    path_of(blobs, path, draft->file_name);
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
        return failed(error, path);
    *file = made;
    return ST_OK;
}

enum status blob_publish(struct blobs *blobs, const struct blob_draft *draft,
                         struct error *error)
{
    char from[BLOB_PATH_SIZE], to[BLOB_PATH_SIZE];
    blob_draft_path(blobs, from, draft);
    blob_fetch(blobs, to, &draft->name);
    enum status status = sync_path(from, O_RDONLY, error);
    if (status != ST_OK)
        return status;
    if (rename(from, to) != 0)
        return failed(error, to);
    status = sync_folder_of(to, error);
    return status != ST_OK ? status : sync_folder_of(from, error);
}

void blob_discard(struct blobs *blobs, const struct blob_draft *draft)
{
    char path[BLOB_PATH_SIZE];
    blob_draft_path(blobs, path, draft);
    unlink(path);
}
