/* Copies a blob from one directory into another, by reading and writing. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "store/blobs/blob.h"
#include "store/blobs/blob_place.h"

enum { PIECE = 1 << 20 };

static bool write_all(int to, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t written = write(to, bytes, size);
        if (written < 0 && errno != EINTR)
            return false;
        bytes += written > 0 ? written : 0;
        size -= written > 0 ? (size_t)written : 0;
    }
    return true;
}

/* Copies what is left of from to the end of to. */
static bool copy_rest(int from, int to)
{
    static _Thread_local char piece[PIECE];
    ssize_t got;
    while ((got = read(from, piece, sizeof piece)) > 0)
        if (!write_all(to, piece, (size_t)got))
            return false;
    return got == 0;
}

enum status blob_copy(const struct blobs *from, const struct blobs *to,
                      const struct blob_name *name, struct error *error)
{
    char file_name[BLOB_FILE_NAME_SIZE], source[BLOB_PATH_SIZE], target[BLOB_PATH_SIZE];
    blob_file_name(file_name, name);
    blobs_path_of(from, source, file_name);
    blobs_path_of(to, target, file_name);
    int read_from = open(source, O_RDONLY | O_CLOEXEC);
    if (read_from < 0)
        return errno == ENOENT ? error_set(error, ST_NOT_FOUND, "%s is gone", source)
                               : blob_failed(error, source);
    int write_to = open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    enum status status = write_to >= 0 ? ST_OK : blob_failed(error, target);
    if (status == ST_OK && (!copy_rest(read_from, write_to) || fsync(write_to) != 0))
        status = blob_failed(error, target);
    if (write_to >= 0)
        close(write_to);
    close(read_from);
    return status;
}
