/*
 * views.h - what a step sees of a record that is an image: the image as it is or mirrored,
 * moved by a few pixels, with zeros where nothing of it is left.
 *
 * A step that takes several views of a record learns from the gradient of their mean loss,
 * clipped once, so that the record weighs as much as one that is seen as it is (noise.md
 * 2.6). Which views it takes comes from a stream that is keyed by the step and addressed by
 * the unit's index: it depends on nothing else, and not on who else is there (E2).
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
    size_t count;   /* of a record in a step; 0: it is seen as it is */
    bool flips;     /* a view is mirrored left to right as often as not */
    uint32_t shift; /* pixels, the most that it is moved along a side */
    uint32_t planes, height, width; /* of a record's image, which lies plane by plane */
};

/* One view: the image is moved down and to the right, where negative numbers mean up and
 * left, and then mirrored. */
struct image_view {
    bool is_flipped;
    int32_t down, right; /* pixels in [-shift, shift] */
};

struct views_draw {
    const uint8_t *key; /* (STREAM_KEY_SIZE) this step's, for nothing else */
    size_t count;       /* of all of a unit's rows, at most UNIT_ROWS_MAX */
};

/* views (draw.count) = those of unit in this step. A move is as likely as any other, but
 * for the 2^-32 by which a word has no whole number of shares. */
void views_draw(struct image_view *views, const struct view_spec *spec, uint32_t unit,
                struct views_draw draw, struct stream *stream);

/* to = the view of the image from; both have planes x height x width values and do not
 * overlap. */
void views_make(float *to, const float *from, const struct view_spec *spec,
                struct image_view view);

#endif
