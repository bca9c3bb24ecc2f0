/*
 * activation.h - elementwise layers, over whole buffers: count is a multiple of 16 and
 * the padding of a row is an element like any other.
 *
 *   relu  max(z, 0), derivative 0 at 0      tanh  tanh z, derivative (1 - y)(1 + y)
 *
 * A NaN stays a NaN on the way forward, where it is seen in the next layer's input.
 *
 * Threads: pure functions of their arguments.
 */
#ifndef ENGINE_NN_ACTIVATION_H
#define ENGINE_NN_ACTIVATION_H

#include <stddef.h>

/* y may be z. */
void relu_forward(float *y, const float *z, size_t count);
void tanh_forward(float *y, const float *z, size_t count);

/* dz = dy f'(z), told from y = f(z); dz may be dy. */
void relu_backward(float *dz, const float *dy, const float *y, size_t count);
void tanh_backward(float *dz, const float *dy, const float *y, size_t count);

#endif
