/* Goal: the weight layer computes its four products, and its measure refuses records
 * that the proof does not cover. Method: three loops in double on odd shapes; the
 * rule's threshold from both sides; the demonstrations of noise.md 2 that concern one
 * product. */
#include "tests/expect.h"

#include <stdint.h>
#include <string.h>
#include <cblas.h>

#include "engine/nn/rows.h"

enum { ROWS = 48 };

static float value_at(size_t i)
{
    return (float)sin(0.7 * (double)i + 0.3) * 1.385F;
}

static struct rows make_rows(size_t width)
{
    struct rows rows = {.stride = (width + 15) / 16 * 16, .count = ROWS};
    rows.data = aligned_alloc(64, ROWS * rows.stride * sizeof *rows.data);
    memset(rows.data, 0, ROWS * rows.stride * sizeof *rows.data);
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < width; j++)
            rows.data[i * rows.stride + j] = value_at(i * 131 + j + width);
    return rows;
}

static double at(struct rows rows, size_t i, size_t j)
{
    return (double)rows.data[i * rows.stride + j];
}

struct fixture {
    struct row_layer layer;
    float *theta;
    struct rows a, b;
};

static struct fixture make(size_t inputs, size_t outputs, bool bias)
{
    struct fixture f = {
        .layer = {inputs, outputs, 3, bias ? 3 + inputs * outputs : SIZE_MAX}};
    openblas_set_num_threads(1);
    f.theta = calloc(3 + inputs * outputs + outputs, sizeof *f.theta);
    for (size_t j = 0; j < 3 + inputs * outputs + outputs; j++)
        f.theta[j] = value_at(7 * j);
    f.a = make_rows(inputs);
    f.b = make_rows(outputs);
    return f;
}

static void drop(struct fixture *f)
{
    free(f->theta);
    free(f->a.data);
    free(f->b.data);
}

static void rows_of_vectors_never_lie_4_kib_apart(void **state)
{
    (void)state;
    for (size_t width = 1; width <= 5000; width++) {
        size_t stride = rows_spread_stride(width);
        assert_true(stride >= width && stride % 16 == 0 && stride % 1024 != 0);
        assert_true(stride == rows_stride(width) || rows_stride(width) % 1024 == 0);
    }
}

static const size_t shapes[][2] = {{1, 1},   {5, 3},   {16, 16},
                                   {33, 10}, {100, 7}, {64, 130}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static void forward_and_backward_are_products_with_the_weights(void **state)
{
    (void)state;
    for (size_t s = 0; s < 2 * SHAPES; s++) {
        struct fixture f = make(shapes[s / 2][0], shapes[s / 2][1], s % 2 == 1);
        struct rows z = make_rows(f.layer.outputs), da = make_rows(f.layer.inputs);
        const float *w = f.theta + f.layer.weight;
        row_layer_forward(&f.layer, f.theta, z, f.a);
        row_layer_backward(&f.layer, f.theta, da, f.b);
        for (size_t i = 0; i < ROWS; i++) {
            for (size_t j = 0; j < f.layer.outputs; j++) {
                double sum = s % 2 == 1 ? (double)f.theta[f.layer.bias + j] : 0.0;
                for (size_t k = 0; k < f.layer.inputs; k++)
                    sum += (double)w[j * f.layer.inputs + k] * at(f.a, i, k);
                assert_true(fabs(at(z, i, j) - sum) <= 1e-4);
            }
            for (size_t k = 0; k < f.layer.inputs; k++) {
                double sum = 0.0;
                for (size_t j = 0; j < f.layer.outputs; j++)
                    sum += (double)w[j * f.layer.inputs + k] * at(f.b, i, j);
                assert_true(fabs(at(da, i, k) - sum) <= 1e-4);
            }
            for (size_t j = f.layer.outputs; j < z.stride; j++)
                assert_true(at(z, i, j) == 0.0);
        }
        free(z.data);
        free(da.data);
        drop(&f);
    }
}

static void a_sum_is_the_rows_outer_products(void **state)
{
    (void)state;
    for (size_t s = 0; s < SHAPES; s++) {
        struct fixture f = make(shapes[s][0], shapes[s][1], true);
        struct row_span span = {f.layer.outputs / 3,
                                f.layer.outputs - f.layer.outputs / 3};
        float *block = calloc(span.count * f.layer.inputs, sizeof *block);
        float *bias = calloc(span.count, sizeof *bias);
        row_layer_sum(&f.layer, span, block, f.a, f.b);
        row_layer_sum_bias(span, bias, f.b);
        for (size_t j = 0; j < span.count; j++) {
            double total = 0.0;
            for (size_t i = 0; i < ROWS; i++)
                total += at(f.b, i, span.row + j);
            assert_true(fabs((double)bias[j] - total) <= 1e-4);
            for (size_t k = 0; k < f.layer.inputs; k++) {
                double sum = 0.0;
                for (size_t i = 0; i < ROWS; i++)
                    sum += at(f.b, i, span.row + j) * at(f.a, i, k);
                assert_true(fabs((double)block[j * f.layer.inputs + k] - sum) <= 1e-4);
            }
        }
        free(block);
        free(bias);
        drop(&f);
    }
}

static void a_square_is_that_of_the_outer_product(void **state)
{
    (void)state;
    for (size_t s = 0; s < 2 * SHAPES; s++) {
        struct fixture f = make(shapes[s / 2][0], shapes[s / 2][1], s % 2 == 1);
        double squares[ROWS], of_a[ROWS], of_b[ROWS];
        for (size_t i = 0; i < ROWS; i++)
            squares[i] = 0.625;
        rows_square(of_a, f.a);
        rows_square(of_b, f.b);
        row_layer_measure(&f.layer, squares, (struct row_squares){of_a, of_b, ROWS});
        for (size_t i = 0; i < ROWS; i++) {
            double expected = 0.625;
            for (size_t j = 0; j < f.layer.outputs; j++) {
                for (size_t k = 0; k < f.layer.inputs; k++)
                    expected += pow(at(f.b, i, j) * at(f.a, i, k), 2.0);
                expected += s % 2 == 1 ? pow(at(f.b, i, j), 2.0) : 0.0;
            }
            assert_close(squares[i], expected, 1e-13);
        }
        drop(&f);
    }
}

/* Row 1 of a or b gets one large entry and is zero elsewhere. */
static double measured_with(bool in_a, float entry)
{
    struct fixture f = make(5, 3, true);
    struct rows rows = in_a ? f.a : f.b;
    double squares[ROWS] = {0}, of_a[ROWS], of_b[ROWS];
    memset(rows.data + rows.stride, 0, rows.stride * sizeof *rows.data);
    rows.data[rows.stride + 1] = entry;
    rows_square(of_a, f.a);
    rows_square(of_b, f.b);
    row_layer_measure(&f.layer, squares, (struct row_squares){of_a, of_b, ROWS});
    assert_true(isfinite(squares[0]) && isfinite(squares[2]));
    drop(&f);
    return squares[1];
}

static void a_factor_beyond_2_to_the_64_is_refused(void **state)
{
    (void)state;
    for (int in_a = 0; in_a < 2; in_a++) {
        assert_true(isfinite(measured_with(in_a, 0x1p64F)));
        assert_true(isinf(measured_with(in_a, 0x1.000002p64F)));
        assert_true(isinf(measured_with(in_a, -3e38F)));
        assert_true(isinf(measured_with(in_a, INFINITY)));
        assert_true(isinf(measured_with(in_a, NAN)));
    }
}

static void subnormal_factors_are_measured(void **state)
{
    (void)state;
    assert_true(measured_with(false, 0x1p-149F) > 0.0);
}

/* noise.md 2.3: one more record before 2,047 of 1, one of 0.5 and 2,048 of -0.75 *
 * 2^-13 changes a float32 sum over the whole batch by more than the record's norm,
 * because the partial sums are on the other side of 2^11. With cells only the sum of
 * the record's own cell changes, by at most 1 + 2 gamma M. */
static double bias_sum(const float *values, size_t count)
{
    struct rows b = {.stride = 16, .count = count};
    float block;
    b.data = aligned_alloc(64, count * 64);
    for (size_t i = 0; i < count; i++)
        b.data[16 * i] = values[i];
    row_layer_sum_bias((struct row_span){0, 1}, &block, b);
    free(b.data);
    return (double)block;
}

static double weight_sum(const float *values, size_t count)
{
    struct row_layer layer = {.inputs = 1, .outputs = 1, .bias = SIZE_MAX};
    struct rows a = {.stride = 16, .count = count}, b = a;
    float block;
    a.data = aligned_alloc(64, count * 64);
    b.data = aligned_alloc(64, count * 64);
    for (size_t i = 0; i < count; i++) {
        a.data[16 * i] = 1.0F;
        b.data[16 * i] = values[i];
    }
    row_layer_sum(&layer, (struct row_span){0, 1}, &block, a, b);
    free(a.data);
    free(b.data);
    return (double)block;
}

static void cells_bound_what_one_record_moves(void **state)
{
    enum { COUNT = 4096, CELL = 64 };
    static float values[COUNT + 1];
    double m = CELL + 1, gamma = m * 0x1p-24 / (1.0 - m * 0x1p-24);
    (void)state;
    openblas_set_num_threads(1);
    values[0] = 1.0F;
    for (size_t i = 0; i < COUNT; i++)
        values[1 + i] = i < 2047 ? 1.0F : i == 2047 ? 0.5F : -0.75F * 0x1p-13F;

    assert_true(bias_sum(values, COUNT + 1) - bias_sum(values + 1, COUNT) == 1.25);
    for (size_t first = 0; first + CELL < COUNT; first += CELL) {
        /* the record before the other records of any cell */
        float cell[CELL + 1] = {1.0F};
        memcpy(cell + 1, values + 1 + first, CELL * sizeof *cell);
        double bias = bias_sum(cell, CELL + 1) - bias_sum(cell + 1, CELL);
        double weight = weight_sum(cell, CELL + 1) - weight_sum(cell + 1, CELL);
        assert_true(fabs(bias) <= 1.0 + 2.0 * gamma * m);
        assert_true(fabs(weight) <= 1.0 + 2.0 * gamma * m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_vectors_never_lie_4_kib_apart),
        cmocka_unit_test(forward_and_backward_are_products_with_the_weights),
        cmocka_unit_test(a_sum_is_the_rows_outer_products),
        cmocka_unit_test(a_square_is_that_of_the_outer_product),
        cmocka_unit_test(a_factor_beyond_2_to_the_64_is_refused),
        cmocka_unit_test(subnormal_factors_are_measured),
        cmocka_unit_test(cells_bound_what_one_record_moves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
