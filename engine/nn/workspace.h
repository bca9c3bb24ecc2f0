/*
 * workspace.h - the buffers of one micro-batch, and the passes over it: forward, loss,
 * one backward pass that keeps both factors of each gradient, per-record norms,
 * weighted sums (network.md 1 and 2, noise.md 2).
 *
 *   training        forward -> loss -> backward -> measure -> scale -> sum
 *                               \-> weigh_classes, if classes have weights
 *   of units        forward -> loss -> weigh -> backward -> measure -> scale -> sum
 *   on public data  forward -> loss -> backward -> per_example_gradients -> sum
 *   two points      difference (difference.h)   -> measure -> scale -> sum
 *   evaluation      forward -> predict, class, loss
 *
 * Public data needs no norms.
 *
 * A micro-batch holds count <= rows records. Every pass runs over a multiple of
 * WORKSPACE_ROWS_STEP rows; forward zeroes the rows beyond the records. At a dense
 * layer of records these rows stay zero, and no products are computed for them. The
 * caller fills the first count rows of workspace_input (matrix_gather with
 * workspace_stride) and, before workspace_loss, the first count of workspace_classes or
 * workspace_values.
 *
 * If the network was made by network_create_of_units, unit_rows consecutive rows are
 * one unit. Statements below about a record's norm, refusal and clip factor then hold
 * for the sum of the gradients of the unit's rows, and every row of the unit has that
 * norm, refusal and factor.
 *
 * For every weight layer and record i the workspace holds a_i, the layer's input, and
 * b_i, the gradient of that record's own loss at the layer's output; its gradient is
 * b_i x a_i.
 *
 * Invariants
 *   (1) All that belongs to a record (outputs, loss, a, b, norms) depends only on that
 *       record, its dropout mask and the parameters (E2), never on other records, on
 *       count or on its row.
 *   (2) Buffers and rows start on 64-byte boundaries, rows is a multiple of 16, leading
 *       dimensions are multiples of 16 floats, and the padding floats are zero (E4).
 *   (3) After workspace_measure every stored factor is finite. A refused record has a =
 *       b = 0 in every layer and adds exactly zero to every sum.
 *   (4) workspace_sum is a classical float32 product of the rows it is given: every
 *       output has one product rounding per term, and count - 1 additions (E3).
 *   (5) Only create allocates; memory has no term rows x parameters.
 *
 * Threads: one workspace belongs to one thread at a time. Exceptions are workspace_sum
 * and the functions that take a const workspace: any number of threads may call these
 * at once. The caller has set OpenBLAS to one thread and not to flush denormals.
 * Ownership: a workspace borrows its network, which must outlive it.
 */
#ifndef ENGINE_NN_WORKSPACE_H
#define ENGINE_NN_WORKSPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "engine/nn/drop.h"
#include "engine/nn/network.h"
#include "engine/nn/rows.h"

struct workspace; /* opaque */

enum { WORKSPACE_ROWS_STEP = ROWS_STEP, WORKSPACE_ROWS_MAX = 65536 };

/* rows: a multiple of WORKSPACE_ROWS_STEP in [WORKSPACE_ROWS_STEP, WORKSPACE_ROWS_MAX].
 *   ST_NO_MEMORY  the buffers cannot be allocated */
enum status workspace_create(struct workspace **out, const struct network *network,
                             size_t rows, struct error *error);
void workspace_destroy(struct workspace *workspace); /* NULL is allowed */

/* Creates a workspace in which each value of a frozen layer has rows of its own, for
 * callers that read the factors of frozen layers (workspace_factors). In other
 * workspaces the values that only frozen nodes read share a few rows (arena.h). All
 * results are the same, bit for bit. */
enum status workspace_create_keeping(struct workspace **out,
                                     const struct network *network, size_t rows,
                                     struct error *error);

/* Creates a workspace that can also compute differences (difference.h) and keeps all
 * values; it takes up to twice the memory. The model has passed network_check_differences. */
enum status workspace_create_two_points(struct workspace **out,
                                        const struct network *network, size_t rows,
                                        struct error *error);

/* Return the bytes that these workspaces would take. */
size_t workspace_size(const struct network *network, size_t rows);
size_t workspace_keeping_size(const struct network *network, size_t rows);
size_t workspace_two_points_size(const struct network *network, size_t rows);

size_t workspace_rows(const struct workspace *workspace);

/* Returns the rows of a unit (network_unit_rows). */
size_t workspace_unit_rows(const struct workspace *workspace);

/* (rows, stride) float32: each row holds the features of one record. The caller writes
 * only the features of its records; later passes may overwrite them. */
float *workspace_input(struct workspace *workspace);
size_t workspace_stride(const struct workspace *workspace);

/* (rows) targets: class indices below the classes for softmax cross-entropy and
 * logistic, values for squared and huber. */
uint32_t *workspace_classes(struct workspace *workspace);
float *workspace_values(struct workspace *workspace);

/* Makes all later forward passes drop activations as drop says; without this call they
 * drop none. A record's mask depends only on the key, the record's index and the layer
 * (layers/dropout_mask.h). Evaluation and prediction drop nothing. */
void workspace_drop(struct workspace *workspace, struct drop drop);

/* Computes the outputs of the first count <= rows records at parameters. The other rows
 * become records of zeros. */
void workspace_forward(struct workspace *workspace, const float *parameters,
                       size_t count);

/* The forward pass in two parts, for networks whose network_frozen_width is not 0.
 * workspace_forward_frozen computes the outputs of the frozen layers.
 * workspace_forward_rest computes the outputs of the network from the rows (rows,
 * network_frozen_width) of workspace_frozen_rows. The caller fills the first count of
 * these rows with outputs that workspace_forward_frozen computed before, and writes
 * nothing else; the padding between their floats and the stride is zero. */
void workspace_forward_frozen(struct workspace *workspace, const float *parameters,
                              size_t count);
struct rows workspace_frozen_rows(struct workspace *workspace);
void workspace_forward_rest(struct workspace *workspace, const float *parameters,
                            size_t count);

/* workspace_forward_scaled computes what the constant layer reads, for networks that
 * have one (network_scaled_input), into the rows (rows, positions x channels) of
 * workspace_scaled_rows, with the channels last. */
void workspace_forward_scaled(struct workspace *workspace, const float *parameters,
                              size_t count);
struct rows workspace_scaled_rows(struct workspace *workspace);

/* Computes the losses of the records, and b of the last layer: softmax(z) - onehot,
 * sigmoid(z) - y, or z - y for (z - y)^2 / 2, cut off at delta by huber. Rows beyond
 * count have b = 0. */
void workspace_loss(struct workspace *workspace);
const double *workspace_losses(const struct workspace *workspace); /* (count) */

/* Returns b of the last layer of a record, (outputs), after workspace_loss. */
const float *workspace_slopes(const struct workspace *workspace, size_t record);

/* Multiplies the loss of each record and its b of the last layer by the weight of its
 * class. The result for a record depends only on that record, and the norm is measured
 * afterwards.
 *   weights  (classes) finite, > 0 */
void workspace_weigh_classes(struct workspace *workspace, const double *weights);

/* b_i = fl(weights[i] b_i) of the last layer, for the first count rows. If it is called
 * between loss and backward, a unit's gradient is that of a weighted sum of the losses
 * of its rows. With weight 1/k at k rows of the unit and 0 at the others, it is the
 * gradient of the mean loss of the k rows. */
void workspace_weigh(struct workspace *workspace, const float *weights);

/* Computes b of every weight layer, from b of the last one and the same parameters. */
void workspace_backward(struct workspace *workspace, const float *parameters);

/* Bounds of every record's gradient over all parameters, rounded up (noise.md 2.4):
 *   norms    nu_up >= ||c_i||
 *   spreads  M_up >= the square root of a sum over layers: of nu^2, or for differences
 *            of (sum_t ||b_t|| ||a_t||)^2
 * The clip weight is 1 if norms <= C and spreads <= kappa C, else (1 - 2^-22) times
 * min(1, C / norms, kappa C / spreads), rounded toward zero.
 * A record with a factor or a loss that is not finite, or a layer's ||a|| or ||b||
 * beyond 2^64, is refused: it is erased, and its norm and spread are 0.
 *   input_squares  (rows) floats_square of whole rows of workspace_input as forward
 *                  read them, so that they need not be read again; or NULL */
void workspace_measure(struct workspace *workspace, const double *input_squares);

/* Computes and stores the per-example gradients that measure would store, for the sums
 * to read, but computes no norms: no record is refused, and invariant (3) does not
 * hold. Call it after workspace_backward. */
void workspace_per_example_gradients(struct workspace *workspace);
const double *workspace_norms(const struct workspace *workspace);   /* (rows) */
const double *workspace_spreads(const struct workspace *workspace); /* (rows) */

/* Norms and spreads of one layer's part of the gradients, weight and bias, with layer
 * in [0, network_layers). They are 0 for a refused record. */
const double *workspace_layer_norms(const struct workspace *workspace, size_t layer);
const double *workspace_layer_spreads(const struct workspace *workspace, size_t layer);

/* Overwrites a and b of one record with zeros in every layer. A zero weight would not
 * be enough, because zero times infinity is NaN. */
void workspace_erase(struct workspace *workspace, size_t record);

/* b_i = fl(clip_factors[i] b_i) in every layer, for the first count records. If a layer
 * stores the gradients of records, or sums compute them from a and b, the clip factor
 * is multiplied into the factor stored with the gradient instead. A factor of 1 changes
 * neither b nor a stored factor, bit for bit. Each factor is finite. */
void workspace_scale(struct workspace *workspace, const float *clip_factors);

/* Scales one layer only. */
void workspace_scale_layer(struct workspace *workspace, size_t layer,
                           const float *clip_factors);

/* block[0 .. tile.count) = the sum over the records of range of b_i x a_i, restricted
 * to coordinates [tile.offset, tile.offset + tile.count) of the flat vector; written,
 * not accumulated. An empty range gives zeros.
 *   tile   index of network_tile
 *   block  (network_tile_floats_max), 64-byte aligned */
void workspace_sum(const struct workspace *workspace, size_t tile,
                   struct row_range range, float *block);

/* Call this after forward.
 *   outputs  (count, network_predictions), row-major: the probabilities of the classes
 *            for softmax, those of class 0 and 1 for logistic, the value for a
 *            regression */
void workspace_predict(const struct workspace *workspace, double *outputs);

/* Returns the first output of a record: the prediction of a regression. */
double workspace_value(const struct workspace *workspace, size_t record);

/* Returns the class of the greatest output of a record, the first on ties. */
uint32_t workspace_class(const struct workspace *workspace, size_t record);

/* All results of the per-record pipeline, for callers that compare rows bit by bit
 * (noise.md 2.5) or check against explicit gradients. Each weight layer has its a and
 * b, and then its per-example gradients if it stores any. A frozen layer has the input
 * of its products, and the gradient at their output; if no gradient goes back to that
 * output, it has the output itself. It has neither if one of the two lies in the arena:
 * see workspace_create_keeping. After a pass over differences a weight layer has a'
 * and db, then da and b if da is not zero, and then its per-example gradients. */
struct factors {
    const float *a; /* (rows, a_stride), the first inputs columns */
    const float *b; /* (rows, b_stride), the first outputs columns */
    size_t inputs, outputs, a_stride, b_stride;
    size_t weight, bias; /* offsets in the flat vector; SIZE_MAX if there is none */
};
size_t workspace_factor_count(const struct workspace *workspace);
struct factors workspace_factors(const struct workspace *workspace, size_t index);

#endif
