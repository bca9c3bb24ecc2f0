/*
 * ingest_fixture.h - imports files of given bytes in a fresh folder, for the tests of
 * the readers. Include after tests/expect.h.
 */
#ifndef TESTS_ENGINE_DATA_READERS_INGEST_FIXTURE_H
#define TESTS_ENGINE_DATA_READERS_INGEST_FIXTURE_H

#include <stdbool.h>
#include <string.h>
#include <zlib.h>

#include "engine/data/readers/import.h"
#include "tests/engine/data/matrix_fixture.h"

struct ingest {
    char folder[64];
    char features[96], labels[96], data[96], out[96];
    struct import_files files;
    struct import_limits limits;
    enum status status;
    struct import_result result;
    struct import_failure failure;
    struct matrix matrix; /* mapped if the import succeeded */
};

static inline void ingest_init(struct ingest *ingest)
{
    *ingest = (struct ingest){.limits = {1 << 30}};
    strcpy(ingest->folder, "/tmp/epsilond-data-XXXXXX");
    assert_non_null(mkdtemp(ingest->folder));
    snprintf(ingest->features, sizeof ingest->features, "%s/features", ingest->folder);
    snprintf(ingest->labels, sizeof ingest->labels, "%s/labels", ingest->folder);
    snprintf(ingest->data, sizeof ingest->data, "%s/data", ingest->folder);
    snprintf(ingest->out, sizeof ingest->out, "%s/out", ingest->folder);
}

static inline void ingest_fini(struct ingest *ingest)
{
    matrix_close(&ingest->matrix);
    unlink(ingest->features);
    unlink(ingest->labels);
    unlink(ingest->data);
    unlink(ingest->out);
    assert_int_equal(rmdir(ingest->folder), 0); /* no other file is left there */
}

/* Appends a gzip member. */
static inline void write_gzip(const char *path, const void *bytes, size_t size)
{
    gzFile file = gzopen(path, "ab6");
    assert_non_null(file);
    assert_int_equal(gzwrite(file, bytes, (unsigned)size), (int)size);
    assert_int_equal(gzclose(file), Z_OK);
}

/* Returns the import of the named files. */
static inline struct import ingest_import(const struct ingest *ingest,
                                          const struct schema *schema)
{
    return (struct import){.schema = schema,
                           .files = ingest->files,
                           .limits = ingest->limits,
                           .path = ingest->out};
}

/* Imports the named files, maps the result, and checks that a failure left no file. */
static inline void ingest_run(struct ingest *ingest, const struct schema *schema)
{
    matrix_close(&ingest->matrix);
    memset(&ingest->failure, 0, sizeof ingest->failure);
    const struct import import = ingest_import(ingest, schema);
    ingest->status = import_run(&import, &ingest->result, &ingest->failure);
    if (ingest->status == ST_OK) {
        assert_int_equal(matrix_open(&ingest->matrix, ingest->out, NULL), ST_OK);
    } else {
        assert_int_equal(access(ingest->out, F_OK), -1);
        assert_int_equal(ingest->failure.status, ingest->status);
    }
}

/* Imports text as the file `data`. */
static inline void ingest_text(struct ingest *ingest, const struct schema *schema,
                               const char *text)
{
    write_file(ingest->data, text, strlen(text));
    ingest->files = (struct import_files){{ingest->data}};
    ingest_run(ingest, schema);
}

/* Checks that the import was refused at a place, with a reason that contains words. */
#define assert_refused(ingest, name, at_line, at_column, words)                        \
    do {                                                                               \
        assert_int_equal((ingest)->status, ST_IMPORT_FAILED);                          \
        assert_string_equal((ingest)->failure.file, name);                             \
        if (strstr((ingest)->failure.text, words) == NULL)                             \
            fail_msg("\"%s\" does not say \"%s\"", (ingest)->failure.text, words);     \
        assert_int_equal((ingest)->failure.line, at_line);                             \
        assert_int_equal((ingest)->failure.column, at_column);                         \
    } while (0)

static inline float feature_at(const struct matrix *matrix, uint32_t record, size_t at)
{
    float *row = calloc(matrix->features, sizeof *row);
    assert_non_null(row);
    matrix_gather(matrix, row, matrix->features, &record, 1);
    float value = row[at];
    free(row);
    return value;
}

#endif
