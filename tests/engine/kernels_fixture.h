/*
 * kernels_fixture.h - runs a test program once for each family of BLAS kernels that the
 * processor has, because the families round rows differently. OPENBLAS_CORETYPE, if
 * set, selects one family.
 */
#ifndef TESTS_ENGINE_KERNELS_FIXTURE_H
#define TESTS_ENGINE_KERNELS_FIXTURE_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/expect.h"

static inline bool kernels_have(const char *kernel)
{
#if defined(__x86_64__)
    if (kernel[0] == 'S')
        return __builtin_cpu_supports("avx512f") &&
               __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
    (void)kernel;
    return false;
#endif
}

#define KERNELS_MARK "EPSILOND_TEST_KERNEL" /* set in the children */

/* True in the process that must run the tests; otherwise *result is the exit code of
 * the children that ran them. Threads behave the same with each family, so one family
 * is enough in a build that looks for races. */
static inline bool kernels_chosen(char **argv, int *result)
{
    static const char *const kernels[] = {"Haswell", "SkylakeX"};
    int ran = 0;
    *result = 0;
    if (RACES_SOUGHT || getenv(KERNELS_MARK) != NULL)
        return true;
    for (size_t k = 0; k < 2; k++) {
        int status = 0;
        if (!processor_has(kernels[k], kernels_have(kernels[k])))
            continue;
        ran++;
        pid_t child = fork();
        if (child == 0) {
            printf("---- %s\n", kernels[k]);
            fflush(stdout);
            setenv("OPENBLAS_CORETYPE", kernels[k], 1);
            setenv(KERNELS_MARK, kernels[k], 1);
            execv("/proc/self/exe", argv);
            _exit(127);
        }
        if (waitpid(child, &status, 0) != child || status != 0)
            *result = 1;
    }
    return ran == 0;
}

#endif
