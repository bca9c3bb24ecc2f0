/*
 * gemm_avx2.h - the tiles of a product, with AVX2 and FMA: six rows of sixteen columns.
 *
 * Threads: as gemm_kernel.h.
 */
#ifndef ENGINE_GEMM_GEMM_AVX2_H
#define ENGINE_GEMM_GEMM_AVX2_H

#include "base/processor.h"
#include "engine/gemm/gemm_kernel.h"

#if PROCESSOR_X86_64
extern const struct gemm_kernel gemm_avx2;
#endif

#endif
