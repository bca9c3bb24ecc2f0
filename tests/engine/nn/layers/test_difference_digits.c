/* Goal: differences of gradients at two points are precise however close the points
 * are. Method: explicit gradients at both points from the double oracle, subtracted in
 * double, over random networks and steps; compared with a mutant that subtracts float
 * gradients. */
#include "tests/expect.h"

#include <string.h>

#include "tests/engine/nn/random_batch_fixture.h"
#include "tests/engine/nn/point_pair_fixture.h"

/* The largest relative error of a record's difference, and of its norm. If the
 * difference of one record is almost zero, the error is relative to a tenth of a usual
 * difference: the inner product of x and a step orthogonal to it has no significant
 * digits. */
struct errors {
    double vector, norm;
};

static struct errors errors_of(struct pair *pair)
{
    struct batch *batch = &pair->batch;
    size_t size = batch->parameters;
    double scale = parameter_step_scale(pair->step), square = 0.0;
    double *expected = calloc(batch->count * size, sizeof *expected);
    float *sum = calloc(size, sizeof *sum);
    struct errors worst = {0};

    pair_run(pair);
    for (size_t i = 0; i < batch->count; i++) {
        record_difference(pair, i, expected + i * size);
        square += pow(norm_of(expected + i * size, size), 2.0);
    }
    for (size_t i = 0; i < batch->count; i++) {
        double norm = norm_of(expected + i * size, size);
        double unit = fmax(norm, 0.1 * sqrt(square / (double)batch->count));
        double bound = scale * workspace_norms(batch->workspace)[i];
        batch_sum(batch, (struct row_range){i, 1}, sum);
        worst.vector =
            fmax(worst.vector, distance(batch, sum, scale, expected + i * size) / unit);
        worst.norm = fmax(worst.norm, fabs(bound - norm) / unit);
    }
    free(sum);
    free(expected);
    return worst;
}

/* Checks that each record's difference has a relative error of at most 1e-5 if the
 * points are this far apart. */
static void expect_digits(const struct family *family, double size)
{
    struct pair pair;
    pair_start(&pair, family, size);
    struct errors worst = errors_of(&pair);
    assert_true(worst.vector <= 1e-5);
    assert_true(worst.norm <= 1e-5);
    pair_finish(&pair);
}

static void differences_keep_their_digits(void **state)
{
    (void)state;
    for (size_t f = 0; f < FAMILIES; f++)
        for (int digits = 1; digits <= 7; digits++)
            expect_digits(&families[f], pow(10.0, -digits));
}

/* Three dense layers of any width, activations of any kind, any loss. */
static void differences_keep_their_digits_in_any_shape(void **state)
{
    static const char kinds[] = "rtspuU";
    uint64_t random = 2385;
    (void)state;
    for (size_t k = 0; k < 100; k++) {
        char layers[64];
        size_t n[5];
        for (size_t j = 0; j < 5; j++)
            n[j] = 1 + (size_t)(40.0 * batch_random(&random));
        enum loss loss = (enum loss)(k % 4);
        size_t outputs = loss == LOSS_SOFTMAX_CROSS_ENTROPY ? 1 + n[2] : 1;
        snprintf(layers, sizeof layers, "d%zu%cD%zu%cd%zu", 1 + n[0], kinds[n[3] % 6],
                 1 + n[1], kinds[n[4] % 6], outputs);
        struct family family = {layers, loss, n[3], n[4], {0}};
        expect_digits(&family, pow(10.0, -7.0 * batch_random(&random)));
    }
}

static bool has_rules(const struct family *family)
{
    struct batch batch;
    pair_make_batch(&batch, family);
    bool passed = network_check_differences(batch.network, NULL) == ST_OK;
    batch_fini(&batch);
    return passed;
}

/* A convolution of any kernel, stride, padding and dilation, a pool and a second
 * convolution, if they fit, up to the step at which relu and max pool switch. */
static void differences_keep_their_digits_in_any_geometry(void **state)
{
    uint64_t random = 2385;
    (void)state;
    for (size_t done = 0; done < 60;) {
        char layers[64];
        uint32_t n[8];
        for (size_t k = 0; k < 8; k++)
            n[k] = 1 + (uint32_t)(3.0 * batch_random(&random));
        uint32_t side = 3 + (uint32_t)(7.0 * batch_random(&random));
        uint32_t reach = n[5] * (n[1] - 1) + 1, padded = side + 2 * (n[4] - 1);
        struct family family = {
            layers, LOSS_SOFTMAX_CROSS_ENTROPY, 0, 16, {side, side, n[7]}};
        family.features = (size_t)side * side * n[7];
        if (reach > padded || (padded - reach) / n[3] < 2)
            continue;
        snprintf(layers, sizeof layers, "c%u,%u,%u,%u,%u%c%c2,1c%u,%u,1,1rfd3",
                 2 + n[0], n[1], n[3], n[4] - 1, n[5], "rtu"[n[2] - 1], "ma"[done % 2],
                 1 + n[6], n[0]);
        if (!has_rules(&family)) /* too many weights to store gradients */
            continue;
        expect_digits(&family, pow(10.0, -7.0 * batch_random(&random)));
        done++;
    }
}

/* Returns the error for the same records if float gradients at both points are
 * subtracted. */
static double subtracting_error(struct pair *pair)
{
    struct batch *batch = &pair->batch;
    double *expected = calloc(batch->parameters, sizeof *expected);
    float *new = calloc(batch->parameters, sizeof *new);
    float *old = calloc(batch->parameters, sizeof *old), *theta = batch->theta;
    double worst = 0.0;

    for (size_t i = 0; i < batch->count; i++) {
        record_difference(pair, i, expected);
        batch_place(batch, 0, i);
        batch_pass(batch, 1);
        batch_sum(batch, (struct row_range){0, 1}, new);
        batch->theta = pair->previous;
        batch_place(batch, 0, i);
        batch_pass(batch, 1);
        batch_sum(batch, (struct row_range){0, 1}, old);
        batch->theta = theta;
        for (size_t j = 0; j < batch->parameters; j++)
            new[j] -= old[j];
        worst = fmax(worst, distance(batch, new, 1.0, expected) /
                                norm_of(expected, batch->parameters));
    }
    free(old);
    free(new);
    free(expected);
    return worst;
}

static void subtracted_gradients_lose_theirs(void **state)
{
    (void)state;
    for (size_t f = 0; f < FAMILIES; f++)
        for (int digits = 4; digits <= 7; digits++) {
            struct pair pair;
            pair_start(&pair, &families[f], pow(10.0, -digits));
            double worst = subtracting_error(&pair);
            assert_true(worst > 1e-5 * pow(10.0, digits - 4));
            pair_finish(&pair);
        }
}

/* One hidden unit per record: on or off at z', on or off at z. */
static void relu_switches_both_ways(void **state)
{
    static const struct family family = {"D1rd1", LOSS_SQUARED, 1, 16, {0}};
    static const float old[] = {0.5F, -0.25F, 0.5F, -0.5F, 1e-6F, -1e-6F};
    static const float new[] = {-0.75F, 0.5F, 0.25F, -1.0F, -1e-6F, 2e-6F};
    (void)state;
    for (size_t k = 0; k < sizeof old / sizeof *old; k++) {
        struct pair pair;
        pair_start(&pair, &family, 0.0);
        struct batch *batch = &pair.batch;
        double expected[3];
        float sum[3];
        batch->theta[0] = new[k], pair.previous[0] = old[k];
        parameter_step_set(pair.step, batch->theta, pair.previous);
        batch->x[0] = 1.5F;
        pair_run(&pair);
        record_difference(&pair, 0, expected);
        batch_sum(batch, (struct row_range){0, 1}, sum);
        assert_true(distance(batch, sum, parameter_step_scale(pair.step), expected) <=
                    1e-6 * norm_of(expected, 3));
        assert_int_equal(norm_of(expected, 3) > 0.0, k != 3);
        pair_finish(&pair);
    }
}

static void no_step_is_no_difference(void **state)
{
    (void)state;
    for (size_t f = 0; f < FAMILIES; f++) {
        struct pair pair;
        pair_start(&pair, &families[f], 0.0);
        struct batch *batch = &pair.batch;
        float *sum = calloc(batch->parameters, sizeof *sum);
        assert_true(parameter_step_length(pair.step) == 0.0);
        pair_run(&pair);
        batch_sum(batch, (struct row_range){0, batch->count}, sum);
        for (size_t j = 0; j < batch->parameters; j++)
            assert_true(sum[j] == 0.0F);
        for (size_t i = 0; i < batch->count; i++)
            assert_true(workspace_norms(batch->workspace)[i] == 0.0);
        free(sum);
        pair_finish(&pair);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(differences_keep_their_digits),
        cmocka_unit_test(differences_keep_their_digits_in_any_shape),
        cmocka_unit_test(differences_keep_their_digits_in_any_geometry),
        cmocka_unit_test(subtracted_gradients_lose_theirs),
        cmocka_unit_test(relu_switches_both_ways),
        cmocka_unit_test(no_step_is_no_difference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
