/*
 * unit_rows.h - which rows of the matrix a step reads of a unit that is in its batch.
 *
 * It is all rows of a person where they are at most count, else count of them, a uniform
 * subset from a stream keyed by the step and addressed by the person's index. The answer
 * depends on the person's own number of rows and on the key alone, not on who else is
 * there (noise.md E2). What is drawn and how many rows are read does not depend on that
 * number: whoever has fewer is read with the zeros behind their rows (privacy.md P6).
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
    const uint8_t *key; /* (STREAM_KEY_SIZE) this step's, for nothing else */
    size_t count;       /* the most rows of a unit, in [1, UNIT_ROWS_MAX] */
};

/* rows (draw.count) = the rows of unit, each once. Returns how many they are, at least 1.
 * Behind them stand rows of the unit's room that hold zeros, or, where it has no such room,
 * its first row again: they are to be read as well, and to count nothing. The matrix has
 * persons. */
size_t unit_rows_draw(uint32_t *rows, const struct matrix *matrix, uint32_t unit,
                      struct unit_draw draw, struct stream *stream);

#endif
