#include "engine/quality/quality_figures.h"

#include <math.h>

/* --- classification --- */

struct counted { /* a released vector of a classification */
    const struct quality_plan *plan;
    const double *released;
    double variance; /* of the noise on a count */
};

static double cell(const struct counted *counted, size_t truth, size_t predicted)
{
    return counted->released[truth * counted->plan->classes + predicted];
}

static struct quality_interval accuracy(const struct counted *counted)
{
    uint32_t classes = counted->plan->classes;
    struct noisy_count hits = {0, classes * counted->variance};
    for (size_t k = 0; k < classes; k++)
        hits.count += cell(counted, k, k);
    return quality_share_of(hits, (double)counted->plan->records);
}

/* F1 increases with J. */
static struct quality_interval f1_of(struct quality_interval j)
{
    j.value = 2 * j.value / (1 + j.value);
    j.low = 2 * j.low / (1 + j.low);
    j.high = 2 * j.high / (1 + j.high);
    return j;
}

static struct quality_of_class of_class(const struct counted *counted, size_t k)
{
    double others = counted->plan->classes - 1.0;
    struct noisy_count hits = {cell(counted, k, k), counted->variance};
    struct noisy_count taken = {0, others * counted->variance}; /* false positives */
    struct noisy_count missed = taken, both = {0, 2 * others * counted->variance};
    for (size_t j = 0; j < counted->plan->classes; j++) {
        if (j == k)
            continue;
        taken.count += cell(counted, j, k);
        missed.count += cell(counted, k, j);
    }
    both.count = taken.count + missed.count;
    return (struct quality_of_class){.precision = quality_share(hits, taken),
                                     .recall = quality_share(hits, missed),
                                     .f1 = f1_of(quality_share(hits, both))};
}

/* The bins of scores with the event, or without it. */
static const double *scores(const struct counted *counted, bool event)
{
    size_t classes = counted->plan->classes;
    return counted->released + classes * classes + (event ? QUALITY_BINS : 0);
}

static double sum_of(const double *bins)
{
    double sum = 0;
    for (size_t b = 0; b < QUALITY_BINS; b++)
        sum += bins[b];
    return sum;
}

/* The variance that noise and sampling of a bin add, if the area changes by gradient
 * for each count. */
static double moved(const struct counted *counted, double count, double gradient)
{
    return gradient * gradient * (counted->variance + fmax(0, count));
}

static struct quality_interval auc(const struct counted *counted)
{
    const double *no = scores(counted, false), *yes = scores(counted, true);
    double nos = sum_of(no), yeses = sum_of(yes), below = 0, area = 0, variance = 0;
    double least = QUALITY_Z * sqrt(QUALITY_BINS * counted->variance);
    if (!(nos > least && yeses > least))
        return (struct quality_interval){0};
    for (size_t b = 0; b < QUALITY_BINS; b++) {
        area += yes[b] * (below + no[b] / 2) / (nos * yeses);
        below += no[b];
    }
    double no_below = 0, yes_above = yeses;
    for (size_t b = 0; b < QUALITY_BINS; b++) {
        yes_above -= yes[b];
        variance +=
            moved(counted, yes[b], ((no_below + no[b] / 2) / nos - area) / yeses);
        variance +=
            moved(counted, no[b], ((yes_above + yes[b] / 2) / yeses - area) / nos);
        no_below += no[b];
    }
    return quality_around(area, sqrt(variance), 0, 1);
}

/* The sum of the bins from first up to, not including, end, with its noise. */
static struct noisy_count sum_between(const struct counted *counted, const double *bins,
                                      size_t first, size_t end)
{
    struct noisy_count sum = {0, (double)(end - first) * counted->variance};
    for (size_t b = first; b < end; b++)
        sum.count += bins[b];
    return sum;
}

static struct quality_threshold threshold_at(const struct counted *counted, size_t bin)
{
    const double *no = scores(counted, false), *yes = scores(counted, true);
    struct noisy_count hits = sum_between(counted, yes, bin, QUALITY_BINS);
    struct noisy_count false_hits = sum_between(counted, no, bin, QUALITY_BINS);
    struct noisy_count missed = sum_between(counted, yes, 0, bin);
    struct noisy_count both = {hits.count + false_hits.count,
                               hits.variance + false_hits.variance};
    return (struct quality_threshold){
        .precision = quality_share(hits, false_hits),
        .recall = quality_share(hits, missed),
        .selected = quality_share_of(both, (double)counted->plan->records)};
}

static void classify(struct quality_figures *figures, const struct counted *counted)
{
    const double *no = scores(counted, false), *yes = scores(counted, true);
    figures->accuracy = accuracy(counted);
    if (counted->plan->classes == 2)
        figures->auc = auc(counted);
    for (size_t k = 0; k < counted->plan->classes; k++)
        figures->of_class[k] = of_class(counted, k);
    for (size_t b = 0; b < QUALITY_BINS; b++)
        figures->bins[b] = (struct quality_bin){
            .count = no[b] + yes[b],
            .share = quality_share((struct noisy_count){yes[b], counted->variance},
                                   (struct noisy_count){no[b], counted->variance})};
    for (size_t b = 0; b < QUALITY_BINS; b++)
        figures->thresholds[b] = threshold_at(counted, b);
}

/* --- regression --- */

static struct quality_interval rmse(const struct quality_plan *plan,
                                    const double *released, double variance)
{
    struct quality_interval mean = quality_share_of(
        (struct noisy_count){released[0], variance}, (double)plan->records);
    mean.value = plan->error_clip * sqrt(mean.value);
    mean.low = plan->error_clip * sqrt(mean.low);
    mean.high = plan->error_clip * sqrt(mean.high);
    return mean;
}

/* The largest deviation of numbers in [0, most] whose mean is mean. */
static double spread(double mean, double most)
{
    return sqrt(fmax(0, mean * (most - mean)));
}

static struct quality_interval r_squared(const struct quality_plan *plan,
                                         const double *released, double variance)
{
    double n = (double)plan->records, clip = plan->error_clip * plan->error_clip;
    double mse = clip * fmax(0, released[0]) / n, mean = released[1] / n;
    double v = released[2] / n - mean * mean, noise = sqrt(variance) / n;
    if (!(v > QUALITY_Z * noise * sqrt(1 + 4 * mean * mean)))
        return (struct quality_interval){0};
    double rest = mse / v, reach = 1 + fabs(mean);
    double noisy = noise / v * sqrt(clip * clip + rest * rest * (1 + 4 * mean * mean));
    double sampled =
        (spread(mse, clip) + rest * spread(v, reach * reach)) / v / sqrt(n);
    return quality_around(1 - rest, hypot(noisy, sampled), -INFINITY, 1);
}

void quality_figures_of(struct quality_figures *figures,
                        const struct quality_plan *plan, const double *released)
{
    double deviation = quality_deviation(plan), variance = deviation * deviation;
    const struct counted counted = {plan, released, variance};
    *figures = (struct quality_figures){0};
    if (plan->classes > 0) {
        classify(figures, &counted);
        return;
    }
    figures->rmse = rmse(plan, released, variance);
    figures->r_squared = r_squared(plan, released, variance);
}
