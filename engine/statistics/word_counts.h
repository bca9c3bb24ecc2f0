/*
 * word_counts.h - a discovery: which texts a column holds, of those that are frequent.
 *
 * Every text that occurs is counted, noise is added to every count, and a text is shown
 * if its noisy count reaches measurement.cut. There is no other selection: a text that
 * only one unit has would be known by any test of its true count. A unit adds G steps in
 * total, its rows share them; rows without a text add nothing.
 *
 * Rows are sorted by their texts, byte by byte from the last, and then added up. Memory
 * depends only on the number of rows that the matrix has room for, and so does the number
 * of noises that are drawn: those of places without a text are dropped.
 *
 * Source: accounting.md 1.15. Threads: pure, one caller a run.
 */
#ifndef ENGINE_STATISTICS_WORD_COUNTS_H
#define ENGINE_STATISTICS_WORD_COUNTS_H

#include <stdatomic.h>
#include <stddef.h>

#include "base/status.h"
#include "engine/data/cell_text.h"
#include "engine/data/matrix.h"
#include "engine/noise/noise_key.h"
#include "engine/statistics/measurement.h"

struct word_count {
    char text[CELL_TEXT_MAX + 1];
    double count; /* noisy, in units */
};

struct word_counts { /* zeroed: none */
    size_t count, capacity;
    struct word_count *items; /* (count) sorted by text; owned */
};

void word_counts_fini(struct word_counts *words); /* a zeroed one is allowed */

/* *words = the texts of the column that reach the cut.
 *   statistic, matrix, seed, cancel  as in measurement_run; the statistic is words
 *   ST_CANCELLED  words is unchanged, and no noise was drawn
 *   ST_NO_MEMORY  the same */
enum status word_counts_run(struct word_counts *words,
                            const struct measurement *measurement,
                            const struct statistic *statistic,
                            const struct matrix *matrix, const struct noise_key *seed,
                            const atomic_bool *cancel, struct error *error);

#endif
