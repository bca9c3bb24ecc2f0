/* Fused multiply-add of 52-bit integers (IFMA) reads the low 52 bits of its operands,
 * so trial words and table entries are used unchanged, and computes the floor and the
 * fraction of w U in one instruction each. */
#include "engine/noise/noise_avx512.h"

#if PROCESSOR_X86_64

#include <immintrin.h>
#include <stddef.h>

#define VECTOR_TARGET                                                                  \
    __attribute__((target("avx512f,avx512dq,avx512vl,avx512ifma"),                     \
                   no_sanitize("thread")))
#define VECTOR_INLINE VECTOR_TARGET static inline __attribute__((always_inline))
#define V(name)       name##_8
#define LANES         8

typedef uint64_t integers_8 __attribute__((vector_size(64)));
typedef double reals_8 __attribute__((vector_size(64)));
typedef __mmask8 flags_8;

struct product_8 {
    integers_8 high, low;
};

/* Eight loads of one word are faster than the gather instruction. */
VECTOR_INLINE reals_8 pick_8(const void *from, const size_t at[LANES])
{
    const double *words = from;
    __m128d a = _mm_loadh_pd(_mm_load_sd(words + at[0]), words + at[1]);
    __m128d b = _mm_loadh_pd(_mm_load_sd(words + at[2]), words + at[3]);
    __m128d c = _mm_loadh_pd(_mm_load_sd(words + at[4]), words + at[5]);
    __m128d d = _mm_loadh_pd(_mm_load_sd(words + at[6]), words + at[7]);
    __m256d low = _mm256_insertf128_pd(_mm256_castpd128_pd256(a), b, 1);
    __m256d high = _mm256_insertf128_pd(_mm256_castpd128_pd256(c), d, 1);
    return (reals_8)_mm512_insertf64x4(_mm512_castpd256_pd512(low), high, 1);
}

VECTOR_INLINE integers_8 add_high_8(integers_8 sum, integers_8 word, integers_8 entry)
{
    return (integers_8)_mm512_madd52hi_epu64((__m512i)sum, (__m512i)word,
                                             (__m512i)entry);
}

VECTOR_INLINE struct product_8 multiply_8(integers_8 word, integers_8 entry)
{
    const integers_8 zero = {0};
    __m512i low = _mm512_madd52lo_epu64((__m512i)zero, (__m512i)word, (__m512i)entry);
    return (struct product_8){add_high_8(zero, word, entry), (integers_8)low};
}

VECTOR_INLINE integers_8 signs_8(integers_8 word)
{
    return (integers_8)_mm512_srai_epi64((__m512i)word, 63);
}

VECTOR_INLINE flags_8 at_least_8(integers_8 x, integers_8 y)
{
    return _mm512_cmpge_epu64_mask((__m512i)x, (__m512i)y);
}

VECTOR_INLINE reals_8 reals_of_8(integers_8 integers)
{
    return (reals_8)_mm512_cvtepi64_pd((__m512i)integers);
}

#include "engine/noise/noise_vector.h"

/* Processes two vectors at a time. All sixteen lanes are stored at the end of the list,
 * the flagged ones first; the next store overwrites the others. */
VECTOR_TARGET
static unsigned propose_8(const struct noise_lanes *lanes, unsigned *count)
{
    enum { TWO = 2 * LANES };
    const uint64_t *entries = lanes->table->entry, *words = lanes->words;
    uint64_t *candidate = lanes->candidate;
    uint32_t *flagged = lanes->flagged;
    const __m512i step = _mm512_set1_epi32(TWO);
    __m512i places =
        _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    unsigned listed = 0, first = 0;
    for (; first + TWO <= lanes->trials; first += TWO) {
        unsigned second = first + LANES;
        __mmask8 low = propose_vector_8(entries, words + first, candidate + first);
        __mmask8 high = propose_vector_8(entries, words + second, candidate + second);
        __mmask16 set = _mm512_kunpackb(high, low);
        _mm512_storeu_epi32(flagged + listed, _mm512_maskz_compress_epi32(set, places));
        listed += (unsigned)__builtin_popcount(set);
        places = _mm512_add_epi32(places, step);
    }
    *count = listed;
    return first;
}

static bool available_8(void)
{
    return processor_runs(PROCESSOR_AVX512F | PROCESSOR_AVX512DQ | PROCESSOR_AVX512VL |
                          PROCESSOR_AVX512IFMA);
}

const struct noise_kernel noise_avx512 = {.name = "avx512",
                                          .available = available_8,
                                          .propose = propose_8,
                                          .decide = decide_8};

#undef VECTOR_TARGET
#undef VECTOR_INLINE
#undef V
#undef LANES

#endif
