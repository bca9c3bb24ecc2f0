/* A part's loss is replaced by its values on a lattice of t, with the density as
 * weights: enough to locate the mass, and no bound depends on it. Under a tilt s the
 * weights are multiplied by exp(s loss); independent steps add up in log moment, mean
 * and variance. The tilt whose mean is about the epsilon of a delta is found by
 * bisecting an estimate of delta that approximates the tilted law by a normal one. */
#include "accountant/numeric/saddle.h"

#include <math.h>
#include <stdlib.h>

struct nodes {
    size_t count;
    double steps;
    double *loss, *weight; /* one block, owned */
};

struct saddle {
    size_t count;
    struct nodes *parts; /* owned */
};

static bool nodes_init(struct nodes *nodes, const struct saddle_part *part,
                       enum privacy_loss_direction direction)
{
    double width = part->range.high - part->range.low;
    double step = fmin(part->step.noise, 1) / 4;
    nodes->steps = part->steps;
    nodes->count = (size_t)ceil(width / step) + 1;
    nodes->loss = calloc(2 * nodes->count, sizeof *nodes->loss);
    if (nodes->loss == NULL)
        return false;
    nodes->weight = nodes->loss + nodes->count;
    for (size_t i = 0; i < nodes->count; i++) {
        double t = part->range.low + (double)i * step;
        double loss = privacy_loss_at(&part->step, t);
        nodes->loss[i] = direction == LOSS_ADDING ? -loss : loss;
        nodes->weight[i] = step * privacy_loss_density(&part->step, direction, t);
    }
    return true;
}

struct saddle *saddle_create(const struct saddle_part *parts, size_t count,
                             enum privacy_loss_direction direction)
{
    struct saddle *saddle = calloc(1, sizeof *saddle);
    if (saddle == NULL)
        return NULL;
    saddle->parts = calloc(count, sizeof *saddle->parts);
    for (; saddle->parts != NULL && saddle->count < count; saddle->count++) {
        size_t i = saddle->count;
        if (!nodes_init(&saddle->parts[i], &parts[i], direction))
            break;
    }
    if (saddle->count == count)
        return saddle;
    saddle_destroy(saddle);
    return NULL;
}

void saddle_destroy(struct saddle *saddle)
{
    if (saddle == NULL)
        return;
    for (size_t i = 0; i < saddle->count; i++)
        free(saddle->parts[i].loss);
    free(saddle->parts);
    free(saddle);
}

static struct saddle_moment part_moment(const struct nodes *n, double tilt)
{
    double most = -HUGE_VAL;
    for (size_t i = 0; i < n->count; i++)
        most = fmax(most, tilt * n->loss[i]);
    double sum = 0, first = 0, second = 0, centre = 0;
    for (size_t i = 0; i < n->count; i++) {
        double w = n->weight[i] * exp(tilt * n->loss[i] - most);
        sum += w;
        first += w * n->loss[i];
    }
    centre = first / sum;
    for (size_t i = 0; i < n->count; i++) {
        double w = n->weight[i] * exp(tilt * n->loss[i] - most);
        second += w * (n->loss[i] - centre) * (n->loss[i] - centre);
    }
    return (struct saddle_moment){most + log(sum), centre, second / sum};
}

struct saddle_moment saddle_moment(const struct saddle *saddle, double tilt)
{
    struct saddle_moment total = {0};
    for (size_t i = 0; i < saddle->count; i++) {
        struct saddle_moment part = part_moment(&saddle->parts[i], tilt);
        double steps = saddle->parts[i].steps;
        total.log += steps * part.log;
        total.mean += steps * part.mean;
        total.variance += steps * part.variance;
    }
    return total;
}

/* The log of the normal's Mills ratio, by its value at 0 and its slope far out. */
static double mills_log(double x)
{
    static const double root_half_pi = 1.25331413731550025121;
    if (x < 5)
        return 0.5 * x * x + log(root_half_pi * erfc(x / sqrt(2)));
    return -log(x + 1 / (x + 2 / (x + 3 / (x + 4))));
}

/* The log of the delta at the mean of the tilted law, if that were normal: E[exp(-s y)
 * (1 - exp(-y))] over y > 0, y normal of that variance (Lugannani and Rice 1980). */
static double delta_log(const struct saddle *saddle, double tilt)
{
    static const double root_two_pi_log = 0.91893853320467274178;
    struct saddle_moment m = saddle_moment(saddle, tilt);
    double deviation = sqrt(m.variance);
    double here = mills_log(tilt * deviation),
           after = mills_log((tilt + 1) * deviation);
    double gap = here + log(-expm1(fmin(after - here, -1e-300)));
    return m.log - tilt * m.mean + gap - root_two_pi_log;
}

double saddle_tilt(const struct saddle *saddle, double delta)
{
    enum { DOUBLINGS = 40, HALVINGS = 40 };
    double target = log(delta), low = 0, high = 1;
    if (delta_log(saddle, 0) <= target)
        return 0;
    for (int i = 0; i < DOUBLINGS && delta_log(saddle, high) > target; i++) {
        low = high;
        high *= 2;
    }
    for (int i = 0; i < HALVINGS && high - low > 1e-3 * high; i++) {
        double middle = (low + high) / 2;
        *(delta_log(saddle, middle) > target ? &low : &high) = middle;
    }
    return high;
}

double saddle_top(const struct saddle *saddle, double tail, double most, double *tilt)
{
    /* The bound is quasi-convex in the tilt. A coarse search is enough, as any tilt is
     * valid. */
    static const double factor = 1.3;
    double target = log(tail), best = HUGE_VAL;
    for (double s = most; s > most * 1e-6; s /= factor) {
        double top = (saddle_moment(saddle, s).log - target) / s;
        if (!(top < best))
            break;
        best = top;
        *tilt = s;
    }
    return best;
}
