/* The search runs over y = log(a - 1), from the middle of the range. It first walks
 * downhill in growing steps until it has passed the bottom of the valley, and then
 * closes in on it by parabolas through three points, guarded by golden sections (Brent
 * 1973, chapter 5). */
#include "accountant/pricing/order.h"

#include <math.h>
#include <stdbool.h>

/* Values near the bottom are flat to second order. At the resolution `fine` of y the
 * excess was below 1e-9 relative in all measurements, at `rough` below 1e-8. */
static const double fine = 3e-6, rough = 3e-5;
static const double log_excess_max = 9.703999490820264; /* log(16383) */
static const double log_excess_min = -14;               /* order 1 + 8e-7 */

struct search {
    double (*value_at)(void *context, double order);
    void *context;
    double start, stride; /* of the walk, in y */
    double resolution;
    double enough; /* the search ends at a value of at most this */
};

struct point {
    double at, value;
};

static double order_at(double y)
{
    return y >= log_excess_max ? ORDER_MAX : 1 + exp(y);
}

static struct point probe(const struct search *s, double y)
{
    return (struct point){y, s->value_at(s->context, order_at(y))};
}

/* Walks downhill in steps that grow, until the value rises or the range ends; then low
 * <= best <= high hold the bottom. If a value is infinite, all higher orders are so
 * too, and downhill is the other way. */
static struct point descend(const struct search *s, double *low, double *high)
{
    struct point best = probe(s, s->start);
    double step = s->stride;
    *low = *high = best.at;
    if (best.value <= s->enough)
        return best;
    struct point up = probe(s, fmin(best.at + step, log_excess_max));
    bool rising = up.value < best.value;
    struct point behind = rising ? best : up;
    if (rising)
        best = up;
    double limit = rising ? log_excess_max : log_excess_min;
    while (best.at != limit && best.value > s->enough) {
        double y = rising ? fmin(best.at + step, limit) : fmax(best.at - step, limit);
        struct point ahead = probe(s, y);
        if (ahead.value >= best.value && !isinf(best.value)) {
            *low = fmin(behind.at, ahead.at);
            *high = fmax(behind.at, ahead.at);
            return best;
        }
        behind = best;
        best = ahead;
        step *= 1.6;
    }
    *low = fmin(behind.at, best.at);
    *high = fmax(behind.at, best.at);
    return best;
}

/* Returns how far from best the bottom of the parabola through three points is; NaN if
 * there is none. */
static double parabola(struct point best, struct point second, struct point third)
{
    double r = (best.at - second.at) * (best.value - third.value);
    double q = (best.at - third.at) * (best.value - second.value);
    double p = (best.at - third.at) * q - (best.at - second.at) * r;
    return -p / (2 * (q - r));
}

static struct order_choice run(const struct search *s)
{
    static const double golden = 0.38196601125010515;
    enum { ROUNDS = 80 };
    double low, high, move = 0, before = INFINITY;
    struct point best = descend(s, &low, &high), second = best, third = best;
    for (int i = 0; i < ROUNDS && best.value > s->enough; i++) {
        double middle = (low + high) / 2;
        if (fabs(best.at - middle) + (high - low) / 2 <= 2 * s->resolution)
            break;
        double bold = parabola(best, second, third);
        bool inside = best.at + bold > low && best.at + bold < high;
        if (inside && fabs(bold) < fabs(before) / 2) {
            before = move;
            move = bold;
        } else {
            before = best.at < middle ? high - best.at : low - best.at;
            move = golden * before;
        }
        if (fabs(move) < s->resolution)
            move = best.at < middle ? s->resolution : -s->resolution;
        struct point next = probe(s, best.at + move);
        if (next.value <= best.value) {
            *(next.at < best.at ? &high : &low) = best.at;
            third = second;
            second = best;
            best = next;
        } else {
            *(next.at < best.at ? &low : &high) = next.at;
            if (next.value <= second.value || second.at == best.at) {
                third = second;
                second = next;
            } else if (next.value <= third.value || third.at == best.at ||
                       third.at == second.at) {
                third = next;
            }
        }
    }
    return (struct order_choice){order_at(best.at), best.value};
}

struct order_choice order_best(double (*value_at)(void *context, double order),
                               void *context)
{
    const struct search s = {.value_at = value_at,
                             .context = context,
                             .start = 2,
                             .stride = 0.5,
                             .resolution = fine,
                             .enough = -INFINITY};
    return run(&s);
}

struct order_choice order_near(double (*value_at)(void *context, double order),
                               void *context, double near, double enough)
{
    const struct search s = {
        .value_at = value_at,
        .context = context,
        .start = fmin(fmax(log(near - 1), log_excess_min), log_excess_max),
        .stride = 0.05,
        .resolution = rough,
        .enough = enough};
    return run(&s);
}
