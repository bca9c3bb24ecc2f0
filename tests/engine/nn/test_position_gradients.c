/* Goal: the measured norm of a layer with several rows per record bounds the record's
 * part of a sum, in every form and however the rows cancel; the clip derived from it
 * holds; and a sum is one chain over such matrices. Method: the sum of one record,
 * squared in long double; exact products in long double; plain loops of fmaf, by
 * memcmp. */
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

/* Rows of random size, or rows that nearly cancel: a constant image, and outputs whose
 * sum is almost zero. */
static struct record make_record(const struct position_layer *layer, bool cancelling,
                                 uint64_t *state)
{
    const struct image *image = &layer->window.image;
    size_t floats = image->height * image->width * image->channels;
    size_t t = conv_window_positions(&layer->window), p = layer->rows.outputs;
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

static double measured(const struct position_layer *layer, const struct record *record)
{
    const struct position_rows rows = {record->a, record->b};
    return position_gradients_measure(layer, &rows, record->kept.data, record->scratch);
}

/* |b^T a|^2 of the weight, in long double. */
static long double exact_square(const struct position_layer *layer,
                                const struct record *record)
{
    size_t t = conv_window_positions(&layer->window), d = layer->rows.inputs;
    size_t p = layer->rows.outputs;
    struct rows u = {calloc(t * d, sizeof(float)), d, t};
    long double square = 0.0L;
    conv_window_unfold(&layer->window, u, record->a.data, 0);
    for (size_t j = 0; j < p; j++)
        for (size_t k = 0; k < d; k++) {
            long double g = 0.0L;
            for (size_t s = 0; s < t; s++)
                g += (long double)record->b.data[s * p + j] *
                     (long double)u.data[s * d + k];
            square += (long double)layer->copies * g * g;
        }
    free(u.data);
    return square;
}

static float *sum_of(const struct position_layer *layer, struct row_span span,
                     const struct weighed_positions *all)
{
    float *block = calloc(span.count * positions_row_floats(layer) + 1, sizeof *block);
    float *scratch = aligned_alloc(
        64, (position_gradients_sum_scratch(layer, span.count) + 16) / 16 * 64);
    position_gradients_sum(layer, span, block, all, scratch);
    free(scratch);
    return block;
}

/* The square of the norm of a sum over only this record. */
static long double summed_square(const struct position_layer *layer,
                                 const struct record *record)
{
    const float one = 1;
    const struct weighed_positions all = {{record->a, record->b}, &one};
    float *block = sum_of(layer, (struct row_span){0, layer->rows.outputs}, &all);
    long double square = 0;
    for (size_t j = 0; j < layer->rows.outputs * positions_row_floats(layer); j++)
        square += (long double)block[j] * (long double)block[j];
    free(block);
    return square;
}

static const struct position_shape shapes[] = {
    {{3, 3, 2}, 2, 1, 0, 3, 1}, {{1, 1, 4}, 3, 1, 1, 5, 1}, {{5, 4, 1}, 3, 2, 1, 2, 3},
    {{2, 2, 3}, 1, 1, 0, 4, 1}, {{9, 9, 1}, 2, 1, 0, 2, 1},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* Every form, every shape, rows that cancel in half of the cases: the bound is never
 * below the exact value, and the norm of the record weighted by it never exceeds the
 * clip. */
static void the_clip_holds(void **state)
{
    uint64_t random = 2385;
    (void)state;
    for (int k = 0; k < 60000; k++) {
        struct position_layer layer = position_layer_of(&shapes[k % SHAPES], false);
        layer.form = (enum norm_form)(k / SHAPES % 3);
        struct record record = make_record(&layer, k % 2 == 0, &random);
        double nu = (1.0 + 0x1p-24) * sqrt(measured(&layer, &record)), clip = nu * 0.37;
        float weight = nextafterf((float)((1.0 - 0x1p-22) * clip / nu), 0.0F);
        long double square = summed_square(&layer, &record);

        assert_true((long double)nu >= sqrtl(square));
        assert_true(sqrtl(square) * (long double)weight <= (long double)clip);
        assert_true(nu <= (double)sqrtl(square) * 1.01 + 1e-30 || k % 2 == 0);
        free_record(&record);
    }
}

/* This catches a GRAM form without its terms for rounding: for records that cancel, the
 * norm of the exact matrix is often smaller than that of the float32 matrix, which is
 * summed. */
static void exact_norms_alone_are_too_short(void **state)
{
    uint64_t random = 7;
    int short_ones = 0;
    (void)state;
    for (int k = 0; k < 2000; k++) {
        struct position_layer layer = position_layer_of(&shapes[4], false);
        struct record record = make_record(&layer, true, &random);
        layer.form = NORM_GRAM;
        short_ones += (1.0L + 0x1p-24L) * sqrtl(exact_square(&layer, &record)) <
                      sqrtl(summed_square(&layer, &record));
        free_record(&record);
    }
    assert_true(short_ones > 100);
}

/* All positions but the last add 1.5 to 2^24, which rounds to 2, and the last adds
 * -2^24: the norm of the summed matrix is a third larger than that of the exact one, at
 * any scale. */
static void a_bound_covers_what_each_position_rounds_up(void **state)
{
    static const size_t sides[] = {8, 16, 32};
    uint64_t random = 3;
    (void)state;
    for (int k = 0; k < 9 * 3; k++) {
        size_t side = sides[k % 3], t = side * side;
        const struct position_shape shape = {{side, side, 1}, 1, 1, 0, 2, 1};
        struct position_layer layer = position_layer_of(&shape, false);
        layer.form = (enum norm_form)(k / 3 % 3);
        struct record record = make_record(&layer, false, &random);
        float unit = ldexpf(1, (int[]){-141, 0, 36}[k / 9]);
        for (size_t i = 0; i < t; i++) {
            record.a.data[i] = 1;
            for (size_t j = 0; j < 2; j++)
                record.b.data[2 * i + j] = unit * (i == 0       ? 0x1p24F
                                                   : i + 1 == t ? -0x1p24F
                                                                : 1.5F);
        }
        long double summed = sqrtl(summed_square(&layer, &record));
        double nu = (1.0 + 0x1p-24) * sqrt(measured(&layer, &record));
        assert_true((long double)nu >= summed);
        assert_true(summed > 1.3L * sqrtl(exact_square(&layer, &record)));
        free_record(&record);
    }
}

/* The gradients that some records store when they are measured; each unit's is at its
 * first row. */
static float *kept_of(struct position_layer layer, const struct position_rows *rows)
{
    size_t floats = layer.rows.outputs * layer.rows.inputs;
    size_t unit = layer.unit_rows > 1 ? layer.unit_rows : 1;
    float *kept = calloc(rows->a.count * floats, sizeof *kept);
    layer.form = NORM_PER_EXAMPLE;
    float *scratch =
        aligned_alloc(64, (position_gradients_scratch(&layer) + 16) / 16 * 64);
    for (size_t i = 0; i < rows->a.count; i += unit) {
        struct position_rows one = *rows;
        one.a.data += i * one.a.stride;
        one.b.data += i * one.b.stride;
        one.a.count = one.b.count = unit;
        position_gradients_weight(&layer, kept + i * floats, &one, scratch);
    }
    free(scratch);
    return kept;
}

/* Compares the sum over outputs [first, outputs) with a chain over kept matrices. */
static void check_chain(const struct position_layer *layer, size_t first,
                        const struct weighed_positions *all)
{
    size_t d = layer->rows.inputs, p = layer->rows.outputs;
    size_t unit = layer->unit_rows > 1 ? layer->unit_rows : 1;
    size_t row = positions_row_floats(layer);
    float *kept = kept_of(*layer, &all->rows);
    float *expected = calloc(row, sizeof *expected);
    float *sum = calloc(d, sizeof *sum);
    float *block = sum_of(layer, (struct row_span){first, p - first}, all);
    for (size_t o = first; o < p; o++) {
        memset(sum, 0, d * sizeof *sum);
        for (size_t i = 0; i < all->rows.a.count; i += unit)
            for (size_t j = 0; j < d; j++)
                sum[j] = fmaf(all->clip_factors[i], kept[(i * p + o) * d + j], sum[j]);
        positions_scatter(layer, expected, sum);
        assert_memory_equal(block + (o - first) * row, expected, row * sizeof *block);
    }
    free(block);
    free(sum);
    free(expected);
    free(kept);
}

/* Compares bit by bit: a dozen units at a time and single ones, of one row and of
 * three, among few and many others, for all outputs of a layer and for its last. */
static void a_sum_is_a_chain_over_what_was_measured(void **state)
{
    static const struct position_shape longer[] = {{{20, 20, 1}, 3, 1, 1, 17, 1},
                                                   {{4, 4, 8}, 3, 1, 1, 23, 1},
                                                   {{17, 15, 3}, 5, 1, 2, 2, 2}};
    enum { RECORDS = 72, LONGER = sizeof longer / sizeof *longer };
    uint64_t random = 99;
    (void)state;
    for (size_t k = 0; k < 4 * (SHAPES + LONGER); k++) {
        size_t s = k / 4;
        struct position_layer layer =
            position_layer_of(s < SHAPES ? &shapes[s] : &longer[s - SHAPES], false);
        const struct image *image = &layer.window.image;
        size_t in = image->height * image->width * image->channels,
               out = conv_window_positions(&layer.window) * layer.rows.outputs;
        size_t records = k % 4 < 2 ? RECORDS : 3;
        float *a = calloc(RECORDS * in, sizeof *a), weights[RECORDS];
        float *b = calloc(RECORDS * out, sizeof *b);
        layer.unit_rows = k % 2 == 0 ? 1 : 3;
        for (size_t j = 0; j < RECORDS * in; j++)
            a[j] = (float)draw(&random);
        for (size_t j = 0; j < RECORDS * out; j++)
            b[j] = (float)draw(&random);
        for (size_t j = 0; j < RECORDS; j++)
            weights[j] = j % 5 == 0 ? 1 : (float)fabs(draw(&random));
        const struct weighed_positions all = {{{a, in, records}, {b, out, records}},
                                              weights};
        check_chain(&layer, k % 3 == 0 ? layer.rows.outputs - 1 : 0, &all);
        free(b);
        free(a);
    }
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
        size_t t = conv_window_positions(&with.window), p = with.rows.outputs;
        double alone, both;
        double square = 0.0;

        alone = measured(&without, &record);
        position_gradients_bias(&with, record.kept, record.b);
        both = measured(&with, &record);
        for (size_t j = 0; j < p; j++) {
            double sum = 0.0;
            for (size_t s = 0; s < t; s++)
                sum += (double)record.b.data[s * p + j];
            square += sum * sum;
        }
        assert_close(both, alone + square, 1e-6);
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
        assert_true(!isfinite(measured(&layer, &record)));
        free_record(&record);
    }
}

/* Four positions of 2^63 each are rows of norm 2^64, which are accepted. Their gradient
 * has an entry of 2^128, which float32 cannot hold. */
static void what_is_summed_is_finite_or_refused(void **state)
{
    static const struct position_shape one_weight = {{2, 2, 1}, 1, 1, 0, 1, 1};
    uint64_t random = 17;
    (void)state;
    for (int k = 0; k < 90; k++) {
        struct position_layer layer = position_layer_of(&one_weight, false);
        layer.form = (enum norm_form)(k % 3);
        struct record record = make_record(&layer, false, &random);
        float level = exp2f(60.0F + (float)(k / 3) / 8);
        for (size_t j = 0; j < record.a.stride; j++)
            record.a.data[j] = record.b.data[j] = level;
        if (isfinite(measured(&layer, &record)))
            assert_true(isfinite((double)summed_square(&layer, &record)));
        else
            assert_true(level > 0x1p62F);
        free_record(&record);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_clip_holds),
        cmocka_unit_test(exact_norms_alone_are_too_short),
        cmocka_unit_test(a_bound_covers_what_each_position_rounds_up),
        cmocka_unit_test(a_sum_is_a_chain_over_what_was_measured),
        cmocka_unit_test(the_bias_counts_with_the_weight),
        cmocka_unit_test(what_is_not_bounded_is_refused),
        cmocka_unit_test(what_is_summed_is_finite_or_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
