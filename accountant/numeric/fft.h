/*
 * fft.h - discrete Fourier transform of a power of two, in double, with its error
 * bound.
 *
 *   forward  X_k = sum_j x_j exp(-2 pi i jk / n)  in bit-reversed order
 *   inverse  x_j = sum_k X_k exp(+2 pi i jk / n)  from that order; no factor 1/n
 *
 * Real and imaginary parts are separate arrays, transformed in place. In bit-reversed
 * order place 0 holds frequency 0 and the frequencies k and -k are at fft_mirror of
 * each other.
 *
 * Rounding: each of the log2(n) levels adds, multiplies by a factor within 8 units of
 * roundoff and adds again, so that by induction every output is within
 *   fft_error(n) * sum_j |x_j|
 * of the exact one (n up to 2^40; Higham 2002, 24.1 in the max norm).
 *
 * Threads: a struct fft is read only once created. Ownership: arrays are the caller's.
 */
#ifndef ACCOUNTANT_NUMERIC_FFT_H
#define ACCOUNTANT_NUMERIC_FFT_H

#include <stddef.h>

struct fft;

/* For transforms of n = 2^k, 1 <= n <= 2^30; NULL if there is no memory. */
struct fft *fft_create(size_t n);
void fft_destroy(struct fft *fft); /* NULL is allowed */

void fft_forward(const struct fft *fft, double *real, double *imaginary);
void fft_inverse(const struct fft *fft, double *real, double *imaginary);

double fft_error(size_t n);

/* Place of the frequency -k, given the place of k. */
size_t fft_mirror(size_t place);

#endif
