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

/* Delta^2 if a record is in uses of the first steps batches. */
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
    /* From here on the result, as a double, is the gain itself. */
    static const double same = 44;
    if (gain >= same)
        return gain;
    return gain < 1 ? log(expm1(gain)) : gain + log1p(-exp(-gain));
}

/* Shares of the moment below exp(-nothing) are bounded, not summed. */
static const double nothing = 45;

/* Binomial batches: the number of batches, of steps, that contain a record. */
struct binomial {
    double steps, rate, odds; /* odds: log(rate / (1 - rate)) */
};

static double log_factorial(double n)
{
    int sign;
    return lgamma_r(n + 1, &sign);
}

/* log P(N = n), within a few ulp of log steps! */
static double log_chance(const struct binomial *b, double n)
{
    double ways =
        log_factorial(b->steps) - log_factorial(n) - log_factorial(b->steps - n);
    return ways + n * b->odds + b->steps * log1p(-b->rate);
}

/* The first term of the sum over counts. */
struct beginning {
    double count, chance; /* the log of its chance */
    double error;         /* of that, in units of 16 DBL_EPSILON */
};

/* Counts below mean - x need not be summed: P(N <= mean - x) is at most
 * exp(-x^2 / (2 mean)) (Chernoff), and more than half of the moment is from above the
 * mean. The chance of a count in the middle is less exact than that of 1, so the sum
 * begins there only if the terms that are left out would add a larger error. */
static struct beginning beginning_of(const struct binomial *b)
{
    double mean = b->steps * b->rate, none = b->steps * log1p(-b->rate);
    double first = floor(mean - sqrt(2 * nothing * mean));
    double error = 2 * (log_factorial(b->steps) + b->steps * fabs(b->odds) - none);
    if (first > 1 && first * fabs(none) > 2 * error)
        return (struct beginning){first, log_chance(b, first), error};
    return (struct beginning){1, none + (log(b->steps) + b->odds), 0};
}

/* The sum over counts as it goes: all logarithms. */
struct mixture {
    const struct mechanism *m;
    struct binomial batches;
    uint64_t steps;
    double scale; /* energy times this is a gain */
    double most;  /* gain of the most batches */
    double excess;
};

/* A bound on the share of all counts above n, which is beyond the mean. The counts are
 * cut into pieces that grow. In a piece the chances fall at least as fast as a
 * geometric series, which is no longer than 2^20 of its first terms as there are fewer
 * counts, and the gain is at most that at the end of the piece. */
static double share_above(const struct mixture *x, double n)
{
    const struct binomial *b = &x->batches;
    double share = -HUGE_VAL;
    for (double at = n + 1; at <= b->steps;) {
        double end = fmin(b->steps, floor(at + at / 8));
        double fall = (b->steps - at) / (at + 1) * exp(b->odds);
        double chances = log_chance(b, at) - log1p(-fmin(fall, 1 - 0x1p-20));
        double gain = x->scale * energy_of(x->m, end, x->steps);
        share = log_add(share, chances + gain);
        at = end + 1;
    }
    return share;
}

/* A bound on the rest after the count n of this chance. Returns whether the rest does
 * not matter. */
static bool ends(const struct mixture *x, double n, double chance, double *rest)
{
    enum { LOOKS = 256 }; /* counts from one check of the rest to the next */
    const struct binomial *b = &x->batches;
    bool halves = 2 * (b->steps - n) * b->rate < (n + 1) * (1 - b->rate);
    *rest = chance + x->most;
    if (halves && *rest < x->excess - nothing)
        return true;
    if (n <= b->steps * b->rate || (uint64_t)n % LOOKS != 0)
        return false;
    *rest = share_above(x, n);
    return *rest < x->excess - nothing;
}

/* The log of the moment less the 1 in it: the sum over n >= 1 of chance (exp(gain) -
 * 1), as the chances add up to 1. So small costs keep their digits. What is returned is
 * an upper bound: each term and addition errs by a few ulp of the widest number met,
 * and both ends of the sum are bounded. */
static double log_excess(const struct mechanism *m, uint64_t steps, double scale)
{
    double rate = m->runs[0].sampling_rate, total = (double)steps, rest, terms = 0;
    struct mixture x = {.m = m,
                        .batches = {total, rate, log(rate) - log1p(-rate)},
                        .steps = steps,
                        .scale = scale,
                        .most = scale * energy_of(m, total, steps),
                        .excess = -HUGE_VAL};
    const struct beginning first = beginning_of(&x.batches);
    double chance = first.chance, widest = fabs(total * log1p(-rate));
    if (first.count > 1)
        x.excess = log_grown(scale * energy_of(m, first.count, steps)) - nothing;
    for (double n = first.count; n <= total; n++) {
        double grown = log_grown(scale * energy_of(m, n, steps));
        x.excess = log_add(x.excess, chance + grown);
        widest = fmax(widest, fmax(fabs(chance) + fabs(grown), fabs(x.excess)));
        terms++;
        if (ends(&x, n, chance, &rest)) {
            x.excess = log_add(x.excess, rest);
            break;
        }
        chance += log((total - n) / (n + 1)) + x.batches.odds;
    }
    double rounded = terms * (widest + fabs(x.batches.odds) + 1) + first.error;
    return x.excess + 16 * DBL_EPSILON * rounded;
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
