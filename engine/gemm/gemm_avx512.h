/*
 * gemm_avx512.h - the tiles of a product, with AVX-512: fourteen rows of 32 columns.
 *
 * Threads: as gemm_kernel.h.
 */
#ifndef ENGINE_GEMM_GEMM_AVX512_H
#define ENGINE_GEMM_GEMM_AVX512_H

#include "base/processor.h"
#include "engine/gemm/gemm_kernel.h"

#if PROCESSOR_X86_64
extern const struct gemm_kernel gemm_avx512;
#endif

#endif
