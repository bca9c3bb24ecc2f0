/*
 * fixed_subset_rdp.h - Renyi divergence of a Gaussian sum over a uniform subset of
 * fixed size.
 *
 * Batches are drawn without replacement, at rate g = batch / n; s is the noise
 * multiplier, the noise's deviation over the clip norm. If a record is absent, another
 * one takes its place, so the distance is 2 clip norms under both zero_out and
 * replace_one. The divergence at whole orders a is at most (Wang, Balle,
 * Kasiviswanathan 2019, Thm. 27)
 *
 *   log(1 + g^2 C(a,2) min{4 (e^e(2) - 1), 2 e^e(2)}
 *         + sum_{j=3..a} g^j C(a,j) min{4 sqrt(B(2 floor(j/2)) B(2 ceil(j/2))),
 *                                       2 e^((j-1) e(j))}) / (a - 1)
 *
 * with e(j) = 2 j / s^2 and B(l) = E[(p/q - 1)^l] for N(2/s, 1) against N(0, 1).
 * Between whole orders (a - 1) rdp(a) is convex, so its chord bounds it. It is never
 * more than without sampling, e(a).
 *
 * Threads: a struct fixed_subset belongs to one thread at a time.
 */
#ifndef ACCOUNTANT_MECHANISMS_FIXED_SUBSET_RDP_H
#define ACCOUNTANT_MECHANISMS_FIXED_SUBSET_RDP_H

/* Above this order the answer is the unsampled one. */
#define FIXED_SUBSET_ORDER_MAX 2048

enum {
    FIXED_SUBSET_NODES = 4096, /* of the rule for B: t from -103 to 306 */
    FIXED_SUBSET_SETS =
        64,                /* of answers, cached: many orders of a few kinds of steps */
    FIXED_SUBSET_WAYS = 8, /* answers of one set */
};

struct fixed_subset_answer {
    double rate, noise, order, rdp;
};

struct fixed_subset { /* a zeroed one has nothing cached */
    struct fixed_subset_answer answers[FIXED_SUBSET_SETS][FIXED_SUBSET_WAYS];
    unsigned char next[FIXED_SUBSET_SETS]; /* way that the next new answer takes */
    double noise;                          /* of the cached values */
    double log_moment[FIXED_SUBSET_ORDER_MAX / 2 + 2]; /* log B(2 i); 0: not known */
    double log_excess[FIXED_SUBSET_NODES];             /* log |p/q - 1| at the nodes */
};

/* Upper bound on the divergence of one step at order > 1, nats; rate in (0, 1). */
double fixed_subset_rdp(struct fixed_subset *subset, double rate, double noise,
                        double order);

#endif
