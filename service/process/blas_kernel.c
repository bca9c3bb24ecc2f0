#include "service/process/blas_kernel.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/processor.h"

static const char variable[] = "OPENBLAS_CORETYPE";
static const char threads_variable[] = "OPENBLAS_NUM_THREADS";

/* What the SkylakeX kernels need. */
static const unsigned needed =
    PROCESSOR_AVX512F | PROCESSOR_AVX512DQ | PROCESSOR_AVX512BW | PROCESSOR_AVX512VL;

bool blas_kernel_choose(void)
{
    const char *threads = getenv(threads_variable);
    bool choose = getenv(variable) == NULL && processor_runs(needed);
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
