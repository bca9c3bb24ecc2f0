#include "engine/dp/sum_norm.h"

#include <math.h>

enum { LIMB_BITS = 32, BEYOND = 126 };

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

/* A limit is at most 2^62, so squares from 2^124 on need not be exact. */
struct norm_squares norm_squares_of(const int64_t *sum, size_t count)
{
    struct norm_squares squares;
    wide total = 0;
    for (size_t j = 0; j < count && total >> BEYOND == 0; j++) {
        uint64_t size = sum[j] < 0 ? 0 - (uint64_t)sum[j] : (uint64_t)sum[j];
        total += (wide)size * size;
    }
    for (size_t k = 0; k < NORM_LIMBS; k++, total >>= LIMB_BITS)
        squares.limbs[k] = (int64_t)(total & UINT32_MAX);
    return squares;
}

/* Each limb may exceed 32 bits. If the highest limb is too large, the sum is beyond any
 * limit. */
static double length_of(const struct norm_squares *squares)
{
    wide total = 0;
    int64_t highest = squares->limbs[NORM_LIMBS - 1];
    if (highest >> (BEYOND - (NORM_LIMBS - 1) * LIMB_BITS) != 0)
        return INFINITY;
    for (size_t k = NORM_LIMBS; k-- > 0;)
        total = (total << LIMB_BITS) + (uint64_t)squares->limbs[k];
    return sqrt((double)total);
}

int64_t norm_measure(const struct norm_grid *norm, const struct norm_squares *squares)
{
    double length = length_of(squares);
    return (int64_t)rint(norm->unit * fmin(length, norm->limit));
}

double norm_joint_multiplier(double sum_multiplier, double norm_multiplier)
{
    return 1 / sqrt(1 / (sum_multiplier * sum_multiplier) +
                    1 / (norm_multiplier * norm_multiplier));
}
