#include "service/models/verified_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

void verified_file_init(struct verified_file *checked)
{
    *checked = (struct verified_file){.known = false};
    pthread_mutex_init(&checked->lock, NULL);
}

void verified_file_fini(struct verified_file *checked)
{
    pthread_mutex_destroy(&checked->lock);
}

static bool same_time(struct timespec a, struct timespec b)
{
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino &&
           a->st_size == b->st_size && same_time(a->st_mtim, b->st_mtim) &&
           same_time(a->st_ctim, b->st_ctim);
}

static bool is_known(struct verified_file *checked, const struct stat *found)
{
    pthread_mutex_lock(&checked->lock);
    bool known = checked->known && same_file(&checked->good, found);
    pthread_mutex_unlock(&checked->lock);
    return known;
}

static bool is_quiet(const struct stat *found, int64_t now_ms)
{
    int64_t change_ms =
        (int64_t)found->st_ctim.tv_sec * 1000 + found->st_ctim.tv_nsec / 1000000;
    return now_ms - change_ms >= VERIFIED_FILE_QUIET_MS;
}

static void remember(struct verified_file *checked, const struct stat *found, bool good)
{
    pthread_mutex_lock(&checked->lock);
    checked->known = good;
    checked->good = *found;
    pthread_mutex_unlock(&checked->lock);
}

static enum status check(struct verified_file *checked, int file,
                         const struct file_checksum *seal, enum check_kind kind,
                         struct error *error)
{
    struct stat before;
    if (fstat(file, &before) != 0)
        return error_set(error, ST_CORRUPT, "the file cannot be read: %s",
                         strerror(errno));
    if (kind == CHECK_REMEMBERED && is_known(checked, &before))
        return ST_OK;
    /* The times of before the check are recorded, so a write during the check is
     * detected the next time. */
    bool quiet = is_quiet(&before, clock_wall_ms());
    enum status status = file_checksum_check(seal, file, NULL, error);
    remember(checked, &before, status == ST_OK && quiet);
    if (status == ST_IO && error != NULL)
        error->status = ST_CORRUPT;
    return status == ST_IO ? ST_CORRUPT : status;
}

enum status verified_file_open(struct verified_file *checked, const char *path,
                               const struct file_checksum *seal, enum check_kind kind,
                               int *file, struct error *error)
{
    int opened = open(path, O_RDONLY | O_CLOEXEC);
    if (opened < 0 && errno == ENOENT)
        return error_set(error, ST_CORRUPT, "the file is missing");
    if (opened < 0)
        return error_set(error, ST_IO, "the file cannot be opened: %s",
                         strerror(errno));
    enum status status = check(checked, opened, seal, kind, error);
    if (status != ST_OK) {
        close(opened);
        return status;
    }
    *file = opened;
    return ST_OK;
}
