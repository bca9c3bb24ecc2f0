#include "engine/quality/quality_interval.h"

#include <math.h>

static const double z2 = QUALITY_Z * QUALITY_Z;

struct quadratic { /* a p^2 + b p + c */
    double a, b, c;
};

static double within(double value, double low, double high)
{
    return fmin(fmax(value, low), high);
}

/* The p in [0, 1] at which the quadratic is not positive, and value. If there is no
 * such p, noise has pushed the share out of [0, 1]. Then the interval of the noise is
 * used by itself, which is at least as wide as the missing one. */
static struct quality_interval solve(struct quadratic q, double value, double deviation)
{
    struct quality_interval interval = {true, within(value, 0, 1), 0, 1};
    double square = q.b * q.b - 4 * q.a * q.c;
    if (!(q.a > 0))
        return interval;
    if (!(square >= 0))
        return quality_around(value, deviation, 0, 1);
    double root = sqrt(square);
    interval.low = fmin(interval.value, within((-q.b - root) / (2 * q.a), 0, 1));
    interval.high = fmax(interval.value, within((-q.b + root) / (2 * q.a), 0, 1));
    return interval;
}

struct quality_interval quality_share_of(struct noisy_count hits, double total)
{
    const struct quadratic q = {
        .a = total * total + z2 * total,
        .b = -2 * hits.count * total - z2 * total,
        .c = hits.count * hits.count - z2 * hits.variance,
    };
    return solve(q, hits.count / total, sqrt(hits.variance) / total);
}

struct quality_interval quality_share(struct noisy_count hits,
                                      struct noisy_count misses)
{
    double total = hits.count + misses.count;
    double variance = hits.variance + misses.variance;
    if (!(total > QUALITY_Z * sqrt(variance)))
        return (struct quality_interval){0};
    const struct quadratic q = {
        .a = total * total - z2 * (variance - total),
        .b = -2 * hits.count * total - z2 * (total - 2 * hits.variance),
        .c = hits.count * hits.count - z2 * hits.variance,
    };
    return solve(q, hits.count / total, sqrt(variance) / total);
}

struct quality_interval quality_around(double value, double deviation, double low,
                                       double high)
{
    double middle = within(value, low, high), reach = QUALITY_Z * deviation;
    return (struct quality_interval){true, middle, within(middle - reach, low, middle),
                                     within(middle + reach, middle, high)};
}
