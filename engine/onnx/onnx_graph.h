/*
 * onnx_graph.h - an ONNX graph under construction: its nodes, constants, inputs and
 * outputs. It does not depend on networks; engine/nn/translation.h translates them.
 *
 *   onnx_graph_create --> nodes, constants, inputs, outputs --> onnx_file_create, which
 *                                                               takes ownership
 *
 * A name is the text by which a node refers to the output of another. Names that a
 * function returns are valid as long as the graph. Operators and their attributes are
 * those of opset 17, and of ai.onnx.ml's opset 3 (onnx.ai, operators).
 *
 * Values are rows of a batch whose size is unknown until the graph runs. A value is a
 * vector, (batch, width), or an image, (batch, channels, height, width), always channel
 * by channel. So an image and its vector are the same floats in the same order, and a
 * reshape converts one into the other.
 *
 * Threads: a graph belongs to one thread.
 */
#ifndef ENGINE_ONNX_ONNX_GRAPH_H
#define ENGINE_ONNX_ONNX_GRAPH_H

#include <stddef.h>
#include <stdint.h>

struct onnx_graph; /* opaque */

/* Creates a graph of a network that has value_count values and tensor_count stored
 * tensors. */
struct onnx_graph *onnx_graph_create(size_t value_count, size_t tensor_count);
void onnx_graph_destroy(struct onnx_graph *graph); /* NULL is allowed */

/* ---- nodes ---- */

enum { ONNX_INPUTS_MAX = 3, ONNX_DIMENSIONS_MAX = 4 };

struct onnx_inputs { /* names; NULL after the last */
    const char *names[ONNX_INPUTS_MAX];
};

/* Appends a node with one output, and returns the output's name. */
const char *onnx_node(struct onnx_graph *graph, const char *op_type,
                      struct onnx_inputs inputs);
/* The same for an operator of ai.onnx.ml. */
const char *onnx_ml_node(struct onnx_graph *graph, const char *op_type,
                         struct onnx_inputs inputs);
/* The same for an operator that takes any number of inputs. */
const char *onnx_node_of_many(struct onnx_graph *graph, const char *op_type,
                              const char *const *inputs, size_t count);

/* These give the newest node an attribute. */
void onnx_attribute_int(struct onnx_graph *graph, const char *name, int64_t value);
void onnx_attribute_float(struct onnx_graph *graph, const char *name, float value);
void onnx_attribute_ints(struct onnx_graph *graph, const char *name,
                         const int64_t *values, size_t count);
void onnx_attribute_floats(struct onnx_graph *graph, const char *name,
                           const float *values, size_t count);
void onnx_attribute_strings(struct onnx_graph *graph, const char *name,
                            const char *const *values, size_t count);

/* ---- constants ---- */

/* Add a constant vector of count numbers, or a scalar if count is 0 and values holds
 * one number; return the name. */
const char *onnx_floats(struct onnx_graph *graph, const float *values, size_t count);
const char *onnx_doubles(struct onnx_graph *graph, const double *values, size_t count);
const char *onnx_int64s(struct onnx_graph *graph, const int64_t *values, size_t count);

/* A constant of count equal float32 values (ones or zeros). */
const char *onnx_repeated(struct onnx_graph *graph, float value, size_t count);

struct onnx_dimensions {
    size_t rank;
    uint64_t sizes[ONNX_DIMENSIONS_MAX];
};

/* Adds tensor number place of those that are stored elsewhere, as float32 of these
 * dimensions; returns name, which is copied. Call it at most once for each tensor. */
const char *onnx_stored(struct onnx_graph *graph, size_t place, const char *name,
                        struct onnx_dimensions dimensions);

/* ---- values ---- */

struct onnx_image { /* all 0: a vector */
    size_t channels, height, width;
};
static const struct onnx_image onnx_vector = {0, 0, 0};

/* The current name of a value; onnx_value_as returns it reshaped to an image or a
 * vector of the same number of floats. */
const char *onnx_value(const struct onnx_graph *graph, size_t value);
const char *onnx_value_as(struct onnx_graph *graph, size_t value,
                          struct onnx_image image);

/* The shape of a value. */
struct onnx_image onnx_value_image(const struct onnx_graph *graph, size_t value);

/* Reshape name: to an image or a vector; or to any shape, in which 0 keeps a dimension
 * and -1 is the remainder. Return the new name. */
const char *onnx_shaped(struct onnx_graph *graph, const char *name,
                        struct onnx_image image);
const char *onnx_reshape(struct onnx_graph *graph, const char *name,
                         const int64_t *shape, size_t rank);

/* Sets the value to name, which is an image or (all 0) a vector. */
void onnx_give(struct onnx_graph *graph, size_t value, const char *name,
               struct onnx_image image);

/* The same, with the shape of another value. */
void onnx_give_like(struct onnx_graph *graph, size_t value, const char *name,
                    size_t other);

/* ---- ends ---- */

enum onnx_type {
    ONNX_FLOAT = 1,
    ONNX_INT64 = 7,
    ONNX_STRING = 8,
    ONNX_BOOL = 9,
    ONNX_DOUBLE = 11
};

/* Adds an input (batch, width) of this type to the graph. Returns name, which is
 * copied. */
const char *onnx_graph_input(struct onnx_graph *graph, const char *name,
                             enum onnx_type type, size_t width);

/* Adds an output called name, with the value of from, as (batch, width), or as (batch)
 * if width is 0. */
void onnx_graph_output(struct onnx_graph *graph, const char *name, const char *from,
                       enum onnx_type type, size_t width);

/* Converts name to another type, and returns the new name. */
const char *onnx_cast(struct onnx_graph *graph, const char *name, enum onnx_type type);

#endif
