/*
 * attention.h - the attention of one head over the positions of one record:
 *
 *   S = q k^T / sqrt(width)         (positions, positions)
 *   P_ts = e^(S_ts - m_t) / sum of e^(S_tr - m_t) over r < length    for s < length
 *          0                                                         for s >= length
 *   y = P v                         m_t the greatest S_tr of r < length
 *
 * All positions are computed, and the zeros of P behind the end add nothing: y of a
 * position below the length has the same bits for any number of positions. A record of
 * length 0 has y = 0.
 *
 * Threads: pure functions of their arguments.
 */
#ifndef ENGINE_NN_LAYERS_ATTENTION_H
#define ENGINE_NN_LAYERS_ATTENTION_H

#include <stddef.h>

#include "engine/nn/rows.h"

struct attention_head {
    size_t positions, length, width;
    const float *q, *k, *v; /* (positions, stride), of which the head uses width */
    float *y;               /* (positions, stride) */
    size_t stride;
};

/* Returns the floats that attention_run needs for P. */
size_t attention_scratch(size_t positions);

void attention_run(const struct attention_head *head, float *scratch);

#endif
