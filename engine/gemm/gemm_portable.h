/*
 * gemm_portable.h - a product's tiles by fmaf, for any processor: what the other
 * kernels are measured by. Where the processor has no instruction for it (x86 before
 * 2013) fmaf is a function of the library, and slow.
 *
 * Threads: as gemm_kernel.h.
 */
#ifndef ENGINE_GEMM_GEMM_PORTABLE_H
#define ENGINE_GEMM_GEMM_PORTABLE_H

#include "engine/gemm/gemm_kernel.h"

extern const struct gemm_kernel gemm_portable;

#endif
