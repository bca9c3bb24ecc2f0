/*
 * unit_rows.h - which rows of the matrix a step reads for a unit in its batch.
 *
 * If a person has at most count rows, a step reads all of them. Otherwise it reads
 * count of them: a uniform subset from a stream that is keyed by the step and addressed
 * by the person's index. The subset depends only on the person's own number of rows and
 * on the key, not on other persons (noise.md E2). How many words are drawn and how many
 * rows are read does not depend on that number: for a person with fewer rows, the zeros
 * after their rows are read too (privacy.md P6).
 *
 * Threads: a struct stream belongs to one thread at a time.
 */
#ifndef ENGINE_DP_UNIT_ROWS_H
#define ENGINE_DP_UNIT_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "base/random.h"
#include "engine/data/matrix.h"

struct unit_draw {
    const uint8_t *key; /* (STREAM_KEY_SIZE) this step's, used for nothing else */
    size_t count;       /* the most rows of a unit, in [1, UNIT_ROWS_MAX] */
};

/* rows (draw.count) = the rows of unit, each once. Returns their number, at least 1.
 * After them come rows of the unit's reserved space, which hold zeros, or, if it has no
 * such space, its first row again: the caller reads them as well but gives them no
 * weight. The matrix must have persons. */
size_t unit_rows_draw(uint32_t *rows, const struct matrix *matrix, uint32_t unit,
                      struct unit_draw draw, struct stream *stream);

#endif
