/*
 * start_point.h - the initial values of a training: from a seed, and from a file of
 * weights if there is one.
 *
 * Threads: the members of the team each draw a part of the values; the values do not
 * depend on the number of members.
 */
#ifndef ENGINE_START_POINT_H
#define ENGINE_START_POINT_H

#include <stdint.h>

#include "base/status.h"
#include "engine/model_file/model_file.h"
#include "engine/nn/network.h"
#include "engine/parallel/team.h"

/* The numbers of the layer that standardises: out = weight x + bias, for each feature.
 * They come from means and deviations that were released. */
struct feature_scale { /* zeroed: none */
    size_t features;
    float *weight, *bias; /* (features) owned */
};

/* Sets weights of 1 and biases of 0. */
void feature_scale_init(struct feature_scale *scale, size_t features);
void feature_scale_fini(struct feature_scale *scale); /* a zeroed one is allowed */

struct start_point {
    uint64_t seed;
    const struct weights_source *weights; /* NULL: only the seed */
    /* Of the network's constant layer, which must have as many features; NULL: the
     * layer, if there is one, starts like the others. */
    const struct feature_scale *scale;
};

/* *values (network_floats) = the initial values of a training of network; the caller
 * frees them.
 *   ST_NO_MEMORY      there is no room for them
 *   ST_MODEL_CORRUPT  the file is missing, has changed, or is not of this model;
 *                     nothing else is damaged
 * *values may have to be freed on failure too. */
enum status start_point_make(float **values, const struct network *network,
                             const struct start_point *start, struct team *team,
                             struct error *error);

#endif
