#include "base/file_checksum.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STEP_SIZE = 64 << 10 }; /* bytes between two reads of the cancel flag */

static enum status read_failed(struct error *error)
{
    return error_set(error, ST_IO, "the file cannot be read: %s", strerror(errno));
}

static enum status check_size(const struct file_checksum *seal, uint64_t size,
                              struct error *error)
{
    if (size == seal->size)
        return ST_OK;
    return error_set(error, ST_CORRUPT, "the file has %llu bytes, its row says %llu",
                     (unsigned long long)size, (unsigned long long)seal->size);
}

/* Finishes the hash and compares it with the seal's digest. */
static enum status check_digest(const struct file_checksum *seal, struct sha256 *hash,
                                struct error *error)
{
    uint8_t digest[SHA256_SIZE];
    sha256_finish(hash, digest);
    if (memcmp(digest, seal->sha256, SHA256_SIZE) == 0)
        return ST_OK;
    return error_set(error, ST_CORRUPT, "the file's SHA-256 is not that of its row");
}

static enum status check_cancel(const atomic_bool *cancel, struct error *error)
{
    if (cancel != NULL && atomic_load(cancel))
        return error_set(error, ST_CANCELLED, "the check was cancelled");
    return ST_OK;
}

/* Feeds the whole file to the hash. */
static enum status feed(struct sha256 *hash, int file, const atomic_bool *cancel,
                        struct error *error)
{
    char bytes[STEP_SIZE];
    off_t at = 0;
    for (;;) {
        enum status status = check_cancel(cancel, error);
        if (status != ST_OK)
            return status;
        ssize_t got = pread(file, bytes, sizeof bytes, at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return read_failed(error);
        if (got == 0)
            return ST_OK;
        sha256_update(hash, bytes, (size_t)got);
        at += got;
    }
}

enum status file_checksum_check(const struct file_checksum *seal, int file,
                                const atomic_bool *cancel, struct error *error)
{
    struct stat about;
    if (fstat(file, &about) != 0)
        return read_failed(error);
    enum status status = check_size(seal, (uint64_t)about.st_size, error);
    if (status != ST_OK)
        return status;
    struct sha256 *hash = sha256_create();
    status = feed(hash, file, cancel, error);
    if (status == ST_OK)
        status = check_digest(seal, hash, error);
    sha256_destroy(hash);
    return status;
}

enum status file_checksum_check_path(const struct file_checksum *seal, const char *path,
                                     const atomic_bool *cancel, struct error *error)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 && errno == ENOENT)
        return error_set(error, ST_CORRUPT, "the file is missing");
    if (file < 0)
        return read_failed(error);
    enum status status = file_checksum_check(seal, file, cancel, error);
    close(file);
    return status;
}

enum status file_checksum_of(struct file_checksum *seal, const char *path,
                             struct error *error)
{
    struct stat about;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return read_failed(error);
    struct sha256 *hash = sha256_create();
    enum status status =
        fstat(file, &about) == 0 ? feed(hash, file, NULL, error) : read_failed(error);
    if (status == ST_OK) {
        sha256_finish(hash, seal->sha256);
        seal->size = (uint64_t)about.st_size;
    }
    sha256_destroy(hash);
    close(file);
    return status;
}
