/*
 * record_claims_fixture.h - checks that hold for the records of a batch in every
 * network, at one parameter point and at two. pass is batch_pass, or a function that
 * replaces it. Include after record_oracle.h.
 */
#ifndef TESTS_ENGINE_NN_RECORD_CLAIMS_FIXTURE_H
#define TESTS_ENGINE_NN_RECORD_CLAIMS_FIXTURE_H

#include "tests/engine/nn/random_batch_fixture.h"
#include "tests/engine/nn/record_oracle.h"

/* The results of a record: its norm, spread, loss and contribution. */
struct mark {
    double norm, spread, loss;
    float *sum;
};

static inline struct mark mark_of(struct batch *batch, size_t row)
{
    struct mark mark = {workspace_norms(batch->workspace)[row],
                        workspace_spreads(batch->workspace)[row],
                        workspace_losses(batch->workspace)[row],
                        calloc(batch->parameters, sizeof *mark.sum)};
    batch_sum(batch, (struct row_range){row, 1}, mark.sum);
    return mark;
}

/* Compares a and b bit for bit, and releases both. */
static inline void expect_alike(const struct batch *batch, struct mark a, struct mark b)
{
    assert_true(a.norm == b.norm && a.spread == b.spread && a.loss == b.loss);
    assert_memory_equal(a.sum, b.sum, batch->parameters * sizeof *a.sum);
    free(a.sum);
    free(b.sum);
}

/* Compares bit for bit a record in one row among other records, and in another row with
 * zeros around it. */
static inline void expect_no_record_reads_another(struct batch *batch,
                                                  void (*pass)(struct batch *batch,
                                                               size_t count))
{
    for (size_t i = 0; i < batch->count; i += 3) {
        for (size_t j = 0; j < batch->count; j++)
            batch_place(batch, j, j == i ? i : (i + 2 * j) % batch->count);
        pass(batch, batch->count);
        struct mark mixed = mark_of(batch, i);

        memset(workspace_input(batch->workspace), 0,
               batch->rows * workspace_stride(batch->workspace) * sizeof(float));
        size_t row = (5 * i + 3) % batch->rows;
        batch_place(batch, row, i);
        pass(batch, row + 1);
        expect_alike(batch, mixed, mark_of(batch, row));
    }
}

/* Compares a batch with one bad record to the same batch with a record of zero
 * contribution in its place: every coordinate of every sum is the same. */
static inline void expect_bad_record_alone(struct batch *batch, float bad,
                                           void (*pass)(struct batch *batch,
                                                        size_t count))
{
    float *with = calloc(batch->parameters, sizeof *with);
    float *without = calloc(batch->parameters, sizeof *without);
    struct row_range all = {0, batch->count};
    const size_t place = 5;

    batch_place_all(batch);
    pass(batch, batch->count);
    workspace_erase(batch->workspace, place);
    batch_sum(batch, all, without);

    for (size_t j = 0; j < batch->features; j++)
        batch->x[place * batch->features + j] = bad;
    batch_place_all(batch);
    pass(batch, batch->count);
    assert_true(workspace_norms(batch->workspace)[place] == 0.0);
    assert_true(workspace_spreads(batch->workspace)[place] == 0.0);
    batch_sum(batch, all, with);
    assert_memory_equal(with, without, batch->parameters * sizeof *with);
    free(with);
    free(without);
}

static const float bad_values[] = {NAN, INFINITY, -INFINITY, 3e38F, 1e30F};
enum { BAD_VALUES = sizeof bad_values / sizeof *bad_values };

/* Returns the sum over range of weight times the record's own sum, record by record, in
 * the order of a file. */
static inline double *sum_one_by_one(struct batch *batch, struct row_range range,
                                     const float *weights)
{
    double *sum = calloc(batch->parameters, sizeof *sum);
    double *filed = calloc(batch->parameters, sizeof *filed);
    float *one = calloc(batch->parameters, sizeof *one);
    for (size_t i = range.first; i < range.first + range.count; i++) {
        batch_sum(batch, (struct row_range){i, 1}, one);
        batch_as_file(batch, filed, one);
        for (size_t j = 0; j < batch->parameters; j++)
            sum[j] += (double)weights[i] * filed[j];
    }
    free(one);
    free(filed);
    return sum;
}

/* Checks that the sum over some rows of the last pass, including clip factors, is the
 * sum of the records' own sums. lengths (count): norms or spreads of the records. */
static inline void expect_linear_sum(struct batch *batch, const double *lengths)
{
    float *all = calloc(batch->parameters, sizeof *all);
    float *weights = calloc(batch->count, sizeof *weights);
    struct row_range range = {2, batch->count - 5};
    double total = 0.0;
    for (size_t i = 0; i < batch->count; i++)
        weights[i] = i % 3 == 0 ? 1.0F : (float)batch_random(&batch->state);
    for (size_t i = range.first; i < range.first + range.count; i++)
        total += (double)weights[i] * lengths[i];
    double *expected = sum_one_by_one(batch, range, weights);
    workspace_scale(batch->workspace, weights);
    batch_sum(batch, range, all);
    assert_true(distance(batch, all, 1.0, expected) <= 2e-6 * total);
    free(expected);
    free(weights);
    free(all);
}

#endif
