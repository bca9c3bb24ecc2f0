/* source_open examines the first two bytes. A plain file is read directly. For a gzip
 * file, chunks are read into packed and inflated into the caller's memory, one member
 * after the other; zlib checks each member's CRC and length at its end. */
#include "engine/data/readers/source.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum {
    CHUNK_SIZE = 256 << 10, /* bytes between two checks of the cancel flag */
    GZIP_WINDOW = 15 + 16,  /* largest window, gzip header and trailer */
    GZIP_MAGIC_1 = 0x1f,
    GZIP_MAGIC_2 = 0x8b,
};

struct source {
    int file;
    uint64_t size; /* of the file on disk */
    uint64_t unpacked;
    struct source_bounds bounds;
    bool gzip;
    bool in_member;
    uint64_t members;
    z_stream inflater;
    unsigned char *packed; /* (CHUNK_SIZE) for gzip */
};

static enum status read_failed(struct error *error)
{
    return error_set(error, ST_IO, "the file cannot be read: %s", strerror(errno));
}

static enum status too_large(const struct source *source, struct error *error)
{
    return error_set(error, ST_IMPORT_FAILED,
                     "unpacked, the file exceeds %" PRIu64 " bytes",
                     source->bounds.unpacked_size_max);
}

static enum status gzip_open(struct source *source, struct error *error)
{
    source->packed = malloc(CHUNK_SIZE);
    if (source->packed == NULL || inflateInit2(&source->inflater, GZIP_WINDOW) != Z_OK)
        return error_set(error, ST_NO_MEMORY, "no memory to unpack");
    source->gzip = true;
    return ST_OK;
}

static enum status recognise(struct source *source, struct error *error)
{
    struct stat about;
    unsigned char magic[2];
    if (fstat(source->file, &about) != 0)
        return read_failed(error);
    ssize_t got = pread(source->file, magic, sizeof magic, 0);
    if (got < 0)
        return read_failed(error);
    source->size = (uint64_t)about.st_size;
    if (got == sizeof magic && magic[0] == GZIP_MAGIC_1 && magic[1] == GZIP_MAGIC_2)
        return gzip_open(source, error);
    if (source->size > source->bounds.unpacked_size_max)
        return too_large(source, error);
    return ST_OK;
}

enum status source_open(struct source **out, const char *path,
                        struct source_bounds bounds, struct error *error)
{
    struct source *source = calloc(1, sizeof *source);
    if (source == NULL)
        return error_set(error, ST_NO_MEMORY, "no memory to read a file");
    source->bounds = bounds;
    source->file = open(path, O_RDONLY | O_CLOEXEC);
    enum status status =
        source->file < 0 ? read_failed(error) : recognise(source, error);
    if (status != ST_OK) {
        source_close(source);
        return status;
    }
    *out = source;
    return ST_OK;
}

void source_close(struct source *source)
{
    if (source == NULL)
        return;
    if (source->gzip)
        inflateEnd(&source->inflater);
    if (source->file >= 0)
        close(source->file);
    free(source->packed);
    free(source);
}

bool source_size(const struct source *source, uint64_t *size)
{
    if (source->gzip)
        return false;
    *size = source->size;
    return true;
}

/* Reads at most size bytes; *got is 0 at the end of the file. */
static enum status read_some(struct source *source, void *out, size_t size, size_t *got,
                             struct error *error)
{
    if (source->bounds.cancel != NULL && atomic_load(source->bounds.cancel))
        return error_set(error, ST_CANCELLED, "the import was cancelled");
    ssize_t done;
    do
        done = read(source->file, out, size < CHUNK_SIZE ? size : CHUNK_SIZE);
    while (done < 0 && errno == EINTR);
    if (done < 0)
        return read_failed(error);
    *got = (size_t)done;
    return ST_OK;
}

static enum status refill(struct source *source, bool *ended, struct error *error)
{
    size_t got;
    enum status status = read_some(source, source->packed, CHUNK_SIZE, &got, error);
    if (status != ST_OK)
        return status;
    source->inflater.next_in = source->packed;
    source->inflater.avail_in = (uInt)got;
    *ended = got == 0;
    return ST_OK;
}

static enum status member_begin(struct source *source, struct error *error)
{
    if (source->members > 0 && source->inflater.next_in[0] != GZIP_MAGIC_1)
        return error_set(error, ST_IMPORT_FAILED,
                         "there are bytes behind the end of the gzip data");
    inflateReset(&source->inflater);
    source->members++;
    source->in_member = true;
    return ST_OK;
}

static enum status inflate_some(struct source *source, struct error *error)
{
    switch (inflate(&source->inflater, Z_NO_FLUSH)) {
    case Z_OK:
    case Z_BUF_ERROR: return ST_OK;
    case Z_STREAM_END: source->in_member = false; return ST_OK;
    case Z_MEM_ERROR: return error_set(error, ST_NO_MEMORY, "no memory to unpack");
    }
    return error_set(error, ST_IMPORT_FAILED, "the gzip data is corrupted");
}

static enum status unpack_some(struct source *source, void *out, size_t size,
                               size_t *got, struct error *error)
{
    z_stream *inflater = &source->inflater;
    enum status status = ST_OK;
    inflater->next_out = out;
    inflater->avail_out = (uInt)(size < CHUNK_SIZE ? size : CHUNK_SIZE);
    uInt before = inflater->avail_out;
    while (inflater->avail_out == before) {
        bool ended = false;
        if (inflater->avail_in == 0 &&
            (status = refill(source, &ended, error)) != ST_OK)
            return status;
        if (ended && source->in_member)
            return error_set(error, ST_IMPORT_FAILED, "the gzip data is cut short");
        if (ended)
            break;
        if (!source->in_member && (status = member_begin(source, error)) != ST_OK)
            return status;
        if ((status = inflate_some(source, error)) != ST_OK)
            return status;
    }
    *got = before - inflater->avail_out;
    return ST_OK;
}

enum status source_read(struct source *source, void *out, size_t size, size_t *got,
                        struct error *error)
{
    char *at = out;
    size_t done = 0;
    while (done < size) {
        size_t more = 0;
        enum status status =
            source->gzip ? unpack_some(source, at + done, size - done, &more, error)
                         : read_some(source, at + done, size - done, &more, error);
        if (status != ST_OK)
            return status;
        if (more == 0)
            break;
        done += more;
        source->unpacked += more;
        if (source->unpacked > source->bounds.unpacked_size_max)
            return too_large(source, error);
    }
    *got = done;
    return ST_OK;
}
