/* The measure is made cell by cell, from the lowest loss of the grid to the highest.
 * The loss grows with t, so a cell of losses is an interval of t: place_of inverts the
 * loss, and the mass of each of the normal distributions that a step is made of
 * (unmoved, moved up, moved down) is a difference of two tails. Every mass carries a
 * bound on its error, and split puts it on the two ends of its cell so that the measure
 * dominates. */
#include "accountant/mechanisms/privacy_loss.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

static const double root_half = 0.70710678118654752440;
static const double root_two_pi = 2.50662827463100050242;

static double upper_tail(double x)
{
    return 0.5 * erfc(x * root_half);
}

/* log(1 - r + r e^u) */
static double log_mixture(double rate, double u)
{
    if (u > 0)
        return u + log(rate + (1 - rate) * exp(-u));
    double excess = rate * expm1(u);
    return excess < -0.5 ? log((1 - rate) + rate * exp(u)) : log1p(excess);
}

double privacy_loss_at(const struct privacy_loss_step *step, double t)
{
    double offset = 0.5 / (step->noise * step->noise);
    double loss = log_mixture(step->rate, t / step->noise - offset);
    if (step->relation == RELATION_REPLACE_ONE)
        loss -= log_mixture(step->rate, -t / step->noise - offset);
    return loss;
}

/* The t at which the loss is l, or minus infinity if all losses are larger. */
static double place_of(const struct privacy_loss_step *step, double l)
{
    double r = step->rate, s = step->noise, offset = 0.5 / (s * s), u;
    if (step->relation == RELATION_REPLACE_ONE) {
        /* With y = e^(t/s) and a = e^-offset, r a y^2 - (1-r)(e^l - 1) y - e^l r a = 0;
         * divided by e^(l/2) that is y = e^(l/2) (b + sqrt(b^2 + 1)). */
        double b = sinh(l / 2) * ((1 - r) / r) * exp(offset);
        if (isfinite(b))
            return s * (l / 2 + asinh(b));
        double b_log = fabs(l) / 2 + log1p(-exp(-fabs(l))) + log((1 - r) / r) + offset;
        return s * (l / 2 + copysign(b_log, l));
    }
    if (l > 30)
        u = l - log(r) + log1p(-(1 - r) * exp(-l));
    else if (l > -0.5)
        u = expm1(l) > -r ? log1p(expm1(l) / r) : -HUGE_VAL;
    else
        u = exp(l) > 1 - r ? log((exp(l) - (1 - r)) / r) : -HUGE_VAL;
    return s * (u + offset);
}

/* Returns how far the loss at the computed place of l may be from l: u and t have a few
 * roundings each, which are passed on with the slope of the loss, and that is at most
 * (portions of the mixtures) / s. */
static double misplaced_at(const struct privacy_loss_step *step, double l, double t)
{
    double s = step->noise, sides = step->relation == RELATION_REPLACE_ONE ? 2 : 1;
    double size = fabs(t) / s + 1 / (s * s) + fabs(l) + 1;
    double u = t / s - 0.5 / (s * s);
    double portion = 1;
    if (!isfinite(t))
        return 0;
    if (step->relation == RELATION_ZERO_OUT)
        portion = step->rate * exp(u - l);
    return 8 * DBL_EPSILON * (sides * fmin(1, portion) * size + fmin(1, fabs(l))) +
           DBL_EPSILON * fabs(l);
}

static double density_mixture(const struct privacy_loss_step *step, double shift,
                              double t)
{
    double here = exp(-0.5 * t * t), there = exp(-0.5 * (t - shift) * (t - shift));
    return ((1 - step->rate) * here + step->rate * there) / root_two_pi;
}

double privacy_loss_density(const struct privacy_loss_step *step,
                            enum privacy_loss_direction direction, double t)
{
    double shift = 1 / step->noise;
    if (direction == LOSS_REMOVING)
        return density_mixture(step, shift, t);
    if (step->relation == RELATION_REPLACE_ONE)
        return density_mixture(step, -shift, t);
    return exp(-0.5 * t * t) / root_two_pi;
}

struct privacy_loss_range privacy_loss_range_of(const struct privacy_loss_step *step,
                                                double tail)
{
    /* Tails of the standard normal below the least double count as 0. */
    static const double reach = 38;
    double shift = 1 / step->noise, low = 0, high = shift + reach;
    while (high - low > 0.01) {
        double t = (low + high) / 2;
        double mass =
            (1 - step->rate) * upper_tail(t) + step->rate * upper_tail(t - shift);
        *(mass <= tail ? &high : &low) = t;
    }
    struct privacy_loss_range range = {-high, high};
    if (step->relation == RELATION_REPLACE_ONE)
        return range;
    low = 0;
    double far = reach;
    while (far - low > 0.01) {
        double t = (low + far) / 2;
        *(upper_tail(t) <= tail ? &far : &low) = t;
    }
    range.low = -far;
    return range;
}

/* Probabilities between two ends, with bounds on their error. */
struct mass {
    double value, error;
};

/* A normal distribution at one end: the smaller tail, and on which side it lies. */
struct end {
    double tail, error;
    bool above;
};

static struct end end_of(double x)
{
    struct end end = {.above = x >= 0, .tail = upper_tail(fabs(x))};
    /* This is 8 ulp of erfc, and what x*x/2 makes of the rounding of x. */
    end.error = end.tail * (8 + 3 * fmin(x * x, 1600)) * DBL_EPSILON + DBL_MIN;
    return end;
}

static struct mass mass_between(struct end a, struct end b)
{
    double value;
    if (a.above == b.above)
        value = a.above ? a.tail - b.tail : b.tail - a.tail;
    else
        value = 1 - a.tail - b.tail;
    return (struct mass){fmax(0, value),
                         a.error + b.error + (a.above != b.above) * 2 * DBL_EPSILON};
}

static struct mass mass_mixed(double rate, struct mass still, struct mass moved)
{
    struct mass m = {(1 - rate) * still.value + rate * moved.value, 0};
    m.error = (1 - rate) * still.error + rate * moved.error + 3 * DBL_EPSILON * m.value;
    return m;
}

/* The three normal distributions of a step, at one end of a cell. */
struct edge {
    struct end middle, up, down;
};

static struct edge edge_of(const struct privacy_loss_step *step, double t)
{
    double shift = 1 / step->noise;
    struct edge edge = {.middle = end_of(t), .up = end_of(t - shift)};
    if (step->relation == RELATION_REPLACE_ONE)
        edge.down = end_of(t + shift);
    return edge;
}

struct cell {
    struct mass p, q;
};

static struct cell cell_between(const struct privacy_loss_step *step,
                                const struct edge *a, const struct edge *b)
{
    struct mass middle = mass_between(a->middle, b->middle);
    struct mass up = mass_between(a->up, b->up);
    struct cell cell = {mass_mixed(step->rate, middle, up), middle};
    if (step->relation == RELATION_REPLACE_ONE)
        cell.q = mass_mixed(step->rate, middle, mass_between(a->down, b->down));
    return cell;
}

/* exp(l) q from below, for l and q of any size. */
static double scaled_down(double l, double q)
{
    if (fabs(l) < 600 && q > 1e-40)
        return q * exp(l) * (1 - (4 + fabs(l)) * DBL_EPSILON);
    double size = fabs(l) + fabs(log(q)) + 4;
    return exp(l + log(q)) * fmax(0, 1 - 2 * size * DBL_EPSILON);
}

/* Splits a cell whose lower end has loss l; mass points to the lower end's mass. A part
 * of the cell may lie lower than l by misplaced, which takes that much off the rise. */
static void split(double *mass, struct cell cell, double l, double misplaced,
                  double spacing)
{
    double all = cell.p.value + cell.p.error, below = cell.q.value - cell.q.error;
    double rise = all * (1 + 2 * misplaced) - (below > 0 ? scaled_down(l, below) : 0);
    double upper = rise / -expm1(-spacing) * (1 + 8 * DBL_EPSILON);
    upper = fmin(fmax(upper, 0), all);
    mass[1] += upper;
    mass[0] += fmax(0, all - upper) * (1 + 2 * DBL_EPSILON);
}

/* Fills the measures from the cells between the places low and high of the grid. */
static void fill(struct privacy_loss made[2], const struct privacy_loss_step *step,
                 long low, long high, double spacing)
{
    double t = place_of(step, (double)low * spacing);
    double misplaced = misplaced_at(step, (double)low * spacing, t), worst = misplaced;
    struct edge edge = edge_of(step, t), none = edge_of(step, -HUGE_VAL);
    struct edge all = edge_of(step, HUGE_VAL);
    struct cell below = cell_between(step, &none, &edge);
    double *removing = made[LOSS_REMOVING].mass, *adding = made[LOSS_ADDING].mass;
    for (long i = low; i < high; i++) {
        double l = (double)(i + 1) * spacing, before = misplaced;
        t = place_of(step, l);
        misplaced = misplaced_at(step, l, t);
        worst = fmax(worst, misplaced);
        double worse = fmax(before, misplaced);
        struct edge next = edge_of(step, t);
        struct cell cell = cell_between(step, &edge, &next);
        split(&removing[i - low], cell, (double)i * spacing, worse, spacing);
        if (adding != NULL)
            split(&adding[high - 1 - i], (struct cell){cell.q, cell.p}, -l, worse,
                  spacing);
        edge = next;
    }
    struct cell above = cell_between(step, &edge, &all);
    removing[0] += below.p.value + below.p.error;
    made[LOSS_REMOVING].infinite = above.p.value + above.p.error;
    made[LOSS_REMOVING].misplaced = made[LOSS_ADDING].misplaced = worst;
    if (adding == NULL)
        return;
    adding[0] += above.q.value + above.q.error;
    made[LOSS_ADDING].infinite = below.q.value + below.q.error;
}

bool privacy_loss_measure(struct privacy_loss loss[2],
                          const struct privacy_loss_step *step,
                          struct privacy_loss_range range, double spacing, size_t max)
{
    double bottom = floor(privacy_loss_at(step, range.low) / spacing);
    double top = ceil(privacy_loss_at(step, range.high) / spacing);
    if (!(top - bottom + 1 <= (double)max && fabs(top) < 0x1p52 &&
          fabs(bottom) < 0x1p52))
        return false;
    long low = (long)bottom, high = (long)top;
    size_t count = (size_t)(high - low) + 1;
    struct privacy_loss made[2] = {{.first = low, .count = count}, {.first = -high}};
    bool both = step->relation == RELATION_ZERO_OUT;
    made[LOSS_REMOVING].mass = calloc(count, sizeof *made->mass);
    if (both) {
        made[LOSS_ADDING].count = count;
        made[LOSS_ADDING].mass = calloc(count, sizeof *made->mass);
    }
    if (made[0].mass == NULL || (both && made[1].mass == NULL)) {
        privacy_loss_fini(&made[0]);
        privacy_loss_fini(&made[1]);
        return false;
    }
    fill(made, step, low, high, spacing);
    loss[0] = made[0];
    loss[1] = made[1];
    return true;
}

void privacy_loss_fini(struct privacy_loss *loss)
{
    free(loss->mass);
    *loss = (struct privacy_loss){0};
}
