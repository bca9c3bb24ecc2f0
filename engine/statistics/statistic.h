/*
 * statistic.h - a request for statistics of a dataset: a list of statistics, each on
 * one column or, for a table, on two.
 *
 *   histogram   how many records lie in each bin
 *   table       how many lie in each pair of bins of two columns
 *   sum, mean, variance   of a column's numbers, clipped to a range
 *   quantiles   of a column's numbers, from a histogram of them
 *
 *   moments     means and deviations of all columns of numbers, clipped together; it is
 *               the only statistic of its request (moments.h)
 *
 *   words       which texts a column holds, and how often, of those that are frequent;
 *               it is the only statistic of its request (word_counts.h)
 *
 * A bin is a declared value of the column, or [e_j, e_(j+1)) between two edges of its
 * numbers; the first and the last bin also take the numbers beyond them, so that every
 * record is in exactly one bin. The declared values and the edges are public, and all
 * bins are shown, empty ones too.
 *
 *   parsed (api/requests/statistics_request.h) --> statistics_resolve
 *                                              --> measured (measurement.h)
 *
 * Ownership: a list owns its texts and numbers; statistics_fini releases them.
 * Threads: plain values.
 */
#ifndef ENGINE_STATISTICS_STATISTIC_H
#define ENGINE_STATISTICS_STATISTIC_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "engine/data/schema.h"
#include "engine/statistics/moments.h"
#include "engine/statistics/stored_column.h"

enum statistic_kind {
    STATISTIC_HISTOGRAM,
    STATISTIC_TABLE,
    STATISTIC_SUM,
    STATISTIC_MEAN,
    STATISTIC_VARIANCE,
    STATISTIC_QUANTILES,
    STATISTIC_MOMENTS,
    STATISTIC_WORDS,
};
enum { STATISTIC_KINDS = STATISTIC_WORDS + 1 };

/* "histogram", "table", ...; statistic_kind_parse returns false and leaves kind
 * unchanged if text is no name. */
const char *statistic_kind_name(enum statistic_kind kind);
bool statistic_kind_parse(enum statistic_kind *kind, const char *text);

enum {
    STATISTIC_AXES_MAX = 2,
    STATISTIC_SLOTS_MAX = 16384,   /* numbers that one request releases */
    STATISTIC_QUANTILE_BINS = 128, /* if none are given */
};

struct axis {      /* a column, and how its values are cut into bins */
    char *column;  /* its name */
    size_t bins;   /* 0: not given, until it is resolved */
    double *edges; /* (bins + 1) increasing; a sum, mean or variance has one bin, whose
                    * edges are its range; NULL: bins of equal width, or the declared
                    * values */
    float *cuts; /* resolved: (bins - 1), the inner edges as they are stored; NULL: bins
                    * are values */
    struct stored_column stored; /* resolved */
    struct stored_text text;     /* resolved, of words */
};

struct statistic {
    enum statistic_kind kind;
    size_t axis_count; /* 2 for a table, 0 for moments, else 1 */
    struct axis axes[STATISTIC_AXES_MAX];
    size_t probability_count;
    double *probabilities;  /* of quantiles, each in (0, 1) */
    struct moments moments; /* of moments */
};

struct statistics {
    size_t count;
    struct statistic *items; /* (count) */
};

void statistics_fini(struct statistics *statistics); /* a zeroed one is allowed */

/* Finds the columns in the schema and cuts them into bins: edges that were not given
 * divide the declared range evenly, and a range that was not given is the declared
 * range. On ST_OK a list may be resolved again, with the same result.
 *   ST_INVALID  no such column, moments next to other statistics, or not one of numbers (or values) if the statistic
 *               needs these; edges beyond the declared range, or too close to
 *               distinguish; more
 *               than STATISTIC_SLOTS_MAX numbers in all. error->pointer says where,
 *               "/statistics/2/bins" */
enum status statistics_resolve(struct statistics *statistics,
                               const struct schema *schema, struct error *error);

/* The number of numbers that a resolved statistic releases: bins, pairs of bins, 1 for
 * a sum or a mean, 2 for a variance, 2 for each feature of moments. The number of words
 * is not known beforehand: it is 0 here. */
size_t statistic_slots(const struct statistic *statistic);
size_t statistics_slots(const struct statistics *statistics);

/* Returns whether they are moments, which read only the part that is trained on. */
bool statistics_are_moments(const struct statistics *statistics);

/* Returns whether they are words: a discovery. */
bool statistics_are_words(const struct statistics *statistics);

/* The bin of a record on a resolved axis. */
size_t axis_bin(const struct axis *axis, const struct matrix *matrix, uint64_t record);

#endif
