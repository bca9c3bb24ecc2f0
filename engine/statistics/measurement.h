/*
 * measurement.h - the joint release of a list of statistics: one pass over the records
 * adds up one vector of integers, which is released with one Gaussian noise.
 *
 * A unit, a record or a person, adds to the slots of a statistic, in units of G grid
 * steps:
 *
 *   histogram, quantiles, table   1 to the slot of its bin, or pair of bins
 *   sum, mean                     t = its number, clipped to [a, b], mapped to [-1, 1]
 *   variance                      t, and 2 t^2 - 1
 *
 *   moments                       one vector, clipped as a whole (moments.h)
 *   words                         1 to the count of its text (word_counts.h)
 *
 * each rounded to an integer unit by unit, so that sums are exact. A person's rows
 * together count as one: each row adds its share of 1 to its bin, and a number is the
 * mean over the rows. The centre of the range is 0: a unit that contributes nothing
 * counts like one at the centre, and the divisor n is the public number of units. For
 * each statistic, the vectors of neighbouring datasets have at most this distance, in
 * the same units:
 *
 *                  zero_out   replace_one
 *   a histogram       1         sqrt 2       (a unit leaves its bins for others)
 *   a number          1           2
 *   a variance      sqrt 2     2 sqrt 2
 *
 * The distance of the whole vector is G D, where D is the root of the sum of the
 * squares; D of moments is in moments.h, and contains their rounding. The mechanism is a MECHANISM_JOINT_RELEASE, whose noise multiplier sigma is
 * the deviation of the noise over that distance. It is satisfied if sigma G D <= s0,
 * the deviation in grid steps:
 *
 *   G = floor(s0 / (sigma D))
 *
 * Quantiles are computed from disjoint bins, to which noise is added before they are
 * cumulated: with noise on B cumulated counts, the sensitivity would be sqrt B.
 *
 * Source: accounting.md 1.12; noise.md 3, Theorem 2. Threads: pure, one caller a run.
 */
#ifndef ENGINE_STATISTICS_MEASUREMENT_H
#define ENGINE_STATISTICS_MEASUREMENT_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mechanism.h"
#include "base/status.h"
#include "engine/data/matrix.h"
#include "engine/noise/noise_key.h"
#include "engine/statistics/statistic.h"

struct measurement { /* public: planned before any record is read */
    size_t slots;
    uint64_t units;   /* n */
    double distance;  /* D, rounded up */
    double scale;     /* G, an integer */
    double deviation; /* of the noise of a count, in units: s0 / G */
    double cut;       /* of words: the least noisy count that is shown, in grid steps */
};

struct measurement_terms {
    enum relation relation;
    enum privacy_unit unit;
    double noise_multiplier; /* > 0 */
    uint64_t units;          /* n, of the parts that are read */
    double threshold;        /* of words, in units, > 1 */
    uint32_t rows;           /* of words: the most rows of a unit */
};

/*   ST_INVALID  too little noise for this number of units, or too much noise for a grid
 *               step */
enum status measurement_plan(struct measurement *measurement,
                             const struct statistics *statistics,
                             const struct measurement_terms *terms,
                             struct error *error);

/* The mechanism of a measurement with these terms: of words if they have a threshold. */
void measurement_mechanism(struct mechanism *m, const struct measurement_terms *terms);

/* The share that row k of m rows adds to its bin, in grid steps: the shares are integers
 * and add up to scale. Rows from m on add nothing. */
int64_t measurement_share(double scale, uint32_t k, uint32_t m);

/* released[j] = (the sum of slot j + noise) / G, j in [0, slots). Nothing else is
 * released.
 *   matrix  of measurement->units units
 *   seed    of the noise, for tests; NULL: 32 bytes of getrandom
 *   cancel  read during the pass
 *   ST_CANCELLED  released is unchanged, and no noise was drawn
 *   ST_NO_MEMORY  the same */
enum status measurement_run(const struct measurement *measurement,
                            const struct statistics *statistics,
                            const struct matrix *matrix, const struct noise_key *seed,
                            const atomic_bool *cancel, double *released,
                            struct error *error);

#endif
