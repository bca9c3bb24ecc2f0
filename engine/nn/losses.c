#include "engine/nn/losses.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/check.h"
#include "engine/parallel/vector_math.h"

static size_t greatest(const float *z, size_t width)
{
    size_t best = 0;
    for (size_t j = 1; j < width; j++)
        if (z[j] > z[best])
            best = j;
    return best;
}

/* b = e^(z - z_top), but 0 at top and past width. Returns the sum of b. The loop runs
 * over the whole padded row. */
static inline __attribute__((always_inline)) double
exponentials(float *b, const float *z, size_t stride, size_t width, size_t top)
{
    const float greatest_z = z[top];
    double rest = 0.0;

    VECTOR_LOOP
    for (size_t j = 0; j < stride; j++) {
        float below = z[j] - greatest_z;
        b[j] = lanes_expf(below > 0.0F ? 0.0F : below);
    }
    memset(b + width, 0, (stride - width) * sizeof *b);
    b[top] = 0.0F;
    VECTOR_SUM(rest)
    for (size_t j = 0; j < stride; j++)
        rest += (double)b[j];
    return rest;
}

/* With e_j = e^(z_j - z_top): lse - z_y = (z_top - z_y) + log1p(sum of e_j, j != top).
 * At y = top, b_y is computed as minus the sum of the other entries of b, which keeps
 * its precision when the probability of y is near 1. */
VECTOR_CLONES
static void softmax_rows(const struct loss_batch *batch)
{
    for (size_t i = 0; i < batch->z.count; i++) {
        const float *z = batch->z.data + i * batch->z.stride;
        float *b = batch->b.data + i * batch->b.stride;
        size_t y = batch->classes[i], top = greatest(z, batch->width);
        double rest = exponentials(b, z, batch->z.stride, batch->width, top);
        float share = (float)(1.0 / (1.0 + rest));

        batch->scratch[i] = rest;
        batch->losses[i] = (double)z[top] - (double)z[y];
        b[top] = 1.0F;
        for (size_t j = 0; j < batch->width; j++)
            b[j] *= share;
        b[y] = y == top ? (float)(-rest / (1.0 + rest)) : b[y] - 1.0F;
    }
}

VECTOR_CLONES
static void add_log1p(double *losses, const double *rest, size_t count)
{
    VECTOR_LOOP
    for (size_t i = 0; i < count; i++)
        losses[i] += lanes_log1p(rest[i]);
}

/* losses = log(1 + e^s); slopes, which holds s, becomes sigmoid(s). */
VECTOR_CLONES
static void softplus(double *losses, double *slopes, size_t count)
{
    VECTOR_LOOP
    for (size_t i = 0; i < count; i++) {
        double s = slopes[i], e = lanes_exp(-fabs(s));
        slopes[i] = (s >= 0.0 ? 1.0 : e) / (1.0 + e);
        losses[i] = (s > 0.0 ? s : 0.0) + lanes_log1p(e);
    }
}

static void logistic_rows(const struct loss_batch *batch)
{
    size_t count = batch->z.count;
    for (size_t i = 0; i < count; i++) {
        double z = (double)batch->z.data[i * batch->z.stride];
        batch->scratch[i] = batch->classes[i] == 1 ? -z : z;
    }
    softplus(batch->losses, batch->scratch, count);
    for (size_t i = 0; i < count; i++) {
        float *b = batch->b.data + i * batch->b.stride;
        memset(b, 0, batch->b.stride * sizeof *b);
        b[0] = (float)(batch->classes[i] == 1 ? -batch->scratch[i] : batch->scratch[i]);
    }
}

static void squared_rows(const struct loss_batch *batch)
{
    for (size_t i = 0; i < batch->z.count; i++) {
        float *b = batch->b.data + i * batch->b.stride;
        double over =
            (double)batch->z.data[i * batch->z.stride] - (double)batch->values[i];
        memset(b, 0, batch->b.stride * sizeof *b);
        b[0] = (float)over;
        batch->losses[i] = 0.5 * over * over;
    }
}

/* If a residual is not finite, neither is its loss. */
static void huber_rows(const struct loss_batch *batch)
{
    const double delta = batch->huber_delta;
    for (size_t i = 0; i < batch->z.count; i++) {
        float *b = batch->b.data + i * batch->b.stride;
        double over =
            (double)batch->z.data[i * batch->z.stride] - (double)batch->values[i];
        bool inside = fabs(over) <= delta;
        memset(b, 0, batch->b.stride * sizeof *b);
        b[0] = (float)(inside ? over : copysign(delta, over));
        batch->losses[i] =
            inside ? 0.5 * over * over : delta * (fabs(over) - 0.5 * delta);
    }
}

void losses_evaluate(enum loss loss, const struct loss_batch *batch)
{
    CHECK(batch->z.stride == batch->b.stride);
    switch (loss) {
    case LOSS_SOFTMAX_CROSS_ENTROPY:
        softmax_rows(batch);
        add_log1p(batch->losses, batch->scratch, batch->z.count);
        break;
    case LOSS_LOGISTIC: logistic_rows(batch); break;
    case LOSS_SQUARED: squared_rows(batch); break;
    case LOSS_HUBER: huber_rows(batch); break;
    }
}
