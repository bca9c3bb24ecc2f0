/* The counts of all texts of a column, of which those are shown that reach a threshold
 * with their noise. The counts are a joint release, so outcomes in which both neighbours
 * could show the same texts cost what a joint release costs. The others, in which a text
 * is shown that only one of them has, have the probability delta_1 (accounting.md
 * 1.15). */
#include "accountant/mechanisms/discovery.h"

#include <math.h>

#include "accountant/mechanisms/gaussian_steps.h"
#include "accountant/mechanisms/round_up.h"

static const double threshold_max = 0x1p32;

double discovery_distance(enum relation relation)
{
    return relation == RELATION_REPLACE_ONE ? round_up_next(sqrt(2)) : 1;
}

double discovery_deviation(const struct mechanism *m)
{
    return round_up_mul(m->runs[0].noise_multiplier, discovery_distance(m->relation));
}

/* Phi(-x), rounded up. The argument of erfc is rounded by 2^-52 of itself, which moves
 * the result by at most 2 x^2 + 2 times that; erfc itself is within a few units in the
 * last place. */
static double tail_above(double x)
{
    double size = fmax(1, x * x);
    return round_up_error(erfc(x / sqrt(2)) / 2, 0x1p-46 * size);
}

/* The probability of a unit with that many texts of its own, all but one of one row. */
static double split_delta(double threshold, double deviation, double rows, double texts)
{
    double large = tail_above((threshold - (rows + 1 - texts) / rows) / deviation);
    double small = tail_above((threshold - 1 / rows) / deviation);
    return round_up_add(large, round_up_mul(texts - 1, small));
}

static double delta_at(const struct mechanism *m, double threshold)
{
    double deviation = discovery_deviation(m), rows = (double)m->discovery.rows;
    double most = 0;
    for (uint64_t texts = 1; texts <= m->discovery.rows; texts++)
        most = fmax(most, split_delta(threshold, deviation, rows, (double)texts));
    return fmin(1, most);
}

double discovery_delta(const struct mechanism *m)
{
    return delta_at(m, m->discovery.threshold);
}

double discovery_threshold(const struct mechanism *m, double delta)
{
    double low = 1, high = 2;
    while (high < threshold_max && !(delta_at(m, high) <= delta))
        high *= 2;
    if (!(delta_at(m, high) <= delta))
        return INFINITY;
    for (double middle; (middle = low + (high - low) / 2) > low && middle < high;) {
        if (delta_at(m, middle) <= delta)
            high = middle;
        else
            low = middle;
    }
    return high;
}

/* --- the proof --- */

static enum status supports(const struct mechanism *m, struct error *error)
{
    return mechanism_extra_valid(m)
               ? ST_OK
               : error_set(error, ST_INVALID,
                           "a discovery has one step, a threshold above 1, and rows of "
                           "its unit");
}

/* The noise multiplier is relative to the distance under the relation that holds. */
static double distance(const struct mechanism *m, size_t run)
{
    (void)m;
    (void)run;
    return 1;
}

static double run_rdp(struct proof_scratch *scratch, const struct mechanism *m,
                      size_t run, uint64_t count, double order)
{
    rdp_set(&scratch->rdp, RELATION_ZERO_OUT, &m->runs[run]);
    return round_up_mul(round_up_count(count), rdp_at(&scratch->rdp, order));
}

const struct proof discovery = {
    .takes_every_record = true,
    .supports = supports,
    .distance = distance,
    .run_rdp = run_rdp,
    .delta = discovery_delta,
    .energy = gaussian_steps_energy,
};
