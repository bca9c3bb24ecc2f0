/*
 * blas_kernel.h - chooses the kernels with which OpenBLAS multiplies matrices.
 *
 * Debian's OpenBLAS 0.3.21 does not know newer processors and uses AVX2 kernels on
 * them; with AVX-512 its SkylakeX kernels are about twice as fast (architecture.md 5).
 * We use it for products in double, in convolutions; engine/gemm does those in
 * float. The library reads OPENBLAS_CORETYPE when it loads, so the variable must be in
 * the environment before.
 */
#ifndef SERVICE_PROCESS_BLAS_KERNEL_H
#define SERVICE_PROCESS_BLAS_KERNEL_H

#include <stdbool.h>

/* Sets the environment variables that the library reads when it loads, for every
 * program that this process executes: one thread (our code splits the work,
 * architecture.md 5) and, if the processor has AVX-512 (F, DQ, BW, VL) and the
 * environment does not choose, SkylakeX kernels. Returns whether this changed any of
 * them. Must be called before the first thread begins. */
bool blas_kernel_choose(void);

/* Makes the choice effective for this program: if variables had to change, executes it
 * again, once. Returns if they are set already, or if the execution fails. Must be
 * called before the first thread begins. */
void blas_kernel_select(char **argv);

/* The choice in effect: the environment's, or "automatic". */
const char *blas_kernel_name(void);

#endif
