/*
 * network.h - a model compiled for one shape of record. A network knows the place and
 * the initial value of each parameter, and the tiles in which gradients are summed.
 * workspace.h does the passes over records.
 *
 * The values of a model are one flat vector of float32, tensor after tensor, without
 * gaps. The parameters, which are trained, come first; then the frozen values, which
 * are only read. Gradients, sums, noise and optimizer state are vectors of the
 * parameters only. A tensor has the name that PyTorch's nn.Sequential would give it:
 * the index of its layer in the list, from 0, counting layers without parameters, then
 * ".weight" (out, in) or ".bias" (out); in a residual's branches "3.body.0.weight",
 * "3.shortcut.0.weight".
 *
 * Invariants
 *   (1) Immutable once created.
 *   (2) Trainable tensors cover [0, network_parameters) in order and without gaps, and
 *       so do the tiles. Frozen tensors cover [network_parameters, network_floats) in
 *       order and without gaps. A layer's tensors are all trainable or all frozen, or
 *       its bias is trainable and its weight frozen (trainable.h).
 *
 * Threads: any number of threads may share a network.
 * Ownership: a network keeps no pointer to its arguments.
 */
#ifndef ENGINE_NN_NETWORK_H
#define ENGINE_NN_NETWORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "engine/nn/model_spec.h"
#include "engine/nn/tensor.h"
#include "engine/parallel/span.h"

struct network; /* opaque */

/* Compiles model.
 *   ST_INVALID    trainable_choose fails; the layers do not fit each other or the
 *                 record, or do not end in shape.outputs; no layer has parameters, or
 *                 there are more than MODEL_PARAMETERS_MAX parameters; a layer is wider
 *                 than 2^26; or the loss does not take that many outputs.
 *                 error->pointer names the member, "/model/layers/3/out", or is
 *                 "/model" for a preset
 *   ST_NO_MEMORY  an allocation failed */
enum status network_create(struct network **out, const struct model_spec *model,
                           struct network_shape shape, struct error *error);
void network_destroy(struct network *network); /* NULL is allowed */

/* Compiles model for units of several rows each (noise.md 2.6): unit_rows consecutive
 * rows of a workspace are one unit, and the joint gradient of these rows is measured,
 * clipped and summed. unit_rows is a power of two, at most UNIT_ROWS_MAX, so that a
 * unit never lies in two blocks. With 1 the network equals that of network_create. */
enum { UNIT_ROWS_MAX = 16 };
enum status network_create_of_units(struct network **out,
                                    const struct model_spec *model,
                                    struct network_shape shape, size_t unit_rows,
                                    struct error *error);
size_t network_unit_rows(const struct network *network);

struct network_shape network_shape(const struct network *network);
enum loss network_loss(const struct network *network);

/* Returns the number of trained floats: d in the noise plan. */
size_t network_parameters(const struct network *network);

/* Returns the length of the flat vector: trained and frozen floats. */
size_t network_floats(const struct network *network);

size_t network_tensor_count(const struct network *network);
const struct tensor *network_tensor(const struct network *network, size_t index);

/* The tiles depend only on the model, not on threads or batches. */
size_t network_tile_count(const struct network *network);
struct tile network_tile(const struct network *network, size_t index);

/* Returns how many floats a block of workspace_sum must hold: those of the largest
 * tile, and scratch memory after them. */
size_t network_tile_floats_max(const struct network *network);

/* Returns whether a forward pass may drop activations (workspace_drop). */
bool network_drops(const struct network *network);

/* Returns whether any weight layer has several rows per record, as a convolution
 * has. */
bool network_has_positions(const struct network *network);

/* Returns the number of weight layers. They are numbered in the order of the model. */
size_t network_layers(const struct network *network);

/* Returns whether a weight layer keeps its initial weights, and how many weight layers
 * are trained. */
bool network_layer_is_frozen(const struct network *network, size_t layer);
size_t network_trained_layers(const struct network *network);

/* Returns the weight layer whose weights are given and not learnt (layers/
 * standardise.c); network_layers if there is none. */
size_t network_constant_layer(const struct network *network);

/* The numbers that the constant layer reads. */
struct scaled_input {
    size_t nodes; /* that compute them; 0: they are the record's features */
    size_t list;  /* entries of the model's list of layers before the layer */
    size_t positions, channels;
    bool is_fixed; /* no layer before it is trained, or drops activations */
};

/* The network has a constant layer. */
struct scaled_input network_scaled_input(const struct network *network);

/* Returns the entry of the model's list of layers that is trained first; *has_work says
 * whether a layer before it has weights, or takes more than a few operations a number. */
size_t network_first_trained(const struct network *network, bool *has_work);

/* Returns the number of floats per record that the frozen layers below the first
 * trained layer output, if all later layers can be computed from these floats. Returns
 * 0 if there are no such layers, or if later layers read the record too. Layers that
 * draw random numbers do not count as frozen here. */
size_t network_frozen_width(const struct network *network);

/* Returns how many entries of the model's list of layers these are, including entries
 * of other kinds before them. */
size_t network_frozen_list(const struct network *network);

/* Returns how many nodes these layers have. The last entry of the list may have more
 * nodes: the scale of a norm is a separate node and may be trained, while the norm
 * before it has nothing to train. */
size_t network_frozen_nodes(const struct network *network);

/* Returns whether activations are dropped below the first trained layer. */
bool network_drops_frozen(const struct network *network);

/* The tensors of a weight layer; bias is NULL if the layer has none. */
struct layer_tensors {
    const struct tensor *weight, *bias;
};
struct layer_tensors network_layer_tensors(const struct network *network, size_t layer);

/* Floating-point operations of one record: forward, and backward with the sum. */
double network_flops(const struct network *network);

/* Floating-point operations of one record in the forward pass only. */
double network_forward_flops(const struct network *network);

/* Returns how many columns workspace_predict writes: one for each class (2 if
 * logistic), or 1 for a regression. */
uint32_t network_predictions(const struct network *network);

#endif
