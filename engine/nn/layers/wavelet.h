/*
 * wavelet.h - the filters of the scattering transform (Mallat 2012, arXiv 1101.2286;
 * Bruna and Mallat 2013, arXiv 1203.1513), with the constants of Kymatio (Andreux et
 * al. 2020, arXiv 1812.11214): Morlet wavelets of two scales and eight directions, and
 * a Gaussian.
 *
 *   direction l            theta = (3 - l) pi / 8
 *   frequency of scale j   xi = 3 pi / 4 / 2^j along theta
 *   envelope g of scale j  a Gaussian of deviation 0.8 x 2^j along theta, and twice
 *                          that across theta
 *   wavelet                psi = g (e^(i xi x) - K), K such that its sum is zero
 *   low pass               phi = a Gaussian of deviation 1.6
 *
 * All filters are periodic, on a torus as large as the image. The spectrum of psi is
 * real: the Gaussian around xi minus K times the one around zero, summed over all
 * shifts by whole turns.
 *
 * Threads: pure functions of their arguments.
 */
#ifndef ENGINE_NN_LAYERS_WAVELET_H
#define ENGINE_NN_LAYERS_WAVELET_H

#include <stddef.h>

enum { WAVELET_SCALES = 2, WAVELET_DIRECTIONS = 8 };

struct wavelet {
    size_t scale, direction;
};

struct torus {
    size_t height, width;
};

struct wavelet_spectrum { /* the constants of a wavelet, for all frequencies */
    struct torus torus;
    double sine, cosine; /* of theta */
    double along;        /* deviation of the envelope along theta */
    double xi, less;     /* less: K above */
};

struct wavelet_spectrum wavelet_spectrum_of(struct wavelet wavelet, struct torus torus);

/* The spectrum at frequency (2 pi y / height, 2 pi x / width). */
double wavelet_spectrum_at(const struct wavelet_spectrum *spectrum, size_t y, size_t x);

/* phi at a distance, on a circle of length. A low pass of an image is the product of
 * two of these, one along each axis. If the image has only every step-th pixel, each
 * has the factor step. */
double wavelet_low_pass(size_t distance, size_t length);

#endif
