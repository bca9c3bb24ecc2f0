/*
 * tensor.h - the parameters of a network from outside: the shape of what it takes and
 * gives, its tensors, and the tiles in which their gradients are summed. All parameters
 * lie in one flat vector.
 */
#ifndef ENGINE_NN_TENSOR_H
#define ENGINE_NN_TENSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a record looks like from outside, and what the model is asked for. */
struct network_shape {
    uint32_t features; /* floats of one record, > 0 */
    uint32_t outputs;  /* floats of the last layer: model_spec_outputs */
};

enum { TENSOR_NAME_SIZE = 128, TENSOR_RANK_MAX = 4 };

/* With which values a tensor starts: weights and biases of products are uniform
 * (network_init). */
enum initial { INITIAL_UNIFORM, INITIAL_ONES, INITIAL_ZEROS };

struct tensor {
    char name[TENSOR_NAME_SIZE];
    size_t offset, count; /* floats, in the flat vector */
    size_t rank;
    uint64_t shape[TENSOR_RANK_MAX]; /* as in the file */
    size_t taps; /* each row, of shape[0], lies as (taps, channels) in the flat vector
                    and as (channels, taps) in the file; at 1 both are the same */
    enum initial initial;
    bool fresh; /* it begins with these values whatever a file of weights has of it */
};

/* A contiguous piece of the flat vector that one call of workspace_sum fills: small
 * enough for its block to stay in cache until it is quantised, and large enough for a
 * fast product. */
struct tile {
    size_t offset, count; /* floats */
};

#endif
