/*
 * group_norm.h - normalises each record over groups of its own channels (network.md 4.2),
 * in two steps: the normalisation, which has no parameters, and the scale behind it.
 *
 *   xh = (x - mu) r         r = 1 / sqrt(v + epsilon), mu and v mean and variance over a
 *                           group, which holds positions x channels / groups values
 *   y  = gamma xh + beta    channel by channel
 *
 *   dx = r (q - mean(q) - xh mean(q xh))    q = gamma dy, means over the group
 *   d gamma = sum_t dy xh,  d beta = sum_t dy    over the positions t, channel by channel
 *
 * The gradients of gamma and beta are 2 x channels floats a record, which are stored
 * (per_example_gradients.h). Mean and variance take two passes, never E[x^2] - mu^2. Sums are in double.
 *
 * Rows are records: positions one after the other, channels last. A record's loops run
 * over that record alone and alike in every row.
 *
 * Threads: pure functions of their arguments; scratch is the caller's
 * (group_norm_scratch floats, 64-byte aligned).
 */
#ifndef ENGINE_NN_GROUP_NORM_H
#define ENGINE_NN_GROUP_NORM_H

#include "engine/nn/rows.h"

struct group_norm {
    size_t positions, channels;
    size_t groups; /* divides channels */
    double epsilon;
};

size_t group_norm_scratch(const struct group_norm *norm);

/* inverse (groups) = r of each record; xh may be x. */
void group_norm_forward(const struct group_norm *norm, struct rows xh, struct rows x,
                        struct rows inverse, float *scratch);

/* Goes back from what forward left; dx may be q. */
struct group_norm_pass {
    struct rows xh, inverse;
};
void group_norm_backward(const struct group_norm *norm, struct rows dx, struct rows q,
                         const struct group_norm_pass *pass, float *scratch);

/* The scale of each channel: gamma (channels), beta (channels). */
void channel_scale_forward(const struct group_norm *norm, struct rows y, struct rows xh,
                           const float *gamma, const float *beta);
void channel_scale_backward(const struct group_norm *norm, struct rows q,
                            struct rows dy, const float *gamma);

/* gradients = the gradients of gamma, then of beta, of each record. */
void channel_scale_gradients(const struct group_norm *norm, struct rows gradients,
                             struct rows dy, struct rows xh, float *scratch);

#endif
