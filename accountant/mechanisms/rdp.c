/* One divergence is computed as follows. The moment less 1, over a - 1, is a sum over a
 * lattice of points t, and no term is negative (README.md). rdp_set prepares for a
 * step: it fixes the lattice and forgets the nodes of another step. A node is the part
 * of a point's contribution that does not depend on the order, so many orders of one
 * step share their nodes. For each order
 *
 *   peak_find   finds where the integrand is largest
 *   sum_all     adds the terms of two windows, the bulk of the Gaussian and the peak,
 *               each divided by exp(scale) so that nothing overflows
 *   sum_mean    turns the sum into a mean and adds the bound on its error
 *
 * and if the error is too large, which happens when large exponents nearly cancel,
 * the terms are taken again relative to the summit, whose height is known to 80 bits.
 * Two cases are closed formulas: rate 1, and peaks so far out that the bulk is
 * negligible. */
#include "accountant/mechanisms/rdp.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>

#include "accountant/mechanisms/round_up.h"
#include "base/check.h"

/* A Gaussian is cut where it has fallen to exp(-45). */
static const double tail = 9.5;

/* Terms below this share of the sum end a walk away from a maximum. */
static const double negligible = 1e-20;

/* The relative error of one term that does not grow with its exponents: a dozen
 * operations and library calls of at most 2 ulp, and the trapezoid rule's own 1e-16. */
static const double rounding_base = 64 * DBL_EPSILON;

/* Beyond this order the unsampled bound is taken: its relative excess is below 2 s^2
 * log(1/q) / 2^20, and no conversion to epsilon uses such orders. */
static const double order_max = 0x1p20;

enum { SERIES_TERMS = 14 };

/* Returns how far one place is from the next, in standard deviations over the noise
 * multiplier. The rule's error is about exp(-2 pi a / spacing + a^2 / 2) for any a below
 * the distance pi s of the nearest singularity; this spacing brings it to 1e-17 at
 * every s. */
static double angle_of(double noise)
{
    return fmin(0.375, 0.5 / noise);
}

/* Returns the least t of the window that has the bulk. */
static double bulk_start(enum relation relation, double noise)
{
    return -(relation == RELATION_ZERO_OUT ? tail : tail + 2 / noise);
}

static double bulk_end(double noise)
{
    return tail + 2 / noise;
}

double rdp_terms(enum relation relation, const struct mechanism_run *run)
{
    double noise = run->noise_multiplier, spacing = angle_of(noise) * noise;
    return run->sampling_rate == 1
               ? 0
               : (bulk_end(noise) - bulk_start(relation, noise)) / spacing;
}

void rdp_set(struct rdp *rdp, enum relation relation, const struct mechanism_run *run)
{
    double noise = run->noise_multiplier;
    if (rdp->rate == run->sampling_rate && rdp->noise == noise &&
        rdp->relation == relation)
        return;
    rdp->relation = relation;
    rdp->rate = run->sampling_rate;
    rdp->noise = noise;
    rdp->angle = angle_of(noise);
    rdp->spacing = rdp->angle * noise;
    rdp->offset = 0.5 / (noise * noise);
    rdp->first = (long)floor(bulk_start(relation, noise) / rdp->spacing);
    rdp->known = 0;
}

/* 1 + x = (1 - q) + q e^u, and its parts. */
struct mixture {
    double excess;  /* x */
    double log;     /* log(1 + x) */
    double portion; /* q e^u / (1 + x): d log / du */
};

static struct mixture mixture_at(double q, double u)
{
    /* Above it e^u overflows; log and portion stay exact, excess only has to be
     * large. */
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
 * (1+x+)/(1+x-): this is the integrand of add-or-remove-one, under the second
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

/* The maximum of the integrand, to more digits than a double has. If two large
 * exponents nearly cancel, terms are taken relative to it. */
struct summit {
    long place;
    double t, height; /* height is that of the integrand's exponent */
    struct shares {   /* in a mixture */
        double moved; /* of the shifted Gaussian */
        double still; /* of the other */
    } up, down;
};

/* The sum of the rule's terms, and its inputs. */
struct sum {
    struct rdp *rdp;
    const struct order *order;
    const struct summit *summit; /* or NULL */
    double scale;                /* terms are divided by exp(scale) */
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

static long double log_mixture(long double q, long double u, struct shares *shares)
{
    long double moved = q * expl(fminl(u, 0)), still = (1 - q) * expl(fminl(-u, 0));
    shares->moved = (double)(moved / (moved + still));
    shares->still = (double)(still / (moved + still));
    return u > 0 ? u + logl(moved + still) : log1pl(q * expm1l(u));
}

/* Returns how much log(1 + x) grows when u grows by angle from a place of these
 * shares. */
static double log_growth(struct shares from, double angle)
{
    if (angle > 1)
        return angle + log(from.moved + from.still * exp(-angle));
    if (angle < -1)
        return log(from.moved * exp(angle) + from.still);
    return log1p(from.moved * expm1(angle));
}

static struct summit summit_at(const struct rdp *rdp, const struct order *o, long place)
{
    struct summit top = {.place = place};
    long double s = rdp->noise, q = rdp->rate;
    long double angle = (long double)place * rdp->angle, offset = 0.5L / (s * s);
    long double height = -0.5L * (angle * s) * (angle * s);
    height += (long double)o->alpha * log_mixture(q, angle - offset, &top.up);
    if (rdp->relation == RELATION_REPLACE_ONE)
        height -= (long double)o->beta * log_mixture(q, -angle - offset, &top.down);
    top.t = (double)(angle * s);
    top.height = (double)height;
    return top;
}

/* Returns the exponent at place. *size is the size of its terms. */
static double summit_exponent(const struct sum *sum, long place, double *size)
{
    const struct summit *top = sum->summit;
    const struct order *o = sum->order;
    bool pair = sum->rdp->relation == RELATION_REPLACE_ONE;
    double steps = (double)(place - top->place);
    double angle = steps * sum->rdp->angle, t = steps * sum->rdp->spacing;
    double fall = t * (top->t + 0.5 * t);
    double up = o->alpha * log_growth(top->up, angle);
    double down = pair ? o->beta * log_growth(top->down, -angle) : 0;
    *size = fabs(fall) + fabs(up) + fabs(down);
    return up - down - fall + (top->height - sum->scale);
}

/* Adds weight * g_a(r) / (a - 1), g_a(r) = (1+r)^a - 1 - a r >= 0; returns the term. */
static double sum_node(struct sum *sum, long place)
{
    const struct order *o = sum->order;
    struct rdp_node n = node_at(sum->rdp, place);
    double r = n.ratio, size = fabs(n.log_weight) + 2 * n.sensitivity;
    if (fabs(o->alpha * r) < 0.05) {
        double g = 0;
        for (int i = SERIES_TERMS - 1; i >= 0; i--)
            g = g * r + o->series[i];
        double term = exp(n.log_weight - sum->scale) * g * r * r;
        sum_add(sum, term, size);
        return term;
    }
    double gain = o->beta * n.log_ratio,
           exponent = n.log_ratio + n.log_weight - sum->scale;
    double share = r < -0.5 ? -expm1(-n.log_ratio) : r / (1 + r);
    double term;
    size += o->alpha * (fabs(n.log_ratio) + n.sensitivity);
    if (gain <= 30) {
        term = exp(exponent) * (expm1(gain) - o->beta * share) / o->beta;
    } else {
        exponent += gain;
        if (sum->summit != NULL)
            exponent = summit_exponent(sum, place, &size);
        term = exp(exponent) * (1 - exp(-gain) * (1 + o->beta * share)) / o->beta;
    }
    sum_add(sum, term, size);
    return term;
}

/* The lattice place nearest the rightmost maximum of a L(t) - t^2/2, which is
 * approached from above: under zero_out the iteration t <- a L'(t) falls to it
 * monotonically. */
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
static long sum_walk(struct sum *sum, long place, long direction, long end)
{
    while (place != end && sum_node(sum, place) > negligible * sum->value)
        place += direction;
    return place;
}

/* value = (E[(1+x)^a] - 1) / (a - 1), up to exp(scale) and the Gaussian's constant.
 * There are two windows: the bulk of the weight with the second-order terms, to 2/s;
 * and the maximum of the whole integrand, near a/s once the ratio grows. Between them
 * there is one valley. */
static void sum_all(struct sum *sum, long peak)
{
    /* If the peak is this high, the bulk is below the last bit. */
    static const double bulk_lost = 800;
    struct rdp *rdp = sum->rdp;
    long place = rdp->first;
    sum->value = sum->carry = sum->exponents = 0;
    if (sum->scale < bulk_lost) {
        long end = (long)ceil(bulk_end(rdp->noise) / rdp->spacing);
        while (place <= end)
            sum_node(sum, place++);
        place = sum_walk(sum, place, 1, LONG_MAX);
    }
    if (peak >= place) {
        sum_walk(sum, peak, -1, place - 1);
        sum_walk(sum, peak + 1, 1, LONG_MAX);
    }
}

/* An upper bound on the mean of the terms, and its relative error. */
static double sum_mean(const struct sum *sum, double *relative)
{
    static const double root_two_pi = 2.50662827463100050242;
    *relative =
        rounding_base + 4 * DBL_EPSILON * (sum->exponents / fmax(sum->value, DBL_MIN));
    /* Squares of tiny rates underflow: DBL_MIN covers what was lost. */
    return round_up_error(sum->value * (sum->rdp->spacing / root_two_pi), *relative) +
           DBL_MIN;
}

static double unsampled(const struct rdp *rdp, double order)
{
    double distance = rdp->relation == RELATION_REPLACE_ONE ? 2 : 1;
    double ratio = distance / rdp->noise;
    return round_up_error(0.5 * order * ratio * ratio, 4 * DBL_EPSILON);
}

/* log(1 + (a - 1) mean exp(scale)) / (a - 1) */
static double divergence_of(const struct order *o, double scale, double mean)
{
    double log_moment;
    if (scale == 0) {
        log_moment = log1p(o->beta * mean);
    } else {
        double log_excess = scale + log(o->beta * mean);
        log_moment = log_excess + log1p(exp(-log_excess));
    }
    return round_up_error(log_moment / o->beta, 4 * DBL_EPSILON);
}

/* If every part of the moment that counts is so far out that 1 + x is q e^u to the last
 * bit, returns log E[(q e^u)^a] = a log q + a (a - 1) / (2 s^2); else 0. */
static double log_moment_far(const struct rdp *rdp, double order)
{
    /* Standard deviations below the peak at a/s that still count, and exponents under
     * which the rest of 1 + x, and the bulk compared with the peak, are negligible. */
    static const double reach = 11, nothing = 44;
    double q = rdp->rate, s = rdp->noise;
    double lowest = (order - 0.5) / (s * s) - reach / s;
    if (rdp->relation != RELATION_ZERO_OUT ||
        log(order * (1 - q) / q) - lowest > -nothing)
        return 0;
    double gain = 0.5 * order * (order - 1) / (s * s), loss = -order * log(q);
    if (gain - loss < 2 * nothing)
        return 0;
    return gain - loss + 8 * DBL_EPSILON * (gain + loss);
}

double rdp_at(struct rdp *rdp, double order)
{
    /* Above this relative error the terms are taken again, relative to the summit. */
    static const double error_wanted = 2e-13;
    CHECK(order > 1 && rdp->rate > 0);
    double bound = unsampled(rdp, order);
    if (rdp->rate == 1 || order > order_max)
        return bound;
    double far = log_moment_far(rdp, order);
    if (far > 0)
        return fmin(bound, round_up_error(far / (order - 1), 4 * DBL_EPSILON));
    struct order o = order_of(order);
    long peak = peak_find(rdp, &o);
    struct rdp_node top = node_at(rdp, peak);
    struct sum sum = {.rdp = rdp, .order = &o};
    sum.scale = fmax(0, o.alpha * top.log_ratio + top.log_weight);
    sum_all(&sum, peak);
    double error, mean = sum_mean(&sum, &error);
    double divergence = divergence_of(&o, sum.scale, mean);
    double part = fmin(1, 1 / (o.beta * divergence));
    if (error * part > error_wanted) {
        struct summit summit = summit_at(rdp, &o, peak);
        sum.summit = &summit;
        sum_all(&sum, peak);
        divergence = divergence_of(&o, sum.scale, sum_mean(&sum, &error));
    }
    return fmin(bound, divergence);
}
