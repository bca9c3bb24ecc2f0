/*
 * builder.h - the steps in which a network is built from a model, for graph_build.c and
 * the layers (layer.h).
 *
 * Threads: a struct builder belongs to one thread.
 */
#ifndef ENGINE_NN_BUILDER_H
#define ENGINE_NN_BUILDER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "engine/nn/conv_window.h"
#include "engine/nn/graph.h"

enum { POINTER_SIZE = 160 };

/* The current state of building: the current value, and how the next layer reads it. */
struct view {
    size_t value;
    struct image image; /* 0 x 0 x 0: a plain vector */
    size_t copies;      /* how many copies of each channel the next layer reads */
    bool interleaved;   /* channels come last */
    bool flat;          /* the next layer reads the image as a vector */
    bool tokens; /* its pixels began as the tokens of a record (layers/sequence.h) */
};

size_t view_pixels(const struct view *view); /* 0 of a plain vector */
bool view_is_image(const struct view *view); /* of more than one pixel, not flat */

/* Returns whether a vector's columns are an image's, pixel by pixel. Files and users
 * have them channel by channel. */
bool view_is_flat_image(const struct view *view);

struct builder {
    struct network *network;
    const struct model_spec *model;
    struct view view;
    char name[TENSOR_NAME_SIZE - 8]; /* the current layer: "3", "3.body.0" */
    char pointer[POINTER_SIZE];      /* "/model/layers/3", "/model/layers/3/body/0" */
    const char
        *suffix;    /* of the current layer's name in its tensors' names; "": none */
    size_t index;   /* its place in the model's list */
    unsigned depth; /* number of residuals around it */
    const struct layer_choices *choices; /* NULL: every layer is trainable */
    struct error *error;
};

/* Returns ST_INVALID, with the pointer to a member of the current layer ("/kernel", or
 * "" for the layer itself), or to "/model" if the layers are a preset's. */
enum status builder_refuse(const struct builder *builder, const char *member,
                           const char *format, ...)
    __attribute__((format(printf, 3, 4)));

size_t builder_width(const struct builder *builder); /* of the current value */

/* Appends a value and returns its number. */
size_t builder_value(struct builder *builder, size_t width, bool has_gradient);

/* Appends a node that reads the current value and writes a new value of width, which
 * becomes the current value. The node's plan is zero. */
struct node *builder_node(struct builder *builder, const struct node_kind *kind,
                          size_t width);

/* Appends the weight layer of a node with parameters, with one row per record. The
 * caller fills in the other members.
 *   rows        in the node's plan
 *   row_floats  floats in a row of its weight */
struct weight_layer *builder_weights(struct builder *builder, struct node *node,
                                     const struct row_layer *rows, size_t row_floats);

/* Returns whether the current value may be overwritten, which is so after a weight
 * layer: its backward does not read its own output. */
bool builder_may_overwrite(const struct builder *builder);

/* Appends a node that overwrites the current value if that is allowed; else it writes
 * to a new value of the same width. A node with trained parameters does not overwrite a
 * value without a gradient. */
struct node *builder_node_over(struct builder *builder, const struct node_kind *kind);

/* Returns whether the next weight layer is to get an adapter (layers/adapter.h). */
bool builder_adapts(const struct builder *builder);

/* Records come channel by channel. builder_interleave makes the current value channels
 * last (channels_last.h). builder_crop does the same and keeps only the middle size x
 * size pixels of the image. */
void builder_interleave(struct builder *builder);
void builder_crop(struct builder *builder, size_t size);

/* Adds a tensor of the current layer, "weight" or "bias", and writes its offset to
 * *offset. */
void builder_tensor(struct builder *builder, size_t *offset, const char *part,
                    struct tensor tensor);

/* Adds the tensors of a layer of rows->outputs and writes their offsets to rows. */
void builder_parameters(struct builder *builder, struct row_layer *rows,
                        struct tensor weight, bool bias);

/* The same for one of several weights of a layer, whose tensors have names of their own:
 * "weight" and "bias", each followed by part. */
void builder_parameters_of_part(struct builder *builder, struct row_layer *rows,
                                struct tensor weight, bool bias, const char *part);

/* Check that `more` parameters still fit, or that a layer's weights, row_floats per
 * row, and its bias still fit. */
enum status builder_check_parameters(const struct builder *builder, uint64_t more);
enum status builder_check_weights(const struct builder *builder,
                                  const struct layer_spec *spec, size_t row_floats);

enum status builder_check_out(const struct builder *builder, uint32_t out);
enum status builder_check_width(const struct builder *builder, size_t width);

/* Builds entries [first, first + count) of the model's list, which are whole layers.
 * The name and the pointer of the builder are those of the list; on failure the pointer
 * names the faulty layer. */
enum status builder_list(struct builder *builder, size_t first, size_t count);

/* Builds a branch of the current layer, such as "body", in the same way. */
enum status builder_branch(struct builder *builder, const char *branch, size_t first,
                           size_t count);

#endif
