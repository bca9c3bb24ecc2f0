#include "engine/nn/rows.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "engine/gemm/gemm.h"
#include "engine/gemm/gemm_choice.h"
#include "engine/parallel/vector_math.h"

enum { HALF_STEP = 16 }; /* floats: each half of a row is whole vectors */

VECTOR_CLONES
void rows_add(struct rows z, const float *bias, size_t width)
{
    for (size_t i = 0; i < z.count; i++) {
        float *row = z.data + i * z.stride;
        for (size_t j = 0; j < width; j++)
            row[j] += bias[j];
    }
}

/* Two sums run at a time, because each addition of a single sum would wait for the one
 * before it. */
VECTOR_CLONES
double floats_square(const float *x, size_t count)
{
    size_t half = count / (2 * HALF_STEP) * HALF_STEP;
    const float *second = x + half;
    double sum = 0.0, sum_of_second = 0.0;
    VECTOR_SUM(sum, sum_of_second)
    for (size_t j = 0; j < half; j++) {
        sum += (double)x[j] * (double)x[j];
        sum_of_second += (double)second[j] * (double)second[j];
    }
    VECTOR_SUM(sum)
    for (size_t j = 2 * half; j < count; j++)
        sum += (double)x[j] * (double)x[j];
    return sum + sum_of_second;
}

bool row_layer_has_bias(const struct row_layer *layer)
{
    return layer->bias != SIZE_MAX;
}

/* z = s + a W^T */
static struct gemm forward_product(const struct row_layer *layer,
                                   const float *parameters, struct rows z,
                                   struct rows a)
{
    return (struct gemm){.rows = a.count,
                         .columns = layer->outputs,
                         .terms = layer->inputs,
                         .x = a.data,
                         .x_stride = a.stride,
                         .y = parameters + layer->weight,
                         .y_stride = layer->inputs,
                         .z = z.data,
                         .z_stride = z.stride};
}

void row_layer_forward(const struct row_layer *layer, const float *parameters,
                       struct rows z, struct rows a)
{
    struct gemm product = forward_product(layer, parameters, z, a);
    if (row_layer_has_bias(layer))
        product.start = parameters + layer->bias;
    gemm_rows_by_rows(gemm_choice_best(), &product);
}

void row_layer_add_forward(const struct row_layer *layer, const float *parameters,
                           struct rows z, struct rows a)
{
    struct gemm product = forward_product(layer, parameters, z, a);
    product.start = z.data;
    product.start_stride = z.stride;
    gemm_rows_by_rows(gemm_choice_best(), &product);
}

/* da = s + b W */
static struct gemm backward_product(const struct row_layer *layer,
                                    const float *parameters, struct rows da,
                                    struct rows b)
{
    return (struct gemm){.rows = b.count,
                         .columns = layer->inputs,
                         .terms = layer->outputs,
                         .x = b.data,
                         .x_stride = b.stride,
                         .y = parameters + layer->weight,
                         .y_stride = layer->inputs,
                         .z = da.data,
                         .z_stride = da.stride};
}

void row_layer_backward(const struct row_layer *layer, const float *parameters,
                        struct rows da, struct rows b)
{
    struct gemm product = backward_product(layer, parameters, da, b);
    gemm_rows_by_columns(gemm_choice_best(), &product);
}

void row_layer_add_backward(const struct row_layer *layer, const float *parameters,
                            struct rows da, struct rows b)
{
    struct gemm product = backward_product(layer, parameters, da, b);
    product.start = da.data;
    product.start_stride = da.stride;
    gemm_rows_by_columns(gemm_choice_best(), &product);
}

/* Squares of floats are exact in double; the padding of a row is zero. Two rows are
 * processed at a time, because each addition of a single sum would wait for the one
 * before it. */
VECTOR_CLONES
void rows_square(double *squares, struct rows x)
{
    for (size_t i = 0; i < x.count; i += 2) {
        size_t second = i + 1 < x.count ? i + 1 : i;
        const float *one = x.data + i * x.stride, *two = x.data + second * x.stride;
        double sum_of_one = 0.0, sum_of_two = 0.0;
        VECTOR_SUM(sum_of_one, sum_of_two)
        for (size_t j = 0; j < x.stride; j++) {
            sum_of_one += (double)one[j] * (double)one[j];
            sum_of_two += (double)two[j] * (double)two[j];
        }
        squares[i] = sum_of_one;
        squares[second] = sum_of_two;
    }
}

void row_layer_measure(const struct row_layer *layer, double *squares,
                       struct row_squares of)
{
    double bias = row_layer_has_bias(layer) ? 1.0 : 0.0;
    for (size_t i = 0; i < of.count; i++) {
        bool bounded = of.a[i] <= NORM_SQUARE_MAX && of.b[i] <= NORM_SQUARE_MAX;
        squares[i] += bounded ? of.b[i] * (of.a[i] + bias) : (double)INFINITY;
    }
}

/* block = s + b^T a */
static struct gemm gradient_product(const struct row_layer *layer, struct row_span span,
                                    float *block, const struct rows *a,
                                    const struct rows *b)
{
    return (struct gemm){.rows = span.count,
                         .columns = layer->inputs,
                         .terms = a->count,
                         .x = b->data + span.row,
                         .x_stride = b->stride,
                         .y = a->data,
                         .y_stride = a->stride,
                         .z = block,
                         .z_stride = layer->inputs};
}

void row_layer_sum(const struct row_layer *layer, struct row_span span, float *block,
                   struct rows a, struct rows b)
{
    struct gemm product = gradient_product(layer, span, block, &a, &b);
    gemm_columns_by_columns(gemm_choice_best(), &product);
}

void row_layer_add_sum(const struct row_layer *layer, struct row_span span,
                       float *block, struct rows a, struct rows b)
{
    struct gemm product = gradient_product(layer, span, block, &a, &b);
    product.start = block;
    product.start_stride = layer->inputs;
    gemm_columns_by_columns(gemm_choice_best(), &product);
}

VECTOR_CLONES
void row_layer_sum_bias(struct row_span span, float *block, struct rows b)
{
    memset(block, 0, span.count * sizeof *block);
    for (size_t i = 0; i < b.count; i++) {
        const float *row = b.data + i * b.stride + span.row;
        for (size_t j = 0; j < span.count; j++)
            block[j] += row[j];
    }
}
