/*
 * spectral.h - upper bounds of the spectral norm of a weight matrix, proved to be
 * bounds (papers/valueclip.md 1.10). Power iteration would not do: it gives lower
 * estimates.
 *
 *   N = tr((W W^T)^(2^7))^(2^-8)          if the smaller side is at most `side`; too
 *                                         large by a factor of at most side^(2^-8),
 *                                         2.75 % at 1024
 *   N = min(|W|_F, sqrt(|W|_1 |W|_inf))   otherwise
 *
 * Each is multiplied by 1 + 1e-9, which covers far more than the rounding errors in
 * double.
 *
 * Threads: a struct spectral belongs to one thread at a time.
 */
#ifndef ENGINE_NN_SPECTRAL_H
#define ENGINE_NN_SPECTRAL_H

#include <stddef.h>

#include "base/status.h"

enum { SPECTRAL_SIDE_MAX = 1024 };

struct spectral; /* scratch, opaque */

/* side: at most SPECTRAL_SIDE_MAX.
 *   ST_NO_MEMORY  no room for its matrices */
enum status spectral_create(struct spectral **out, size_t side, struct error *error);
void spectral_destroy(struct spectral *spectral); /* NULL is allowed */

/* Returns the bytes of its matrices; 0 for NULL. */
size_t spectral_size(const struct spectral *spectral);

/* An upper bound of |W|_2 of the (rows, columns) matrix w; infinite if an entry is not
 * finite. */
struct weight_shape {
    size_t rows, columns;
};
double spectral_bound(struct spectral *spectral, const float *w,
                      struct weight_shape shape);

#endif
