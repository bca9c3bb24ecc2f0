#include "engine/dp/algorithms/adp_adagrad_norm.h"

#include <math.h>

void adp_adagrad_norm_take(struct adp_adagrad_norm *rule, uint64_t step,
                           double released_square)
{
    double beta = fmax(rule->gain / (double)(step % rule->epoch + 1), 1);
    double value = fmax(beta * fmax(released_square, 0), rule->floor);
    rule->square += fmin(value, beta * rule->clip_square);
}

double adp_adagrad_norm_divisor(const struct adp_adagrad_norm *rule)
{
    return sqrt(rule->square);
}
