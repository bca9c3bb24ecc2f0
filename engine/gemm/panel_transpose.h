/*
 * panel_transpose.h - transposes rows into the columns of a panel, for the kernels with
 * vectors. It runs on processors with AVX2.
 *
 * Threads: as gemm_kernel.h.
 */
#ifndef ENGINE_GEMM_PANEL_TRANSPOSE_H
#define ENGINE_GEMM_PANEL_TRANSPOSE_H

#include "base/processor.h"
#include "engine/gemm/gemm_kernel.h"

#if PROCESSOR_X86_64
/* The transpose function of gemm_kernel.h. */
void panel_transpose(float *panel, struct product_source from);
#endif

#endif
