#include "engine/nn/per_example_gradients.h"

#include <string.h>

#include "engine/parallel/vector_math.h"

enum {
    TOGETHER = 4,
    COLUMNS = 4096
}; /* a piece of the block stays in the first-level cache */

VECTOR_CLONES
static void add_four(float *restrict block, const float *from, size_t stride,
                     const float *clip_factors, size_t count)
{
    const float *a = from, *b = a + stride, *c = b + stride, *d = c + stride;
    float wa = clip_factors[0], wb = clip_factors[1], wc = clip_factors[2],
          wd = clip_factors[3];
    for (size_t j = 0; j < count; j++)
        block[j] += (wa * a[j] + wb * b[j]) + (wc * c[j] + wd * d[j]);
}

VECTOR_CLONES
void per_example_gradients_add(float *restrict block, const float *restrict from,
                               float clip_factor, size_t count)
{
    for (size_t j = 0; j < count; j++)
        block[j] += clip_factor * from[j];
}

static void sum_columns(const struct per_example_gradients *gradients, size_t first,
                        size_t count, float *block)
{
    size_t i = 0, stride = gradients->rows.stride;
    const float *from = gradients->rows.data + first;

    memset(block, 0, count * sizeof *block);
    for (; i + TOGETHER <= gradients->rows.count; i += TOGETHER)
        add_four(block, from + i * stride, stride, gradients->clip_factors + i, count);
    for (; i < gradients->rows.count; i++)
        per_example_gradients_add(block, from + i * stride, gradients->clip_factors[i],
                                  count);
}

void per_example_gradients_sum(const struct per_example_gradients *gradients,
                               struct row_span span, float *block)
{
    for (size_t first = 0; first < span.count; first += COLUMNS) {
        size_t left = span.count - first;
        sum_columns(gradients, span.row + first, left < COLUMNS ? left : COLUMNS,
                    block + first);
    }
}
