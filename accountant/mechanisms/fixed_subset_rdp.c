/* One step at a whole order is a sum of binomial terms, each with the lesser of two
 * bounds; between whole orders the chord of (a - 1) times the divergence bounds it. The
 * moments B(l), which as published are alternating sums, are integrals of a function
 * that is not negative, by the trapezoid rule. They are computed once for a noise
 * multiplier and kept in the scratch, and so are the answers themselves. */
#include "accountant/mechanisms/fixed_subset_rdp.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "accountant/mechanisms/round_up.h"
#include "base/check.h"

/* Relative to the sum of terms: two thousand factors of a binomial, each within 2 ulp,
 * in logarithms up to some 1e4, and the trapezoid rule's 1e-14. */
static const double rounding = 1e-9;

/* Terms below this share of the sum do not matter, nor moments below it compared with
 * their other bound. */
static const double negligible = 1e-18;

/* The distance of the rule's nodes, and the place of the first. */
static const double spacing = 0.1;
static const long first_node = -1030;

/* log E[(e^(d t - d^2/2) - 1)^l], t standard normal, l even: the trapezoid rule on a
 * function that is analytic everywhere and not negative. At this spacing its error is
 * below exp(-150) where the moment is used, which is where l d^2 is small
 * (moment_useful). Outside -2 sqrt(l) - 12 to l d + 2 sqrt(l) + 12 the integrand is
 * nothing there. */
static double moment_log(const struct fixed_subset *subset, int l)
{
    static const double root_two_pi_log = 0.91893853320467274178, lost = 45;
    double reach = 2 * sqrt(l) + 12, high = 2 * l / subset->noise + reach;
    long first = (long)(-reach / spacing) - first_node;
    long last = (long)(high / spacing) - first_node;
    double most = -INFINITY, sum = 0;
    CHECK(first >= 0 && last < FIXED_SUBSET_NODES);
    for (long i = first; i <= last; i++) {
        double t = (double)(first_node + i) * spacing;
        double term = l * subset->log_excess[i] - 0.5 * t * t;
        most = term > most ? term : most;
    }
    for (long i = first; i <= last; i++) {
        double t = (double)(first_node + i) * spacing;
        double term = l * subset->log_excess[i] - 0.5 * t * t;
        if (term > most - lost)
            sum += exp(term - most);
    }
    return most + log(sum * spacing) - root_two_pi_log;
}

/* Prepares subset for this noise: forgets what is cached of another. */
static void aim(struct fixed_subset *subset, double noise)
{
    double d = 2 / noise;
    if (subset->noise == noise)
        return;
    memset(subset->log_moment, 0, sizeof subset->log_moment);
    subset->noise = noise;
    for (int i = 0; i < FIXED_SUBSET_NODES; i++) {
        double t = (double)(first_node + i) * spacing;
        subset->log_excess[i] = log(fabs(expm1(d * t - 0.5 * d * d)));
    }
}

/* Returns whether a moment can be the lesser bound. If the ratio is mostly large, (p/q
 * - 1)^l is about (p/q)^l, four times which is more than twice: the other bound is
 * less. */
static int moment_useful(double d, int l)
{
    return l * d * d < log(1.4 * l) + 3;
}

static double moment_at(struct fixed_subset *subset, double d, int l)
{
    double *known = &subset->log_moment[l / 2];
    if (*known == 0)
        *known = moment_useful(d, l) ? moment_log(subset, l) : HUGE_VAL;
    return *known;
}

/* log min{4 sqrt(B B), 2 e^((j-1) e(j))}; scale: log of what it is multiplied with. */
static double factor_log(struct fixed_subset *subset, double d, int j, double scale)
{
    double plain = log(2) + 0.5 * d * d * j * (j - 1);
    if (j == 2)
        return fmin(plain, log(4 * expm1(d * d)));
    if (scale + plain < log(negligible) || !moment_useful(d, j - 1))
        return plain;
    double below = moment_at(subset, d, j - j % 2),
           above = moment_at(subset, d, j + j % 2);
    return fmin(plain, log(4) + 0.5 * (below + above));
}

/* (a - 1) rdp(a) at whole a > 1. */
static double log_moment_whole(struct fixed_subset *subset, double rate, double d,
                               int order)
{
    double binomial = log(order) + log(rate), most = -INFINITY, sum = 0, leading = 0;
    for (int j = 2; j <= order; j++) {
        binomial += log(order - j + 1.0) - log(j) + log(rate);
        double term = binomial + factor_log(subset, d, j, binomial - leading);
        if (j == 2)
            leading = term;
        if (term > most) {
            sum = sum * exp(most - term) + 1;
            most = term;
        } else {
            sum += exp(term - most);
        }
    }
    double excess = most + log(sum) + rounding;
    double log_moment = excess < 0 ? log1p(exp(excess)) : excess + log1p(exp(-excess));
    double plain = 0.5 * d * d * order * (order - 1);
    return round_up_error(fmin(log_moment, plain), rounding) + DBL_MIN;
}

static double answer(struct fixed_subset *subset, double rate, double noise,
                     double order)
{
    double d = 2 / noise;
    double plain = round_up_error(0.5 * d * d * order, 4 * DBL_EPSILON);
    if (order > FIXED_SUBSET_ORDER_MAX)
        return plain;
    aim(subset, noise);
    int low = (int)floor(order);
    double share = order - low;
    double at_low = low == 1 ? 0 : log_moment_whole(subset, rate, d, low);
    double at_high = share == 0 ? at_low : log_moment_whole(subset, rate, d, low + 1);
    double chord = at_low + share * (at_high - at_low);
    return fmin(plain, round_up_error(chord / (order - 1), rounding));
}

/* Returns the set in which an answer at this order and noise is cached. */
static size_t set_of(double order, double noise)
{
    uint64_t bits[2];
    memcpy(&bits[0], &order, sizeof order);
    memcpy(&bits[1], &noise, sizeof noise);
    uint64_t mixed = (bits[0] ^ bits[1] >> 7) * UINT64_C(0x9E3779B97F4A7C15);
    /* Orders are round numbers, which only the top bits of the product tell apart. */
    return (size_t)(mixed >> 57) % FIXED_SUBSET_SETS;
}

double fixed_subset_rdp(struct fixed_subset *subset, double rate, double noise,
                        double order)
{
    CHECK(order > 1 && rate > 0 && rate < 1);
    size_t set = set_of(order, noise);
    struct fixed_subset_answer *ways = subset->answers[set];
    for (size_t i = 0; i < FIXED_SUBSET_WAYS; i++)
        if (ways[i].rate == rate && ways[i].noise == noise && ways[i].order == order)
            return ways[i].rdp;
    size_t way = subset->next[set];
    subset->next[set] = (unsigned char)((way + 1) % FIXED_SUBSET_WAYS);
    ways[way] = (struct fixed_subset_answer){rate, noise, order,
                                             answer(subset, rate, noise, order)};
    return ways[way].rdp;
}
