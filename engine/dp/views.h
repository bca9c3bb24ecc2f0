/*
 * views.h - the views of an image record that a step uses: the image as it is or
 * mirrored, moved by a few pixels, with zeros in the places that become empty.
 *
 * A step that takes several views of a record learns from the gradient of their mean
 * loss, clipped once, so that the record has the same weight as a record without views
 * (noise.md 2.6). The views are drawn from a stream that is keyed by the step and
 * addressed by the unit's index. They depend on nothing else, in particular not on
 * other units (E2).
 *
 * Threads: a struct stream belongs to one thread at a time; the rest is pure.
 */
#ifndef ENGINE_DP_VIEWS_H
#define ENGINE_DP_VIEWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/random.h"

struct view_spec {
    size_t count;   /* of a record in a step; 0: records are used as they are */
    bool flips;     /* a view is mirrored left to right with probability 1/2 */
    uint32_t shift; /* the largest move in each direction, in pixels */
    uint32_t planes, height, width; /* of a record's image, which is stored plane by
                                     * plane */
};

/* One view: the image is moved down and to the right (negative numbers mean up and
 * left), and then mirrored. */
struct image_view {
    bool is_flipped;
    int32_t down, right; /* pixels in [-shift, shift] */
};

struct views_draw {
    const uint8_t *key; /* (STREAM_KEY_SIZE) this step's, used for nothing else */
    size_t count;       /* of all of a unit's rows, at most UNIT_ROWS_MAX */
};

/* views (draw.count) = the views of unit in this step. All moves are equally likely,
 * except for a deviation of 2^-32, because the number of moves need not divide the
 * number of values of a word. */
void views_draw(struct image_view *views, const struct view_spec *spec, uint32_t unit,
                struct views_draw draw, struct stream *stream);

/* to = the view of the image from; both have planes x height x width values and do not
 * overlap. */
void views_make(float *to, const float *from, const struct view_spec *spec,
                struct image_view view);

#endif
