#include "engine/statistics/interval.h"

#include <math.h>
#include <stdlib.h>

#include "base/check.h"

static const double z_95 = 1.9599639845400545;  /* P(|N(0, 1)| <= z) = 0.95 */
static const double z_975 = 2.2414027276049473; /* ... = 0.975 */

double interval_margin(const struct measurement *measurement)
{
    return z_95 * measurement->deviation;
}

struct interval interval_of_count(const struct measurement *measurement,
                                  double released)
{
    double margin = interval_margin(measurement);
    return (struct interval){released, released - margin, released + margin};
}

/* --- sum, mean, variance --- */

struct range {
    double centre, half; /* in the column's own unit */
};

static struct range range_of(const struct axis *axis)
{
    double low = axis->edges[0], high = axis->edges[axis->bins];
    return (struct range){low / 2 + high / 2, high / 2 - low / 2};
}

/* The error bound of the sum of n numbers, at z deviations of its noise. */
static double error_of(const struct measurement *measurement, double z)
{
    return z * measurement->deviation +
           (double)measurement->units / (2 * measurement->scale);
}

/* The largest and the smallest square in [low, high]. */
static double square_most(double low, double high)
{
    return fmax(low * low, high * high);
}

static double square_least(double low, double high)
{
    return low <= 0 && high >= 0 ? 0 : fmin(low * low, high * high);
}

/* In units of h^2, a variance is in [0, 1]. */
static double within_unit(double variance)
{
    return fmin(1, fmax(0, variance));
}

static struct interval variance_of(const struct measurement *measurement, double half,
                                   const double *released)
{
    double n = (double)measurement->units;
    double error = error_of(measurement, z_975) / n;
    double m = released[0] / n, e = (1 + released[1] / n) / 2;
    double low = e - error / 2 - square_most(m - error, m + error);
    double high = e + error / 2 - square_least(m - error, m + error);
    double scale = half * half;
    return (struct interval){within_unit(e - m * m) * scale, within_unit(low) * scale,
                             within_unit(high) * scale};
}

struct interval interval_of_number(const struct measurement *measurement,
                                   const struct statistic *statistic,
                                   const double *released)
{
    const struct range range = range_of(&statistic->axes[0]);
    if (statistic->kind == STATISTIC_VARIANCE)
        return variance_of(measurement, range.half, released);
    double n = (double)measurement->units;
    double divisor = statistic->kind == STATISTIC_MEAN ? n : 1;
    double value = (n * range.centre + range.half * released[0]) / divisor;
    double margin = range.half * error_of(measurement, z_95) / divisor;
    return (struct interval){value, value - margin, value + margin};
}

/* --- quantiles --- */

struct cumulated {
    const double *edges; /* (bins + 1) */
    size_t bins;
    double *below;     /* (bins + 1) records below each edge, non-decreasing */
    double *deviation; /* (bins + 1) of guess */
    double *guess;     /* (bins + 1) the estimate before it was made non-decreasing */
};

static void cumulate(struct cumulated *of, const struct measurement *measurement,
                     const double *released)
{
    double n = (double)measurement->units, bins = (double)of->bins, sum = 0;
    double total = 0;
    for (size_t j = 0; j < of->bins; j++)
        total += released[j];
    for (size_t j = 0; j <= of->bins; j++) {
        double part = (double)j / bins;
        of->guess[j] = sum + part * (n - total);
        of->deviation[j] = measurement->deviation * sqrt((double)j * (1 - part));
        of->below[j] = fmin(n, fmax(of->guess[j], j > 0 ? of->below[j - 1] : 0));
        if (j < of->bins)
            sum += released[j];
    }
    of->below[of->bins] = n;
}

/* The place where the estimate first reaches wanted, linear between two edges. */
static double place_of(const struct cumulated *of, double wanted)
{
    size_t j = 1;
    while (j < of->bins && of->below[j] < wanted)
        j++;
    double low = of->below[j - 1], high = of->below[j];
    double part = high > low ? fmin(1, fmax(0, (wanted - low) / (high - low))) : 1;
    return of->edges[j - 1] * (1 - part) + of->edges[j] * part;
}

static struct interval quantile_of(const struct cumulated *of, double wanted)
{
    size_t first = 1, last = of->bins - 1;
    while (first < of->bins && of->guess[first] + z_95 * of->deviation[first] < wanted)
        first++;
    while (last > 0 && of->guess[last] - z_95 * of->deviation[last] >= wanted)
        last--;
    double low = of->edges[first - 1], high = of->edges[last + 1];
    double value = place_of(of, wanted);
    return (struct interval){value, fmin(low, value), fmax(high, value)};
}

void interval_of_quantiles(const struct measurement *measurement,
                           const struct statistic *statistic, const double *released,
                           struct interval *out)
{
    const struct axis *axis = &statistic->axes[0];
    size_t edges = axis->bins + 1;
    double *numbers = calloc(3 * edges, sizeof *numbers);
    CHECK(numbers != NULL); /* bins are at most STATISTIC_SLOTS_MAX */
    struct cumulated of = {axis->edges, axis->bins, numbers, numbers + edges,
                           numbers + 2 * edges};
    cumulate(&of, measurement, released);
    for (size_t i = 0; i < statistic->probability_count; i++)
        out[i] =
            quantile_of(&of, statistic->probabilities[i] * (double)measurement->units);
    free(numbers);
}
