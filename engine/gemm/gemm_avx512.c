#include "engine/gemm/gemm_avx512.h"

#if PROCESSOR_X86_64

#include <immintrin.h>

#include "engine/gemm/panel_transpose.h"

#define VECTOR_TARGET __attribute__((target("avx512f,prfchw")))
#define VECTOR_INLINE VECTOR_TARGET static inline __attribute__((always_inline))

/* 28 of the 32 registers hold a tile's chains. In a tile of units the chains of a unit
 * have half of them, and the sums over units the other half. */
enum { ROWS = 14, ROWS_OF_UNITS = 7, LANES = 16, VECTORS = 2, PREFETCHES = 1 };
#define EACH_ROWS_OF_UNITS(of) of(1) of(2) of(3) of(4) of(5) of(6) of(7)
#define EACH_ROWS(of)                                                                  \
    EACH_ROWS_OF_UNITS(of) of(8) of(9) of(10) of(11) of(12) of(13) of(14)

typedef __m512 vector;

VECTOR_INLINE vector vector_zero(void)
{
    return _mm512_setzero_ps();
}

VECTOR_INLINE vector vector_of(float value)
{
    return _mm512_set1_ps(value);
}

VECTOR_INLINE vector vector_fma(vector x, vector y, vector chain)
{
    return _mm512_fmadd_ps(x, y, chain);
}

VECTOR_INLINE vector vector_load(const float *from)
{
    return _mm512_loadu_ps(from);
}

VECTOR_INLINE void vector_store(float *to, vector all)
{
    _mm512_storeu_ps(to, all);
}

VECTOR_INLINE __mmask16 first_lanes(size_t lanes)
{
    return (__mmask16)((1U << lanes) - 1);
}

VECTOR_INLINE vector vector_load_part(const float *from, size_t lanes)
{
    return _mm512_maskz_loadu_ps(first_lanes(lanes), from);
}

VECTOR_INLINE void vector_store_part(float *to, vector part, size_t lanes)
{
    _mm512_mask_storeu_ps(to, first_lanes(lanes), part);
}

#include "engine/gemm/gemm_vector.h"

static bool available(void)
{
    return processor_runs(PROCESSOR_AVX512F | PROCESSOR_AVX2);
}

const struct gemm_kernel gemm_avx512 = {.name = "avx512",
                                        .rows = ROWS,
                                        .rows_of_units = ROWS_OF_UNITS,
                                        .columns = VECTORS * LANES,
                                        .available = available,
                                        .multiply = multiply,
                                        .add_units = add_units,
                                        .transpose = panel_transpose};

#endif
