/*
 * moments.h - means and deviations of the features that hold numbers, from one vector
 * that is clipped as a whole.
 *
 * With x the d numbers of a unit, as they are stored, the unit adds
 *
 *   v = (x_1, ..., x_d, x_1^2, ..., x_d^2), clipped to length C
 *
 * in units of C, times the scale G, each coordinate rounded to an integer. The centre
 * of x is 0, which is public: the middle of a declared range. If units are persons, v
 * is the mean over the person's rows, and is clipped once. If the numbers are behind
 * layers of a model (moments_source), x_j and x_j^2 are means over the positions of
 * channel j, within the unit. A vector with a number that is not finite adds nothing. So the vectors of neighbouring datasets have at most this
 * distance, in grid steps:
 *
 *   zero_out      G + sqrt(2 d) / 2
 *   replace_one   2 G + sqrt(2 d)
 *
 * From what is released, with r the noisy sums and n the public number of units:
 *
 *   mean       m = C r_j / n
 *   variance   the larger of C r_(d+j) / n - m^2 and a floor, which is public
 *   deviation  its root
 *
 * Only units of the part that is trained on are read: a job scales the held-out records
 * by the same numbers, without reading them for it.
 *
 * Source: accounting.md 1.14. Threads: pure. Ownership: owns its list of features.
 */
#ifndef ENGINE_STATISTICS_MOMENTS_H
#define ENGINE_STATISTICS_MOMENTS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/status.h"
#include "engine/data/matrix.h"
#include "engine/data/schema.h"

struct team;

/* A deviation is at least 1/64, of half a declared range or of a stored unit. */
#define MOMENTS_VARIANCE_MIN 0x1p-12

/* Limits of the clip length. The norm of a vector of stored floats is below 2^264, so its
 * square is finite; the smallest length makes the clip factor finite too. */
#define MOMENTS_CLIP_MIN 1e-6
#define MOMENTS_CLIP_MAX 1e6

/* Computes numbers that are behind layers of a model. */
struct moments_source {
    void *context;
    struct team *team;
    size_t rows; /* maximum at a time, at least MATRIX_SLOTS_MAX */
    /* For each of count rows: numbers (count, 2 d) = x_1, ..., x_d, x_1^2, ..., x_d^2.
     * They must depend only on the row and its place among these rows. */
    void (*read)(void *context, unsigned member, const struct matrix *matrix,
                 const uint32_t *indices, size_t count, double *numbers);
};

/* Which numbers these are: outputs of frozen layers, one number a channel. */
struct moments_prefix {
    char sha256[SHA256_HEX_SIZE]; /* of all that determines the layers; "": no layers */
    size_t channels;
};

struct moments {      /* zeroed: none */
    double clip_norm; /* C; 0: the default, until it is resolved */
    struct moments_prefix prefix;
    const struct moments_source *source; /* of the numbers behind a prefix; borrowed */
    size_t count;                        /* d; 0: it is not resolved */
    struct moment_feature {
        uint32_t index;      /* among the features of a record */
        const char *column;  /* its name, borrowed from the schema; NULL: it has none */
        double centre, half; /* a stored x is the number centre + half x */
    } * features;            /* (count) */
};

void moments_fini(struct moments *moments); /* a zeroed one is allowed */

/* Finds the features that hold numbers: the channels of a prefix; else those of numeric,
 * boolean and date columns, or all features if records have no columns. The default clip length is sqrt(2 d), which
 * clips no number in [-1, 1].
 *   schema  outlives moments
 *   ST_INVALID  there are none, or more than slots_max / 2 */
enum status moments_resolve(struct moments *moments, const struct schema *schema,
                            size_t slots_max, struct error *error);

/* Adds what every unit of the matrix adds. Sums are of integers, so they do not depend on
 * the number of threads.
 *   sums  (2 count) zeroed
 *   ST_CANCELLED  cancel was seen
 *   ST_NO_MEMORY  no memory for the rows of a block */
enum status moments_sum(const struct moments *moments, const struct matrix *matrix,
                        double scale, const atomic_bool *cancel, int64_t *sums,
                        struct error *error);

struct moment { /* in the feature's own unit */
    double mean, deviation;
    double margin; /* the mean of the clipped vectors is mean +- margin, with 95 % */
};

/* The moment of feature j of count.
 *   released   (2 count) noisy sums, in units of C
 *   units      n
 *   deviation  of their noise, in units of C */
struct moment moments_value(const struct moments *moments, size_t j,
                            const double *released, double units, double deviation);

#endif
