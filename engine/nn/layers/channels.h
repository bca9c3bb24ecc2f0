/*
 * channels.h - loops over the channels of a record's values, positions one after the
 * other and channels last, for layers that treat all channels in the same way.
 *
 * Threads: pure functions of their arguments.
 */
#ifndef ENGINE_NN_LAYERS_CHANNELS_H
#define ENGINE_NN_LAYERS_CHANNELS_H

#include <stddef.h>

struct channels {
    size_t positions, channels;
};

/* sums[c] = the sum over the positions of x, in double. */
void channels_sum(double *restrict sums, const float *restrict x, struct channels of);

/* sums[c] = the sum over the positions of x y, in double. */
void channels_sum_products(double *restrict sums, const float *restrict x,
                           const float *restrict y, struct channels of);

/* y = x factor, channel by channel; y may be x. */
void channels_multiply(float *y, const float *x, const float *restrict factor,
                       struct channels of);

#endif
