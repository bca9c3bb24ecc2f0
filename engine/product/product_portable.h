/*
 * product_portable.h - a product's tiles by fmaf, for any processor: what the other kernels
 * are measured by. Where the processor has no instruction for it (x86 before 2013) fmaf is
 * a function of the library, and slow.
 *
 * Threads: as product_kernel.h.
 */
#ifndef ENGINE_PRODUCT_PRODUCT_PORTABLE_H
#define ENGINE_PRODUCT_PRODUCT_PORTABLE_H

#include "engine/product/product_kernel.h"

extern const struct product_kernel product_portable;

#endif
