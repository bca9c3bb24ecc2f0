/*
 * sequence.h - records that are sequences of tokens. The record (value 0) has an id per
 * token, then -1 behind the last one:
 *
 *   ids     5 8 6 3 -1 -1        length 4 of 6 positions
 *   values  (positions, width)   one row a position, as an image of positions x 1 pixels
 *
 * The products of every position are computed, those behind the end too; only copies
 * and sums of tokens take less time for a shorter record, far less than the whole
 * second to which times are shown (privacy.md P6). The layers that combine positions
 * read the length of the record, and no position behind its end reaches another one. So
 * padding changes no bit of a result.
 *
 * Threads: pure functions of their arguments; the builder's as the builder.
 */
#ifndef ENGINE_NN_LAYERS_SEQUENCE_H
#define ENGINE_NN_LAYERS_SEQUENCE_H

#include "engine/nn/builder.h"
#include "engine/nn/node_work.h"
#include "engine/nn/translation.h"

enum { MODEL_TOKENS_MAX = 1024 }; /* positions of a record */

/* Returns the number of ids before the first that is no id: negative, or NaN. */
size_t sequence_length(const float *ids, size_t positions);

/* The ids of the records in the node's current rows. */
struct rows sequence_ids(const struct node_work *work);

/* ST_INVALID  the current value is not a sequence: no `embedding` began it, or its
 *             positions are no longer those of the ids */
enum status sequence_check(const struct builder *builder);

/* Checks that a model reads records that are ids of this many tokens: its first layer is
 * an embedding of as many rows. Ids are no numbers, so no other layer may read them.
 *   ST_INVALID  it is not; error->pointer names the member */
enum status sequence_check_model(const struct model_spec *model, uint32_t vocabulary,
                                 struct error *error);

/* The name of a value of the sequence as (batch, width, positions). */
const char *sequence_columns(const struct translation *t, size_t value);

/* The name of a (batch, positions) of ones at tokens and zeros behind the end. */
const char *sequence_mask(const struct translation *t);

/* Gives the node's output the name of a (batch, width, positions). */
void sequence_give(const struct translation *t, const char *name, size_t width);

#endif
