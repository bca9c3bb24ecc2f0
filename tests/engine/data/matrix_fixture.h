/*
 * matrix_fixture.h - a fresh folder with one matrix file in it, and files of given
 * bytes. Include after tests/expect.h.
 */
#ifndef TESTS_ENGINE_DATA_MATRIX_FIXTURE_H
#define TESTS_ENGINE_DATA_MATRIX_FIXTURE_H

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "engine/data/matrix.h"

struct matrix_place {
    char folder[64];
    char out[96];         /* path of the file, which may not exist yet */
    struct matrix matrix; /* for the test to map it */
};

static inline void matrix_place_init(struct matrix_place *place)
{
    *place = (struct matrix_place){.folder = "/tmp/epsilond-data-XXXXXX"};
    assert_non_null(mkdtemp(place->folder));
    snprintf(place->out, sizeof place->out, "%s/out", place->folder);
}

static inline void matrix_place_fini(struct matrix_place *place)
{
    matrix_close(&place->matrix);
    unlink(place->out);
    assert_int_equal(rmdir(place->folder), 0); /* no other file is left there */
}

static inline void write_file(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static inline size_t read_back(const char *path, void *bytes, size_t size)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t got = fread(bytes, 1, size, file);
    fclose(file);
    return got;
}

#endif
