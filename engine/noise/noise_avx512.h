/*
 * noise_avx512.h - the arithmetic of a chunk with AVX-512 (F, DQ, VL, IFMA): eight
 * trials a vector.
 *
 * Threads: as noise_kernel.h.
 */
#ifndef ENGINE_NOISE_NOISE_AVX512_H
#define ENGINE_NOISE_NOISE_AVX512_H

#include "base/processor.h"
#include "engine/noise/noise_kernel.h"

#if PROCESSOR_X86_64
extern const struct noise_kernel noise_avx512;
#endif

#endif
