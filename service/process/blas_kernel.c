#include "service/process/blas_kernel.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char variable[] = "OPENBLAS_CORETYPE";
static const char threads_variable[] = "OPENBLAS_NUM_THREADS";

static bool has_avx512(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
#else
    return false;
#endif
}

bool blas_kernel_choose(void)
{
    const char *threads = getenv(threads_variable);
    bool choose = getenv(variable) == NULL && has_avx512();
    bool one = threads != NULL && strcmp(threads, "1") == 0;
    if (choose)
        setenv(variable, "SkylakeX", 1);
    setenv(threads_variable, "1", 1);
    return choose || !one;
}

void blas_kernel_select(char **argv)
{
    char path[4096];
    if (!blas_kernel_choose())
        return;
    /* Execute the program by its own path, so that the process keeps its name. */
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length > 0) {
        path[length] = '\0';
        execv(path, argv);
    }
}

const char *blas_kernel_name(void)
{
    const char *chosen = getenv(variable);
    return chosen != NULL && chosen[0] != '\0' ? chosen : "automatic";
}
