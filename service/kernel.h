/*
 * kernel.h - which kernels OpenBLAS multiplies matrices with.
 *
 * Debian's OpenBLAS 0.3.21 does not know processors newer than it and falls back to
 * AVX2 kernels on them; with AVX-512 its SkylakeX kernels are about twice as fast
 * (architecture.md 5). It multiplies in double, for convolutions; what is in float is
 * engine/product's. The choice is read from OPENBLAS_CORETYPE when the library loads, so it
 * must be in the environment before.
 */
#ifndef SERVICE_KERNEL_H
#define SERVICE_KERNEL_H

#include <stdbool.h>

/* Sets the variables by which the library will load, in whatever this process executes, with
 * one thread (ours split the work, architecture.md 5) and, where the processor has AVX-512
 * (F, DQ, BW, VL) and the environment does not choose, with SkylakeX kernels. Returns whether
 * any of them was not so. To be called before the first thread begins. */
bool kernel_choose(void);

/* Has this program so: where it was not, it is executed again, once. It returns where there
 * is nothing to do, or where the execution fails. To be called as kernel_choose. */
void kernel_select(char **argv);

/* The choice in force: the environment's, or "automatic". */
const char *kernel_name(void);

#endif
