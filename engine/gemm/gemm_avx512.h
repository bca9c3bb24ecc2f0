/*
 * gemm_avx512.h - the tiles of a product, with AVX-512: fourteen rows of 32 columns.
 *
 * Threads: as gemm_kernel.h.
 */
#ifndef ENGINE_GEMM_GEMM_AVX512_H
#define ENGINE_GEMM_GEMM_AVX512_H

#include "engine/gemm/gemm_kernel.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define PRODUCT_HAS_AVX512 1
extern const struct gemm_kernel gemm_avx512;
#else
#define PRODUCT_HAS_AVX512 0
#endif

#endif
