#include "base/processor.h"

/* The builtin takes only a literal. */
#if PROCESSOR_X86_64
#define HAS(name, bit) (__builtin_cpu_supports(name) ? (unsigned)(bit) : 0)
#else
#define HAS(name, bit) 0U
#endif

bool processor_runs(unsigned instructions)
{
    unsigned has =
        HAS("avx2", PROCESSOR_AVX2) | HAS("fma", PROCESSOR_FMA) |
        HAS("avx512f", PROCESSOR_AVX512F) | HAS("avx512dq", PROCESSOR_AVX512DQ) |
        HAS("avx512bw", PROCESSOR_AVX512BW) | HAS("avx512vl", PROCESSOR_AVX512VL) |
        HAS("avx512ifma", PROCESSOR_AVX512IFMA);
    return (instructions & ~has) == 0;
}
