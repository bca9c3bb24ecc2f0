/*
 * gemm_choice.h - the kernels of this program, and the one that this processor runs.
 *
 * Threads: pure functions of their arguments and of the processor.
 */
#ifndef ENGINE_GEMM_GEMM_CHOICE_H
#define ENGINE_GEMM_GEMM_CHOICE_H

#include "engine/gemm/gemm_kernel.h"

/* The fastest kernel that this processor can run. */
const struct gemm_kernel *gemm_choice_best(void);

/* The kernels of this program, the fastest first; NULL behind the last. This processor may
 * lack what one of them needs. */
const struct gemm_kernel *gemm_choice_at(size_t index);

#endif
