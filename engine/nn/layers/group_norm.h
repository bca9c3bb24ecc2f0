/*
 * group_norm.h - normalises each record over groups of its own channels (network.md
 * 4.2).
 *
 *   xh = (x - mu) r         r = 1 / sqrt(v + epsilon), mu and v mean and variance over
 *                           a group, which holds positions x channels / groups values
 *
 *   dx = r (q - mean(q) - xh mean(q xh))    q the gradient at xh, means over the group
 *
 * Mean and variance take two passes, never E[x^2] - mu^2. Sums are in double.
 *
 * Rows are records: positions one after the other, channels last. Loops run over one
 * record only, in the same way in every row.
 *
 * Threads: pure functions of their arguments; scratch is the caller's
 * (group_norm_scratch floats, 64-byte aligned).
 */
#ifndef ENGINE_NN_LAYERS_GROUP_NORM_H
#define ENGINE_NN_LAYERS_GROUP_NORM_H

#include "engine/nn/rows.h"

struct group_norm {
    size_t positions, channels;
    size_t groups; /* divides channels */
    double epsilon;
};

size_t group_norm_scratch(const struct group_norm *norm);

/* inverse (groups) = r of each record; xh may be x. */
void group_norm_forward(const struct group_norm *norm, struct rows xh, struct rows x,
                        struct rows inverse, float *scratch);

/* Backward, from the values that forward stored; dx may be q. */
struct group_norm_pass {
    struct rows xh, inverse;
};
void group_norm_backward(const struct group_norm *norm, struct rows dx, struct rows q,
                         const struct group_norm_pass *pass, float *scratch);

/* Appends ONNX nodes that normalise every group of n values of the value `name`,
 * (batch, groups, n). Returns the name of the result. */
struct onnx_graph;
const char *group_norm_onnx(struct onnx_graph *graph, const char *name, size_t groups,
                            double epsilon);

#endif
