/*
 * blas.h - the process state that float32 products depend on (noise.md 2.1, E3).
 */
#ifndef ENGINE_ROUNDING_BLAS_H
#define ENGINE_ROUNDING_BLAS_H

#include <stdbool.h>

/* Makes products run only on the calling thread. Call it before any product runs. */
void blas_use_one_thread(void);

/* The name of the kernels in use, "SkylakeX" or "Haswell" for instance; static text. */
const char *blas_kernel(void);

/* Returns whether the calling thread rounds to nearest and neither flushes results
 * below the normal range to zero nor reads them as zero. */
bool blas_rounding_is_exact(void);

#endif
