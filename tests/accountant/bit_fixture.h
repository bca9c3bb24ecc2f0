/*
 * bit_fixture.h - shared by tests of adaptively chosen jobs: mechanisms of one bit,
 * P(1) = p, Q(1) = p e^-y, whose divergences and whose joint delta over all outcomes
 * are exact sums; a last Gaussian, whose profile has a closed form; and dice that a
 * failing seed repeats. Include after tests/expect.h.
 */
#ifndef TESTS_ACCOUNTANT_BIT_FIXTURE_H
#define TESTS_ACCOUNTANT_BIT_FIXTURE_H

#include <math.h>

#include "accountant/pricing/curve.h"
#include "base/random.h"

struct bit {
    double p, y;
};

/* ln(p^a q^(1-a) + (1-p)^a (1-q)^(1-a)) / (a - 1), computed in logarithms, because
 * powers of 2,048 would overflow. */
static inline double bit_divergence_one_way(double a, double p, double q)
{
    double one = a * log(p) + (1 - a) * log(q);
    double zero = a * log1p(-p) + (1 - a) * log1p(-q);
    double most = fmax(one, zero);
    return (most + log(exp(one - most) + exp(zero - most))) / (a - 1);
}

/* Both directions, because either neighbour may be the first. */
static inline double bit_divergence(double a, struct bit bit)
{
    double q = bit.p * exp(-bit.y);
    return fmax(bit_divergence_one_way(a, bit.p, q),
                bit_divergence_one_way(a, q, bit.p));
}

static inline struct curve bit_curve(struct bit bit)
{
    struct curve curve = {0};
    for (size_t i = 0; i < CURVE_ORDERS; i++) {
        curve.at[i] = fmax(0, bit_divergence(curve_orders[i], bit));
        if (curve.at[i] < 0x1p12)
            curve.at[i] = ceil(curve.at[i] * 0x1p40) * 0x1p-40;
    }
    return curve;
}

/* Returns what an outcome with probabilities p and q contributes to delta at
 * epsilon. */
static inline double over(double p, double q, double epsilon)
{
    return fmax(0, p - exp(epsilon) * q);
}

/* A source of random decisions that a failing seed repeats. */
struct dice {
    struct stream *stream;
    uint8_t key[STREAM_KEY_SIZE];
    uint64_t block;
};

static inline double roll(struct dice *dice)
{
    uint64_t bits;
    stream_read(dice->stream, &bits, sizeof bits,
                &(struct stream_position){dice->key, 0, dice->block++});
    return (double)(bits >> 11) * 0x1p-53;
}

static inline double normal_below(double x)
{
    return erfc(-x / sqrt(2)) / 2;
}

struct outcome {
    double p, q;
};

/* The same if a Gaussian with mean mu follows. */
static inline double gaussian_over(struct outcome at, double mu, double epsilon)
{
    if (mu <= 0)
        return over(at.p, at.q, epsilon);
    double left = epsilon - log(at.p / at.q);
    return at.p * fmax(0, normal_below(mu / 2 - left / mu) -
                              exp(left) * normal_below(-mu / 2 - left / mu));
}

#endif
