/*
 * noise_avx2.h - the arithmetic of a chunk with AVX2: four trials a vector.
 *
 * Threads: as noise_kernel.h.
 */
#ifndef ENGINE_NOISE_NOISE_AVX2_H
#define ENGINE_NOISE_NOISE_AVX2_H

#include "engine/noise/noise_kernel.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define NOISE_HAS_AVX2 1
extern const struct noise_kernel noise_avx2;
#else
#define NOISE_HAS_AVX2 0
#endif

#endif
