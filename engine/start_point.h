/*
 * start_point.h - the values that a training begins with: from a seed, and from a file of
 * weights where there is one.
 *
 * Threads: the team's draw values, each some of them; the values are the same by any.
 */
#ifndef ENGINE_START_POINT_H
#define ENGINE_START_POINT_H

#include <stdint.h>

#include "base/status.h"
#include "engine/model_file/model_file.h"
#include "engine/nn/network.h"
#include "engine/parallel/team.h"

struct start_point {
    uint64_t seed;
    const struct weights_source *weights; /* NULL: the seed alone */
};

/* *values (network_floats) = the start of a training of network, to be freed.
 *   ST_NO_MEMORY      there is no room for it
 *   ST_MODEL_CORRUPT  the file is not there, not what it was, or not of this model; that is
 *                     not damage to anything else
 * *values may have to be freed on failure too. */
enum status start_point_make(float **values, const struct network *network,
                             const struct start_point *start, struct team *team,
                             struct error *error);

#endif
