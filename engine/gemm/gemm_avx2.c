#include "engine/gemm/gemm_avx2.h"

#if PROCESSOR_X86_64

#include <immintrin.h>

#include "engine/gemm/panel_transpose.h"

#define VECTOR_TARGET __attribute__((target("avx2,fma")))
#define VECTOR_INLINE VECTOR_TARGET static inline __attribute__((always_inline))

/* Twelve of the sixteen registers hold a tile's chains. In a tile of units they hold
 * the chains of a unit, and the sums over units are in memory, which is accessed once a
 * unit: if each had half of the registers, the chains would be too few to keep a
 * processor busy. */
enum { ROWS = 6, ROWS_OF_UNITS = ROWS, LANES = 8, VECTORS = 2, PREFETCHES = 0 };
#define EACH_ROWS(of)          of(1) of(2) of(3) of(4) of(5) of(6)
#define EACH_ROWS_OF_UNITS(of) EACH_ROWS(of)

typedef __m256 vector;

VECTOR_INLINE vector vector_zero(void)
{
    return _mm256_setzero_ps();
}

VECTOR_INLINE vector vector_of(float value)
{
    return _mm256_set1_ps(value);
}

VECTOR_INLINE vector vector_fma(vector x, vector y, vector chain)
{
    return _mm256_fmadd_ps(x, y, chain);
}

VECTOR_INLINE vector vector_load(const float *from)
{
    return _mm256_loadu_ps(from);
}

VECTOR_INLINE void vector_store(float *to, vector all)
{
    _mm256_storeu_ps(to, all);
}

VECTOR_INLINE vector vector_load_part(const float *from, size_t lanes)
{
    static const int ends[2 * LANES] = {-1, -1, -1, -1, -1, -1, -1, -1};
    const int *mask = ends + (LANES - lanes);
    return _mm256_maskload_ps(from,
                              _mm256_loadu_si256((const __m256i *)(const void *)mask));
}

/* The instruction that stores with a mask takes tens of cycles on AMD's processors. */
VECTOR_INLINE void vector_store_part(float *to, vector part, size_t lanes)
{
    __m128 left = _mm256_castps256_ps128(part);
    if ((lanes & 4) != 0) {
        _mm_storeu_ps(to, left);
        left = _mm256_extractf128_ps(part, 1);
        to += 4;
    }
    if ((lanes & 2) != 0) {
        _mm_storel_pi((__m64 *)(void *)to, left);
        left = _mm_movehl_ps(left, left);
        to += 2;
    }
    if ((lanes & 1) != 0)
        _mm_store_ss(to, left);
}

#include "engine/gemm/gemm_vector.h"

static bool available(void)
{
    return processor_runs(PROCESSOR_AVX2 | PROCESSOR_FMA);
}

const struct gemm_kernel gemm_avx2 = {.name = "avx2",
                                      .rows = ROWS,
                                      .rows_of_units = ROWS_OF_UNITS,
                                      .columns = VECTORS * LANES,
                                      .available = available,
                                      .multiply = multiply,
                                      .add_units = add_units,
                                      .transpose = panel_transpose};

#endif
