#include "engine/rounding/blas.h"

#include <fenv.h>
#include <float.h>
#include <cblas.h>

void blas_use_one_thread(void)
{
    if (openblas_get_num_threads() != 1)
        openblas_set_num_threads(1);
}

const char *blas_kernel(void)
{
    return openblas_get_corename();
}

bool blas_rounding_is_exact(void)
{
    volatile float least_normal = FLT_MIN, subnormal = FLT_TRUE_MIN;
    return fegetround() == FE_TONEAREST && least_normal * 0.5F > 0.0F &&
           subnormal * 0x1p60F > 0.0F;
}
