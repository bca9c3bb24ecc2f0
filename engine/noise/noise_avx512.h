/*
 * noise_avx512.h - the arithmetic of a chunk with AVX-512 (F, DQ, VL, IFMA): eight
 * trials a vector.
 *
 * Threads: as noise_kernel.h.
 */
#ifndef ENGINE_NOISE_NOISE_AVX512_H
#define ENGINE_NOISE_NOISE_AVX512_H

#include "engine/noise/noise_kernel.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define NOISE_HAS_AVX512 1
extern const struct noise_kernel noise_avx512;
#else
#define NOISE_HAS_AVX512 0
#endif

#endif
