#include "engine/dp/algorithms/dcsgd_clip.h"

#include <math.h>
#include <stdint.h>

enum { GRID_POINTS = 20, GRID_CENTRE = 10, SWEEPS_MAX = 16, SWEEPS_MAX_LITERAL = 64 };

static double sum(const double *counts, size_t first, size_t end)
{
    double total = 0;
    for (size_t j = first; j < end; j++)
        total += counts[j];
    return total;
}

static double clamp(double value, double low, double high)
{
    return fmin(fmax(value, low), high);
}

static void set(struct dcsgd_clip *adaptive, double clip_norm, double range)
{
    adaptive->clip_norm = clamp(clip_norm, DCSGD_CLIP_MIN, DCSGD_CLIP_MAX);
    adaptive->histogram.range = clamp(range, DCSGD_CLIP_MIN, DCSGD_CLIP_MAX);
}

void dcsgd_clip_percentile(struct dcsgd_clip *adaptive, const double *counts,
                           double share)
{
    const struct histogram *histogram = &adaptive->histogram;
    double total = sum(counts, 0, histogram->bins), reached = 0;
    double clip_norm = adaptive->clip_norm;
    for (size_t j = 0; total > 0 && j < histogram->bins; j++) {
        reached += counts[j];
        clip_norm = histogram_middle(histogram, j);
        if (reached >= share * total)
            break;
    }
    set(adaptive, clip_norm, 2 * clip_norm);
}

double dcsgd_clip_objective(const struct dcsgd_clip *adaptive, const double *counts,
                            double variance)
{
    const struct histogram *histogram = &adaptive->histogram;
    double c = adaptive->clip_norm, bias = 0;
    for (size_t j = 0; j < histogram->bins; j++) {
        double over = fmax(histogram_middle(histogram, j) - c, 0);
        bias += counts[j] * over * over;
    }
    return variance * c * c + bias / sum(counts, 0, histogram->bins);
}

/* The first of the grid's points around the clip norm with the least error, in tenths. */
static unsigned best_of_grid(const struct dcsgd_clip *adaptive, const double *counts,
                             double variance)
{
    struct dcsgd_clip at = *adaptive;
    double least = (double)INFINITY;
    unsigned best = 1;
    for (unsigned i = 1; i <= GRID_POINTS; i++) {
        at.clip_norm = i * adaptive->clip_norm / GRID_CENTRE;
        double error = dcsgd_clip_objective(&at, counts, variance);
        if (error < least) {
            least = error;
            best = i;
        }
    }
    return best;
}

static double next_range(const struct histogram *histogram, const double *counts,
                         double total)
{
    size_t bins = histogram->bins;
    if (counts[bins - 1] >= 0.5 * total)
        return 2 * histogram->range;
    if (sum(counts, bins / 2, bins) <= total / (double)bins)
        return histogram->range / 2;
    return histogram->range;
}

struct bracket {
    double low, high;
};

static bool outside(struct bracket bracket, double value)
{
    return !(value >= bracket.low && value <= bracket.high);
}

/* The bracket in which the minimum of any histogram without negative counts lies. */
static struct bracket bracket_of(const struct histogram *histogram,
                                 const struct clip_error *error)
{
    if (error->literal)
        return (struct bracket){0, (double)INFINITY};
    return (struct bracket){.low =
                                histogram_middle(histogram, 0) / (1 + error->variance),
                            .high = histogram_middle(histogram, histogram->bins - 1) /
                                    (1 + error->variance)};
}

void dcsgd_clip_error(struct dcsgd_clip *adaptive, const double *counts,
                      const struct clip_error *error)
{
    struct dcsgd_clip at = *adaptive;
    double total = sum(counts, 0, at.histogram.bins);
    unsigned sweeps = error->literal ? SWEEPS_MAX_LITERAL : SWEEPS_MAX;
    if (!(total > 0)) {
        set(adaptive, at.clip_norm, at.histogram.range);
        return;
    }
    struct bracket bracket = bracket_of(&at.histogram, error);
    at.clip_norm = clamp(at.clip_norm, bracket.low, bracket.high);
    for (unsigned sweep = 0; sweep < sweeps; sweep++) {
        unsigned best = best_of_grid(&at, counts, error->variance);
        at.clip_norm = best * at.clip_norm / GRID_CENTRE;
        if ((best != 1 && best != GRID_POINTS) || outside(bracket, at.clip_norm))
            break;
    }
    set(adaptive, clamp(at.clip_norm, bracket.low, bracket.high),
        next_range(&at.histogram, counts, total));
}
