/*
 * fuzz_import.h - imports the fuzzer's bytes through files without a name and checks
 * what comes of them: refused with nothing left behind, or a matrix that keeps its
 * invariants.
 */
#ifndef TESTS_FUZZ_FUZZ_IMPORT_H
#define TESTS_FUZZ_FUZZ_IMPORT_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/check.h"
#include "engine/data/import.h"
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
    const struct import_limits limits = {FUZZ_LIMIT};
    struct import_result result;
    struct import_place place = {0};
    struct error error = {0};
    char path[64];
    snprintf(path, sizeof path, "/tmp/fuzz-import-%d", (int)getpid());
    enum status status =
        import_run(schema, files, &limits, path, NULL, &result, &place, &error);
    if (status == ST_OK) {
        fuzz_check(schema, path);
    } else {
        CHECK(status == ST_IMPORT_FAILED && error.status == status);
        CHECK(place.file != NULL && error.text[0] != '\0');
        CHECK(access(path, F_OK) != 0);
    }
    unlink(path);
}

#endif
