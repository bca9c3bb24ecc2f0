/*
 * round_up.h - sums and products of binary64 numbers rounded toward more privacy loss.
 *
 * Each is the least double that is not below the exact result, found by the error-free
 * transformations of Dekker and Knuth in the default rounding mode. Infinity stays
 * infinity. Arguments are >= 0 and never NaN.
 *
 * Threads: pure.
 */
#ifndef ACCOUNTANT_MECHANISMS_ROUND_UP_H
#define ACCOUNTANT_MECHANISMS_ROUND_UP_H

#include <float.h>
#include <math.h>
#include <stdint.h>

static inline double round_up_next(double value)
{
    return nextafter(value, INFINITY);
}

/* The least double >= a + b. */
static inline double round_up_add(double a, double b)
{
    double sum = a + b;
    double shift = sum - a;
    double lost = (a - (sum - shift)) + (b - shift);
    return lost > 0 ? round_up_next(sum) : sum;
}

/* A double >= a * b, the least one where the product is normal. */
static inline double round_up_mul(double a, double b)
{
    /* Below this the lost part of the product may itself underflow. */
    static const double fma_exact_min = 0x1p-960;
    if (a == 0 || b == 0)
        return 0;
    double product = a * b;
    double lost = fma(a, b, -product);
    return lost > 0 || product < fma_exact_min ? round_up_next(product) : product;
}

/* The least double >= count. */
static inline double round_up_count(uint64_t count)
{
    double value = (double)count;
    if (value >= 0x1p64)
        return value;
    return (uint64_t)value < count ? round_up_next(value) : value;
}

/* value * (1 + relative), rounded up: the top of an interval with that relative
 * error. */
static inline double round_up_error(double value, double relative)
{
    return round_up_mul(value, round_up_add(1, relative));
}

#endif
