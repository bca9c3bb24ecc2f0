/*
 * product_avx512.h - a product's tiles by AVX-512: fourteen rows of 32 columns.
 *
 * Threads: as product_kernel.h.
 */
#ifndef ENGINE_PRODUCT_PRODUCT_AVX512_H
#define ENGINE_PRODUCT_PRODUCT_AVX512_H

#include "engine/product/product_kernel.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define PRODUCT_HAS_AVX512 1
extern const struct product_kernel product_avx512;
#else
#define PRODUCT_HAS_AVX512 0
#endif

#endif
