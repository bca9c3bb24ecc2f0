/* Goal: if units are persons, one person moves the integer sum by at most Delta_Z, and
 * by at most twice that if they are replaced by another person, whatever their rows are
 * and however many; and a person adds the clipped mean of their own gradients. Method:
 * the engine's pipeline with and without a person, with others in their place, and
 * against the gradients of a network of single records. */
#include "engine/dp/micro_batch.h"

#include <math.h>
#include <string.h>

#include "engine/nn/layers/position_layer.h"
#include "engine/nn/layers/registry.h"
#include "engine/nn/workspace.h"
#include "engine/rounding/blas.h"
#include "tests/expect.h"
#include "tests/engine/gemm_fixture.h"
#include "tests/engine/dp/person_fixture.h"

/* Returns the largest move of the sum when one of every few persons is left out. */
static double most_moved(struct bench *bench, size_t step)
{
    int64_t *with = calloc(bench->dim, sizeof *with);
    int64_t *without = calloc(bench->dim, sizeof *without);
    double most = 0;
    sum_without(bench, SIZE_MAX, SIZE_MAX, with);
    for (size_t i = 0; i < bench->records; i += step) {
        sum_without(bench, i, SIZE_MAX, without);
        most = fmax(most, moved(bench, with, without));
    }
    free(with);
    free(without);
    return most;
}

static void check_moves(struct network *network, size_t persons)
{
    static struct people people;
    people_make(&people, network, persons);
    bench_rows(&people.bench);
    double most = most_moved(&people.bench, 3);
    assert_true(most <= bound(&people.bench));
    assert_true(most > 0.99); /* a person was clipped: the bound is nearly reached */
    assert_true(most_moved(&people.bench, 7) <= bound(&people.bench));
    people_fini(&people);
}

static void one_person_moves_the_sum_by_at_most_the_bound(void **state)
{
    (void)state;
    for (size_t unit_rows = 1; unit_rows <= UNIT_ROWS_MAX; unit_rows *= 2)
        check_moves(small_network_dense_of_units(57, 24, 10, unit_rows),
                    unit_rows < 4 ? 219 : 61);
}

/* A person's masks go with them: no other mask depends on who is in the batch. */
static void nor_through_convolutions_norms_and_masks(void **state)
{
    (void)state;
    const struct small_residual sizes = {8, 8, 2, true, 0.5, &layer_flatten};
    check_moves(small_network_residual_of_units(&sizes, 4), 47);
    check_moves(small_network_residual_of_units(&sizes, 16), 25);
}

/* Records and persons; the sum recomputes their matrices or reads them from storage. */
static void nor_through_sums_that_make_matrices_again(void **state)
{
    (void)state;
    static const enum norm_form forms[] = {NORM_GRAM, NORM_EXPLICIT, NORM_PER_EXAMPLE};
    for (size_t k = 0; k < 2 * sizeof forms / sizeof *forms; k++) {
        const struct small_residual sizes = {9, 8, 2, k % 2 == 0, 0, &layer_flatten};
        struct network *network =
            small_network_residual_of_units(&sizes, k % 2 == 0 ? 1 : 4);
        position_layer_force_form(network, forms[k / 2]);
        check_moves(network, k % 2 == 0 ? 43 : 16);
    }
}

/* Writes other rows, and a different number of them, in one person's place. */
static void replace(const struct people *from, struct people *to, size_t person,
                    uint32_t rows)
{
    const struct bench *bench = &from->bench;
    size_t features = bench->data.features, row = 0;
    for (size_t u = 0; u < bench->records; u++) {
        uint32_t own = from->starts[u + 1] - from->starts[u];
        to->starts[u] = (uint32_t)row;
        for (uint32_t k = 0; k < (u == person ? rows : own); k++, row++) {
            size_t old = from->starts[u] + (u == person ? 0 : k);
            float sign = u == person ? -30.0F : 1.0F;
            for (size_t j = 0; j < features; j++)
                to->bench.x[row * features + j] = sign * bench->x[old * features + j];
            to->bench.targets[row] = bench->targets[old];
        }
    }
    to->starts[bench->records] = (uint32_t)row;
}

static void a_person_who_becomes_another_moves_it_by_twice_that(void **state)
{
    (void)state;
    enum { PERSONS = 61, UNIT_ROWS = 8 };
    static const uint32_t rows[] = {1, UNIT_ROWS, 90};
    static struct people people, other;
    people_make(&people, small_network_dense_of_units(57, 24, 10, UNIT_ROWS), PERSONS);
    bench_rows(&people.bench);
    struct bench *bench = &people.bench;
    int64_t *sums[2];
    for (size_t k = 0; k < 2; k++)
        sums[k] = calloc(bench->dim, sizeof **sums);
    sum_without(bench, SIZE_MAX, SIZE_MAX, sums[0]);
    double most = 0;
    for (size_t person = 0; person < PERSONS; person += 6)
        for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
            size_t all = people.starts[PERSONS] + rows[k];
            other = people;
            other.bench.x = calloc(all * bench->data.features, sizeof *bench->x);
            other.bench.targets = calloc(all, sizeof *bench->targets);
            replace(&people, &other, person, rows[k]);
            other.bench.data.rows = other.bench.x;
            other.bench.data.targets = other.bench.targets;
            other.bench.data.records = other.starts[PERSONS];
            other.bench.data.starts = other.starts;
            sum_without(&other.bench, SIZE_MAX, SIZE_MAX, sums[1]);
            most = fmax(most, moved(bench, sums[0], sums[1]));
            free(other.bench.x);
            free(other.bench.targets);
        }
    assert_true(most <= 2 * bound(bench));
    assert_true(most > 1.2); /* more than leaving the person out */
    for (size_t k = 0; k < 2; k++)
        free(sums[k]);
    people_fini(&people);
}

/* Persons with at most as many rows as a step takes add the mean of all their rows. */
static void check_means(struct network *network, struct network *single)
{
    enum { PERSONS = 40 };
    static struct people people;
    people_make(&people, network, PERSONS);
    struct bench *bench = &people.bench;
    size_t unit_rows = network_unit_rows(network), compared = 0;
    bench_rows(bench);
    int64_t *with = calloc(bench->dim, sizeof *with);
    int64_t *without = calloc(bench->dim, sizeof *without);
    double *mean = calloc(bench->dim, sizeof *mean);
    sum_without(bench, SIZE_MAX, SIZE_MAX, with);
    for (uint32_t u = 0; u < PERSONS; u++) {
        struct matrix_unit own = matrix_unit(&bench->data, u);
        if (own.count > unit_rows)
            continue;
        memset(mean, 0, bench->dim * sizeof *mean);
        for (uint32_t k = 0; k < own.count; k++)
            add_gradient(
                bench, single,
                (struct labelled){bench->x + (own.first + k) * bench->data.features,
                                  bench->targets[own.first + k]},
                mean);
        double norm = length(mean, bench->dim) / own.count;
        double factor = fmin(1, 1 / norm) / own.count;
        sum_without(bench, u, SIZE_MAX, without);
        for (size_t j = 0; j < bench->dim; j++)
            mean[j] =
                mean[j] * factor - (double)(with[j] - without[j]) / bench->grid.scale;
        assert_true(length(mean, bench->dim) <= 1e-4 + bound(bench) - 1);
        compared++;
    }
    assert_true(compared > 8);
    free(with);
    free(without);
    free(mean);
    people_fini(&people);
    network_destroy(single);
}

static void a_person_adds_the_clipped_mean_of_their_gradients(void **state)
{
    (void)state;
    const struct small_residual sizes = {8, 8, 2, true, 0, &layer_flatten};
    for (size_t unit_rows = 2; unit_rows <= UNIT_ROWS_MAX; unit_rows *= 2)
        check_means(small_network_dense_of_units(31, 12, 5, unit_rows),
                    small_network_dense(31, 12, 5));
    check_means(small_network_residual_of_units(&sizes, 4),
                small_network_residual(&sizes));
}

static void however_their_norm_is_found(void **state)
{
    (void)state;
    static const enum norm_form forms[] = {NORM_GRAM, NORM_EXPLICIT, NORM_PER_EXAMPLE};
    for (size_t k = 0; k < sizeof forms / sizeof *forms; k++) {
        struct network *network = small_network_dense_of_units(31, 12, 5, 8);
        position_layer_force_form(network, forms[k]);
        check_means(network, small_network_dense(31, 12, 5));
    }
}

/* A person adds one to one bin, whatever their rows are. */
static void a_histogram_counts_a_person_once(void **state)
{
    (void)state;
    enum { PERSONS = 61, BINS = 8 };
    static const struct histogram histogram = {.bins = BINS, .range = 2};
    static struct people people;
    people_make(&people, small_network_dense_of_units(57, 24, 10, 8), PERSONS);
    struct bench *bench = &people.bench;
    bench_rows(bench);
    struct batch_sum sum = {.grid = &bench->grid,
                            .clip = clip_flat,
                            .clip_context = &bench->clip,
                            .histogram = &histogram};
    struct task task = bench_task(bench, &sum);
    bench_draw(bench, SIZE_MAX);
    micro_batch_run(bench->micro_batch, &task,
                    (struct micro_batch_share){.end = bench->batch.piece_count});
    int64_t counted = 0;
    for (size_t j = 0; j < BINS; j++)
        counted += bench->reduction.counts[j];
    assert_int_equal(counted, PERSONS);
    people_fini(&people);
}

/* The part that clipping cuts off of a person is at most C3 - C long, and is added to
 * the error memory once. */
static void what_is_cut_off_is_of_the_mean_too(void **state)
{
    (void)state;
    enum { PERSONS = 61 };
    static struct people people;
    people_make(&people, small_network_dense_of_units(57, 24, 10, 8), PERSONS);
    struct bench *bench = &people.bench;
    bench_rows(bench);
    reduction_fini(&bench->reduction);
    assert_int_equal(
        reduction_init(&bench->reduction, bench->network, &group_alone, true, NULL),
        ST_OK);
    const struct rest_clip rest = {bench->clip, .whole = 3, .rest = 2};
    struct batch_sum sum = {.grid = &bench->grid,
                            .clip = clip_flat,
                            .clip_context = &bench->clip,
                            .clip_rest = clip_rest,
                            .rest_context = &rest};
    struct task task = bench_task(bench, &sum);
    int64_t *errors[2];
    double most = 0;
    for (size_t k = 0; k < 2; k++)
        errors[k] = calloc(bench->dim, sizeof **errors);
    for (size_t i = 0; i <= PERSONS; i += 3) {
        bench_draw(bench, i == 0 ? SIZE_MAX : i - 1);
        memset(bench->reduction.error_memory, 0, bench->dim * sizeof **errors);
        micro_batch_run(bench->micro_batch, &task,
                        (struct micro_batch_share){.end = bench->batch.piece_count});
        memcpy(errors[i > 0], bench->reduction.error_memory,
               bench->dim * sizeof **errors);
        if (i > 0)
            most = fmax(most, moved(bench, errors[0], errors[1]));
    }
    assert_true(most <= 2 * bound(bench));
    assert_true(most > 1.9);
    for (size_t k = 0; k < 2; k++)
        free(errors[k]);
    people_fini(&people);
}

static void a_person_with_a_row_that_is_not_finite_adds_nothing(void **state)
{
    (void)state;
    enum { PERSONS = 61, BAD = 8, UNIT_ROWS = 4 };
    static struct people people;
    people_make(&people, small_network_dense_of_units(57, 24, 10, UNIT_ROWS), PERSONS);
    struct bench *bench = &people.bench;
    assert_in_range(people.starts[BAD + 1] - people.starts[BAD], 2, UNIT_ROWS);
    bench_rows(bench);
    int64_t *with = calloc(bench->dim, sizeof *with);
    int64_t *without = calloc(bench->dim, sizeof *without);
    for (size_t j = 0; j < 57; j++)
        bench->x[(people.starts[BAD + 1] - 1) * 57 + j] = j % 2 == 0 ? 3e38F : -3e38F;
    sum_without(bench, SIZE_MAX, SIZE_MAX, with);
    sum_without(bench, BAD, SIZE_MAX, without);
    assert_true(moved(bench, with, without) <= bound(bench) - 1);
    free(with);
    free(without);
    people_fini(&people);
}

int main(int argc, char **argv)
{
    int result;
    (void)argc;
    if (!kernels_chosen(argv, &result))
        return result;
    blas_use_one_thread();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_person_moves_the_sum_by_at_most_the_bound),
        cmocka_unit_test(nor_through_convolutions_norms_and_masks),
        cmocka_unit_test(nor_through_sums_that_make_matrices_again),
        cmocka_unit_test(a_person_who_becomes_another_moves_it_by_twice_that),
        cmocka_unit_test(a_person_adds_the_clipped_mean_of_their_gradients),
        cmocka_unit_test(however_their_norm_is_found),
        cmocka_unit_test(a_histogram_counts_a_person_once),
        cmocka_unit_test(what_is_cut_off_is_of_the_mean_too),
        cmocka_unit_test(a_person_with_a_row_that_is_not_finite_adds_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
