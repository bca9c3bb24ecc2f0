/*
 * onnx_signature.h - the inputs and outputs of a model's ONNX graph: the inputs are
 * what predict takes, and the outputs are what predict answers. The encoding of a
 * dataset's schema (engine/data/schema.h) is part of the graph.
 *
 *   form      input, all (batch, ...)                what it holds
 *   shaped    inputs   float   cells                 as stored, before the division
 *   indexed   inputs   float, or double if a      every number, absent ones as 0
 *                      range is declared
 *   columns   numbers  double  columns of numbers    in order; NaN is a missing cell,
 *                                                    booleans are 0 or 1, and dates are
 *                                                    days since 1970-01-01
 *             words    string  categorical columns   in order; "" is a missing cell
 *             buckets  int64   hashed columns        in order: encode_bucket of a cell,
 *                                                    of the default if it is missing, or
 *                                                    the number of buckets if missing
 *                                                    cells are a category
 *   texts     input_ids       int64  length          ids of the tokens, as tokenizers
 *             attention_mask  int64  length          give them; 0 behind the end
 *
 *   task            output, (batch, ...)
 *   classification  probabilities  float   classes
 *                   class          int64             index of the likeliest class
 *   regression      value          double            in the label's own unit
 *
 * Values with a range are mapped in double, as in encode.h: in float32, a range far
 * from zero would lose digits. A word that is not declared has no encoding unless the
 * column has a category for it: the graph fails, just as predict refuses such a word.
 *
 * Threads: as the graph.
 */
#ifndef ENGINE_ONNX_SIGNATURE_H
#define ENGINE_ONNX_SIGNATURE_H

#include "engine/data/schema.h"
#include "engine/nn/model_spec.h"
#include "engine/onnx/onnx_graph.h"

/* Adds the inputs to the graph, and sets its value 0 to the features computed from
 * them. */
void onnx_signature_inputs(struct onnx_graph *graph, const struct schema *schema);

/* Adds the outputs to the graph, computed from the network's outputs (batch,
 * outputs). */
void onnx_signature_outputs(struct onnx_graph *graph, const struct schema *schema,
                            enum loss loss, const char *outputs);

#endif
