/*
 * bench_products - products of dense layers by each kernel of engine/gemm next to
 * OpenBLAS, GFLOP/s of one thread, in turns within one process, the best of each; once
 * for each family of BLAS kernels. All numbers include the cost of packing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <cblas.h>

#include "base/check.h"
#include "engine/nn/rows.h"
#include "engine/gemm/gemm.h"
#include "engine/gemm/gemm_choice.h"
#include "engine/gemm/gemm_portable.h"
#include "engine/rounding/blas.h"
#include "tests/engine/kernels_fixture.h"

enum { KERNELS_MAX = 8, TURNS_MIN = 20 };

/* Seconds of a thread for one case, all kernels together. */
static const double case_seconds = 0.1;

enum form { FORWARD, BACKWARD, SUM };

struct shape {
    enum form form;
    size_t rows, inputs, outputs;
};

static const struct shape shapes[] = {
    {FORWARD, 16, 784, 128},  {FORWARD, 64, 784, 10},     {FORWARD, 256, 784, 10},
    {FORWARD, 256, 784, 128}, {FORWARD, 16, 1024, 1024},  {FORWARD, 256, 1024, 1024},
    {BACKWARD, 256, 128, 10}, {BACKWARD, 16, 1024, 1024}, {BACKWARD, 256, 1024, 1024},
    {SUM, 10, 784, 10},       {SUM, 128, 784, 10},        {SUM, 10, 784, 128},
    {SUM, 128, 784, 128},     {SUM, 128, 1024, 256},
};

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static float *numbers(size_t count)
{
    float *all = aligned_alloc(64, (count * sizeof *all + 63) / 64 * 64);
    CHECK(all != NULL);
    for (size_t k = 0; k < count; k++)
        all[k] = (float)(k * 2654435761U % 1000) * 0.002F - 1;
    return all;
}

static struct gemm product_of(const struct shape *shape)
{
    size_t in = rows_spread_stride(shape->inputs),
           out = rows_spread_stride(shape->outputs);
    float *a = numbers(shape->rows * in), *b = numbers(shape->rows * out),
          *w = numbers(shape->inputs * shape->outputs);
    switch (shape->form) {
    case FORWARD:
        return (struct gemm){.rows = shape->rows,
                             .columns = shape->outputs,
                             .terms = shape->inputs,
                             .x = a,
                             .x_stride = in,
                             .y = w,
                             .y_stride = shape->inputs,
                             .z = b,
                             .z_stride = out};
    case BACKWARD:
        return (struct gemm){.rows = shape->rows,
                             .columns = shape->inputs,
                             .terms = shape->outputs,
                             .x = b,
                             .x_stride = out,
                             .y = w,
                             .y_stride = shape->inputs,
                             .z = a,
                             .z_stride = in};
    case SUM: break;
    }
    return (struct gemm){.rows = shape->outputs,
                         .columns = shape->inputs,
                         .terms = shape->rows,
                         .x = b,
                         .x_stride = out,
                         .y = a,
                         .y_stride = in,
                         .z = w,
                         .z_stride = shape->inputs};
}

/* kernel NULL: the BLAS. */
static void multiply(const struct gemm_kernel *kernel, enum form form,
                     const struct gemm *p)
{
    if (kernel == NULL)
        cblas_sgemm(CblasRowMajor, form == SUM ? CblasTrans : CblasNoTrans,
                    form == FORWARD ? CblasTrans : CblasNoTrans, (blasint)p->rows,
                    (blasint)p->columns, (blasint)p->terms, 1, p->x,
                    (blasint)p->x_stride, p->y, (blasint)p->y_stride, 0, p->z,
                    (blasint)p->z_stride);
    else if (form == FORWARD)
        gemm_rows_by_rows(kernel, p);
    else if (form == BACKWARD)
        gemm_rows_by_columns(kernel, p);
    else
        gemm_columns_by_columns(kernel, p);
}

static void measure(const struct shape *shape, const struct gemm_kernel *const *kernels,
                    size_t count)
{
    static const char *const forms[] = {"forward", "backward", "sum"};
    struct gemm product = product_of(shape);
    double best[KERNELS_MAX], start = seconds_now();
    double flops =
        2.0 * (double)shape->rows * (double)shape->inputs * (double)shape->outputs;
    for (size_t k = 0; k < count; k++)
        best[k] = 1e9;
    for (int turn = 0; turn < TURNS_MIN || seconds_now() - start < case_seconds; turn++)
        for (size_t k = 0; k < count; k++) {
            double begin = seconds_now();
            multiply(kernels[k], shape->form, &product);
            double taken = seconds_now() - begin;
            best[k] = taken < best[k] ? taken : best[k];
        }
    printf("%-8s %4zu rows %5zu %5zu", forms[shape->form], shape->rows, shape->inputs,
           shape->outputs);
    for (size_t k = 0; k < count; k++)
        printf("%9.1f", flops / best[k] * 1e-9);
    printf("\n");
    free((void *)(uintptr_t)product.x);
    free((void *)(uintptr_t)product.y);
    free(product.z);
}

int main(int argc, char **argv)
{
    const struct gemm_kernel *kernels[KERNELS_MAX] = {NULL};
    size_t count = 1;
    int result;
    (void)argc;
    if (!kernels_chosen(argv, &result))
        return result;
    blas_use_one_thread();
    printf("GFLOP/s                    %9.9s", blas_kernel());
    for (size_t k = 0; gemm_choice_at(k) != NULL; k++)
        if (gemm_choice_at(k)->available() && gemm_choice_at(k) != &gemm_portable) {
            kernels[count++] = gemm_choice_at(k);
            printf("%9s", gemm_choice_at(k)->name);
        }
    printf("\n");
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        measure(&shapes[s], kernels, count);
    return 0;
}
