#include "engine/quality/quality_count.h"

#include <math.h>

#include "base/check.h"

/* Rounds to nearest, so that a share of at most 1 becomes at most weight. */
static int64_t units(double share, int64_t weight)
{
    return llrint(share * (double)weight);
}

static double within(double value, double low, double high)
{
    return fmin(fmax(value, low), high);
}

/* The bin of a share in [0, 1]. */
static size_t bin_of(double share)
{
    size_t bin = (size_t)(within(share, 0, 1) * QUALITY_BINS);
    return bin < QUALITY_BINS ? bin : QUALITY_BINS - 1;
}

static bool all_finite(const double *values, size_t count)
{
    bool finite = true;
    for (size_t k = 0; k < count; k++)
        finite &= isfinite(values[k]) != 0;
    return finite;
}

void quality_count_class(const struct quality_tally *tally, uint32_t truth,
                         const double *probabilities, uint32_t predicted)
{
    size_t classes = tally->plan->classes;
    int64_t *counts = tally->counts;
    CHECK(truth < classes && predicted < classes);
    bool answered = all_finite(probabilities, classes);
    predicted = answered ? predicted : (truth + 1) % (uint32_t)classes;
    bool of_one = classes == 2;
    double score = probabilities[of_one ? 1 : predicted];
    bool event = of_one ? truth == 1 : truth == predicted;
    counts[truth * classes + predicted] += tally->weight;
    if (answered)
        counts[classes * classes + (event ? QUALITY_BINS : 0) + bin_of(score)] +=
            tally->weight;
}

void quality_count_value(const struct quality_tally *tally, double value,
                         double predicted)
{
    int64_t *counts = tally->counts;
    double y = within(value, -1, 1);
    double error = (predicted - y) / tally->plan->error_clip; /* in clips */
    counts[1] += units(y, tally->weight);
    counts[2] += units(y * y, tally->weight);
    error = isfinite(error) ? within(error, -1, 1) : 1;
    counts[0] += units(error * error, tally->weight);
    counts[QUALITY_MOMENTS + bin_of((error + 1) / 2)] += tally->weight;
}
