/*
 * product_fixture.h - which kernel multiplies for dense layers in a test program: with each
 * family of BLAS kernels (kernels_fixture.h) the one of the same registers, or one that a
 * test chooses. The linker puts it in the way of product_choice_best in every program that
 * includes this (Makefile), so that the engine's own objects run.
 */
#ifndef TESTS_ENGINE_PRODUCT_FIXTURE_H
#define TESTS_ENGINE_PRODUCT_FIXTURE_H

#include <stdlib.h>
#include <string.h>

#include "engine/product/product_choice.h"
#include "tests/engine/kernels_fixture.h"

static const struct product_kernel *product_chosen; /* NULL: that of the family */

const struct product_kernel *__real_product_choice_best(void);
const struct product_kernel *__wrap_product_choice_best(void);
const struct product_kernel *__wrap_product_choice_best(void)
{
    const char *family = getenv(KERNELS_MARK);
    if (product_chosen != NULL)
        return product_chosen;
    for (size_t k = 0; family != NULL && product_choice_at(k) != NULL; k++)
        if (strcmp(family, "Haswell") == 0 &&
            strcmp(product_choice_at(k)->name, "avx2") == 0)
            return product_choice_at(k);
    return __real_product_choice_best();
}

#endif
