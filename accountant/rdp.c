#include "accountant/rdp.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>

#include "accountant/upward.h"
#include "base/check.h"

/* A Gaussian is cut where it has fallen to exp(-45). */
static const double tail = 9.5;

/* Terms below this share of the sum end a walk away from a maximum. */
static const double negligible = 1e-20;

/* Relative error of one term that does not grow with its exponents: a dozen operations
 * and library calls of at most 2 ulp, with the trapezoid rule's own 1e-16. */
static const double rounding_base = 64 * DBL_EPSILON;

/* Beyond this order the unsampled bound is taken: its relative excess is below 2 s^2
 * log(1/q) / 2^20, and no conversion to epsilon looks there. */
static const double order_max = 0x1p20;

enum { SERIES_TERMS = 14 };

enum status rdp_supports(const struct mechanism *m, struct error *error)
{
    if (m->relation != RELATION_ZERO_OUT && m->relation != RELATION_REPLACE_ONE)
        return error_set(error, ST_INVALID, "unknown relation");
    if (m->kind != MECHANISM_SAMPLED_GAUSSIAN && m->kind != MECHANISM_GAUSSIAN)
        return error_set(error, ST_INVALID, "unknown kind of mechanism");
    if (m->run_count == 0)
        return error_set(error, ST_INVALID, "a mechanism has at least one run");
    uint64_t total = 0;
    for (size_t i = 0; i < m->run_count; i++) {
        const struct mechanism_run *run = &m->runs[i];
        if (!(run->sampling_rate > 0 && run->sampling_rate <= 1))
            return error_set(error, ST_INVALID, "run %zu: sampling rate outside (0, 1]",
                             i);
        if (m->kind == MECHANISM_GAUSSIAN && run->sampling_rate != 1)
            return error_set(error, ST_INVALID,
                             "run %zu: a gaussian takes every record, rate 1", i);
        if (!(run->noise_multiplier >= RDP_NOISE_MIN &&
              run->noise_multiplier <= RDP_NOISE_MAX))
            return error_set(error, ST_INVALID,
                             "run %zu: noise multiplier outside [%g, %g]", i,
                             RDP_NOISE_MIN, RDP_NOISE_MAX);
        if (run->steps == 0 || total + run->steps < total)
            return error_set(error, ST_INVALID, "run %zu: no steps, or too many", i);
        total += run->steps;
    }
    return ST_OK;
}

/* The rule's error is about exp(-2 pi a / spacing + a^2 / 2) for any a below the
 * distance pi s of the nearest singularity; this spacing brings it to 1e-17 at every s.
 */
void rdp_set(struct rdp *rdp, enum relation relation, const struct mechanism_run *run)
{
    double noise = run->noise_multiplier;
    if (rdp->rate == run->sampling_rate && rdp->noise == noise &&
        rdp->relation == relation)
        return;
    rdp->relation = relation;
    rdp->rate = run->sampling_rate;
    rdp->noise = noise;
    rdp->angle = fmin(0.375, 0.5 / noise);
    rdp->spacing = rdp->angle * noise;
    rdp->offset = 0.5 / (noise * noise);
    double left = relation == RELATION_ZERO_OUT ? tail : tail + 2 / noise;
    rdp->first = (long)floor(-left / rdp->spacing);
    rdp->known = 0;
}

/* 1 + x = (1 - q) + q e^u and what belongs to it. */
struct mixture {
    double excess;  /* x */
    double log;     /* log(1 + x) */
    double portion; /* q e^u / (1 + x): d log / du */
};

static struct mixture mixture_at(double q, double u)
{
    /* Above it e^u overflows; log and portion stay exact, excess only has to be large.
     */
    static const double exponent_max = 690;
    struct mixture m;
    if (u > exponent_max) {
        double rest = (1 - q) / q * exp(-u);
        m.excess = 0x1p1000;
        m.log = u + log(q) + log1p(rest);
        m.portion = 1 / (1 + rest);
        return m;
    }
    m.excess = q * expm1(u);
    double gain = q * exp(u);
    double sum = (1 - q) + gain;
    m.log = m.excess < -0.5 ? log(sum) : log1p(m.excess);
    m.portion = gain / sum;
    return m;
}

static struct rdp_node node_zero_out(const struct rdp *rdp, long place)
{
    double t = (double)place * rdp->spacing;
    double angle = (double)place * rdp->angle;
    struct mixture up = mixture_at(rdp->rate, angle - rdp->offset);
    return (struct rdp_node){.ratio = up.excess,
                             .log_ratio = up.log,
                             .log_weight = -0.5 * t * t,
                             .sensitivity = up.portion * (fabs(angle) + rdp->offset)};
}

/* (1+x+)^a (1+x-)^(1-a) - 1 - a x+ + (a-1) x- = (1+x-) g_a(r) with 1 + r =
 * (1+x+)/(1+x-): the same integrand as add-or-remove-one, under the second
 * distribution. */
static struct rdp_node node_replace_one(const struct rdp *rdp, long place)
{
    double q = rdp->rate;
    double t = (double)place * rdp->spacing;
    double angle = (double)place * rdp->angle;
    struct mixture up = mixture_at(q, angle - rdp->offset);
    struct mixture down = mixture_at(q, -angle - rdp->offset);
    double difference = fabs(angle) < 1 ? 2 * q * exp(-rdp->offset) * sinh(angle)
                                        : up.excess - down.excess;
    double ratio = fmin(difference * exp(-down.log), 0x1p1000);
    return (struct rdp_node){
        .ratio = ratio,
        .log_ratio = fabs(ratio) < 0.5 ? log1p(ratio) : up.log - down.log,
        .log_weight = down.log - 0.5 * t * t,
        .sensitivity = (up.portion + down.portion) * (fabs(angle) + rdp->offset) +
                       fabs(up.log) + fabs(down.log)};
}

static struct rdp_node node_compute(const struct rdp *rdp, long place)
{
    switch (rdp->relation) {
    case RELATION_ZERO_OUT: return node_zero_out(rdp, place);
    case RELATION_REPLACE_ONE: return node_replace_one(rdp, place);
    }
    CHECK(!"a relation without a proof");
}

static struct rdp_node node_at(struct rdp *rdp, long place)
{
    long index = place - rdp->first;
    if (index < 0 || index >= RDP_NODES)
        return node_compute(rdp, place);
    for (; rdp->known <= index; rdp->known++)
        rdp->nodes[rdp->known] = node_compute(rdp, rdp->first + rdp->known);
    return rdp->nodes[index];
}

struct order {
    double alpha, beta;          /* a and a - 1 */
    double series[SERIES_TERMS]; /* C(a, k) / (a - 1) from k = 2 */
};

static struct order order_of(double alpha)
{
    struct order o = {.alpha = alpha, .beta = alpha - 1};
    double binomial = alpha / 2;
    for (int i = 0; i < SERIES_TERMS; i++) {
        o.series[i] = binomial;
        binomial *= (alpha - (i + 2)) / (i + 3);
    }
    return o;
}

struct sum {
    double scale; /* its terms are divided by exp(scale) */
    double value, carry;
    double exponents; /* sum of terms times the size of their exponents */
};

static void sum_add(struct sum *sum, double term, double exponent)
{
    double y = term - sum->carry;
    double next = sum->value + y;
    sum->carry = (next - sum->value) - y;
    sum->value = next;
    sum->exponents += term * exponent;
}

/* Adds weight * g_a(r) / (a - 1), g_a(r) = (1+r)^a - 1 - a r >= 0; returns the term. */
static double sum_node(struct sum *sum, const struct order *o, const struct rdp_node *n)
{
    double term, r = n->ratio, size = fabs(n->log_weight) + 2 * n->sensitivity;
    if (fabs(o->alpha * r) < 0.05) {
        double g = 0;
        for (int i = SERIES_TERMS - 1; i >= 0; i--)
            g = g * r + o->series[i];
        term = exp(n->log_weight - sum->scale) * g * r * r;
        sum_add(sum, term, size);
        return term;
    }
    double gain = o->beta * n->log_ratio;
    double share = r / (1 + r);
    if (r < -0.5)
        share = -expm1(-n->log_ratio);
    if (gain <= 30)
        term = exp(n->log_ratio + n->log_weight - sum->scale) *
               (expm1(gain) - o->beta * share) / o->beta;
    else
        term = exp(gain + n->log_ratio + n->log_weight - sum->scale) *
               (1 - exp(-gain) * (1 + o->beta * share)) / o->beta;
    sum_add(sum, term, size + o->alpha * (fabs(n->log_ratio) + n->sensitivity));
    return term;
}

/* The lattice place nearest the rightmost maximum of a L(t) - t^2/2, from above: the
 * iteration t <- a L'(t) falls to it monotonically under zero_out. */
static long peak_find(const struct rdp *rdp, const struct order *o)
{
    enum { ROUNDS = 200 };
    bool pair = rdp->relation == RELATION_REPLACE_ONE;
    double q = rdp->rate, t = (o->alpha + (pair ? o->beta : 0)) / rdp->noise;
    for (int i = 0; i < ROUNDS; i++) {
        double angle = t / rdp->noise;
        double next = o->alpha * mixture_at(q, angle - rdp->offset).portion;
        if (pair)
            next += o->beta * mixture_at(q, -angle - rdp->offset).portion;
        next /= rdp->noise;
        bool still = fabs(next - t) < 0.25 * rdp->spacing;
        t = next;
        if (still)
            break;
    }
    return (long)rint(t / rdp->spacing);
}

/* Walks from place in direction until the terms no longer count; returns where it
 * ended. */
static long sum_walk(struct sum *sum, struct rdp *rdp, const struct order *o,
                     long place, long direction, long end)
{
    for (; place != end; place += direction) {
        struct rdp_node n = node_at(rdp, place);
        if (sum_node(sum, o, &n) <= negligible * sum->value)
            break;
    }
    return place;
}

/* sum = (E[(1+x)^a] - 1) / (a - 1), up to exp(scale) and the Gaussian's constant. Two
 * windows: the bulk of the weight with the second-order terms, to 2/s; and the maximum
 * of the whole integrand, near a/s once the ratio grows. Between them there is one
 * valley. */
static struct sum sum_all(struct rdp *rdp, const struct order *o)
{
    /* Where the peak is this high, the bulk is below the last bit. */
    static const double bulk_lost = 800;
    long peak = peak_find(rdp, o);
    struct rdp_node top = node_at(rdp, peak);
    double height = o->alpha * top.log_ratio + top.log_weight;
    struct sum sum = {.scale = fmax(0, height)};
    long place = rdp->first;
    if (height < bulk_lost) {
        long bulk_end = (long)ceil((2 / rdp->noise + tail) / rdp->spacing);
        for (; place <= bulk_end; place++) {
            struct rdp_node n = node_at(rdp, place);
            sum_node(&sum, o, &n);
        }
        place = sum_walk(&sum, rdp, o, place, 1, LONG_MAX);
    }
    if (peak >= place) {
        sum_walk(&sum, rdp, o, peak, -1, place - 1);
        sum_walk(&sum, rdp, o, peak + 1, 1, LONG_MAX);
    }
    return sum;
}

static double unsampled(const struct rdp *rdp, double order)
{
    double distance = rdp->relation == RELATION_REPLACE_ONE ? 2 : 1;
    double ratio = distance / rdp->noise;
    return upward_error(0.5 * order * ratio * ratio, 4 * DBL_EPSILON);
}

double rdp_at(struct rdp *rdp, double order)
{
    static const double root_two_pi = 2.50662827463100050242;
    CHECK(order > 1 && rdp->rate > 0);
    double bound = unsampled(rdp, order);
    if (rdp->rate == 1 || order > order_max)
        return bound;
    struct order o = order_of(order);
    struct sum sum = sum_all(rdp, &o);
    double relative =
        rounding_base + 4 * DBL_EPSILON * (sum.exponents / fmax(sum.value, DBL_MIN));
    double mean = sum.value * (rdp->spacing / root_two_pi);
    /* Squares of tiny rates underflow: DBL_MIN covers what was lost. */
    mean = upward_error(mean, relative) + DBL_MIN;
    double log_moment;
    if (sum.scale == 0) {
        log_moment = log1p(o.beta * mean);
    } else {
        double log_excess = sum.scale + log(o.beta * mean);
        log_moment = log_excess + log1p(exp(-log_excess));
    }
    double divergence = upward_error(log_moment / o.beta, 4 * DBL_EPSILON);
    return fmin(bound, divergence);
}

double rdp_of(struct rdp *rdp, const struct mechanism *m, uint64_t steps, double order)
{
    double total = 0;
    if (steps > 0 && !m->prefixes_priced)
        steps = mechanism_steps(m);
    for (size_t i = 0; i < m->run_count && steps > 0; i++) {
        uint64_t count = steps < m->runs[i].steps ? steps : m->runs[i].steps;
        rdp_set(rdp, m->relation, &m->runs[i]);
        total = upward_add(total, upward_mul(upward_count(count), rdp_at(rdp, order)));
        steps -= count;
    }
    return total;
}
