/*
 * positions.h - the weight layer in which a record has T rows, one for each position of a
 * convolution, or one for each pixel that a dense layer reads. The rows a (T x d) are
 * unfolded from the image when they are needed; z = a W^T + c, and the gradient of a
 * record is b^T a (network.md 2, 4.1). The norms and sums of these gradients are in
 * position_gradients.h.
 *
 *   form         the norm of b^T a comes from               the sum of a cell is
 *   GRAM         the T x T products of rows, in double      a product in double
 *   EXPLICIT     the matrix itself, thrown away             a product in double
 *   PER_EXAMPLE  the matrix itself, stored for each record  one of these, in float
 *
 * Invariants
 *   (1) Each record goes through products of the same shapes, whatever the batch.
 *
 * Threads: pure functions of their arguments; scratch is the caller's.
 */
#ifndef ENGINE_NN_POSITIONS_H
#define ENGINE_NN_POSITIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/nn/rows.h"
#include "engine/nn/window.h"

enum norm_form { NORM_GRAM, NORM_EXPLICIT, NORM_PER_EXAMPLE };

struct position_layer {
    struct row_layer rows;              /* inputs: d = taps x channels of window */
    struct window window;               /* without the taps that never meet the image */
    size_t kernel_height, kernel_width; /* the tensor is (outputs, height, width, */
    struct tap first;                   /* channels x copies); first tap of window */
    size_t copies;    /* channels of the tensor that read one channel of the image */
    size_t unit_rows; /* records whose gradients are one; 0 and 1: each its own */
    enum norm_form form;
};

/* Completes a layer whose window is that of its whole kernel: trims the window and
 * chooses the form (network.md 2.2). */
void positions_plan(struct position_layer *layer);

size_t positions_row_floats(const struct position_layer *layer); /* the tensor's */

/* W as the unfolded rows meet it, (outputs, d): parameters + weight itself, or gathered
 * in to (positions_gathered floats, 0 where not) and returned. */
size_t positions_gathered(const struct position_layer *layer);
const float *positions_gather(const struct position_layer *layer,
                              const float *parameters, float *to);

/* row = a row of the tensor's gradient, from a row of the gathered gradient (d). All
 * copies have the same gradient, and taps that meet nothing have zero. */
void positions_scatter(const struct position_layer *layer, float *row,
                       const float *gathered);

/* One product of a block of z.count records: positions [first, first + count) of records
 * [record, record + records). */
struct position_step {
    size_t record, records, first, count;
};

/* The next step, the first from a zeroed one; false after the last. */
bool positions_next(const struct position_layer *layer, struct position_step *step,
                    struct rows z);

/* The first gives the step's rows of a, unfolded in scratch (positions_unfolded floats,
 * 64-byte aligned) or where they lie; the last gives those of z. */
size_t positions_unfolded(const struct position_layer *layer);
struct rows positions_unfold(const struct position_layer *layer, struct rows a,
                             struct position_step step, float *scratch);
struct rows positions_outputs(const struct position_layer *layer, struct rows z,
                              struct position_step step);

struct position_pass {
    const struct position_layer *layer;
    const float *weights; /* positions_gather */
    const float *bias;    /* or NULL */
    float *scratch;       /* (positions_unfolded) */
    bool adds;            /* adds to what is in z or da; else that is overwritten */
};

/* A row holds one record: z (T x outputs), a (an image). */
void positions_forward(const struct position_pass *pass, struct rows z, struct rows a);
void positions_backward(const struct position_pass *pass, struct rows da,
                        struct rows b);

/* The rows a whose b^T a is one gradient: T of each record of a unit. */
size_t positions_of_unit(const struct position_layer *layer);

#endif
