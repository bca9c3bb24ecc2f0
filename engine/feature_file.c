#include "engine/feature_file.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/check.h"

/* This much of the disk, and as much as the file takes, stays free. */
static const uint64_t disk_left_min = UINT64_C(1) << 30;

struct feature_file {
    atomic_uint holders;
    int file;
    size_t width, size; /* floats of a row; bytes in all */
    float *rows;        /* mapped; NULL before */
};

static enum status open_file(struct feature_file *file, const char *folder,
                             struct error *error)
{
    struct statvfs disk;
    char path[4096];
    int length = snprintf(path, sizeof path, "%s/features-XXXXXX", folder);
    if (length <= 0 || (size_t)length >= sizeof path || statvfs(folder, &disk) != 0)
        return error_set(error, ST_IO, "the folder for features cannot be read");
    uint64_t left = (uint64_t)disk.f_bavail * disk.f_frsize;
    if (left / 2 < file->size || left - file->size < disk_left_min)
        return error_set(error, ST_NO_MEMORY, "no room on the disk for features");
    file->file = mkstemp(path);
    if (file->file < 0)
        return error_set(error, ST_IO, "the file of features cannot be made");
    unlink(path);
    return ST_OK;
}

enum status feature_file_create(struct feature_file **out, const char *folder,
                                size_t records, size_t width, struct error *error)
{
    struct feature_file *file = calloc(1, sizeof *file);
    CHECK(file != NULL);
    atomic_init(&file->holders, 1);
    file->file = -1;
    file->width = width;
    file->size = width * records * sizeof(float);
    enum status status = open_file(file, folder, error);
    if (status == ST_OK)
        *out = file;
    else
        feature_file_let_go(file);
    return status;
}

bool feature_file_write(const struct feature_file *file, size_t row,
                        const float *features)
{
    const char *next = (const char *)features;
    size_t size = file->width * sizeof(float);
    off_t at = (off_t)(row * size);
    while (size > 0) {
        ssize_t written = pwrite(file->file, next, size, at);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        next += written;
        at += written;
        size -= (size_t)written;
    }
    return true;
}

enum status feature_file_map(struct feature_file *file, struct error *error)
{
    void *map = mmap(NULL, file->size, PROT_READ, MAP_SHARED, file->file, 0);
    if (map == MAP_FAILED)
        return error_set(error, ST_IO, "the file of features cannot be mapped");
    madvise(map, file->size, MADV_DONTDUMP);
    file->rows = map;
    return ST_OK;
}

struct feature_rows feature_file_rows(const struct feature_file *file)
{
    return (struct feature_rows){file->rows, file->width};
}

uint64_t feature_file_size(const struct feature_file *file)
{
    return file->size;
}

struct feature_file *feature_file_hold(struct feature_file *file)
{
    atomic_fetch_add(&file->holders, 1);
    return file;
}

void feature_file_let_go(struct feature_file *file)
{
    if (file == NULL || atomic_fetch_sub(&file->holders, 1) > 1)
        return;
    if (file->rows != NULL)
        munmap(file->rows, file->size);
    if (file->file >= 0)
        close(file->file);
    free(file);
}
