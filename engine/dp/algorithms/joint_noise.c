#include "engine/dp/algorithms/joint_noise.h"

#include <math.h>

double joint_noise_gradient(double noise_multiplier, double counts_noise)
{
    double sigma = noise_multiplier, h = counts_noise;
    return h > sigma ? sigma * h / sqrt((h - sigma) * (h + sigma)) : (double)INFINITY;
}

bool joint_noise_suffices(const struct grid *gradient, const struct grid *counts,
                          double noise_multiplier)
{
    double g = gradient->multiplier, h = counts->multiplier;
    double joint = 1 / sqrt(1 / (g * g) + 1 / (h * h));
    return joint * (1 - 0x1p-50) >= noise_multiplier;
}
