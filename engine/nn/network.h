/*
 * network.h - a model compiled for one shape of record: where each parameter lies, how
 * the parameters start, and the tiles in which gradients are summed. The passes over
 * records are workspace.h's.
 *
 * The values of a model are one flat vector of float32, tensor after tensor, without
 * gaps: first those that are trained, its parameters, then those that are frozen and only
 * read. Gradients, sums, noise and optimizer state are vectors of the first part alone. Tensors are named as PyTorch's nn.Sequential would name them: the layer's
 * place in the list, counted from 0 and layers without parameters included, then
 * ".weight" (out, in) or ".bias" (out); in a residual's branches "3.body.0.weight",
 * "3.shortcut.0.weight".
 *
 * Invariants
 *   (1) Immutable once created.
 *   (2) Trainable tensors cover [0, network_parameters) in order and without gaps, and so
 *       do tiles; frozen ones cover the rest, [network_parameters, network_floats), in the
 *       same way. A layer's tensors are all trainable or all frozen (trainable.h).
 *
 * Threads: any number of threads may share a network.
 * Ownership: nothing of the arguments is retained.
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
 *   ST_INVALID    what is trained and what is frozen cannot be told (trainable_choose);
 *                 the layers do not fit each other or the record, do not end in
 *                 shape.outputs, none has parameters, there are more than
 *                 MODEL_PARAMETERS_MAX of them, a layer is wider than 2^26, or the loss
 *                 does not take that many outputs; error->pointer names the member,
 *                 "/model/layers/3/out", or "/model" of a preset
 *   ST_NO_MEMORY  an allocation failed */
enum status network_create(struct network **out, const struct model_spec *model,
                           struct network_shape shape, struct error *error);
void network_destroy(struct network *network); /* NULL is allowed */

/* The same for units of several rows each (noise.md 2.6): unit_rows rows of a workspace
 * that follow each other are one unit, and what is measured, clipped and summed is the
 * gradient of all of them together. unit_rows is a power of two, at most UNIT_ROWS_MAX,
 * so that a unit never lies in two blocks; 1 makes the network of network_create. */
enum { UNIT_ROWS_MAX = 16 };
enum status network_create_of_units(struct network **out,
                                    const struct model_spec *model,
                                    struct network_shape shape, size_t unit_rows,
                                    struct error *error);
size_t network_unit_rows(const struct network *network);

struct network_shape network_shape(const struct network *network);
enum loss network_loss(const struct network *network);

/* How many floats are trained: d of the noise plan. */
size_t network_parameters(const struct network *network);

/* Length of the flat vector: those, and the frozen ones behind them. */
size_t network_floats(const struct network *network);

size_t network_tensor_count(const struct network *network);
const struct tensor *network_tensor(const struct network *network, size_t index);

/* The tiles depend on the model alone, not on threads or batches. */
size_t network_tile_count(const struct network *network);
struct tile network_tile(const struct network *network, size_t index);

/* How many floats a block of workspace_sum must hold: those of the largest tile and,
 * behind them, room to work in. */
size_t network_tile_floats_max(const struct network *network);

/* Whether a forward pass may drop activations (workspace_drop). */
bool network_drops(const struct network *network);

/* Whether a weight layer has several rows a record: a convolution. */
bool network_has_positions(const struct network *network);

/* How many layers have a weight. They are numbered in the order of the model. */
size_t network_layers(const struct network *network);

/* Whether a weight layer keeps its weights; and how many do not. */
bool network_layer_is_frozen(const struct network *network, size_t layer);
size_t network_trained_layers(const struct network *network);

/* How many floats the frozen layers below the first trained one make of a record, from
 * which everything else of it is computed; 0 where there are none, or where others read
 * the record too. What is random is none of them. */
size_t network_frozen_width(const struct network *network);

/* How many entries of the model's list of layers those are, the others before them counted. */
size_t network_frozen_list(const struct network *network);

/* How many nodes those are. The last entry of the list may have more: the scale of a norm is
 * a node of its own, which may be trained where the norm before it cannot be. */
size_t network_frozen_nodes(const struct network *network);

/* Whether activations are dropped below the first trained layer. */
bool network_drops_frozen(const struct network *network);

/* The tensors of a weight layer; bias is NULL where it has none. */
struct layer_tensors {
    const struct tensor *weight, *bias;
};
struct layer_tensors network_layer_tensors(const struct network *network, size_t layer);

/* Floating-point operations of one record: forward, and backward with the sum. */
double network_flops(const struct network *network);

/* The same of the forward pass alone. */
double network_forward_flops(const struct network *network);

/* values (network_floats) = U(-1/sqrt(fan_in), 1/sqrt(fan_in)) for weights and
 * biases, 1 and 0 for those of a group norm. They are a function of the model and seed
 * alone, on every machine. */
void network_init(const struct network *network, float *values, uint64_t seed);

/* The same values, of the span alone; nothing else is written. */
void network_init_span(const struct network *network, float *values, uint64_t seed,
                       struct span span);

/* How many columns workspace_predict writes: one for each class (2 if logistic), or 1 for
 * a regression. */
uint32_t network_predictions(const struct network *network);

#endif
