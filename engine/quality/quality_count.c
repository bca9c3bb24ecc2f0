#include "engine/quality/quality_count.h"

#include <math.h>

#include "base/check.h"

/* Rounds to the nearest, so that at most 1 becomes at most QUALITY_ONE. */
static int64_t units(double share)
{
    return llrint(share * QUALITY_ONE);
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

void quality_count_class(const struct quality_plan *plan, int64_t *counts,
                         uint32_t truth, const double *probabilities,
                         uint32_t predicted)
{
    size_t classes = plan->classes;
    CHECK(truth < classes && predicted < classes);
    bool of_one = classes == 2;
    double score = probabilities[of_one ? 1 : predicted];
    bool event = of_one ? truth == 1 : truth == predicted;
    counts[truth * classes + predicted] += QUALITY_ONE;
    if (!isnan(score))
        counts[classes * classes + (event ? QUALITY_BINS : 0) + bin_of(score)] +=
            QUALITY_ONE;
}

void quality_count_value(const struct quality_plan *plan, int64_t *counts, double value,
                         double predicted)
{
    double y = within(value, -1, 1);
    double error = (predicted - y) / plan->error_clip; /* in clips */
    counts[1] += units(y);
    counts[2] += units(y * y);
    if (isnan(error))
        return;
    error = within(error, -1, 1);
    counts[0] += units(error * error);
    counts[QUALITY_MOMENTS + bin_of((error + 1) / 2)] += QUALITY_ONE;
}
