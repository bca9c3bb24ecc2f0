/*
 * activation.h - elementwise layers: y = f(z), and the way back from dy to dz = dy f'(z).
 * Which functions there are is said by the files of engine/nn/layers.
 *
 * A NaN stays a NaN on the way forward, so that it is seen in the next layer's input.
 *
 * Loops run over whole padded rows, so that what a record gets does not depend on its
 * place. Where f(0) is not 0 the padding is cleared again: products may read it.
 *
 * Threads: pure functions of their arguments.
 */
#ifndef ENGINE_NN_ACTIVATION_H
#define ENGINE_NN_ACTIVATION_H

#include <stdbool.h>

#include "engine/nn/activation_difference.h"
#include "engine/nn/rows.h"

struct activation {
    void (*forward)(float *y, const float *z, size_t count);

    /* dz = dy f'(z), told from at: y, or z where it reads_input. */
    void (*backward)(float *dz, const float *dy, const float *at, size_t count);

    bool moves_zero; /* f(0) is not 0 */
    bool
        reads_input; /* the way back reads z, which must then outlive the way forward */
    struct activation_rule rule; /* at two points */
};

/* y = f(z), width columns of each row; the padding of y is zero. y and z have one stride,
 * and y may be z. */
void activation_forward(const struct activation *activation, size_t width,
                        struct rows y, struct rows z);

/* dz may be dy. */
void activation_backward(const struct activation *activation, struct rows dz,
                         struct rows dy, struct rows at);

#endif
