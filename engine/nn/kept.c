#include "engine/nn/kept.h"

#include <string.h>

#include "engine/parallel/vector_math.h"

enum {
    TOGETHER = 4,
    COLUMNS = 4096
}; /* a piece of the block stays in the first cache */

VECTOR_CLONES
static void add_four(float *restrict block, const float *from, size_t stride,
                     const float *weights, size_t count)
{
    const float *a = from, *b = a + stride, *c = b + stride, *d = c + stride;
    float wa = weights[0], wb = weights[1], wc = weights[2], wd = weights[3];
    for (size_t j = 0; j < count; j++)
        block[j] += (wa * a[j] + wb * b[j]) + (wc * c[j] + wd * d[j]);
}

VECTOR_CLONES
static void add_one(float *restrict block, const float *from, float weight,
                    size_t count)
{
    for (size_t j = 0; j < count; j++)
        block[j] += weight * from[j];
}

static void sum_columns(const struct kept_rows *kept, size_t first, size_t count,
                        float *block)
{
    size_t i = 0, stride = kept->rows.stride;
    const float *from = kept->rows.data + first;

    memset(block, 0, count * sizeof *block);
    for (; i + TOGETHER <= kept->rows.count; i += TOGETHER)
        add_four(block, from + i * stride, stride, kept->weights + i, count);
    for (; i < kept->rows.count; i++)
        add_one(block, from + i * stride, kept->weights[i], count);
}

void kept_sum(const struct kept_rows *kept, struct row_span span, float *block)
{
    for (size_t first = 0; first < span.count; first += COLUMNS) {
        size_t left = span.count - first;
        sum_columns(kept, span.row + first, left < COLUMNS ? left : COLUMNS,
                    block + first);
    }
}
