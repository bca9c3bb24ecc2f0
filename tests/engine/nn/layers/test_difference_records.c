/* Goal: records do not influence each other in differences, as in gradients, and are
 * refused one by one. Method: comparisons bit for bit, one record at a time among
 * different other records, in different rows and blocks; records that are bad at both
 * points or at one. */
#include "tests/expect.h"
#include "engine/nn/layers/registry.h"

#include <string.h>

#include "tests/engine/nn/random_batch_fixture.h"
#include "tests/engine/nn/point_pair_fixture.h"
#include "tests/engine/nn/record_claims_fixture.h"

static void a_bad_record_changes_nothing_else(void **state)
{
    (void)state;
    for (size_t f = 0; f < FAMILIES; f++)
        for (size_t k = 0; k < BAD_VALUES; k++) {
            struct pair pair;
            pair_start(&pair, &families[f], 1e-3);
            const struct layer_kind *first = pair.batch.model.layers[0].kind;
            /* Other layers may turn large values into ordinary numbers. */
            if (k == 0 || first == &layer_dense || first == &layer_conv2d)
                expect_bad_record_alone(&pair.batch, bad_values[k], pair_pass);
            pair_finish(&pair);
        }
}

static void a_record_bad_at_the_new_point_alone_is_refused(void **state)
{
    static const struct family family = {
        "D6rD3", LOSS_SOFTMAX_CROSS_ENTROPY, 4, 16, {0}};
    const size_t place = 5;
    struct pair pair;
    (void)state;
    pair_start(&pair, &family, 1e-3);
    struct batch *batch = &pair.batch;
    for (size_t i = 0; i < batch->count; i++)
        batch->x[i * 4] = i == place ? 1e15F : 0.0F;
    batch->theta[0] = 3e38F;
    parameter_step_set(pair.step, batch->theta, pair.previous);
    pair_run(&pair);
    assert_true(isfinite(workspace_losses(batch->workspace)[place]));
    for (size_t i = 0; i < batch->count; i++)
        assert_int_equal(workspace_norms(batch->workspace)[i] == 0.0, i == place);
    for (size_t l = 0; l < workspace_factor_count(batch->workspace); l++) {
        struct factors of = workspace_factors(batch->workspace, l);
        for (size_t j = 0; j < of.inputs; j++)
            assert_true(of.a[place * of.a_stride + j] == 0.0F);
        for (size_t j = 0; j < of.outputs; j++)
            assert_true(of.b[place * of.b_stride + j] == 0.0F);
    }
    pair_finish(&pair);
}

static void no_record_reads_another(void **state)
{
    (void)state;
    for (size_t f = 0; f < FAMILIES; f++) {
        struct pair pair;
        pair_start(&pair, &families[f], 1e-3);
        expect_no_record_reads_another(&pair.batch, pair_pass);
        pair_finish(&pair);
    }
}

/* A record gives the same results in any row of a micro-batch of any length. */
static void rows_are_alike(void **state)
{
    (void)state;
    for (size_t f = 0; f < FAMILIES; f++) {
        struct pair pair;
        pair_start(&pair, &families[f], 1e-2);
        struct batch *batch = &pair.batch;
        for (size_t i = 16; i < batch->count; i++) {
            pair_run(&pair);
            struct mark there = mark_of(batch, i);
            batch_place(batch, i % 16, i);
            pair_pass(batch, 16);
            expect_alike(batch, there, mark_of(batch, i % 16));
        }
        pair_finish(&pair);
    }
}

/* After differences, a pass at one point gives the results of a workspace of one
 * point. */
static void one_point_is_as_ever(void **state)
{
    (void)state;
    for (size_t f = 0; f < FAMILIES; f++) {
        struct pair pair;
        struct batch plain;
        pair_start(&pair, &families[f], 1e-3);
        pair_make_batch(&plain, &families[f]);
        pair_run(&pair);
        batch_run(&pair.batch);
        batch_run(&plain);
        for (size_t i = 0; i < plain.count; i++)
            expect_alike(&plain, mark_of(&pair.batch, i), mark_of(&plain, i));
        batch_fini(&plain);
        pair_finish(&pair);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bad_record_changes_nothing_else),
        cmocka_unit_test(a_record_bad_at_the_new_point_alone_is_refused),
        cmocka_unit_test(no_record_reads_another),
        cmocka_unit_test(rows_are_alike),
        cmocka_unit_test(one_point_is_as_ever),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
