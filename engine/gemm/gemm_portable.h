/*
 * gemm_portable.h - the tiles of a product, with fmaf, for any processor. It is the
 * reference for the other kernels. If the processor has no such instruction (x86 before
 * 2013), fmaf is a library function, and slow.
 *
 * Threads: as gemm_kernel.h.
 */
#ifndef ENGINE_GEMM_GEMM_PORTABLE_H
#define ENGINE_GEMM_GEMM_PORTABLE_H

#include "engine/gemm/gemm_kernel.h"

extern const struct gemm_kernel gemm_portable;

#endif
