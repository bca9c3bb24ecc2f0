#include "service/kernel.h"

#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

static const char variable[] = "OPENBLAS_CORETYPE";

static bool has_avx512(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
#else
    return false;
#endif
}

void kernel_select(char **argv)
{
    if (getenv(variable) != NULL || !has_avx512())
        return;
    if (setenv(variable, "SkylakeX", 1) == 0)
        execv("/proc/self/exe", argv);
    unsetenv(variable);
}

const char *kernel_name(void)
{
    const char *chosen = getenv(variable);
    return chosen != NULL && chosen[0] != '\0' ? chosen : "automatic";
}
