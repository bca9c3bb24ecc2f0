#include "engine/model_file/safetensors.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "engine/model_file/tensor_header.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "floats are written as they lie");

enum { LENGTH_SIZE = 8, HEADER_SIZE_MAX = 100000000 };

struct safetensors {
    int file;
    char *header;
    uint64_t data; /* where the tensors start */
    struct tensor_list list;
};

/* ---- writing ---- */

static void render_text(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            fprintf(out, "\\%c", c);
        else if (c < 0x20)
            fprintf(out, "\\u%04x", c);
        else
            fputc(c, out);
    }
    fputc('"', out);
}

static void render_metadata(FILE *out, const struct safetensors_content *content)
{
    fputs("\"__metadata__\":{", out);
    for (size_t i = 0; i < content->metadata.count; i++) {
        fputs(i > 0 ? "," : "", out);
        render_text(out, content->metadata.items[i].key);
        fputc(':', out);
        render_text(out, content->metadata.items[i].value);
    }
    fputc('}', out);
}

/* Returns the end of the tensor. */
static uint64_t render_tensor(FILE *out, const struct tensor *tensor, uint64_t begin)
{
    uint64_t end = begin + tensor->count * sizeof(float);

    render_text(out, tensor->name);
    fputs(":{\"dtype\":\"F32\",\"shape\":[", out);
    for (size_t i = 0; i < tensor->rank; i++)
        fprintf(out, "%s%llu", i > 0 ? "," : "", (unsigned long long)tensor->shape[i]);
    fprintf(out, "],\"data_offsets\":[%llu,%llu]}", (unsigned long long)begin,
            (unsigned long long)end);
    return end;
}

/* The length and the padded header; the caller releases it with free(). */
static char *render_header(const struct safetensors_content *content,
                           const struct tensor *const *order, size_t *size)
{
    static const char no_length[LENGTH_SIZE];
    char *text = NULL;
    uint64_t end = 0, length;
    FILE *out = open_memstream(&text, size);

    CHECK(out != NULL);
    fwrite(no_length, 1, sizeof no_length, out);
    fputc('{', out);
    if (content->metadata.count > 0)
        render_metadata(out, content);
    for (size_t i = 0; i < content->tensor_count; i++) {
        fputs(i > 0 || content->metadata.count > 0 ? "," : "", out);
        end = render_tensor(out, order[i], end);
    }
    fputc('}', out);
    CHECK(fflush(out) == 0);
    while (*size % LENGTH_SIZE != 0) {
        fputc(' ', out);
        CHECK(fflush(out) == 0);
    }
    CHECK(fclose(out) == 0);
    length = *size - LENGTH_SIZE;
    memcpy(text, &length, sizeof length);
    return text;
}

static int tensor_order(const void *a, const void *b)
{
    const struct tensor *const *x = a, *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

static const struct tensor **by_name(const struct safetensors_content *content)
{
    const struct tensor **order = calloc(content->tensor_count + 1, sizeof *order);
    CHECK(order != NULL);
    for (size_t i = 0; i < content->tensor_count; i++)
        order[i] = &content->tensors[i];
    qsort(order, content->tensor_count, sizeof *order, tensor_order);
    return order;
}

struct sink {
    int file;
    struct sha256 *hash;
    uint64_t size;
};

static bool put(struct sink *sink, const void *data, size_t size)
{
    const char *next = data;

    sha256_update(sink->hash, data, size);
    sink->size += size;
    while (size > 0) {
        ssize_t written = write(sink->file, next, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        next += written;
        size -= (size_t)written;
    }
    return true;
}

static bool put_content(struct sink *sink, const struct safetensors_content *content)
{
    const struct tensor **order = by_name(content);
    size_t size = 0;
    char *header = render_header(content, order, &size);
    bool done = put(sink, header, size);

    for (size_t i = 0; i < content->tensor_count && done; i++)
        done = put(sink, content->parameters + order[i]->offset,
                   order[i]->count * sizeof *content->parameters);
    free(header);
    free(order);
    return done;
}

enum status safetensors_write(const char *path,
                              const struct safetensors_content *content,
                              struct file_checksum *seal, struct error *error)
{
    struct sink sink = {.file =
                            open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)};
    bool done;

    if (sink.file < 0)
        return error_set(error, ST_IO, "the model file cannot be opened: %s",
                         strerror(errno));
    sink.hash = sha256_create();
    done = put_content(&sink, content);
    done = close(sink.file) == 0 && done;
    if (done) {
        sha256_finish(sink.hash, seal->sha256);
        seal->size = sink.size;
    }
    sha256_destroy(sink.hash);
    if (done)
        return ST_OK;
    unlink(path);
    return error_set(error, ST_IO, "the model file cannot be written");
}

/* ---- reading ---- */

static bool read_all(int file, void *to, size_t size, uint64_t at)
{
    char *next = to;
    while (size > 0) {
        ssize_t got = pread(file, next, size, (off_t)at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        next += got;
        at += (uint64_t)got;
        size -= (size_t)got;
    }
    return true;
}

static enum status read_header(struct safetensors *file, uint64_t file_size,
                               struct error *error)
{
    uint64_t size;

    if (file_size < LENGTH_SIZE)
        return error_set(error, ST_CORRUPT, "the file is too short");
    if (!read_all(file->file, &size, sizeof size, 0))
        return error_set(error, ST_IO, "the model file cannot be read");
    if (size > HEADER_SIZE_MAX || size > file_size - LENGTH_SIZE)
        return error_set(error, ST_CORRUPT, "the header is longer than the file");
    file->data = LENGTH_SIZE + size;
    file->header = calloc(size + 1, 1);
    if (file->header == NULL)
        return error_set(error, ST_CORRUPT, "the header is too large");
    if (!read_all(file->file, file->header, size, LENGTH_SIZE))
        return error_set(error, ST_IO, "the model file cannot be read");
    enum status status = tensor_header_parse(&file->list, file->header, size,
                                             file_size - file->data, error);
    while (size > 0 && file->header[size - 1] == ' ')
        file->header[--size] = '\0';
    return status;
}

enum status safetensors_open(struct safetensors **out, const char *path,
                             struct error *error)
{
    return safetensors_take(out, open(path, O_RDONLY | O_CLOEXEC), error);
}

enum status safetensors_take(struct safetensors **out, int file_take,
                             struct error *error)
{
    struct safetensors *file = calloc(1, sizeof *file);
    struct stat about;
    enum status status;

    CHECK(file != NULL);
    file->file = file_take;
    if (file->file < 0 || fstat(file->file, &about) != 0 || !S_ISREG(about.st_mode))
        status = error_set(error, ST_IO, "the model file cannot be opened");
    else
        status = read_header(file, (uint64_t)about.st_size, error);
    if (status != ST_OK) {
        safetensors_close(file);
        return status;
    }
    *out = file;
    return ST_OK;
}

void safetensors_close(struct safetensors *file)
{
    if (file == NULL)
        return;
    if (file->file >= 0)
        close(file->file);
    free(file->header);
    free(file->list.tensors);
    free(file);
}

enum status safetensors_check(const struct safetensors *file,
                              const struct file_checksum *seal, struct error *error)
{
    return file_checksum_check(seal, file->file, NULL, error);
}

const char *safetensors_header(const struct safetensors *file)
{
    return file->header;
}

size_t safetensors_tensor_count(const struct safetensors *file)
{
    return file->list.count;
}

const struct tensor *safetensors_tensor(const struct safetensors *file, size_t index)
{
    CHECK(index < file->list.count);
    return &file->list.tensors[index].tensor;
}

/* Half the bits of a float: its sign, its exponent and the first 7 of its fraction. */
static float of_bfloat(uint16_t half)
{
    uint32_t bits = (uint32_t)half << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* IEEE 754 binary16: 5 bits of exponent, 10 of fraction. */
static float of_half(uint16_t half)
{
    enum { EXPONENT_MAX = 31, BIAS = 15, FRACTION = 10 };
    unsigned exponent = half >> FRACTION & EXPONENT_MAX;
    unsigned fraction = half & ((1U << FRACTION) - 1);
    float size = ldexpf((float)(exponent > 0 ? fraction | 1U << FRACTION : fraction),
                        (int)(exponent > 0 ? exponent : 1) - BIAS - FRACTION);
    if (exponent == EXPONENT_MAX)
        size = fraction > 0 ? NAN : INFINITY;
    return (half & 0x8000) != 0 ? -size : size;
}

/* to has the 16-bit values in its second half, and is filled from its beginning: writes
 * never overtake reads. */
static void widen(float *to, size_t count, enum tensor_dtype dtype)
{
    const char *halves = (const char *)to + count * sizeof(uint16_t);
    for (size_t i = 0; i < count; i++) {
        uint16_t half;
        memcpy(&half, halves + i * sizeof half, sizeof half);
        to[i] = dtype == DTYPE_F16 ? of_half(half) : of_bfloat(half);
    }
}

const char *safetensors_dtype(const struct tensor *tensor)
{
    return tensor_dtype_name(
        ((const struct stored_tensor *)(const void *)tensor)->dtype);
}

bool safetensors_is_readable(const struct tensor *tensor)
{
    return tensor_dtype_is_float(
        ((const struct stored_tensor *)(const void *)tensor)->dtype);
}

enum status safetensors_read(struct safetensors *file, const struct tensor *tensor,
                             float *to, struct error *error)
{
    const struct stored_tensor *stored = (const void *)tensor;
    if (!safetensors_is_readable(tensor))
        return error_set(error, ST_CORRUPT, "%s has values of %s, not F32, F16 or BF16",
                         tensor->name, safetensors_dtype(tensor));
    size_t size = tensor->count * tensor_dtype_size(stored->dtype);
    char *at = (char *)to + (tensor->count * sizeof *to - size);
    enum status status = safetensors_read_bytes(file, tensor, 0, at, size, error);
    if (status == ST_OK && stored->dtype != DTYPE_F32)
        widen(to, tensor->count, stored->dtype);
    return status;
}

enum status safetensors_read_bytes(const struct safetensors *file,
                                   const struct tensor *tensor, uint64_t offset,
                                   void *to, size_t size, struct error *error)
{
    const struct stored_tensor *stored = (const void *)tensor;
    CHECK(offset + size <= tensor->count * tensor_dtype_size(stored->dtype));
    if (!read_all(file->file, to, size, file->data + stored->begin + offset))
        return error_set(error, ST_IO, "the model file cannot be read");
    return ST_OK;
}

/* A value is not finite if all bits of its exponent are set. */
static bool words_are_finite(const char *bytes, size_t size, enum tensor_dtype dtype)
{
    const uint32_t single = 0x7F800000;
    const uint16_t mask = dtype == DTYPE_F16 ? 0x7C00 : 0x7F80;
    bool finite = true;
    for (size_t at = 0; at < size && dtype == DTYPE_F32; at += sizeof single) {
        uint32_t bits;
        memcpy(&bits, bytes + at, sizeof bits);
        finite &= (bits & single) != single;
    }
    for (size_t at = 0; at < size && dtype != DTYPE_F32; at += sizeof mask) {
        uint16_t bits;
        memcpy(&bits, bytes + at, sizeof bits);
        finite &= (bits & mask) != mask;
    }
    return finite;
}

enum status safetensors_check_finite(struct safetensors *file,
                                     const struct tensor *tensor, struct error *error)
{
    enum { PIECE = 65536 };
    const struct stored_tensor *stored = (const void *)tensor;
    uint64_t size = tensor->count * tensor_dtype_size(stored->dtype);
    char piece[PIECE];
    CHECK(safetensors_is_readable(tensor));
    for (uint64_t at = 0; at < size; at += PIECE) {
        size_t here = size - at < PIECE ? (size_t)(size - at) : PIECE;
        enum status status =
            safetensors_read_bytes(file, tensor, at, piece, here, error);
        if (status != ST_OK)
            return status;
        if (!words_are_finite(piece, here, stored->dtype))
            return error_set(error, ST_INVALID, "%s holds a value that is not finite",
                             tensor->name);
    }
    return ST_OK;
}
