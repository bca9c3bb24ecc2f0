/*
 * spectrum.h - values of a Fourier spectrum with bounds on their errors: their powers and
 * products; and two real signals in one complex transform.
 *
 * A signal x + i y of two real ones has the transform X + i Y. As the transform of a real
 * signal at -k is the conjugate of that at k, the two are found again from the places of
 * k and -k.
 *
 * Threads: pure.
 */
#ifndef ACCOUNTANT_SPECTRUM_H
#define ACCOUNTANT_SPECTRUM_H

#include <stddef.h>

struct spectrum_value { /* at one frequency; the true value is within error of it */
    double real, imaginary, error;
};

double spectrum_size(struct spectrum_value v);

/* v^steps. Its error also bounds what the true value may make of it. */
struct spectrum_value spectrum_power(struct spectrum_value v, double steps);

struct spectrum_value spectrum_product(struct spectrum_value a,
                                       struct spectrum_value b);

/* The value of the first real signal (side 0) or the second (side 1) at the frequency
 * whose places are k and minus; its error is 0. */
struct spectrum_value spectrum_unpack(const double *real, const double *imaginary,
                                      size_t k, size_t minus, size_t side);

/* Puts the values of both real signals at a frequency into its places k and minus. */
void spectrum_pack(double *real, double *imaginary, size_t k, size_t minus,
                   const struct spectrum_value v[2]);

#endif
