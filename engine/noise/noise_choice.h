/*
 * noise_choice.h - which kernel (noise_kernel.h) does the arithmetic of a chunk.
 *
 * Threads: pure.
 */
#ifndef ENGINE_NOISE_NOISE_CHOICE_H
#define ENGINE_NOISE_NOISE_CHOICE_H

#include <stddef.h>

#include "engine/noise/noise_kernel.h"

/* The compiled kernels, the best first; NULL after the last one. The last kernel does
 * nothing, so that the portable loops of noise_chunk.c do all the work. */
const struct noise_kernel *noise_choice_at(size_t index);

/* The first of them that this processor can run. */
const struct noise_kernel *noise_choice_best(void);

#endif
