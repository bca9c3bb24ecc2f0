#include "engine/dp/algorithms/adp_noise_follow.h"

#include <math.h>

static const double ratio = 1.025;

double adp_noise_follow_level(const struct adp_noise_follow *rule, unsigned level)
{
    return rule->first * pow(ratio, level);
}

double adp_noise_follow_at(const struct adp_noise_follow *rule, double square)
{
    double rise = rule->power / 2 * log(square / rule->square_first);
    return adp_noise_follow_level(rule, (unsigned)fmax(floor(rise / log(ratio)), 0));
}
