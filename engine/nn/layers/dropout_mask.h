/*
 * dropout_mask.h - the activations of a record that are dropped in a step (network.md
 * 4.2).
 *
 *   y = x m, m = 0 with probability rate, else 1 / (1 - rate)
 *
 * The mask of a record depends only on the step's key, the record's index in its
 * dataset and the layer. It is the same in micro-batches of any size and with any
 * number of threads, and does not depend on any other record (noise.md E2).
 *
 *   m_j = 0 if word j < rate 2^32, of the ChaCha20 stream of the key, nonce place 2^32
 *   + index
 *
 * Threads: pure functions of their arguments; a stream belongs to one thread at a time.
 */
#ifndef ENGINE_NN_LAYERS_DROPOUT_MASK_H
#define ENGINE_NN_LAYERS_DROPOUT_MASK_H

#include "base/random.h"
#include "engine/nn/rows.h"

struct dropout {
    double rate;    /* in [0, 1) */
    uint32_t place; /* its number among the model's dropout layers */
};

struct dropout_record {
    const uint8_t *key; /* (STREAM_KEY_SIZE) the step's */
    uint32_t index;     /* the record's, in its dataset */
};

/* mask (width) = the mask of one record. */
void dropout_mask(const struct dropout *dropout, struct stream *stream,
                  const struct dropout_record *record, float *mask, size_t width);

/* y = x mask, over whole rows. */
void dropout_apply(struct rows y, struct rows x, struct rows mask);

#endif
