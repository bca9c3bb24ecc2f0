/*
 * text_encoder.h - the public encoders of texts BERT, RoBERTa and DistilBERT with a
 * classifier, as lists of layers. Layers have the names of published files
 * (network.md 7).
 *
 *   x = embedding + position (+ token_type); x = layer_norm(x)
 *   blocks times:  x = layer_norm(x + dense(attention(x)))
 *                  x = layer_norm(x + dense(gelu(dense(x))))
 *   take first, dense, tanh (distilbert: relu), dense     the classifier
 *   or: take mean, dense                                  on encoders of sentences
 *
 * Threads: pure functions of their arguments.
 */
#ifndef ENGINE_NN_LAYERS_TEXT_ENCODER_H
#define ENGINE_NN_LAYERS_TEXT_ENCODER_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "engine/nn/model_spec.h"

/* Blocks of an encoder, each of which has TEXT_ENCODER_BLOCK_LAYERS entries of the list. */
enum { TEXT_ENCODER_BLOCKS_MAX = 64, TEXT_ENCODER_BLOCK_LAYERS = 12 };

/* Returns whether the preset is one of these encoders. */
bool preset_is_text_encoder(enum preset preset);

/* Returns whether the preset has token types, and so a separator. */
bool text_encoder_has_types(enum preset preset);

/* Returns the sizes of the public model: bert-base-uncased, roberta-base or
 * distilbert-base-uncased. */
struct text_encoder text_encoder_usual(enum preset preset);

/* Checks the model's sizes, which are in the ranges of the contract; a vocabulary of 0 is
 * not known yet.
 *   tokens      ids of a record; 0: not known yet
 *   ST_INVALID  they do not fit each other or the records; error->pointer names one */
enum status text_encoder_check(const struct model_spec *model, uint32_t tokens,
                               struct error *error);

/* Writes the layers of the model's preset and sizes, including the entries of branches,
 * unless layers is NULL. Returns their number. */
size_t text_encoder_layers(const struct model_spec *model, uint32_t outputs,
                           struct layer_spec *layers);

#endif
