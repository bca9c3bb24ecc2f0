/*
 * row_views.h - which rows of the matrix, and which views of each, one privacy unit
 * contributes to a step, in the rows of a micro-batch that it takes.
 *
 * All of this depends only on the unit's own number of rows and on the step's keys
 * (noise.md E2).
 *
 * Threads: a struct stream belongs to one thread at a time.
 */
#ifndef ENGINE_DP_ROW_VIEWS_H
#define ENGINE_DP_ROW_VIEWS_H

#include "engine/data/matrix.h"
#include "engine/dp/views.h"
#include "engine/nn/network.h"

struct row_views_draw {
    const uint8_t *rows_key;       /* of unit_rows.h, read if units are persons */
    const struct view_spec *views; /* of each row; NULL: rows are used as they are */
    const uint8_t *views_key;      /* of views.h, read if there are views */
    size_t count; /* of rows that a unit takes, a multiple of the number of views */
};

struct row_view {
    uint32_t index;         /* the row of the matrix */
    struct image_view view; /* if there are views */
};

struct row_views {
    struct row_view all[UNIT_ROWS_MAX]; /* the first draw.count are used */
    size_t count; /* the number of them with weight, at least 1; the others replace rows
                   * that the unit lacks (unit_rows_draw), and are read without
                   * weight */
};

/* Fills in the rows and views of unit. The views of a row are adjacent. */
void row_views_draw(struct row_views *sights, const struct matrix *matrix,
                    uint32_t unit, const struct row_views_draw *draw,
                    struct stream *stream);

#endif
