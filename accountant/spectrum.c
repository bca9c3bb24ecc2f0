#include "accountant/spectrum.h"

#include <float.h>
#include <math.h>

/* This never overflows, as spectra are those of measures of mass 1. */
double spectrum_size(struct spectrum_value v)
{
    return sqrt(v.real * v.real + v.imaginary * v.imaginary);
}

struct spectrum_value spectrum_power(struct spectrum_value v, double steps)
{
    static const double lost = -200; /* exponents below it are nothing */
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

struct spectrum_value spectrum_product(struct spectrum_value a, struct spectrum_value b)
{
    double a_size = spectrum_size(a), b_size = spectrum_size(b);
    return (struct spectrum_value){a.real * b.real - a.imaginary * b.imaginary,
                                   a.real * b.imaginary + a.imaginary * b.real,
                                   a.error * (b_size + b.error) + b.error * a_size +
                                       4 * DBL_EPSILON * a_size * b_size};
}

struct spectrum_value spectrum_unpack(const double *real, const double *imaginary,
                                      size_t k, size_t minus, size_t side)
{
    if (side == 0)
        return (struct spectrum_value){(real[k] + real[minus]) / 2,
                                       (imaginary[k] - imaginary[minus]) / 2, 0};
    return (struct spectrum_value){(imaginary[k] + imaginary[minus]) / 2,
                                   (real[minus] - real[k]) / 2, 0};
}

void spectrum_pack(double *real, double *imaginary, size_t k, size_t minus,
                   const struct spectrum_value v[2])
{
    real[k] = v[0].real - v[1].imaginary;
    imaginary[k] = v[0].imaginary + v[1].real;
    real[minus] = v[0].real + v[1].imaginary;
    imaginary[minus] = v[1].real - v[0].imaginary;
}
