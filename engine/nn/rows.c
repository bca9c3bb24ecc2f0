#include "engine/nn/rows.h"

#include <math.h>
#include <stdint.h>
#include <string.h>
#include <cblas.h>

#include "engine/parallel/vector_math.h"

VECTOR_CLONES
void rows_add(struct rows z, const float *bias, size_t width)
{
    for (size_t i = 0; i < z.count; i++) {
        float *row = z.data + i * z.stride;
        for (size_t j = 0; j < width; j++)
            row[j] += bias[j];
    }
}

VECTOR_CLONES
double floats_square(const float *x, size_t count)
{
    double sum = 0.0;
    VECTOR_SUM(sum)
    for (size_t j = 0; j < count; j++)
        sum += (double)x[j] * (double)x[j];
    return sum;
}

bool row_layer_has_bias(const struct row_layer *layer)
{
    return layer->bias != SIZE_MAX;
}

/* z = a W^T + beta z */
static void forward(const struct row_layer *layer, const float *parameters,
                    struct rows z, struct rows a, float beta)
{
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (blasint)a.count,
                (blasint)layer->outputs, (blasint)layer->inputs, 1.0F, a.data,
                (blasint)a.stride, parameters + layer->weight, (blasint)layer->inputs,
                beta, z.data, (blasint)z.stride);
}

void row_layer_forward(const struct row_layer *layer, const float *parameters,
                       struct rows z, struct rows a)
{
    forward(layer, parameters, z, a, 0.0F);
    if (row_layer_has_bias(layer))
        rows_add(z, parameters + layer->bias, layer->outputs);
}

void row_layer_add_forward(const struct row_layer *layer, const float *parameters,
                           struct rows z, struct rows a)
{
    forward(layer, parameters, z, a, 1.0F);
}

/* da = b W + beta da */
static void backward(const struct row_layer *layer, const float *parameters,
                     struct rows da, struct rows b, float beta)
{
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)b.count,
                (blasint)layer->inputs, (blasint)layer->outputs, 1.0F, b.data,
                (blasint)b.stride, parameters + layer->weight, (blasint)layer->inputs,
                beta, da.data, (blasint)da.stride);
}

void row_layer_backward(const struct row_layer *layer, const float *parameters,
                        struct rows da, struct rows b)
{
    backward(layer, parameters, da, b, 0.0F);
}

void row_layer_add_backward(const struct row_layer *layer, const float *parameters,
                            struct rows da, struct rows b)
{
    backward(layer, parameters, da, b, 1.0F);
}

/* Squares of floats are exact in double; the padding of a row is zero. Two rows are taken
 * at a time, as one alone would wait for its own sum. */
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

/* block = b^T a + beta block */
static void multiply_gradients(const struct row_layer *layer, struct row_span span,
                               float *block, const struct rows *a, const struct rows *b,
                               float beta)
{
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (blasint)span.count,
                (blasint)layer->inputs, (blasint)a->count, 1.0F, b->data + span.row,
                (blasint)b->stride, a->data, (blasint)a->stride, beta, block,
                (blasint)layer->inputs);
}

void row_layer_sum(const struct row_layer *layer, struct row_span span, float *block,
                   struct rows a, struct rows b)
{
    if (a.count == 0)
        memset(block, 0, span.count * layer->inputs * sizeof *block);
    else
        multiply_gradients(layer, span, block, &a, &b, 0.0F);
}

void row_layer_add_sum(const struct row_layer *layer, struct row_span span,
                       float *block, struct rows a, struct rows b)
{
    if (a.count > 0)
        multiply_gradients(layer, span, block, &a, &b, 1.0F);
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
