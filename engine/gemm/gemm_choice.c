#include "engine/gemm/gemm_choice.h"

#include "engine/gemm/gemm_avx2.h"
#include "engine/gemm/gemm_avx512.h"
#include "engine/gemm/gemm_portable.h"

static const struct gemm_kernel *const kernels[] = {
#if PROCESSOR_X86_64
    &gemm_avx512,
    &gemm_avx2,
#endif
    &gemm_portable,
};

const struct gemm_kernel *gemm_choice_at(size_t index)
{
    return index < sizeof kernels / sizeof *kernels ? kernels[index] : NULL;
}

const struct gemm_kernel *gemm_choice_best(void)
{
    size_t k = 0;
    while (!kernels[k]->available())
        k++;
    return kernels[k];
}
