/*
 * import_fixture.h - imports the fuzzer's bytes through files without a name and checks
 * the result: a refusal that leaves nothing behind, or a matrix that keeps its
 * invariants.
 */
#ifndef TESTS_FUZZ_IMPORT_FIXTURE_H
#define TESTS_FUZZ_IMPORT_FIXTURE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/check.h"
#include "engine/data/readers/import.h"
#include "engine/data/matrix.h"

enum { FUZZ_LIMIT = 1 << 22 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct fuzz_file {
    int file;
    char path[64];
};

static inline void fuzz_file_open(struct fuzz_file *file, const uint8_t *data,
                                  size_t size)
{
    file->file = memfd_create("fuzz", MFD_CLOEXEC);
    CHECK(file->file >= 0 && write(file->file, data, size) == (ssize_t)size);
    snprintf(file->path, sizeof file->path, "/proc/self/fd/%d", file->file);
}

static inline void fuzz_check(const struct schema *schema, const char *path)
{
    struct matrix matrix;
    CHECK(matrix_open(&matrix, path, NULL) == ST_OK);
    CHECK(matrix.features == schema_features(schema));
    CHECK(matrix.classes == schema->classes);
    for (uint64_t i = 0; i < matrix.records; i++)
        CHECK(matrix.targets != NULL ? matrix.targets[i] < schema->classes
                                     : fabsf(matrix.values[i]) <= 1);
    CHECK((matrix.starts != NULL) == (schema_unit(schema) == PRIVACY_UNIT_PERSON));
    CHECK(matrix_units(&matrix) >= 1 && matrix_units(&matrix) <= matrix.records);
    for (uint32_t u = 0; matrix.starts != NULL && u < matrix.units; u++) {
        struct matrix_unit own = matrix_unit(&matrix, u);
        CHECK(own.count >= 1 && own.count <= own.room);
        CHECK(own.first + own.room <= matrix.records);
    }
    if (matrix.element == ELEMENT_F32) {
        const float *rows = matrix.rows;
        for (uint64_t i = 0; i < matrix.records * matrix.features; i++)
            CHECK(isfinite(rows[i]));
    }
    matrix_close(&matrix);
}

static inline void fuzz_import_as(const struct schema *schema,
                                  const struct import_files *files, bool takes_any)
{
    struct import_result result;
    struct import_failure failure = {0};
    char path[64];
    snprintf(path, sizeof path, "/tmp/fuzz-import-%d", (int)getpid());
    const struct import import = {.schema = schema,
                                  .files = *files,
                                  .limits = {FUZZ_LIMIT},
                                  .path = path,
                                  .takes_any = takes_any};
    enum status status = import_run(&import, &result, &failure);
    if (status == ST_OK) {
        fuzz_check(schema, path);
    } else {
        CHECK(status == ST_IMPORT_FAILED && failure.status == status);
        CHECK(failure.file[0] != '\0' && failure.text[0] != '\0');
        CHECK(access(path, F_OK) != 0);
    }
    unlink(path);
}

/* Imports the files as an upload, and as fetched files if the declaration allows it. */
static inline void fuzz_import(const struct schema *schema,
                               const struct import_files *files)
{
    size_t column;
    fuzz_import_as(schema, files, false);
    if (schema_unit(schema) == PRIVACY_UNIT_RECORD && schema_takes_any(schema, &column))
        fuzz_import_as(schema, files, true);
}

/* The fuzzer's bytes as several files, one after the other: each file except the last
 * is preceded by its size in two bytes, little-endian. */
struct fuzz_rest {
    const uint8_t *data;
    size_t size;
};

/* Takes the next file: as many bytes as the two bytes say, or all the rest. */
static inline struct fuzz_rest fuzz_take(struct fuzz_rest *rest, bool is_last)
{
    struct fuzz_rest taken = *rest;
    if (!is_last) {
        size_t head = rest->size < 2 ? rest->size : 2, left = rest->size - head;
        size_t size = head < 2 ? 0 : rest->data[0] + 256U * rest->data[1];
        taken = (struct fuzz_rest){rest->data + head, size < left ? size : left};
    }
    rest->size -= (size_t)(taken.data - rest->data) + taken.size;
    rest->data = taken.data + taken.size;
    return taken;
}

/* Imports a format of one file; if schema is of persons, a second file has the ids. */
static inline void fuzz_import_one(const struct schema *schema, struct fuzz_rest rest)
{
    struct fuzz_file data, ids;
    struct fuzz_rest bytes = fuzz_take(&rest, !schema->has_id_file);
    fuzz_file_open(&data, bytes.data, bytes.size);
    fuzz_file_open(&ids, rest.data, rest.size);
    fuzz_import(schema, &(struct import_files){{data.path, ids.path}});
    close(data.file);
    close(ids.file);
}

/* Imports a format of two files of arrays. The first byte selects the task, and whether
 * a third file has ids. */
static inline int fuzz_import_arrays(const struct reader *reader, const uint8_t *data,
                                     size_t size)
{
    const struct schema schemas[2] = {{.reader = reader,
                                       .task = TASK_CLASSIFICATION,
                                       .classes = 3,
                                       .shape_count = 2,
                                       .shape = {2, 3},
                                       .scale = 255},
                                      {.reader = reader,
                                       .task = TASK_REGRESSION,
                                       .shape_count = 1,
                                       .shape = {3},
                                       .scale = 0.5,
                                       .has_target_range = true,
                                       .target_low = -1,
                                       .target_high = 2}};
    struct fuzz_file features, labels, ids;
    if (size < 3)
        return 0;
    struct schema schema = schemas[data[0] & 1];
    schema.has_id_file = (data[0] & 2) != 0;
    struct fuzz_rest rest = {data + 1, size - 1};
    struct fuzz_rest first = fuzz_take(&rest, false);
    struct fuzz_rest second = fuzz_take(&rest, !schema.has_id_file);
    fuzz_file_open(&features, first.data, first.size);
    fuzz_file_open(&labels, second.data, second.size);
    fuzz_file_open(&ids, rest.data, rest.size);
    fuzz_import(&schema,
                &(struct import_files){{features.path, labels.path, ids.path}});
    close(features.file);
    close(labels.file);
    close(ids.file);
    return 0;
}

#endif
