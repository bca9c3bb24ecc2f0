/* Goal: the norm of a layer with several rows a record is a bound in every form, however
 * the rows cancel, and the clip made of it holds. Method: exact products in long double
 * of the very floats that are stored. */
#include "tests/expect.h"

#include <math.h>
#include <string.h>

#include "engine/nn/position_gradients.h"
#include "tests/engine/nn/position_shape_fixture.h"
#include "tests/engine/draw_fixture.h"

static double draw(uint64_t *state) /* in [-1, 1) */
{
    return 2 * draw_uniform(state) - 1;
}

struct record {
    struct rows a, b, kept;
    float *scratch;
};

static void free_record(struct record *record)
{
    free(record->a.data);
    free(record->b.data);
    free(record->kept.data);
    free(record->scratch);
}

/* Rows of random size; or rows that nearly cancel: a constant image, and outputs that
 * add up to almost nothing. */
static struct record make_record(const struct position_layer *layer, bool cancelling,
                                 uint64_t *state)
{
    const struct image *image = &layer->window.image;
    size_t floats = image->height * image->width * image->channels;
    size_t t = window_positions(&layer->window), p = layer->rows.outputs;
    struct record record = {
        .a = {calloc(floats, sizeof(float)), floats, 1},
        .b = {calloc(t * p, sizeof(float)), t * p, 1},
        .kept = {calloc(p + p * layer->rows.inputs, sizeof(float)), 0, 1},
        .scratch =
            aligned_alloc(64, (position_gradients_scratch(layer) + 16) / 16 * 64)};
    double level = draw(state), scale = exp(20.0 * draw(state));
    for (size_t j = 0; j < floats; j++)
        record.a.data[j] =
            (float)(scale * (cancelling ? level + 1e-4 * draw(state) : draw(state)));
    for (size_t j = 0; j < p; j++) {
        double rest = 0.0;
        for (size_t k = 0; k < t; k++) {
            double b = cancelling && t > 1 && k + 1 == t ? -rest : draw(state);
            record.b.data[k * p + j] = (float)b;
            rest += (double)record.b.data[k * p + j];
        }
    }
    return record;
}

/* |b^T a|^2 over weight and bias, of the stored floats, in long double. */
static long double exact_square(const struct position_layer *layer,
                                const struct record *record, const float *b,
                                long double *spread)
{
    size_t t = window_positions(&layer->window), d = layer->rows.inputs;
    size_t p = layer->rows.outputs;
    struct rows u = {calloc(t * d, sizeof(float)), d, t};
    long double square = 0.0L;
    window_unfold(&layer->window, u, record->a.data, 0);
    for (size_t j = 0; j < p; j++)
        for (size_t k = 0; k < d; k++) {
            long double g = 0.0L;
            for (size_t s = 0; s < t; s++)
                g += (long double)b[s * p + j] * (long double)u.data[s * d + k];
            square += (long double)layer->copies * g * g;
        }
    *spread = 0.0L;
    for (size_t s = 0; s < t; s++) {
        long double a = 0.0L, c = 0.0L;
        for (size_t k = 0; k < d; k++)
            a += (long double)u.data[s * d + k] * (long double)u.data[s * d + k];
        for (size_t j = 0; j < p; j++)
            c += (long double)b[s * p + j] * (long double)b[s * p + j];
        *spread += sqrtl((long double)layer->copies * a * c);
    }
    free(u.data);
    return square;
}

static const struct position_shape shapes[] = {
    {{3, 3, 2}, 2, 1, 0, 3, 1}, {{1, 1, 4}, 3, 1, 1, 5, 1}, {{5, 4, 1}, 3, 2, 1, 2, 3},
    {{2, 2, 3}, 1, 1, 0, 4, 1}, {{9, 9, 1}, 2, 1, 0, 2, 1},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* Every form, every shape, rows that cancel in half of the cases: the bound is never
 * below the exact value; and the record weighed by it is never longer than the clip. */
static void the_clip_holds(void **state)
{
    uint64_t random = 2385;
    (void)state;
    for (int k = 0; k < 60000; k++) {
        struct position_layer layer = position_layer_of(&shapes[k % SHAPES], false);
        layer.form = (enum norm_form)(k / SHAPES % 3);
        struct record record = make_record(&layer, k % 2 == 0, &random);
        struct position_norm norm = position_gradients_measure(
            &layer, record.a, record.b, record.kept.data, record.scratch);
        double nu = (1.0 + 0x1p-24) * sqrt(norm.square), clip = nu * 0.37;
        float weight = nextafterf((float)((1.0 - 0x1p-22) * clip / nu), 0.0F);
        size_t floats = window_positions(&layer.window) * layer.rows.outputs;
        long double spread, scaled_spread, square, scaled;

        square = exact_square(&layer, &record, record.b.data, &spread);
        if (layer.form == NORM_PER_EXAMPLE) { /* what is summed is what was kept */
            square = 0.0L;
            for (size_t j = 0; j < layer.rows.outputs * layer.rows.inputs; j++)
                square += (long double)layer.copies * (long double)record.kept.data[j] *
                          (long double)record.kept.data[j];
            scaled = square * (long double)weight * (long double)weight;
        } else {
            assert_true(norm.spread * (1.0 + 0x1p-40) >= (double)(spread * spread));
            for (size_t j = 0; j < floats; j++)
                record.b.data[j] *= weight;
            scaled = exact_square(&layer, &record, record.b.data, &scaled_spread);
        }
        assert_true((long double)nu >= sqrtl(square));
        assert_true(sqrtl(scaled) <= (long double)clip);
        free_record(&record);
    }
}

/* A form that dropped its upward terms would be caught: among records that cancel, the
 * float32 matrix alone is often shorter than the exact one. */
static void explicit_matrices_alone_are_too_short(void **state)
{
    uint64_t random = 7;
    int short_ones = 0;
    (void)state;
    for (int k = 0; k < 2000; k++) {
        struct position_layer layer = position_layer_of(&shapes[4], false);
        layer.form = NORM_PER_EXAMPLE;
        struct record record = make_record(&layer, true, &random);
        long double spread, square;
        struct position_norm norm = position_gradients_measure(
            &layer, record.a, record.b, record.kept.data, record.scratch);
        square = exact_square(&layer, &record, record.b.data, &spread);
        short_ones += (1.0 + 0x1p-24) * sqrt(norm.square) < (double)sqrtl(square);
        free_record(&record);
    }
    assert_true(short_ones > 100);
}

static void the_bias_counts_with_the_weight(void **state)
{
    uint64_t random = 5;
    (void)state;
    for (int k = 0; k < 300; k++) {
        struct position_layer with = position_layer_of(&shapes[k % SHAPES], true),
                              without = with;
        without.rows.bias = SIZE_MAX;
        with.form = without.form = (enum norm_form)(k / SHAPES % 3);
        struct record record = make_record(&with, false, &random);
        size_t t = window_positions(&with.window), p = with.rows.outputs;
        struct position_norm alone, both;
        double square = 0.0;

        alone = position_gradients_measure(&without, record.a, record.b,
                                           record.kept.data, record.scratch);
        position_gradients_bias(&with, record.kept, record.b);
        both = position_gradients_measure(&with, record.a, record.b, record.kept.data,
                                          record.scratch);
        for (size_t j = 0; j < p; j++) {
            double sum = 0.0;
            for (size_t s = 0; s < t; s++)
                sum += (double)record.b.data[s * p + j];
            square += sum * sum;
        }
        assert_close(both.square, alone.square + square, 1e-6);
        assert_close(both.spread, alone.spread + square, 1e-6);
        free_record(&record);
    }
}

static void what_is_not_bounded_is_refused(void **state)
{
    static const float bad[] = {NAN, INFINITY, -INFINITY, 3e38F};
    uint64_t random = 6;
    (void)state;
    for (size_t k = 0; k < 24; k++) {
        struct position_layer layer = position_layer_of(&shapes[k % SHAPES], true);
        layer.form = (enum norm_form)(k % 3);
        struct record record = make_record(&layer, false, &random);
        (k < 12 ? record.a : record.b).data[0] = bad[k % 4];
        position_gradients_bias(&layer, record.kept, record.b);
        assert_true(isinf(position_gradients_measure(&layer, record.a, record.b,
                                                     record.kept.data, record.scratch)
                              .square));
        free_record(&record);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_clip_holds),
        cmocka_unit_test(explicit_matrices_alone_are_too_short),
        cmocka_unit_test(the_bias_counts_with_the_weight),
        cmocka_unit_test(what_is_not_bounded_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
