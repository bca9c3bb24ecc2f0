/*
 * gemm_choice.h - the compiled kernels, and the one that runs on this processor.
 *
 * Threads: pure functions of their arguments and of the processor.
 */
#ifndef ENGINE_GEMM_GEMM_CHOICE_H
#define ENGINE_GEMM_GEMM_CHOICE_H

#include "engine/gemm/gemm_kernel.h"

/* The fastest kernel that this processor can run. */
const struct gemm_kernel *gemm_choice_best(void);

/* The compiled kernels, the fastest first; NULL after the last. This processor may lack
 * the instructions of some of them. */
const struct gemm_kernel *gemm_choice_at(size_t index);

#endif
