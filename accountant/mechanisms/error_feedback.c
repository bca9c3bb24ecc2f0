/* The kind error_feedback. Three of its four bounds are an energy Delta^2 that no path
 * passes, so they are priced as one Gaussian of that energy; under m3 the energy
 * depends on how many batches held the record, and the moment is the sum over that
 * number. */
#include "accountant/mechanisms/error_feedback.h"

#include <float.h>
#include <math.h>

#include "accountant/mechanisms/proof.h"
#include "accountant/mechanisms/round_up.h"
#include "base/check.h"

/* There are a dozen operations, each within half an ulp. */
static const double rounding = 16 * DBL_EPSILON;

enum status error_feedback_supports(const struct mechanism *m, struct error *error)
{
    if (!mechanism_extra_valid(m))
        return error_set(error, ST_INVALID, "an error feedback whose parts do not fit");
    if (m->error_feedback.bound == ERROR_FEEDBACK_M3 &&
        m->relation != RELATION_ZERO_OUT)
        return error_set(error, ST_INVALID,
                         "m3 has no proof under replace_one: use m2r, m2 or m1");
    return ST_OK;
}

static double distance_of(const struct mechanism *m)
{
    return m->relation == RELATION_REPLACE_ONE ? 2 : 1;
}

static double energy_m1(const struct mechanism *m, double uses, uint64_t steps)
{
    double back = 2 * m->error_feedback.error_clip * sqrt((double)(steps - 1));
    double delta = sqrt(uses) * distance_of(m) + back;
    return delta * delta;
}

static double energy_m2(const struct mechanism *m, double uses, uint64_t steps)
{
    double distance = distance_of(m), rest = distance * m->error_feedback.rest;
    double cross = 2 * pow(uses - 1, 1.5) * distance * rest;
    double energy = uses * distance * distance + uses * uses * rest * rest + cross;
    return fmin(energy, energy_m1(m, uses, steps));
}

static double energy_m2r(const struct mechanism *m, double uses)
{
    double distance = distance_of(m), rest = distance * m->error_feedback.rest;
    return uses * (distance * distance + rest * rest);
}

/* Delta^2 where a record is in uses of the first steps batches. */
static double energy_of(const struct mechanism *m, double uses, uint64_t steps)
{
    switch (m->error_feedback.bound) {
    case ERROR_FEEDBACK_M1: return energy_m1(m, uses, steps);
    case ERROR_FEEDBACK_M2:
    case ERROR_FEEDBACK_M3: return energy_m2(m, uses, steps);
    case ERROR_FEEDBACK_M2R: return energy_m2r(m, uses);
    }
    CHECK(!"a bound without a proof");
}

static double uses_of(const struct mechanism *m, uint64_t steps)
{
    uint64_t period =
        m->error_feedback.bound == ERROR_FEEDBACK_M3 ? 1 : m->error_feedback.period;
    return round_up_count((steps - 1) / period + 1);
}

double error_feedback_energy(const struct mechanism *m, uint64_t steps)
{
    double noise = m->runs[0].noise_multiplier;
    if (steps == 0)
        return 0;
    double energy = energy_of(m, uses_of(m, steps), steps);
    return round_up_error(energy / noise / noise, rounding);
}

/* log(exp(a) + exp(b)) */
static double log_add(double a, double b)
{
    double high = fmax(a, b), low = fmin(a, b);
    if (isinf(low) || isinf(high))
        return high;
    return high + log1p(exp(low - high));
}

/* log(exp(gain) - 1), gain > 0 */
static double log_grown(double gain)
{
    return gain < 1 ? log(expm1(gain)) : gain + log1p(-exp(-gain));
}

/* The log of the moment less the 1 in it: the sum over n >= 1 of chance (exp(gain) -
 * 1), as the chances add up to 1. So small costs keep their digits. What is returned is
 * an upper bound: each term and addition errs by a few ulp of the widest number met. */
static double log_excess(const struct mechanism *m, uint64_t steps, double scale)
{
    double rate = m->runs[0].sampling_rate, total = (double)steps;
    double odds = log(rate) - log1p(-rate), chance = total * log1p(-rate);
    double most = scale * energy_of(m, total, steps), excess = -INFINITY;
    double widest = fabs(chance);
    uint64_t n = 1;
    for (; n <= steps; n++) {
        double left = (double)(steps - n), count = (double)n;
        chance += log((left + 1) / count) + odds;
        double grown = log_grown(scale * energy_of(m, count, steps));
        excess = log_add(excess, chance + grown);
        widest = fmax(widest, fmax(fabs(chance) + fabs(grown), fabs(excess)));
        /* From here on chances fall by halves, so all that is left is below one of
         * them. */
        if (2 * left * rate < (count + 1) * (1 - rate) && chance + most < excess - 45) {
            excess = log_add(excess, chance + most);
            break;
        }
    }
    return excess + (double)n * 16 * DBL_EPSILON * (widest + fabs(odds) + 1);
}

static double sampled(const struct mechanism *m, uint64_t steps, double order)
{
    double noise = m->runs[0].noise_multiplier;
    double scale = 0.5 * order * (order - 1) / noise / noise;
    double excess = log_excess(m, steps, scale);
    double moment = excess > 0 ? excess + log1p(exp(-excess)) : log1p(exp(excess));
    return round_up_error(moment / (order - 1), rounding);
}

double error_feedback_rdp(const struct mechanism *m, uint64_t steps, double order)
{
    CHECK(order > 1);
    if (steps == 0)
        return 0;
    double unsampled =
        round_up_error(0.5 * order * error_feedback_energy(m, steps), rounding);
    if (m->error_feedback.bound != ERROR_FEEDBACK_M3 || m->runs[0].sampling_rate == 1)
        return unsampled;
    if (steps > ERROR_FEEDBACK_SAMPLED_STEPS_MAX)
        return INFINITY;
    return fmin(unsampled, sampled(m, steps, order));
}

static double path_rdp(struct proof_scratch *scratch, const struct mechanism *m,
                       uint64_t steps, double order)
{
    (void)scratch;
    return error_feedback_rdp(m, steps, order);
}

const struct proof error_feedback = {
    .supports = error_feedback_supports,
    .path_rdp = path_rdp,
    .energy = error_feedback_energy,
};
