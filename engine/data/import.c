#include "engine/data/import.h"

#include <string.h>

#include "engine/data/reader.h"

static enum status (*const readers[])(struct reading *reading) = {
    [FORMAT_IDX] = idx_read,       [FORMAT_CSV] = csv_read,
    [FORMAT_LIBSVM] = libsvm_read, [FORMAT_NPY] = npy_read,
    [FORMAT_CIFAR10] = cifar_read, [FORMAT_CIFAR100] = cifar_read,
};

static enum status finish(struct reading *reading, struct import_result *result)
{
    struct matrix_digest digest;
    enum status status = matrix_writer_finish(reading->writer, &digest, reading->error);
    if (status != ST_OK)
        return status;
    result->records = digest.records;
    result->size = digest.size;
    memcpy(result->sha256, digest.sha256, SHA256_SIZE);
    memcpy(result->rows_sha256, digest.rows_sha256, SHA256_SIZE);
    return ST_OK;
}

enum status import_run(const struct import *import, struct import_result *result,
                       struct import_place *place, struct error *error)
{
    uint64_t size_max = import->limits.unpacked_size_max;
    struct matrix_bounds bounds = {MATRIX_RECORDS_MAX, size_max};
    struct reading reading = {
        .schema = import->schema,
        .files = &import->files,
        .bounds = {size_max, import->cancel},
        .place = {.file = import->files.data != NULL ? "data" : "features"},
        .error = error,
    };
    enum status status = matrix_writer_open(&reading.writer, import->path, bounds,
                                            import->cancel, error);
    if (status == ST_OK)
        status = readers[import->schema->format](&reading);
    if (status == ST_OK)
        status = finish(&reading, result);
    if (reading.writer != NULL)
        matrix_writer_close(reading.writer);
    if (status == ST_IMPORT_FAILED)
        *place = reading.place;
    return status;
}
