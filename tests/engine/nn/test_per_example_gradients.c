/* Goal: the sum of stored rows, each times its clip factor, is right over any columns.
 * Method: the same sums in double, at counts and widths around the steps of the
 * loops. */
#include "tests/expect.h"

#include <math.h>

#include "engine/nn/per_example_gradients.h"

static void the_sum_is_of_weighted_rows(void **state)
{
    static const size_t widths[] = {1, 15, 17, 4095, 4096, 4097, 9001};
    (void)state;
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
        for (size_t count = 0; count <= 9; count++) {
            size_t width = widths[w], stride = (width + 20) / 16 * 16;
            struct rows rows = {calloc((count + 1) * stride, sizeof(float)), stride,
                                count};
            float weights[9], *block = calloc(width, sizeof *block);
            struct per_example_gradients stored = {.rows = rows,
                                                   .clip_factors = weights};
            struct row_span span = {.row = width / 3, .count = width - width / 3};
            for (size_t i = 0; i < count; i++) {
                weights[i] = (float)sin((double)(i * i + 1));
                for (size_t j = 0; j < width; j++)
                    rows.data[i * stride + j] = (float)cos((double)(i * 7919 + j));
            }
            for (size_t j = 0; j < width; j++)
                block[j] = NAN;
            per_example_gradients_sum(&stored, span, block);
            for (size_t j = 0; j < span.count; j++) {
                double sum = 0.0, size = 0.0;
                for (size_t i = 0; i < count; i++) {
                    double term = (double)weights[i] *
                                  (double)rows.data[i * stride + span.row + j];
                    sum += term, size += fabs(term);
                }
                /* E3: a rounding for the product and one for each addition. */
                assert_true(fabs((double)block[j] - sum) <=
                            (double)count * 0x1p-24 * size * 1.000001);
            }
            free(block);
            free(rows.data);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sum_is_of_weighted_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
