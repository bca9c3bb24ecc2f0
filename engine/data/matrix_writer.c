/* In the file all rows come before all targets, but callers add a row together with its
 * target. Rows are collected in one of two buffers. A full buffer is hashed and
 * written; the two digests (side_digest.h) may still read it while the other buffer
 * fills. Targets are kept in an array and, beyond its length, in a second file without
 * a name, the spool. After the last row they are copied to the end of the matrix. A
 * shuffled matrix is written only when its last row was added; until then rows go into
 * one shuffle and targets into another (shuffle.h). Both have the same key, so that a
 * row and its target get the same index. */
#include "engine/data/matrix_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "engine/data/matrix_layout.h"
#include "engine/data/shuffle.h"
#include "engine/data/side_digest.h"

enum {
    BUFFER_SIZE = 256 << 10,       /* hashed and written while it is in cache */
    TARGETS_MAX = BUFFER_SIZE / 4, /* targets in memory before they are spooled */
    PATH_SIZE = 4096,
};

struct matrix_writer {
    char path[PATH_SIZE];
    int file;
    int spool; /* -1: all targets so far are in memory */
    bool finished;
    struct matrix_bounds bounds;
    const atomic_bool *cancel;
    struct side_digest *digest, *rows_digest;
    uint64_t written; /* bytes of the file */

    struct matrix_shape shape;
    size_t row_size;
    uint64_t records; /* rows advanced over */
    char *buffers[2];
    size_t filling; /* index of the buffer that collects rows now */
    size_t buffer_rows, buffered;

    struct matrix_groups groups; /* of persons; zeroed if there are none */

    bool is_shuffled;
    uint8_t key[STREAM_KEY_SIZE]; /* of the order, until begin */
    struct shuffle *rows_shuffle, *targets_shuffle;

    uint64_t target_count;
    size_t pending; /* targets in memory */
    uint32_t targets[TARGETS_MAX];
};

static enum status io_failed(struct error *error)
{
    bool full = errno == ENOSPC || errno == EDQUOT;
    return error_set(error, full ? ST_DISK_FULL : ST_IO,
                     "the matrix cannot be written: %s", strerror(errno));
}

static bool write_all(int file, const void *data, size_t size)
{
    const char *at = data;
    while (size > 0) {
        ssize_t done = write(file, at, size);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return false;
        at += done;
        size -= (size_t)done;
    }
    return true;
}

static bool read_all(int file, void *data, size_t size, uint64_t offset)
{
    char *at = data;
    while (size > 0) {
        ssize_t done = pread(file, at, size, (off_t)offset);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        at += done;
        offset += (uint64_t)done;
        size -= (size_t)done;
    }
    return true;
}

static bool is_cancelled(const struct matrix_writer *writer)
{
    return writer->cancel != NULL && atomic_load(writer->cancel);
}

static enum status cancelled(struct error *error)
{
    return error_set(error, ST_CANCELLED, "the import was cancelled");
}

/* All bytes of the file pass through this function, so the hashed bytes are the written
 * bytes. The digests may still read data after it returns. */
static enum status put_rows(struct matrix_writer *writer, const void *data, size_t size,
                            struct error *error)
{
    if (is_cancelled(writer))
        return cancelled(error);
    side_digest_add(writer->digest, data, size);
    if (!write_all(writer->file, data, size))
        return io_failed(error);
    writer->written += size;
    return ST_OK;
}

static enum status put(struct matrix_writer *writer, const void *data, size_t size,
                       struct error *error)
{
    enum status status = put_rows(writer, data, size, error);
    side_digest_wait(writer->digest);
    return status;
}

static enum status put_padding(struct matrix_writer *writer, struct error *error)
{
    static const char zeros[MATRIX_ALIGNMENT];
    return put(writer, zeros, matrix_padding(writer->written), error);
}

enum status matrix_writer_open(struct matrix_writer **out, const char *path,
                               struct matrix_bounds bounds, const atomic_bool *cancel,
                               struct error *error)
{
    CHECK(bounds.records_max <= MATRIX_RECORDS_MAX);
    struct matrix_writer *writer = calloc(1, sizeof *writer);
    if (writer == NULL)
        return error_set(error, ST_NO_MEMORY, "no memory to write a matrix");
    writer->bounds = bounds;
    writer->cancel = cancel;
    writer->spool = -1;
    CHECK((size_t)snprintf(writer->path, PATH_SIZE, "%s", path) < PATH_SIZE);
    writer->file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (writer->file < 0) {
        enum status status = io_failed(error);
        free(writer);
        return status;
    }
    writer->digest = side_digest_create();
    writer->rows_digest = side_digest_create();
    *out = writer;
    return ST_OK;
}

void matrix_writer_close(struct matrix_writer *writer)
{
    if (writer == NULL)
        return;
    if (writer->file >= 0)
        close(writer->file);
    if (writer->spool >= 0)
        close(writer->spool);
    if (!writer->finished)
        unlink(writer->path);
    side_digest_destroy(writer->digest); /* before the buffers, which it may still
                                            read */
    side_digest_destroy(writer->rows_digest);
    shuffle_destroy(writer->rows_shuffle);
    shuffle_destroy(writer->targets_shuffle);
    hash_zero(writer->key, sizeof writer->key);
    free(writer->buffers[0]);
    free(writer->buffers[1]);
    free(writer);
}

void matrix_writer_shuffle(struct matrix_writer *writer,
                           const uint8_t key[STREAM_KEY_SIZE])
{
    CHECK(writer->buffers[0] == NULL && !writer->is_shuffled);
    memcpy(writer->key, key, sizeof writer->key);
    writer->is_shuffled = true;
}

static struct shuffle *begin_shuffle(const struct matrix_writer *writer,
                                     const char *suffix, size_t item_size)
{
    char path[PATH_SIZE + sizeof ".targets"];
    snprintf(path, sizeof path, "%s%s", writer->path, suffix);
    return shuffle_create(&(struct shuffle_spec){path, item_size, writer->key});
}

static enum status begin_shuffles(struct matrix_writer *writer, struct error *error)
{
    if (!writer->is_shuffled)
        return ST_OK;
    writer->rows_shuffle = begin_shuffle(writer, ".rows", writer->row_size);
    writer->targets_shuffle =
        begin_shuffle(writer, ".targets", sizeof *writer->targets);
    hash_zero(writer->key, sizeof writer->key);
    return writer->rows_shuffle != NULL && writer->targets_shuffle != NULL
               ? ST_OK
               : error_set(error, ST_NO_MEMORY, "no memory to put records in order");
}

enum status matrix_writer_begin(struct matrix_writer *writer,
                                const struct matrix_shape *shape, struct error *error)
{
    CHECK(writer->buffers[0] == NULL && shape->features > 0);
    writer->shape = *shape;
    writer->row_size =
        ((size_t)shape->features + shape->texts) * element_size(shape->element);
    writer->buffer_rows =
        writer->row_size < BUFFER_SIZE ? BUFFER_SIZE / writer->row_size : 1;
    for (size_t k = 0; k < 2; k++)
        writer->buffers[k] = calloc(writer->buffer_rows, writer->row_size);
    if (writer->buffers[0] == NULL || writer->buffers[1] == NULL)
        return error_set(error, ST_NO_MEMORY, "no memory for one record");
    enum status status = begin_shuffles(writer, error);
    if (status != ST_OK)
        return status;
    struct matrix_header header = {.features = shape->features,
                                   .classes = shape->classes,
                                   .element = shape->element,
                                   .scale = shape->scale,
                                   .texts = shape->texts};
    memcpy(header.magic, MATRIX_MAGIC, sizeof header.magic);
    return put(writer, &header, sizeof header, error);
}

enum status matrix_writer_fits(const struct matrix_writer *writer, uint64_t records,
                               struct error *error)
{
    struct matrix_layout layout;
    const struct matrix_extent extent = {.records = records,
                                         .row_size = writer->row_size,
                                         .units = writer->groups.units};
    if (records > writer->bounds.records_max)
        return error_set(error, ST_IMPORT_FAILED, "more than %" PRIu64 " records",
                         writer->bounds.records_max);
    if (!matrix_layout(&layout, &extent) || layout.size > writer->bounds.size_max)
        return error_set(error, ST_IMPORT_FAILED,
                         "the stored matrix would exceed %" PRIu64 " bytes",
                         writer->bounds.size_max);
    uint64_t waiting = writer->is_shuffled ? layout.rows_size + layout.targets_size : 0;
    if (writer->bounds.disk_room > 0 &&
        layout.size + waiting > writer->bounds.disk_room)
        return error_set(error, ST_DISK_FULL, "the disk has no room for the matrix");
    return ST_OK;
}

void *matrix_writer_rows(struct matrix_writer *writer, size_t *count)
{
    *count = writer->buffer_rows - writer->buffered;
    return writer->buffers[writer->filling] + writer->buffered * writer->row_size;
}

/* Writes the buffer that was filling and switches to the other one; the digests may
 * still read the written one. */
static enum status put_buffer(struct matrix_writer *writer, struct error *error)
{
    const char *buffer = writer->buffers[writer->filling];
    size_t size = writer->buffered * writer->row_size;
    writer->buffered = 0;
    writer->filling ^= 1;
    return put_rows(writer, buffer, size, error);
}

static enum status flush_rows(struct matrix_writer *writer, struct error *error)
{
    const char *buffer = writer->buffers[writer->filling];
    size_t count = writer->buffered;
    side_digest_add(writer->rows_digest, buffer, count * writer->row_size);
    if (!writer->is_shuffled)
        return put_buffer(writer, error);
    if (is_cancelled(writer))
        return cancelled(error);
    writer->buffered = 0;
    writer->filling ^= 1;
    return shuffle_add(writer->rows_shuffle, buffer, count, error);
}

enum status matrix_writer_advance(struct matrix_writer *writer, size_t count,
                                  struct error *error)
{
    CHECK(count <= writer->buffer_rows - writer->buffered);
    enum status status = matrix_writer_fits(writer, writer->records + count, error);
    if (status != ST_OK)
        return status;
    writer->records += count;
    writer->buffered += count;
    return writer->buffered == writer->buffer_rows ? flush_rows(writer, error) : ST_OK;
}

uint64_t matrix_writer_records(const struct matrix_writer *writer)
{
    return writer->records;
}

static enum status spool_open(struct matrix_writer *writer, struct error *error)
{
    char path[PATH_SIZE + sizeof ".targets"];
    snprintf(path, sizeof path, "%s.targets", writer->path);
    writer->spool = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (writer->spool < 0 || unlink(path) != 0)
        return io_failed(error);
    return ST_OK;
}

/* Moves the targets in memory to the spool. */
static enum status spool(struct matrix_writer *writer, struct error *error)
{
    if (writer->is_shuffled) {
        size_t count = writer->pending;
        writer->pending = 0;
        return shuffle_add(writer->targets_shuffle, writer->targets, count, error);
    }
    enum status status = writer->spool < 0 ? spool_open(writer, error) : ST_OK;
    if (status != ST_OK)
        return status;
    if (!write_all(writer->spool, writer->targets, sizeof writer->targets))
        return io_failed(error);
    writer->pending = 0;
    return ST_OK;
}

static enum status add_target(struct matrix_writer *writer, uint32_t bits,
                              struct error *error)
{
    writer->targets[writer->pending++] = bits;
    writer->target_count++;
    return writer->pending == TARGETS_MAX ? spool(writer, error) : ST_OK;
}

enum status matrix_writer_class(struct matrix_writer *writer, uint32_t class_index,
                                struct error *error)
{
    CHECK(class_index < writer->shape.classes);
    return add_target(writer, class_index, error);
}

enum status matrix_writer_value(struct matrix_writer *writer, float value,
                                struct error *error)
{
    CHECK(writer->shape.classes == 0 && isfinite(value));
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return add_target(writer, bits, error);
}

/* Writes the rows in their random order, and frees the disk space of the shuffle. */
static enum status put_shuffled_rows(struct matrix_writer *writer, struct error *error)
{
    const void *row = NULL;
    enum status status = shuffle_next(writer->rows_shuffle, &row, error);
    side_digest_wait(writer->rows_digest); /* it may still read a buffer */
    while (status == ST_OK && row != NULL) {
        memcpy(writer->buffers[writer->filling] + writer->buffered * writer->row_size,
               row, writer->row_size);
        if (++writer->buffered == writer->buffer_rows)
            status = put_buffer(writer, error);
        if (status == ST_OK)
            status = shuffle_next(writer->rows_shuffle, &row, error);
    }
    if (status == ST_OK)
        status = put_buffer(writer, error);
    shuffle_destroy(writer->rows_shuffle);
    writer->rows_shuffle = NULL;
    return status;
}

static enum status put_rest_of_rows(struct matrix_writer *writer, struct error *error)
{
    enum status status = flush_rows(writer, error);
    return status == ST_OK && writer->is_shuffled ? put_shuffled_rows(writer, error)
                                                  : status;
}

static enum status put_shuffled_targets(struct matrix_writer *writer,
                                        struct error *error)
{
    const void *target = NULL;
    enum status status = spool(writer, error);
    if (status == ST_OK)
        status = shuffle_next(writer->targets_shuffle, &target, error);
    while (status == ST_OK && target != NULL) {
        memcpy(&writer->targets[writer->pending], target, sizeof *writer->targets);
        if (++writer->pending == TARGETS_MAX) {
            writer->pending = 0;
            status = put(writer, writer->targets, sizeof writer->targets, error);
        }
        if (status == ST_OK)
            status = shuffle_next(writer->targets_shuffle, &target, error);
    }
    return status == ST_OK ? put(writer, writer->targets,
                                 writer->pending * sizeof *writer->targets, error)
                           : status;
}

/* The row buffer is empty by now and may be smaller than a block. So targets are copied
 * through their own array, after its last targets were appended to the spool. */
static enum status put_targets(struct matrix_writer *writer, struct error *error)
{
    if (writer->is_shuffled)
        return put_shuffled_targets(writer, error);
    if (writer->spool < 0)
        return put(writer, writer->targets, writer->pending * sizeof *writer->targets,
                   error);
    if (!write_all(writer->spool, writer->targets,
                   writer->pending * sizeof *writer->targets))
        return io_failed(error);
    enum status status = ST_OK;
    for (uint64_t done = 0; done < writer->target_count && status == ST_OK;) {
        uint64_t left = writer->target_count - done;
        size_t count = left < TARGETS_MAX ? (size_t)left : TARGETS_MAX;
        if (!read_all(writer->spool, writer->targets, count * sizeof *writer->targets,
                      done * sizeof *writer->targets))
            return io_failed(error);
        status = put(writer, writer->targets, count * sizeof *writer->targets, error);
        done += count;
    }
    return status;
}

void matrix_writer_group(struct matrix_writer *writer,
                         const struct matrix_groups *groups)
{
    CHECK(writer->records == 0 && groups->units > 0 && groups->slots > 0);
    writer->groups = *groups;
}

static enum status put_starts(struct matrix_writer *writer, struct error *error)
{
    const struct matrix_groups *groups = &writer->groups;
    if (groups->units == 0)
        return ST_OK;
    CHECK(groups->units * groups->slots == writer->records);
    enum status status = put(writer, groups->starts,
                             (groups->units + 1) * sizeof *groups->starts, error);
    return status == ST_OK ? put_padding(writer, error) : status;
}

static enum status put_trailer(struct matrix_writer *writer, struct error *error)
{
    struct matrix_trailer trailer = {.records = writer->records,
                                     .units = writer->groups.units,
                                     .slots = writer->groups.slots};
    memcpy(trailer.magic, MATRIX_TRAILER_MAGIC, sizeof trailer.magic);
    return put(writer, &trailer, sizeof trailer, error);
}

enum status matrix_writer_finish(struct matrix_writer *writer,
                                 struct matrix_digest *digest, struct error *error)
{
    CHECK(writer->records > 0 && writer->records == writer->target_count);
    enum status status = put_rest_of_rows(writer, error);
    if (status == ST_OK)
        status = put_padding(writer, error);
    if (status == ST_OK)
        status = put_targets(writer, error);
    if (status == ST_OK)
        status = put_padding(writer, error);
    if (status == ST_OK)
        status = put_starts(writer, error);
    if (status == ST_OK)
        status = put_trailer(writer, error);
    if (status != ST_OK)
        return status;
    int closed = close(writer->file);
    writer->file = -1;
    if (closed != 0)
        return io_failed(error);
    writer->finished = true;
    digest->records = writer->records;
    digest->size = writer->written;
    side_digest_finish(writer->digest, digest->sha256);
    side_digest_finish(writer->rows_digest, digest->rows_sha256);
    return ST_OK;
}
