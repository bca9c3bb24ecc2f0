/*
 * scattering.h - the scattering transform of one channel of an image, of two scales and
 * eight directions (wavelet.h), as a body for models of images (Oyallon and Mallat 2015,
 * arXiv 1412.8659; Tramer and Boneh 2021, arXiv 2011.11660).
 *
 *   x (height, width)   continued by 4 pixels on every side by reflection, and then around
 *   map 0:              x * phi
 *   maps 1 .. 8:        |x * psi(0, l)| * phi
 *   maps 9 .. 16:       |x * psi(1, l)| * phi, the modulus at every second pixel
 *   map 17 + 8 l + m:   ||x * psi(0, l)| * psi(1, m)| * phi, likewise
 *
 * with * around the torus, at every fourth pixel, without the outer ring: each map is
 * (height / 4, width / 4). It has no parameters. Against Kymatio's Scattering2D(J=2, L=8)
 * it differs in that the low pass of images at every second pixel is the Gaussian itself;
 * Kymatio cuts its spectrum off.
 *
 * What a record gets depends on that record alone: sums in a fixed order, in float
 * (fourier.h), and square roots, which are rounded correctly.
 *
 * Threads: any may run it, for scratch belongs to the caller, and it is constant but for its
 * filters, which the first run makes.
 */
#ifndef ENGINE_NN_LAYERS_SCATTERING_H
#define ENGINE_NN_LAYERS_SCATTERING_H

#include <stddef.h>

#include "engine/nn/layers/wavelet.h"

struct scattering; /* opaque */

enum {
    SCATTERING_STEP = 4, /* pixels of the image to one of a map, and of its margin */
    SCATTERING_MAPS =
        1 + 2 * WAVELET_DIRECTIONS + WAVELET_DIRECTIONS * WAVELET_DIRECTIONS,
    SCATTERING_SIDE_MIN =
        2 * SCATTERING_STEP,  /* a reflection needs more than its margin */
    SCATTERING_SIDE_MAX = 256 /* filters take 4.5 MB, from the first run on */
};

/* For images of height x width, multiples of SCATTERING_STEP in the range above. NULL: no
 * memory. */
struct scattering *scattering_create(size_t height, size_t width);
void scattering_destroy(struct scattering *scattering); /* NULL is allowed */

size_t scattering_positions(const struct scattering *scattering); /* of a map */

/* What the transforms of a channel take; filters and low passes take a tenth of it. */
double scattering_flops(const struct scattering *scattering);

/* How many floats scattering_run needs, 64-byte aligned. */
size_t scattering_scratch(const struct scattering *scattering);

/* A channel: pixel t is first[t x step], less centre. */
struct scattering_channel {
    const float *first;
    size_t step;
    float centre;
};

/* maps  (SCATTERING_MAPS, scattering_positions) */
void scattering_run(const struct scattering *scattering, float *maps,
                    struct scattering_channel channel, float *scratch);

#endif
