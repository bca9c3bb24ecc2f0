/*
 * import_fixture.h - imports the fuzzer's bytes through files without a name and checks
 * what comes of them: refused with nothing left behind, or a matrix that keeps its
 * invariants.
 */
#ifndef TESTS_FUZZ_IMPORT_FIXTURE_H
#define TESTS_FUZZ_IMPORT_FIXTURE_H

#include <math.h>
#include <stdbool.h>
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
    if (matrix.element == ELEMENT_F32) {
        const float *rows = matrix.rows;
        for (uint64_t i = 0; i < matrix.records * matrix.features; i++)
            CHECK(isfinite(rows[i]));
    }
    matrix_close(&matrix);
}

static inline void fuzz_import(const struct schema *schema,
                               const struct import_files *files)
{
    struct import_result result;
    struct import_failure failure = {0};
    char path[64];
    snprintf(path, sizeof path, "/tmp/fuzz-import-%d", (int)getpid());
    const struct import import = {
        .schema = schema, .files = *files, .limits = {FUZZ_LIMIT}, .path = path};
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

/* A format of two files of arrays. The first byte chooses the task, the next two
 * (little-endian) the size of the features file; what is left is the labels file. */
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
    struct fuzz_file features, labels;
    if (size < 3)
        return 0;
    const struct schema *schema = &schemas[data[0] & 1];
    size_t split = data[1] + 256U * data[2];
    data += 3;
    size -= 3;
    if (split > size)
        split = size;
    fuzz_file_open(&features, data, split);
    fuzz_file_open(&labels, data + split, size - split);
    fuzz_import(schema, &(struct import_files){{features.path, labels.path}});
    close(features.file);
    close(labels.file);
    return 0;
}

#endif
