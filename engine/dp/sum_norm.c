#include "engine/dp/sum_norm.h"

#include <math.h>

__extension__ typedef unsigned __int128 wide;

enum status norm_grid_plan(struct norm_grid *out, const struct grid *grid,
                           double noise_multiplier, double batch, struct error *error)
{
    double delta = GRID_NOISE_STDDEV / grid->multiplier * (1 + 0x1p-51);
    double limit = 2 * batch * delta; /* a mean of clipped gradients is shorter */
    double reach = GRID_NOISE_STDDEV / noise_multiplier * (1 - 0x1p-48) - 1;
    double unit = reach / (delta + limit * 0x1p-50) * (1 - 0x1p-48);
    if (!(noise_multiplier > 0 && reach >= 1 && limit <= 0x1p62 &&
          unit * limit + 0x1p41 <= 0x1p62))
        return error_set(error, ST_INVALID,
                         "no norm of this batch can be released at noise multiplier "
                         "%.6g",
                         noise_multiplier);
    *out = (struct norm_grid){.unit = unit,
                              .limit = limit,
                              .scale = unit * grid->scale,
                              .multiplier = GRID_NOISE_STDDEV /
                                            (unit * (delta + limit * 0x1p-50) + 1) *
                                            (1 - 0x1p-48)};
    return ST_OK;
}

/* The sum of squares. It is exact until it is beyond any limit, which is at most 2^62. */
static wide squares(const int64_t *sum, size_t count)
{
    wide total = 0;
    for (size_t j = 0; j < count && total >> 126 == 0; j++) {
        uint64_t size = sum[j] < 0 ? 0 - (uint64_t)sum[j] : (uint64_t)sum[j];
        total += (wide)size * size;
    }
    return total;
}

int64_t norm_measure(const struct norm_grid *norm, const int64_t *sum, size_t count)
{
    double length = sqrt((double)squares(sum, count));
    return (int64_t)rint(norm->unit * fmin(length, norm->limit));
}

double norm_joint_multiplier(double sum_multiplier, double norm_multiplier)
{
    return 1 / sqrt(1 / (sum_multiplier * sum_multiplier) +
                    1 / (norm_multiplier * norm_multiplier));
}
