/*
 * mnist_fixture.h - MNIST of $SHARED as matrices in a scratch folder. Include after
 * expect.h.
 */
#ifndef TESTS_ENGINE_MNIST_FIXTURE_H
#define TESTS_ENGINE_MNIST_FIXTURE_H

#include <string.h>

#include "engine/data/readers/import.h"
#include "engine/data/matrix.h"
#include "engine/data/readers/reader_registry.h"

struct mnist {
    struct matrix train, test;
};

static inline void mnist_import(struct matrix *matrix, const char *name)
{
    struct schema schema = {.reader = &idx_reader,
                            .task = TASK_CLASSIFICATION,
                            .classes = 10,
                            .shape_count = 3,
                            .shape = {1, 28, 28},
                            .scale = 255};
    char features[1024], labels[1024], file[64],
        path[64] = "/tmp/epsilond-mnist-XXXXXX";
    struct import_result result;
    struct import_failure failure = {0};
    snprintf(file, sizeof file, "data/mnist/%s-images-idx3-ubyte.gz", name);
    shared_path(features, file);
    snprintf(file, sizeof file, "data/mnist/%s-labels-idx1-ubyte.gz", name);
    shared_path(labels, file);
    const struct import import = {.schema = &schema,
                                  .files = {{features, labels}},
                                  .limits = {.unpacked_size_max = 1 << 30},
                                  .path = path};
    close(mkstemp(path));
    if (import_run(&import, &result, &failure) != ST_OK)
        fail_msg("%s", failure.text);
    assert_int_equal(matrix_open(matrix, path, NULL), ST_OK);
    unlink(path);
}

static inline void mnist_open(struct mnist *mnist)
{
    memset(mnist, 0, sizeof *mnist);
    mnist_import(&mnist->train, "train");
    mnist_import(&mnist->test, "t10k");
}

static inline void mnist_close(struct mnist *mnist)
{
    matrix_close(&mnist->train);
    matrix_close(&mnist->test);
}

#endif
