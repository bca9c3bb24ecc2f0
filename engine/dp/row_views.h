/*
 * row_views.h - what the rows of a micro-batch that a unit takes hold of it in a step:
 * which rows of the matrix, and which views of each.
 *
 * All of it depends on the unit's own number of rows and on the step's keys alone (noise.md
 * E2).
 *
 * Threads: a struct stream belongs to one thread at a time.
 */
#ifndef ENGINE_DP_ROW_VIEWS_H
#define ENGINE_DP_ROW_VIEWS_H

#include "engine/data/matrix.h"
#include "engine/dp/views.h"
#include "engine/nn/network.h"

struct row_views_draw {
    const uint8_t *rows_key;       /* of unit_rows.h, read where units are persons */
    const struct view_spec *views; /* of each row; NULL: it is seen as it is */
    const uint8_t *views_key;      /* of views.h, read where there are views */
    size_t count; /* of rows that a unit takes, a multiple of the number of views */
};

struct row_view {
    uint32_t index;         /* the row of the matrix */
    struct image_view view; /* where there are views */
};

struct row_views {
    struct row_view all[UNIT_ROWS_MAX]; /* as many as were drawn */
    size_t count; /* of them that count, at least 1; the others are rows that the unit
                   * lacks (unit_rows_draw), to be read all the same */
};

/* Fills in what is seen of unit. The views of a row follow each other. */
void row_views_draw(struct row_views *sights, const struct matrix *matrix,
                    uint32_t unit, const struct row_views_draw *draw,
                    struct stream *stream);

#endif
