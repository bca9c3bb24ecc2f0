/*
 * tensor.h - the parameters of a network as its users see them: the shape of input and
 * output, the tensors, and the tiles in which their gradients are summed. All
 * parameters lie in one flat vector.
 */
#ifndef ENGINE_NN_TENSOR_H
#define ENGINE_NN_TENSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The sizes of a record and of the model's output. */
struct network_shape {
    uint32_t features; /* floats of one record, > 0 */
    uint32_t outputs;  /* floats of the last layer: model_spec_outputs */
};

enum { TENSOR_NAME_SIZE = 128, TENSOR_RANK_MAX = 4 };

/* The initial values of a tensor. Weights and biases of products are uniform
 * (network_init). */
enum initial { INITIAL_UNIFORM, INITIAL_ONES, INITIAL_ZEROS };

struct tensor {
    char name[TENSOR_NAME_SIZE];
    size_t offset, count; /* floats, in the flat vector */
    size_t rank;
    uint64_t shape[TENSOR_RANK_MAX]; /* of the tensor in the file */
    size_t taps; /* each row, of shape[0], lies as (taps, channels) in the flat vector
                    and as (channels, taps) in the file; at 1 both are the same */
    enum initial initial;
    bool fresh; /* it starts with these values even if a file of weights contains it */
    bool
        is_adapter; /* it starts with these values unless a file of weights contains it */
};

/* A contiguous piece of the flat vector that one call of workspace_sum fills: small
 * enough for its block to stay in cache until it is quantised, and large enough for a
 * fast product. */
struct tile {
    size_t offset, count; /* floats */
};

#endif
