/*
 * noise_avx2.h - the arithmetic of a chunk with AVX2: four trials a vector.
 *
 * Threads: as noise_kernel.h.
 */
#ifndef ENGINE_NOISE_NOISE_AVX2_H
#define ENGINE_NOISE_NOISE_AVX2_H

#include "base/processor.h"
#include "engine/noise/noise_kernel.h"

#if PROCESSOR_X86_64
extern const struct noise_kernel noise_avx2;
#endif

#endif
