/*
 * onnx_graph.h - a graph of ONNX while it is written: its nodes, its constants, and what
 * goes in and out. It knows no network; who does is engine/nn/translation.h.
 *
 *   onnx_graph_create --> nodes, constants, inputs, outputs --> onnx_file_create, which
 *                                                               takes it
 *
 * A name is text by which nodes find what others make; those that a function answers are
 * good as long as the graph. Operators and their attributes are those of opset 17, and of
 * ai.onnx.ml's opset 3 (onnx.ai, operators).
 *
 * Values are rows of a batch whose size nobody knows before it runs. A value is a vector,
 * (batch, width), or an image, (batch, channels, height, width), and always channel by
 * channel; so an image and its vector are the same floats in the same order, and each is
 * had from the other by a shape alone.
 *
 * Threads: a graph belongs to one thread.
 */
#ifndef ENGINE_ONNX_ONNX_GRAPH_H
#define ENGINE_ONNX_ONNX_GRAPH_H

#include <stddef.h>
#include <stdint.h>

struct onnx_graph; /* opaque */

/* A graph of a network that has so many values and stored tensors. */
struct onnx_graph *onnx_graph_create(size_t value_count, size_t tensor_count);
void onnx_graph_destroy(struct onnx_graph *graph); /* NULL is allowed */

/* ---- nodes ---- */

enum { ONNX_INPUTS_MAX = 3, ONNX_DIMENSIONS_MAX = 4 };

struct onnx_inputs { /* names; NULL behind the last */
    const char *names[ONNX_INPUTS_MAX];
};

/* Appends a node with one output, and answers the output's name. */
const char *onnx_node(struct onnx_graph *graph, const char *op_type,
                      struct onnx_inputs inputs);
/* The same of an operator of ai.onnx.ml. */
const char *onnx_ml_node(struct onnx_graph *graph, const char *op_type,
                         struct onnx_inputs inputs);
/* The same of an operator that takes any number of inputs. */
const char *onnx_node_of_many(struct onnx_graph *graph, const char *op_type,
                              const char *const *inputs, size_t count);

/* These give the newest node an attribute. */
void onnx_attribute_int(struct onnx_graph *graph, const char *name, int64_t value);
void onnx_attribute_float(struct onnx_graph *graph, const char *name, float value);
void onnx_attribute_ints(struct onnx_graph *graph, const char *name,
                         const int64_t *values, size_t count);
void onnx_attribute_strings(struct onnx_graph *graph, const char *name,
                            const char *const *values, size_t count);

/* ---- constants ---- */

/* Vectors of count numbers, or numbers where count is 0 and values holds one; answer the
 * name. */
const char *onnx_floats(struct onnx_graph *graph, const float *values, size_t count);
const char *onnx_doubles(struct onnx_graph *graph, const double *values, size_t count);
const char *onnx_int64s(struct onnx_graph *graph, const int64_t *values, size_t count);

/* count ones, or zeros, of float32. */
const char *onnx_repeated(struct onnx_graph *graph, float value, size_t count);

struct onnx_dimensions {
    size_t rank;
    uint64_t sizes[ONNX_DIMENSIONS_MAX];
};

/* Tensor number place of those that are stored elsewhere, as float32 of these dimensions;
 * answers name, which is copied. Call it at most once for each. */
const char *onnx_stored(struct onnx_graph *graph, size_t place, const char *name,
                        struct onnx_dimensions dimensions);

/* ---- values ---- */

struct onnx_image { /* all 0: a vector */
    size_t channels, height, width;
};
static const struct onnx_image onnx_vector = {0, 0, 0};

/* The name of a value, as it was given last; or as an image, or a vector, which are as
 * many floats. */
const char *onnx_value(const struct onnx_graph *graph, size_t value);
const char *onnx_value_as(struct onnx_graph *graph, size_t value,
                          struct onnx_image image);

/* What shape a value has. */
struct onnx_image onnx_value_image(const struct onnx_graph *graph, size_t value);

/* What name is, as an image or a vector; or of any shape, in which 0 is a dimension that
 * stays and -1 whatever is left. */
const char *onnx_shaped(struct onnx_graph *graph, const char *name,
                        struct onnx_image image);
const char *onnx_reshape(struct onnx_graph *graph, const char *name,
                         const int64_t *shape, size_t rank);

/* From now on the value is what name is, an image or (all 0) a vector. */
void onnx_give(struct onnx_graph *graph, size_t value, const char *name,
               struct onnx_image image);

/* The same, with the shape of another value. */
void onnx_give_like(struct onnx_graph *graph, size_t value, const char *name,
                    size_t other);

/* ---- ends ---- */

enum onnx_type { ONNX_FLOAT = 1, ONNX_INT64 = 7, ONNX_STRING = 8, ONNX_DOUBLE = 11 };

/* The graph takes an input (batch, width) of a type. Answers name, which is copied. */
const char *onnx_graph_input(struct onnx_graph *graph, const char *name,
                             enum onnx_type type, size_t width);

/* The graph gives what from is as (batch, width), or as (batch) where width is 0. */
void onnx_graph_output(struct onnx_graph *graph, const char *name, const char *from,
                       enum onnx_type type, size_t width);

/* value as another type. */
const char *onnx_cast(struct onnx_graph *graph, const char *name, enum onnx_type type);

#endif
