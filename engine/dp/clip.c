#include "engine/dp/clip.h"

#include <math.h>
#include <stdbool.h>

/* Rounding w b to float32 may lengthen a vector by 2^-24, and norms are known to 2^-24:
 * this much is left for both (NOISE.md 2.4, proof). */
static const double clip_margin = 1 - 0x1p-22;

static float toward_zero(double value)
{
    float rounded = (float)value;
    return (double)rounded > value ? nextafterf(rounded, 0) : rounded;
}

void clip_flat(float *weights, const struct measures *measures, const void *context)
{
    const struct flat_clip *clip = context;
    double norm_max = clip->clip_norm, spread_max = clip->spread * clip->clip_norm;
    for (size_t i = 0; i < measures->count; i++) {
        double norm = measures->norms[i], spread = measures->spreads[i];
        bool inside = norm <= norm_max && spread <= spread_max;
        double weight = fmin(1, fmin(norm_max / norm, spread_max / spread));
        weights[i] = inside ? 1.0F : toward_zero(clip_margin * weight);
    }
}

void clip_automatic(float *weights, const struct measures *measures,
                    const void *context)
{
    const struct automatic_clip *clip = context;
    double spread_max = clip->spread * clip->clip_norm;
    for (size_t i = 0; i < measures->count; i++) {
        double weight = fmin(clip->clip_norm / (measures->norms[i] + clip->gamma),
                             spread_max / measures->spreads[i]);
        weights[i] = toward_zero(clip_margin * weight);
    }
}
