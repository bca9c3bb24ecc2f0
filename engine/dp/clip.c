#include "engine/dp/clip.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* The margin of a clip factor: rounding w b to float32 may lengthen a vector by 2^-24,
 * and norms are accurate to 2^-24 (noise.md 2.4, proof). */
static const double clip_margin = 1 - 0x1p-22;

/* Rounds a non-negative value. It has no branch, because half of all values round up,
 * at random. */
static inline float toward_zero(double value)
{
    float rounded = (float)value;
    uint32_t bits;
    memcpy(&bits, &rounded, sizeof bits);
    bits -= (double)rounded > value;
    memcpy(&rounded, &bits, sizeof bits);
    return rounded;
}

static inline double least(double a, double b)
{
    return a < b ? a : b;
}

static inline float flat_factor(const struct flat_clip *clip, double norm,
                                double spread)
{
    double norm_max = clip->clip_norm, spread_max = clip->spread * clip->clip_norm;
    bool inside = (norm <= norm_max) & (spread <= spread_max);
    double factor = least(1, least(norm_max / norm, spread_max / spread));
    float clipped = toward_zero(clip_margin * factor);
    return inside ? 1.0F : clipped;
}

void clip_flat(float *clip_factors, const struct measures *measures,
               const void *context)
{
    const struct flat_clip *clip = context;
    for (size_t i = 0; i < measures->count; i++)
        clip_factors[i] = flat_factor(clip, measures->norms[i], measures->spreads[i]);
}

void clip_shared(float *clip_factors, const struct measures *measures,
                 const void *context)
{
    const struct shared_clip *shared = context;
    clip_flat(clip_factors, measures, &shared->clip);
    if (shared->share == 1)
        return;
    for (size_t i = 0; i < measures->count; i++)
        clip_factors[i] =
            toward_zero(clip_margin * shared->share * (double)clip_factors[i]);
}

/* The factor that shortens a gradient to length limit, by its norm and its spread. */
static double budget_share_of(double limit, double norm, double spread, double kappa)
{
    return fmin(limit / norm, kappa * limit / spread);
}

void clip_rest(float *clip_factors, const struct measures *measures,
               const void *context)
{
    const struct rest_clip *rest = context;
    double kappa = rest->clip.spread;
    for (size_t i = 0; i < measures->count; i++) {
        double norm = measures->norms[i], spread = measures->spreads[i];
        double taken = (double)flat_factor(&rest->clip, norm, spread);
        double left = 1 - taken;
        if (rest->whole > 0) {
            left = fmin(1, budget_share_of(rest->whole, norm, spread, kappa)) - taken;
            left = fmin(left, budget_share_of(rest->rest, norm, spread, kappa));
        }
        clip_factors[i] =
            left > 0 && taken > 0 ? toward_zero((1 - 0x1p-21) * left / taken) : 0;
    }
}

void clip_automatic(float *clip_factors, const struct measures *measures,
                    const void *context)
{
    const struct automatic_clip *clip = context;
    double spread_max = clip->spread * clip->clip_norm;
    for (size_t i = 0; i < measures->count; i++) {
        double factor = fmin(clip->clip_norm / (measures->norms[i] + clip->gamma),
                             spread_max / measures->spreads[i]);
        clip_factors[i] = toward_zero(clip_margin * factor);
    }
}
