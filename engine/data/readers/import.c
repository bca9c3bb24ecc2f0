#include "engine/data/readers/import.h"

#include <string.h>

#include <string.h>

#include "engine/data/readers/foreign.h"
#include "engine/data/readers/reading.h"

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

static const char *path_of(const struct import_files *files, const char *name)
{
    if (strcmp(name, "features") == 0)
        return files->features;
    return strcmp(name, "labels") == 0 ? files->labels : files->data;
}

/* Where a file of another kind was refused for what its bytes are not, this says what
 * they are. */
static void name_foreign(struct reading *reading)
{
    char bytes[FOREIGN_SIZE];
    size_t size = 0;
    struct source *source = NULL;
    const char *path = path_of(reading->files, reading->place.file);
    if (path == NULL || source_open(&source, path, reading->bounds, NULL) != ST_OK)
        return;
    if (source_read(source, bytes, sizeof bytes, &size, NULL) == ST_OK) {
        const char *name = foreign_name(reading->schema->format, bytes, size);
        if (name != NULL && reading->error != NULL)
            *reading->error = (struct error){.status = ST_OK};
        if (name != NULL)
            reading_refuse(reading, 0, 0, "%s", name);
    }
    source_close(source);
}

enum status import_run(const struct import *import, struct import_result *result,
                       struct import_place *place, struct error *error)
{
    uint64_t size_max = import->limits.unpacked_size_max;
    struct matrix_bounds bounds = {MATRIX_RECORDS_MAX, size_max,
                                   import->limits.disk_room};
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
    if (status == ST_IMPORT_FAILED) {
        name_foreign(&reading);
        *place = reading.place;
    }
    return status;
}
