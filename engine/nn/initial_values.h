/*
 * initial_values.h - the values with which the training of a network begins.
 *
 * Threads: pure functions of their arguments.
 */
#ifndef ENGINE_NN_INITIAL_VALUES_H
#define ENGINE_NN_INITIAL_VALUES_H

#include <stdint.h>

#include "engine/nn/network.h"

/* values (network_floats) = U(-1/sqrt(fan_in), 1/sqrt(fan_in)) for weights and
 * biases, 1 and 0 for weights and biases of a group norm. The values depend only on the
 * model and the seed; they are the same on every machine. */
void network_init(const struct network *network, float *values, uint64_t seed);

/* Writes the values of network_init within span only. */
void network_init_span(const struct network *network, float *values, uint64_t seed,
                       struct span span);

#endif
