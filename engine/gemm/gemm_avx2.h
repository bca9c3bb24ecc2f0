/*
 * gemm_avx2.h - the tiles of a product, with AVX2 and FMA: six rows of sixteen columns.
 *
 * Threads: as gemm_kernel.h.
 */
#ifndef ENGINE_GEMM_GEMM_AVX2_H
#define ENGINE_GEMM_GEMM_AVX2_H

#include "engine/gemm/gemm_kernel.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define PRODUCT_HAS_AVX2 1
extern const struct gemm_kernel gemm_avx2;

/* The transpose function of this kernel, which other kernels use too. */
void gemm_avx2_transpose(float *panel, struct product_source from);
#else
#define PRODUCT_HAS_AVX2 0
#endif

#endif
