/*
 * fourier.h - discrete Fourier transforms of the columns of a matrix of complex floats,
 * of any length, not only powers of two.
 *
 *   to[k] = sum over n of from[n] e^(-2 pi i k n / length)     for every column at once
 *
 * A length n = a b is transformed in two stages of a and b terms (Cooley and Tukey
 * 1965), with a the greatest divisor up to its square root: 40 costs 5 + 8 products a
 * number and not 40. Exchanging real and imaginary parts of input and output gives the
 * inverse without its factor 1 / length.
 *
 * Every number is a sum in a fixed order of products of its own column, without fused
 * multiplications, so the result for a record is the same at every place in a batch.
 *
 * Threads: constant once created.
 */
#ifndef ENGINE_NN_LAYERS_FOURIER_H
#define ENGINE_NN_LAYERS_FOURIER_H

#include <stddef.h>

struct fourier; /* opaque */

/* The length of a row is a multiple of this many floats. */
enum { FOURIER_LANES = 8 };

static inline size_t fourier_stride(size_t width)
{
    return (width + FOURIER_LANES - 1) / FOURIER_LANES * FOURIER_LANES;
}

/* A complex matrix, row by row: its real parts, and its imaginary parts. */
struct planes {
    float *re, *im;
};

/* NULL: no memory. */
struct fourier *fourier_create(size_t length);
void fourier_destroy(struct fourier *fourier); /* NULL is allowed */

/* Returns the number of products per number of the result. */
size_t fourier_terms(const struct fourier *fourier);

/*   to, from, scratch  (length, stride); none overlaps another
 *   stride             a multiple of FOURIER_LANES */
void fourier_columns(const struct fourier *fourier, struct planes to,
                     struct planes from, size_t stride, struct planes scratch);

#endif
