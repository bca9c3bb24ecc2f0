/*
 * person_fixture.h - a micro-batch over persons with several rows each, and their
 * gradients one by one, for tests of units of several rows. A person's index is the
 * position of their rows in the matrix. Include after tests/expect.h.
 *
 * Ownership: people_fini releases what people_make acquires.
 */
#ifndef TESTS_ENGINE_DP_PERSON_FIXTURE_H
#define TESTS_ENGINE_DP_PERSON_FIXTURE_H

#include <math.h>

#include "engine/nn/workspace.h"
#include "tests/engine/dp/micro_batch_fixture.h"

enum { PEOPLE_MAX = 512 };

struct people {
    struct bench bench; /* the records of bench are the persons */
    uint32_t starts[PEOPLE_MAX + 1];
};

/* Returns how many rows a person has: one, as many as a step takes, fewer or more. */
static inline uint32_t rows_of_person(size_t person, size_t unit_rows)
{
    return 1 + (uint32_t)(person * 7 % (2 * unit_rows + 3));
}

/* Takes ownership of network. Every third person has rows that are all equal, so that
 * clipping them one by one would leave one clip norm per row. */
static inline void people_make(struct people *people, struct network *network,
                               size_t persons)
{
    struct bench *bench = &people->bench;
    size_t unit_rows = network_unit_rows(network), features;
    assert_true(persons <= PEOPLE_MAX);
    people->starts[0] = 0;
    for (size_t u = 0; u < persons; u++)
        people->starts[u + 1] = people->starts[u] + rows_of_person(u, unit_rows);
    bench_make(bench, network, people->starts[persons]);
    fill_generic(bench);
    features = bench->data.features;
    for (size_t u = 0; u < persons; u += 3)
        for (size_t r = people->starts[u] + 1; r < people->starts[u + 1]; r++) {
            memcpy(bench->x + r * features, bench->x + people->starts[u] * features,
                   features * sizeof *bench->x);
            bench->targets[r] = bench->targets[people->starts[u]];
        }
    bench->data.starts = people->starts;
    bench->data.units = persons;
    bench->records = persons;
    bench_plan(bench, persons, false);
}

static inline void people_fini(struct people *people)
{
    bench_fini(&people->bench);
}

static inline double bound(const struct bench *bench)
{
    return 1 + bench->grid.inflation +
           bench->grid.roundings * sqrt((double)bench->dim) / bench->grid.scale;
}

struct labelled {   /* a single record */
    const float *x; /* (features) */
    uint32_t target;
};

/* to += the gradient of one record, as a network of single records computes it. */
static inline void add_gradient(const struct bench *bench, struct network *single,
                                struct labelled record, double *to)
{
    struct workspace *workspace;
    float *block = aligned_alloc(64, (network_tile_floats_max(single) + 16) / 16 * 16 *
                                         sizeof *block);
    assert_int_equal(workspace_create(&workspace, single, 16, NULL), ST_OK);
    memcpy(workspace_input(workspace), record.x,
           bench->data.features * sizeof *record.x);
    workspace_classes(workspace)[0] = record.target;
    workspace_forward(workspace, bench->parameters, 1);
    workspace_loss(workspace);
    workspace_backward(workspace, bench->parameters);
    workspace_measure(workspace, NULL);
    for (size_t t = 0; t < network_tile_count(single); t++) {
        struct tile tile = network_tile(single, t);
        workspace_sum(workspace, t, (struct row_range){0, 1}, block);
        for (size_t j = 0; j < tile.count; j++)
            to[tile.offset + j] += (double)block[j];
    }
    workspace_destroy(workspace);
    free(block);
}

static inline double length(const double *x, size_t count)
{
    double square = 0;
    for (size_t j = 0; j < count; j++)
        square += x[j] * x[j];
    return sqrt(square);
}

#endif
