/*
 * onnx_signature.h - the ends of a model's graph of ONNX: what a client feeds it, which is
 * what predict takes, and what comes out, which is what predict answers. The encoding of a
 * dataset's schema (engine/data/schema.h) stands in the graph.
 *
 *   form      input, all (batch, ...)                what it holds
 *   shaped    inputs   float   cells                 as stored, before the division
 *   indexed   inputs   float, or double where a      every number, absent ones as 0
 *                      range is declared
 *   columns   numbers  double  numeric columns       in declared order; NaN is an empty cell
 *             words    string  categorical columns   likewise; "" is an empty cell
 *
 *   task            output, (batch, ...)
 *   classification  probabilities  float   classes
 *                   class          int64             the place of the likeliest class
 *   regression      value          double            in the label's own unit
 *
 * What is mapped from a range is mapped in double, as encode.h does: in float32 a range far
 * from zero would lose digits. A word that is not declared has no class to stand for: the
 * graph fails, as predict refuses it.
 *
 * Threads: as the graph.
 */
#ifndef ENGINE_ONNX_SIGNATURE_H
#define ENGINE_ONNX_SIGNATURE_H

#include "engine/data/schema.h"
#include "engine/nn/model_spec.h"
#include "engine/onnx/onnx_graph.h"

/* Gives the graph its inputs, and its value 0 the features that they become. */
void onnx_signature_inputs(struct onnx_graph *graph, const struct schema *schema);

/* Gives the graph its outputs, from those of the network: (batch, outputs). */
void onnx_signature_outputs(struct onnx_graph *graph, const struct schema *schema,
                            enum loss loss, const char *outputs);

#endif
