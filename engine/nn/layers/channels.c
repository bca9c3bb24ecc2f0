#include "engine/nn/layers/channels.h"

#include <string.h>

#include "engine/parallel/vector_math.h"

VECTOR_CLONES
void channels_sum(double *restrict sums, const float *restrict x, struct channels of)
{
    memset(sums, 0, of.channels * sizeof *sums);
    for (size_t t = 0; t < of.positions; t++)
        for (size_t c = 0; c < of.channels; c++)
            sums[c] += (double)x[t * of.channels + c];
}

VECTOR_CLONES
void channels_sum_products(double *restrict sums, const float *restrict x,
                           const float *restrict y, struct channels of)
{
    memset(sums, 0, of.channels * sizeof *sums);
    for (size_t t = 0; t < of.positions; t++)
        for (size_t c = 0; c < of.channels; c++)
            sums[c] += (double)x[t * of.channels + c] * (double)y[t * of.channels + c];
}

VECTOR_CLONES
void channels_multiply(float *y, const float *x, const float *restrict factor,
                       struct channels of)
{
    for (size_t t = 0; t < of.positions; t++)
        for (size_t c = 0; c < of.channels; c++)
            y[t * of.channels + c] = x[t * of.channels + c] * factor[c];
}
