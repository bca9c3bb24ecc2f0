/*
 * average.h - an average of the points that training passed through, which is shown and
 * published instead of the last one. All points were computed from releases that the
 * accountants cover, so averaging is post-processing and costs no privacy.
 *
 *   none  the last point
 *   tail  the mean of the last S = ceil(share T) of the T steps' points
 *   ema   (1 - decay) sum of decay^(t - s) p_s over s = 1 .. t, over 1 - decay^t
 *
 * p_s is the point after step s, counted from 1. Both follow one rule,
 *
 *   a += weight (p - a),   weight = 1 / k of the tail's k-th point,
 *                          weight = (1 - decay) / (1 - decay^t) of ema
 *
 * in double, rounded to float once a step.
 *
 * Threads: one caller; it uses the threads of the team.
 */
#ifndef ENGINE_DP_AVERAGE_H
#define ENGINE_DP_AVERAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "engine/parallel/team.h"

enum averaging_kind { AVERAGING_NONE, AVERAGING_TAIL, AVERAGING_EMA };

struct averaging_spec {
    enum averaging_kind kind;
    double share; /* tail: in (0, 1] */
    double decay; /* ema: in [0, 1) */
};

extern const char *const averaging_kind_names[AVERAGING_EMA + 2]; /* then NULL */

struct average; /* opaque */

/* A point has this many floats; those from dim on do not change. */
struct average_extent {
    size_t dim, floats; /* dim <= floats */
};

/* *out is unchanged if the kind is none. The team is borrowed until destroy.
 *   ST_NO_MEMORY  no room for the floats */
enum status average_create(struct average **out, const struct averaging_spec *spec,
                           struct average_extent extent, uint64_t steps,
                           struct team *team, struct error *error);
void average_destroy(struct average *average); /* NULL is allowed */

/* Bytes that average_create takes for points of that many floats; 0 if the kind is
 * none. */
size_t average_size(const struct averaging_spec *spec, size_t floats);

/* Adds the point after step, counted from 0. Every step must be added once, in order. A
 * NULL average ignores the call and has no point. */
void average_take(struct average *average, const float *point, uint64_t step);

/* The average so far; NULL while there is none. */
const float *average_point(const struct average *average);

#endif
