/* A search over noise or rate walks along the logarithm of the number it seeks. It has
 * a place that does not fit and a place that does, and closes in on the border between
 * them; the answer is the end that fits, so it was itself seen to fit. Steps are whole
 * numbers: they are doubled until they do not fit, and then halved. */
#include "accountant/pricing/calibration.h"

#include <math.h>

#include "accountant/mechanisms/rdp.h"
#include "base/check.h"

/* A search over a logarithm ends when its bracket is this narrow. */
static const double resolution = 2e-7;

static const double rate_min = 1e-12;

/* The search: trial is from with one number changed, which set derives from the
 * logarithm at. */
struct search {
    struct calibration c;
    const struct mechanism *from;
    struct mechanism trial; /* owned */
    void (*set)(struct search *search, double at);
};

struct end {
    double at, excess;
};

static struct end probe(struct search *s, double at)
{
    s->set(s, at);
    return (struct end){at, s->c.excess(s->c.context, &s->trial)};
}

/* Returns the point at which the line through both ends is 0, moved a little to the
 * side of the end that was not moved last, so that both ends close in; or the middle,
 * if there is no line. */
static double aim(struct end out, struct end fit, bool moved_fit, bool bisect)
{
    double width = fit.at - out.at;
    double share = out.excess / (out.excess - fit.excess);
    if (bisect || !isfinite(out.excess) || !isfinite(fit.excess) || !isfinite(share))
        return out.at + width / 2;
    double margin = resolution / 3 / fabs(width);
    share += moved_fit ? -margin : margin;
    return out.at + width * fmin(fmax(share, margin), 1 - margin);
}

/* Closes in on the border between out, which does not fit, and fit, which does, by
 * false position. The excess of an end that stays is halved (the Illinois rule), and if
 * the last two steps did not halve the bracket it is bisected. */
static double narrow(struct search *s, struct end out, struct end fit)
{
    bool moved_fit = true;
    double width = INFINITY,
           before = INFINITY; /* of the bracket, one and two steps ago */
    for (int i = 0; fabs(fit.at - out.at) > resolution; i++) {
        double now = fabs(fit.at - out.at);
        struct end next = probe(s, aim(out, fit, moved_fit, now > before / 2));
        CHECK(!isnan(next.excess));
        before = width;
        width = now;
        bool again = i > 0 && moved_fit == (next.excess <= 0);
        moved_fit = next.excess <= 0;
        if (moved_fit) {
            out.excess /= again ? 2 : 1;
            fit = next;
        } else {
            fit.excess /= again ? 2 : 1;
            out = next;
        }
    }
    return fit.at;
}

/* Closes in like narrow, with points that most likely fit: a little above that at which
 * the line through both ends is 0. So the answer is close after few points. */
static double narrow_from_above(struct search *s, struct end out, struct end fit)
{
    static const double rough = 2e-5, above = 0.05, share_max = 0.9;
    for (double width = fit.at - out.at; width > rough; width = fit.at - out.at) {
        double share = out.excess / (out.excess - fit.excess) + above;
        bool line = isfinite(out.excess) && isfinite(fit.excess);
        struct end next =
            probe(s, out.at + width * (line ? fmin(share, share_max) : 0.5));
        *(next.excess <= 0 ? &fit : &out) = next;
    }
    return fit.at;
}

void calibration_scale(struct mechanism *to, const struct mechanism *from, double noise)
{
    double first = from->runs[0].noise_multiplier;
    for (size_t i = 0; i < to->run_count; i++) {
        double ratio = from->runs[i].noise_multiplier / first;
        to->runs[i].noise_multiplier =
            fmin(fmax(noise * ratio, RDP_NOISE_MIN), RDP_NOISE_MAX);
    }
}

static void set_noise(struct search *s, double at)
{
    calibration_scale(&s->trial, s->from, exp(at));
}

/* The range of the first run's multiplier, as logarithms, in which those of all runs
 * are allowed. */
static void noise_range(const struct mechanism *from, double *low, double *high)
{
    double least = 1, most = 1;
    for (size_t i = 1; i < from->run_count; i++) {
        double ratio = from->runs[i].noise_multiplier / from->runs[0].noise_multiplier;
        least = fmin(least, ratio);
        most = fmax(most, ratio);
    }
    *low = log(RDP_NOISE_MIN / least);
    *high = log(RDP_NOISE_MAX / most);
}

/* Finds the least multiplier that fits, from start in strides that grow until the
 * border is passed. With little noise the cost is slow to compute, so the border should
 * not be passed far. Returns false if none fits. */
static bool noise_search(double *noise, struct search *s, double start, double stride)
{
    double low, high;
    noise_range(s->from, &low, &high);
    if (!(low <= high))
        return false;
    struct end here = probe(s, fmin(fmax(start, low), high)), there = here;
    double limit = here.excess <= 0 ? low : high, sign = here.excess <= 0 ? -1 : 1;
    while ((here.excess <= 0) == (there.excess <= 0) && there.at != limit) {
        here = there;
        double next = here.at + sign * stride;
        there = probe(s, sign < 0 ? fmax(next, limit) : fmin(next, limit));
        stride *= 2;
    }
    struct end fit = sign < 0 ? here : there, out = sign < 0 ? there : here;
    if (sign < 0 && there.excess <= 0)
        fit = out = there;
    if (!(fit.excess <= 0))
        return false;
    s->set(s, out.excess <= 0 ? fit.at : narrow(s, out, fit));
    *noise = s->trial.runs[0].noise_multiplier;
    return true;
}

bool calibration_noise(double *noise, const struct mechanism *from,
                       struct calibration c)
{
    struct search s = {.c = c, .from = from, .set = set_noise};
    mechanism_copy(&s.trial, from);
    bool found = noise_search(noise, &s, 0, 1);
    mechanism_fini(&s.trial);
    return found;
}

bool calibration_noise_near(double *noise, double near, const struct mechanism *from,
                            struct calibration c)
{
    struct search s = {.c = c, .from = from, .set = set_noise};
    mechanism_copy(&s.trial, from);
    bool found = noise_search(noise, &s, log(near), 0.1);
    mechanism_fini(&s.trial);
    return found;
}

double calibration_noise_below(double fitting, double excess, double near,
                               const struct mechanism *from, struct calibration c)
{
    double stride = 3e-3;
    struct search s = {.c = c, .from = from, .set = set_noise};
    struct end fit = {log(fitting), excess};
    double low, high;
    mechanism_copy(&s.trial, from);
    noise_range(from, &low, &high);
    struct end out = probe(&s, fmax(fmin(log(near), fit.at), low));
    while (out.excess <= 0 && out.at != low) {
        fit = out;
        out = probe(&s, fmax(fit.at - stride, low));
        stride *= 2;
    }
    double at = out.excess <= 0 ? out.at : narrow_from_above(&s, out, fit);
    s.set(&s, at);
    double noise = s.trial.runs[0].noise_multiplier;
    mechanism_fini(&s.trial);
    /* exp(log(x)) may be less than x, which is what was seen to fit. */
    return at == log(fitting) ? fitting : noise;
}

static bool steps_fit(struct search *s, uint64_t steps)
{
    s->trial.runs[0].steps = steps;
    return s->c.excess(s->c.context, &s->trial) <= 0;
}

uint64_t calibration_steps(const struct mechanism *from, struct calibration c)
{
    static const uint64_t limit = UINT64_C(1) << 62;
    CHECK(from->run_count == 1);
    struct search s = {.c = c, .from = from};
    mechanism_copy(&s.trial, from);
    uint64_t fit = 0, out = 1;
    while (out < limit && steps_fit(&s, out)) {
        fit = out;
        out *= 2;
    }
    while (out - fit > 1) {
        uint64_t middle = fit + (out - fit) / 2;
        *(steps_fit(&s, middle) ? &fit : &out) = middle;
    }
    mechanism_fini(&s.trial);
    return fit;
}

static void set_rate(struct search *s, double at)
{
    for (size_t i = 0; i < s->trial.run_count; i++)
        s->trial.runs[i].sampling_rate = at >= 0 ? 1 : exp(at);
}

double calibration_rate(const struct mechanism *from, struct calibration c)
{
    struct search s = {.c = c, .from = from, .set = set_rate};
    mechanism_copy(&s.trial, from);
    struct end out = probe(&s, 0), fit = probe(&s, log(rate_min));
    double rate = 0;
    if (out.excess <= 0) {
        rate = 1;
    } else if (fit.excess <= 0) {
        s.set(&s, narrow(&s, out, fit));
        rate = s.trial.runs[0].sampling_rate;
    }
    mechanism_fini(&s.trial);
    return rate;
}
