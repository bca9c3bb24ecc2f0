/* Goal: a record with several views moves the integer sum by at most Delta_Z, as a
 * record without views does, and adds the clipped mean of its views' gradients; a
 * person adds the mean over the views of all of their rows. Method: the engine's
 * pipeline with and without a unit, against the gradients of a network of single
 * records for views made one by one. */
#include "engine/dp/micro_batch.h"

#include <math.h>
#include <string.h>

#include "engine/dp/views.h"
#include "engine/nn/layers/registry.h"
#include "engine/rounding/blas.h"
#include "tests/expect.h"
#include "tests/engine/gemm_fixture.h"
#include "tests/engine/dp/person_fixture.h"

enum { HEIGHT = 5, WIDTH = 7, FEATURES = HEIGHT * WIDTH, OUTPUTS = 5 };

static struct view_spec views_of(size_t count)
{
    return (struct view_spec){.count = count,
                              .flips = true,
                              .shift = 2,
                              .planes = 1,
                              .height = HEIGHT,
                              .width = WIDTH};
}

static struct network *network_of(size_t unit_rows)
{
    return small_network_dense_of_units(FEATURES, 12, OUTPUTS, unit_rows);
}

/* Makes records, each a unit of its own, with views. */
static void make_records(struct people *people, const struct view_spec *views,
                         size_t records)
{
    struct bench *bench = &people->bench;
    bench_make(bench, network_of(views->count), records);
    bench->views = views;
    fill_generic(bench);
    bench_plan(&people->bench, records, false);
}

static double most_moved(struct bench *bench)
{
    int64_t *with = calloc(bench->dim, sizeof *with);
    int64_t *without = calloc(bench->dim, sizeof *without);
    double most = 0;
    sum_without(bench, SIZE_MAX, SIZE_MAX, with);
    for (size_t i = 0; i < bench->records; i += 3) {
        sum_without(bench, i, SIZE_MAX, without);
        most = fmax(most, moved(bench, with, without));
    }
    free(with);
    free(without);
    return most;
}

static void one_record_moves_the_sum_by_at_most_the_bound(void **state)
{
    (void)state;
    static struct people people;
    for (size_t count = 1; count <= UNIT_ROWS_MAX; count *= 2) {
        const struct view_spec views = views_of(count);
        make_records(&people, &views, 61);
        bench_rows(&people.bench);
        double most = most_moved(&people.bench);
        assert_true(most <= bound(&people.bench));
        assert_true(most >
                    0.99); /* a record was clipped: the bound is nearly reached */
        people_fini(&people);
    }
}

static const uint8_t *views_key_of(struct bench *bench)
{
    return bench_task(bench, NULL).views_key;
}

/* mean = the mean gradient of unit's views, over as many rows as the unit has. */
static void add_views(struct bench *bench, struct network *single, uint32_t unit,
                      double *mean)
{
    struct image_view views[UNIT_ROWS_MAX];
    float seen[FEATURES];
    struct matrix_unit own = matrix_unit(&bench->data, unit);
    size_t each = bench->views->count;
    struct stream *stream = stream_create();
    views_draw(
        views, bench->views, unit,
        (struct views_draw){views_key_of(bench), network_unit_rows(bench->network)},
        stream);
    stream_destroy(stream);
    memset(mean, 0, bench->dim * sizeof *mean);
    for (size_t k = 0; k < own.count * each; k++) {
        size_t row = own.first + k / each;
        views_make(seen, bench->x + row * FEATURES, bench->views, views[k]);
        add_gradient(bench, single, (struct labelled){seen, bench->targets[row]}, mean);
    }
    for (size_t j = 0; j < bench->dim; j++)
        mean[j] /= (double)(own.count * each);
}

/* Returns how many units were compared: those with at most as many rows as a step
 * takes. */
static size_t check_means(struct bench *bench)
{
    struct network *single = small_network_dense(FEATURES, 12, OUTPUTS);
    size_t rows = network_unit_rows(bench->network) / bench->views->count;
    size_t compared = 0;
    int64_t *with = calloc(bench->dim, sizeof *with);
    int64_t *without = calloc(bench->dim, sizeof *without);
    double *mean = calloc(bench->dim, sizeof *mean);
    bench_rows(bench);
    sum_without(bench, SIZE_MAX, SIZE_MAX, with);
    for (uint32_t u = 0; u < bench->records; u++) {
        if (matrix_unit(&bench->data, u).count > rows)
            continue;
        add_views(bench, single, u, mean);
        double factor = fmin(1, 1 / length(mean, bench->dim));
        sum_without(bench, u, SIZE_MAX, without);
        for (size_t j = 0; j < bench->dim; j++)
            mean[j] =
                mean[j] * factor - (double)(with[j] - without[j]) / bench->grid.scale;
        assert_true(length(mean, bench->dim) <= 1e-4 + bound(bench) - 1);
        compared++;
    }
    free(with);
    free(without);
    free(mean);
    network_destroy(single);
    return compared;
}

static void a_record_adds_the_clipped_mean_of_its_views(void **state)
{
    (void)state;
    static struct people people;
    for (size_t count = 1; count <= UNIT_ROWS_MAX; count *= 4) {
        const struct view_spec views = views_of(count);
        make_records(&people, &views, 30);
        assert_int_equal(check_means(&people.bench), 30);
        people_fini(&people);
    }
}

static void a_person_adds_that_of_the_views_of_their_rows(void **state)
{
    (void)state;
    static struct people people;
    const struct view_spec views = views_of(4);
    people_make(&people, network_of(16), 40);
    people.bench.views = &views;
    assert_true(check_means(&people.bench) > 2);
    bench_rows(&people.bench);
    double most = most_moved(&people.bench);
    assert_true(most > 0.99 && most <= bound(&people.bench));
    people_fini(&people);
}

/* Any number of equal views of a record weighs as much as the record without views. */
static void views_that_are_alike_are_one_contribution(void **state)
{
    (void)state;
    static struct people once, often;
    struct view_spec still[2] = {views_of(1), views_of(8)};
    for (size_t k = 0; k < 2; k++) {
        still[k].flips = false;
        still[k].shift = 0;
    }
    make_records(&once, &still[0], 30);
    make_records(&often, &still[1], 30);
    bench_rows(&once.bench);
    bench_rows(&often.bench);
    int64_t *sums[2];
    for (size_t k = 0; k < 2; k++)
        sums[k] = calloc(once.bench.dim, sizeof **sums);
    sum_without(&once.bench, SIZE_MAX, SIZE_MAX, sums[0]);
    sum_without(&often.bench, SIZE_MAX, SIZE_MAX, sums[1]);
    double squares = 0;
    for (size_t j = 0; j < once.bench.dim; j++) {
        double gap = (double)sums[0][j] / once.bench.grid.scale -
                     (double)sums[1][j] / often.bench.grid.scale;
        squares += gap * gap;
    }
    assert_true(sqrt(squares) < 1e-3);
    for (size_t k = 0; k < 2; k++)
        free(sums[k]);
    people_fini(&once);
    people_fini(&often);
}

int main(int argc, char **argv)
{
    int result;
    (void)argc;
    if (!kernels_chosen(argv, &result))
        return result;
    blas_use_one_thread();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_record_moves_the_sum_by_at_most_the_bound),
        cmocka_unit_test(a_record_adds_the_clipped_mean_of_its_views),
        cmocka_unit_test(a_person_adds_that_of_the_views_of_their_rows),
        cmocka_unit_test(views_that_are_alike_are_one_contribution),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
