/*
 * attention.h - the attention of one head over the positions of one record:
 *
 *   S = q k^T / sqrt(width)         (positions, positions)
 *   P_ts = e^(S_ts - m_t) / sum of e^(S_tr - m_t) over r < length    for s < length
 *          0                                                         for s >= length
 *   y = P v                         m_t the greatest S_tr of r < length
 *
 * and from dy, the gradient at y, those at q, k and v:
 *
 *   dv = P^T dy      dP = dy v^T                   for s < length
 *   dS_ts = P_ts (dP_ts - sum of P_tr dP_tr over r < length) / sqrt(width)
 *   dq = dS k        dk = dS^T q
 *
 * All positions are computed, and the zeros of P and dS behind the end add nothing: for
 * a position below the length, y, dq, dk and dv have the same bits for any number of
 * positions, if dy is 0 behind the end. A record of length 0 has y = 0, and no gradient.
 *
 * The way back computes P again. P would be heads x positions^2 floats to keep for each
 * record, more than all other values of a block from 512 positions on; computing it is
 * one of five products.
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
    float *y;               /* (positions, stride); NULL on the way back */
    size_t stride;
};

struct attention_gradients {
    const float *dy;     /* (positions, stride) */
    float *dq, *dk, *dv; /* (positions, stride); NULL: not computed */
};

/* Returns the floats that attention_run needs for P, and attention_back twice. */
size_t attention_scratch(size_t positions);

void attention_run(const struct attention_head *head, float *scratch);

/* Writes the head's columns of dq, dk and dv; does not read head->y. Rows of q and dy
 * must be readable up to the next multiple of 16 columns of the head. */
void attention_back(const struct attention_head *head,
                    const struct attention_gradients *to, float *scratch);

#endif
