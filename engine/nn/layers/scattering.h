/*
 * scattering.h - the scattering transform of one channel of an image, of two scales and
 * eight directions (wavelet.h), as the first layers of models of images (Oyallon and
 * Mallat 2015, arXiv 1412.8659; Tramer and Boneh 2021, arXiv 2011.11660).
 *
 *   x (height, width)   extended by reflection by 4 pixels on every side, and then
 *                       periodic
 *   map 0:              x * phi
 *   maps 1 .. 8:        |x * psi(0, l)| * phi
 *   maps 9 .. 16:       |x * psi(1, l)| * phi, the modulus at every second pixel
 *   map 17 + 8 l + m:   ||x * psi(0, l)| * psi(1, m)| * phi, at every second pixel too
 *
 * where * is convolution on the torus. Maps have every fourth pixel, without the outer
 * ring: each map is (height / 4, width / 4). It has no parameters. Against Kymatio's
 * Scattering2D(J=2, L=8) it differs in that the low pass of images at every second
 * pixel is the Gaussian itself; Kymatio cuts its spectrum off.
 *
 * The result for a record depends only on that record: sums run in a fixed order, in
 * float (fourier.h), and square roots are rounded correctly.
 *
 * Threads: any number of threads may run one transform, because scratch belongs to the
 * caller. The transform is constant except for its filters, which the first run
 * computes.
 */
#ifndef ENGINE_NN_LAYERS_SCATTERING_H
#define ENGINE_NN_LAYERS_SCATTERING_H

#include <stddef.h>

#include "engine/nn/layers/wavelet.h"

struct scattering; /* opaque */

enum {
    SCATTERING_STEP = 4, /* pixels of the image per pixel of a map; width of the
                            margin */
    SCATTERING_MAPS =
        1 + 2 * WAVELET_DIRECTIONS + WAVELET_DIRECTIONS * WAVELET_DIRECTIONS,
    SCATTERING_SIDE_MIN =
        2 * SCATTERING_STEP,  /* a reflection needs more than its margin */
    SCATTERING_SIDE_MAX = 256 /* filters take 4.5 MB, from the first run on */
};

/* For images of height x width, multiples of SCATTERING_STEP in the range above. NULL:
 * no memory. */
struct scattering *scattering_create(size_t height, size_t width);
void scattering_destroy(struct scattering *scattering); /* NULL is allowed */

size_t scattering_positions(const struct scattering *scattering); /* of a map */

/* Returns the operations of the Fourier transforms of a channel. Filters and low passes
 * take a tenth of that. */
double scattering_flops(const struct scattering *scattering);

/* Returns how many floats of scratch scattering_run needs, 64-byte aligned. */
size_t scattering_scratch(const struct scattering *scattering);

/* A channel: pixel t is first[t x step] - centre. */
struct scattering_channel {
    const float *first;
    size_t step;
    float centre;
};

/* maps  (SCATTERING_MAPS, scattering_positions) */
void scattering_run(const struct scattering *scattering, float *maps,
                    struct scattering_channel channel, float *scratch);

#endif
