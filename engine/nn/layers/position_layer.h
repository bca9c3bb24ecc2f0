/*
 * position_layer.h - builds a weight layer with several rows per record (positions.h)
 * into a network: a convolution, or a dense layer at every pixel.
 *
 * Threads: as the builder.
 */
#ifndef ENGINE_NN_LAYERS_POSITION_LAYER_H
#define ENGINE_NN_LAYERS_POSITION_LAYER_H

#include "engine/nn/builder.h"
#include "engine/nn/positions.h"

/* Appends the node and its tensors; window is that of the whole kernel.
 *   ST_INVALID  the layer would have too many outputs or parameters */
enum status position_layer_build(struct builder *builder, const struct layer_spec *spec,
                                 const struct conv_window *window,
                                 struct tensor weight);

/* A weight with several rows per record. */
struct position_weight {
    struct conv_window window; /* of the whole kernel */
    struct tensor tensor;      /* its first dimension is the outputs */
    bool bias;
    size_t copies;    /* channels of the tensor that read one channel of the image */
    const char *part; /* follows "weight" and "bias" in the names of its tensors */
};

/* The same with a kind of node whose plan begins with a struct position_layer, and
 * tensors with names of their own. It sets the copies itself. */
enum status position_layer_build_part(struct builder *builder,
                                      const struct node_kind *kind,
                                      const struct layer_spec *spec,
                                      const struct position_weight *weight);

/* Fills in the plan of a node, which begins with a struct position_layer, and adds its
 * tensors. Returns its weight layer, which reads and writes the values of the node; the
 * caller may give it other values. */
struct weight_layer *position_layer_append(struct builder *builder, struct node *node,
                                           const struct position_weight *weight);

/* The passes of the node. */
void position_layer_forward(const struct node_work *work);
void position_layer_backward(const struct node_work *work);

/* The gradients of the weights, shared with a dense layer of units (dense.c), whose
 * plan begins with a struct position_layer too. Backward calls position_layer_form_bias
 * when the gradients at the outputs are computed. */
extern const struct weight_kind position_layer_weights;
size_t position_layer_scratch(const struct node *node);
void position_layer_form_bias(const struct node_work *work, struct rows b);

/* Appends a node of kind, whose plan is a struct position_layer, and its tensors: a
 * layer that reads the current value as one pixel. The caller has checked that weight
 * fits. */
void position_layer_at_one_pixel(struct builder *builder, const struct node_kind *kind,
                                 const struct layer_spec *spec, struct tensor weight);

/* Makes every layer with positions whose weight is trained compute its norms by form. Call it before any
 * workspace is created. Tests use it to check that all forms give the same results. */
void position_layer_force_form(struct network *network, enum norm_form form);

#endif
