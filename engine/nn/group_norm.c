#include "engine/nn/group_norm.h"

#include <math.h>
#include <string.h>

#include "engine/parallel/vector_math.h"

/* What is computed of one record: sums of each channel, and what its group gives each. */
struct work {
    double *first, *second; /* (channels) */
    float *shift, *factor;  /* (channels) */
};

size_t group_norm_scratch(const struct group_norm *norm)
{
    return 6 * rows_stride(norm->channels);
}

static struct work work_in(const struct group_norm *norm, float *scratch)
{
    size_t stride = rows_stride(norm->channels);
    double *sums = (double *)(void *)scratch;
    return (struct work){.first = sums,
                         .second = sums + stride,
                         .shift = scratch + 4 * stride,
                         .factor = scratch + 5 * stride};
}

/* sums[c] = the sum over the positions of x. */
VECTOR_CLONES
static void sum_channels(double *restrict sums, const float *restrict x,
                         size_t positions, size_t channels)
{
    memset(sums, 0, channels * sizeof *sums);
    for (size_t t = 0; t < positions; t++)
        for (size_t c = 0; c < channels; c++)
            sums[c] += (double)x[t * channels + c];
}

/* sums[c] = the sum over the positions of (x - shift)^2. */
VECTOR_CLONES
static void sum_squares(double *restrict sums, const float *restrict x,
                        const float *restrict shift, size_t positions, size_t channels)
{
    memset(sums, 0, channels * sizeof *sums);
    for (size_t t = 0; t < positions; t++)
        for (size_t c = 0; c < channels; c++) {
            double off = (double)x[t * channels + c] - (double)shift[c];
            sums[c] += off * off;
        }
}

/* sums[c] = the sum over the positions of x y. */
VECTOR_CLONES
static void sum_products(double *restrict sums, const float *restrict x,
                         const float *restrict y, size_t positions, size_t channels)
{
    memset(sums, 0, channels * sizeof *sums);
    for (size_t t = 0; t < positions; t++)
        for (size_t c = 0; c < channels; c++)
            sums[c] += (double)x[t * channels + c] * (double)y[t * channels + c];
}

/* The mean over group g, whose channels have these sums. */
static double group_mean(const struct group_norm *norm, const double *sums, size_t g)
{
    size_t width = norm->channels / norm->groups;
    double sum = 0.0;
    for (size_t c = g * width; c < (g + 1) * width; c++)
        sum += sums[c];
    return sum / (double)(norm->positions * width);
}

static void spread_over(const struct group_norm *norm, float *to, size_t g, float value)
{
    size_t width = norm->channels / norm->groups;
    for (size_t c = g * width; c < (g + 1) * width; c++)
        to[c] = value;
}

/* xh = (x - shift) factor */
VECTOR_CLONES
static void standardise(const struct group_norm *norm, float *xh, const float *x,
                        const float *restrict shift, const float *restrict factor)
{
    size_t positions = norm->positions, channels = norm->channels;
    for (size_t t = 0; t < positions; t++)
        for (size_t c = 0; c < channels; c++)
            xh[t * channels + c] = (x[t * channels + c] - shift[c]) * factor[c];
}

void group_norm_forward(const struct group_norm *norm, struct rows xh, struct rows x,
                        struct rows inverse, float *scratch)
{
    struct work work = work_in(norm, scratch);

    for (size_t i = 0; i < x.count; i++) {
        const float *from = x.data + i * x.stride;
        float *r = inverse.data + i * inverse.stride;

        sum_channels(work.first, from, norm->positions, norm->channels);
        for (size_t g = 0; g < norm->groups; g++)
            spread_over(norm, work.shift, g, (float)group_mean(norm, work.first, g));
        sum_squares(work.first, from, work.shift, norm->positions, norm->channels);
        for (size_t g = 0; g < norm->groups; g++) {
            double variance = group_mean(norm, work.first, g);
            r[g] = (float)(1.0 / sqrt(variance + norm->epsilon));
            spread_over(norm, work.factor, g, r[g]);
        }
        standardise(norm, xh.data + i * xh.stride, from, work.shift, work.factor);
    }
}

/* dx = r (q - mean - xh slope), mean and slope by channel. */
VECTOR_CLONES
static void take_means_off(const struct group_norm *norm, float *dx, const float *q,
                           const float *restrict xh, const struct work *work)
{
    size_t positions = norm->positions, channels = norm->channels;
    for (size_t t = 0; t < positions; t++)
        for (size_t c = 0; c < channels; c++) {
            size_t at = t * channels + c;
            dx[at] = q[at] - work->shift[c] - xh[at] * work->factor[c];
        }
}

VECTOR_CLONES
static void multiply_channels(float *y, const float *x, const float *restrict factor,
                              size_t positions, size_t channels)
{
    for (size_t t = 0; t < positions; t++)
        for (size_t c = 0; c < channels; c++)
            y[t * channels + c] = x[t * channels + c] * factor[c];
}

void group_norm_backward(const struct group_norm *norm, struct rows dx, struct rows q,
                         const struct group_norm_pass *pass, float *scratch)
{
    struct work work = work_in(norm, scratch);

    for (size_t i = 0; i < q.count; i++) {
        const float *from = q.data + i * q.stride;
        const float *xh = pass->xh.data + i * pass->xh.stride;
        const float *r = pass->inverse.data + i * pass->inverse.stride;
        float *to = dx.data + i * dx.stride;

        sum_channels(work.first, from, norm->positions, norm->channels);
        sum_products(work.second, from, xh, norm->positions, norm->channels);
        for (size_t g = 0; g < norm->groups; g++) {
            spread_over(norm, work.shift, g, (float)group_mean(norm, work.first, g));
            spread_over(norm, work.factor, g, (float)group_mean(norm, work.second, g));
        }
        take_means_off(norm, to, from, xh, &work);
        for (size_t g = 0; g < norm->groups; g++)
            spread_over(norm, work.factor, g, r[g]);
        multiply_channels(to, to, work.factor, norm->positions, norm->channels);
    }
}

VECTOR_CLONES
static void scale_and_shift(float *restrict y, const float *restrict xh,
                            const float *restrict gamma, const float *restrict beta,
                            const struct group_norm *norm)
{
    for (size_t t = 0; t < norm->positions; t++)
        for (size_t c = 0; c < norm->channels; c++) {
            size_t at = t * norm->channels + c;
            y[at] = gamma[c] * xh[at] + beta[c];
        }
}

void channel_scale_forward(const struct group_norm *norm, struct rows y, struct rows xh,
                           const float *gamma, const float *beta)
{
    for (size_t i = 0; i < y.count; i++)
        scale_and_shift(y.data + i * y.stride, xh.data + i * xh.stride, gamma, beta,
                        norm);
}

void channel_scale_backward(const struct group_norm *norm, struct rows q,
                            struct rows dy, const float *gamma)
{
    for (size_t i = 0; i < q.count; i++)
        multiply_channels(q.data + i * q.stride, dy.data + i * dy.stride, gamma,
                          norm->positions, norm->channels);
}

void channel_scale_gradients(const struct group_norm *norm, struct rows gradients,
                             struct rows dy, struct rows xh, float *scratch)
{
    struct work work = work_in(norm, scratch);

    for (size_t i = 0; i < gradients.count; i++) {
        const float *b = dy.data + i * dy.stride;
        float *to = gradients.data + i * gradients.stride;

        sum_products(work.second, b, xh.data + i * xh.stride, norm->positions,
                     norm->channels);
        sum_channels(work.first, b, norm->positions, norm->channels);
        for (size_t c = 0; c < norm->channels; c++) {
            to[c] = (float)work.second[c];
            to[norm->channels + c] = (float)work.first[c];
        }
    }
}
