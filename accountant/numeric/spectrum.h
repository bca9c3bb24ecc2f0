/*
 * spectrum.h - values of a Fourier spectrum with bounds on their errors: their powers
 * and products; and two real signals in one complex transform.
 *
 * A signal x + i y of two real ones has the transform X + i Y. As the transform of a
 * real signal at -k is the conjugate of that at k, the two are found again from the
 * places of k and -k.
 *
 * They are inline because the composition of losses spends its time in them.
 *
 * Threads: pure.
 */
#ifndef ACCOUNTANT_NUMERIC_SPECTRUM_H
#define ACCOUNTANT_NUMERIC_SPECTRUM_H

#include <float.h>
#include <math.h>
#include <stddef.h>

struct spectrum_value { /* at one frequency; the true value is within error of it */
    double real, imaginary, error;
};

static inline double spectrum_size(struct spectrum_value v)
{
    return sqrt(v.real * v.real + v.imaginary * v.imaginary);
}

/* v^steps. Its error also bounds the power of the true value. */
static inline struct spectrum_value spectrum_power(struct spectrum_value v,
                                                   double steps)
{
    static const double lost = -200; /* smaller exponents count as 0 */
    double size = spectrum_size(v);
    double bound_log = steps * log(size + v.error);
    if (!(bound_log > lost))
        return (struct spectrum_value){0, 0, exp(lost)};
    if (size <= v.error)
        return (struct spectrum_value){0, 0, exp(bound_log)};
    double size_log = steps * log(size);
    double angle = fmod(steps * atan2(v.imaginary, v.real), 2 * 3.14159265358979323846);
    double power = exp(size_log);
    double rounding = 12 * DBL_EPSILON * (steps + fabs(size_log) + 4);
    double error = power * expm1(bound_log - size_log + rounding);
    return (struct spectrum_value){power * cos(angle), power * sin(angle), error};
}

static inline struct spectrum_value spectrum_product(struct spectrum_value a,
                                                     struct spectrum_value b)
{
    double a_size = spectrum_size(a), b_size = spectrum_size(b);
    return (struct spectrum_value){a.real * b.real - a.imaginary * b.imaginary,
                                   a.real * b.imaginary + a.imaginary * b.real,
                                   a.error * (b_size + b.error) + b.error * a_size +
                                       4 * DBL_EPSILON * a_size * b_size};
}

/* The value of the first real signal (side 0) or the second (side 1) at the frequency
 * whose places are k and minus; its error is 0. */
static inline struct spectrum_value spectrum_unpack(const double *real,
                                                    const double *imaginary, size_t k,
                                                    size_t minus, size_t side)
{
    if (side == 0)
        return (struct spectrum_value){(real[k] + real[minus]) / 2,
                                       (imaginary[k] - imaginary[minus]) / 2, 0};
    return (struct spectrum_value){(imaginary[k] + imaginary[minus]) / 2,
                                   (real[minus] - real[k]) / 2, 0};
}

/* Puts the values of both real signals at a frequency into its places k and minus. */
static inline void spectrum_pack(double *real, double *imaginary, size_t k,
                                 size_t minus, const struct spectrum_value v[2])
{
    real[k] = v[0].real - v[1].imaginary;
    imaginary[k] = v[0].imaginary + v[1].real;
    real[minus] = v[0].real + v[1].imaginary;
    imaginary[minus] = v[1].real - v[0].imaginary;
}

#endif
