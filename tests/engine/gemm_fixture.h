/*
 * gemm_fixture.h - chooses the kernel that multiplies for dense layers in a test
 * program: the one with the same registers as the family of BLAS kernels
 * (kernels_fixture.h), or one that a test chooses. The linker replaces gemm_choice_best
 * by it in every program that includes this (--wrap), so that the engine's own
 * objects run.
 */
#ifndef TESTS_ENGINE_GEMM_FIXTURE_H
#define TESTS_ENGINE_GEMM_FIXTURE_H

#include <stdlib.h>
#include <string.h>

#include "engine/gemm/gemm_choice.h"
#include "tests/engine/kernels_fixture.h"

static const struct gemm_kernel *product_chosen; /* NULL: the family's kernel */

const struct gemm_kernel *__real_gemm_choice_best(void);
const struct gemm_kernel *__wrap_gemm_choice_best(void);
const struct gemm_kernel *__wrap_gemm_choice_best(void)
{
    const char *family = getenv(KERNELS_MARK);
    if (product_chosen != NULL)
        return product_chosen;
    for (size_t k = 0; family != NULL && gemm_choice_at(k) != NULL; k++)
        if (strcmp(family, "Haswell") == 0 &&
            strcmp(gemm_choice_at(k)->name, "avx2") == 0)
            return gemm_choice_at(k);
    return __real_gemm_choice_best();
}

#endif
