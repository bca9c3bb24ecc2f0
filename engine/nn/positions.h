/*
 * positions.h - a weight layer in which a record has T rows: one for each position of a
 * convolution, or one for each pixel that a dense layer reads. z = a W^T + c, da = b W,
 * and the gradient of a record is b^T a (network.md 2, 4.1). The norms and sums of
 * these gradients, for which the rows a (T x d) are unfolded, are in
 * position_gradients.h.
 *
 *   form         the norm of b^T a comes from               a cell's sum is of matrices
 *   GRAM         the T x T products of rows, in double      made in it
 *   EXPLICIT     the matrix itself, thrown away             made in it again
 *   PER_EXAMPLE  the matrix itself, stored for each record  as they are stored
 *   BIAS         no matrix: the weight is not trained       none
 *
 * Invariants
 *   (1) The result of a pass for a record depends only on that record and the
 *       parameters. So does every product of the BLAS, because each such product is of
 *       one record (noise.md 2.5).
 *
 * Threads: pure functions of their arguments; scratch is the caller's.
 */
#ifndef ENGINE_NN_POSITIONS_H
#define ENGINE_NN_POSITIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/nn/conv_window.h"
#include "engine/nn/rows.h"

enum norm_form { NORM_GRAM, NORM_EXPLICIT, NORM_PER_EXAMPLE, NORM_BIAS };

struct position_layer {
    struct row_layer rows;              /* inputs: d = taps x channels of window */
    struct conv_window window;          /* without the taps that never meet the image */
    size_t kernel_height, kernel_width; /* the tensor is (outputs, height, width, */
    struct tap first;                   /* channels x copies); first tap of window */
    size_t copies;    /* channels of the tensor that read one channel of the image */
    size_t unit_rows; /* records whose gradients are added to one; 0 and 1: each has its
                         own */
    enum norm_form form;
};

/* Completes a layer whose window is that of its whole kernel: trims the window and
 * chooses the form (network.md 2.2). */
void positions_plan(struct position_layer *layer);

size_t positions_row_floats(const struct position_layer *layer); /* the tensor's */

/* positions_gather returns W in the order of the unfolded rows, (outputs, d): a pointer
 * to it within parameters if that order is already W's own, else `to`, into which it
 * has written W. positions_gathered returns how many floats `to` needs: 0 in the first
 * case. */
size_t positions_gathered(const struct position_layer *layer);
const float *positions_gather(const struct position_layer *layer,
                              const float *parameters, float *to);

/* row = a row of the tensor's gradient, from a row of the gathered gradient (d). All
 * copies have the same gradient. Taps that never meet the image have gradient zero. */
void positions_scatter(const struct position_layer *layer, float *row,
                       const float *gathered);

/* Positions [first, first + count) of a record. */
struct position_step {
    size_t record, first, count;
};

/* Advances to the next step; a zeroed step gives the first. False after the last. */
bool positions_next(const struct position_layer *layer, struct position_step *step,
                    struct rows z);

/* positions_unfold returns the step's rows of a: unfolded in scratch
 * (positions_unfolded floats, 64-byte aligned), or in place. Each row can be read up to
 * a multiple of 16 columns. positions_outputs returns the step's rows of z. */
size_t positions_unfolded(const struct position_layer *layer);
struct rows positions_unfold(const struct position_layer *layer, struct rows a,
                             struct position_step step, float *scratch);
struct rows positions_outputs(const struct position_layer *layer, struct rows z,
                              struct position_step step);

struct position_pass {
    const struct position_layer *layer;
    const float *weights; /* positions_gather */
    const float *bias;    /* or NULL */
    float *scratch;       /* (positions_scratch) 64-byte aligned */
    bool adds;            /* adds to the content of z or da; else overwrites it */
};

/* Enough for a pass, and for positions_unfold. */
size_t positions_scratch(const struct position_layer *layer);

/* A row holds one record: z (T x outputs), a (an image). Every output of a pass is one
 * chain of fused multiply-adds (direct_conv.h) that begins with the bias. If the pass
 * adds to z, the chain begins with z and the bias is added after it.
 *   forward   of position t and output o: over the taps of the window, line by line,
 *             and the channels. Lines above and below the image give no term; a tap
 *             left or right of the image is a term of zero
 *   backward  of pixel t and channel c: over the taps that read it, by ascending
 *             position, and the outputs. Lines above and below the output give no term;
 *             a position left or right of the output is a term of zero */
void positions_forward(const struct position_pass *pass, struct rows z, struct rows a);
void positions_backward(const struct position_pass *pass, struct rows da,
                        struct rows b);

/* Returns how many rows of a belong to one gradient b^T a: T for each record of a
 * unit. */
size_t positions_of_unit(const struct position_layer *layer);

#endif
