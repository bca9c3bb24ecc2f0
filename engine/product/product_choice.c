#include "engine/product/product_choice.h"

#include "engine/product/product_avx2.h"
#include "engine/product/product_avx512.h"
#include "engine/product/product_portable.h"

static const struct product_kernel *const kernels[] = {
#if PRODUCT_HAS_AVX512
    &product_avx512,
#endif
#if PRODUCT_HAS_AVX2
    &product_avx2,
#endif
    &product_portable,
};

const struct product_kernel *product_choice_at(size_t index)
{
    return index < sizeof kernels / sizeof *kernels ? kernels[index] : NULL;
}

const struct product_kernel *product_choice_best(void)
{
    size_t k = 0;
    while (!kernels[k]->available())
        k++;
    return kernels[k];
}
