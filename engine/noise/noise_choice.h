/*
 * noise_choice.h - which kernel (noise_kernel.h) does the arithmetic of a chunk.
 *
 * Threads: pure.
 */
#ifndef ENGINE_NOISE_NOISE_CHOICE_H
#define ENGINE_NOISE_NOISE_CHOICE_H

#include <stddef.h>

#include "engine/noise/noise_kernel.h"

/* The kernels that were compiled, the best first; NULL behind the last one. The last does
 * nothing, which leaves all of it to the portable loops of noise_chunk.c. */
const struct noise_kernel *noise_choice_at(size_t index);

/* The first of them that this processor can run. */
const struct noise_kernel *noise_choice_best(void);

#endif
