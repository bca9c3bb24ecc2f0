/* Fused multiply-add of 52-bit integers (IFMA) reads the low 52 bits of its operands,
 * so trial words and table entries are used unchanged, and computes the floor and the
 * fraction of w U in one instruction each. No branch depends on random values. The
 * functions are compiled for these instructions and run only if the processor has them
 * all. */
#include "engine/noise/noise_avx512.h"

#if NOISE_HAS_AVX512

#include <immintrin.h>
#include <stddef.h>

/* The thread sanitizer is disabled for them: it would check every vector that is
 * spilled to the stack. The arrays that they read and write belong to a chunk, and
 * noise_chunk.c, which the sanitizer does check, accesses the same arrays before and
 * after. */
#define AVX512_TARGET                                                                  \
    __attribute__((target("avx512f,avx512dq,avx512vl,avx512ifma"),                     \
                   no_sanitize("thread")))
#define AVX512_INLINE AVX512_TARGET static inline __attribute__((always_inline))
#define EACH_OF_8     _Pragma("GCC unroll 8")

enum { AVX512_LANES = 8 };

static bool avx512_available(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512ifma");
}

struct places_of_8 { /* the lanes' indices in an array of 64-bit words */
    size_t at[AVX512_LANES];
};

/* from[at + offset] of each lane. Eight loads of one word are faster than the gather
 * instruction. */
AVX512_INLINE __m512d pick_8(const void *from, const struct places_of_8 *places,
                             size_t offset)
{
    const double *words = (const double *)from + offset;
    const size_t *at = places->at;
    __m128d a = _mm_loadh_pd(_mm_load_sd(words + at[0]), words + at[1]);
    __m128d b = _mm_loadh_pd(_mm_load_sd(words + at[2]), words + at[3]);
    __m128d c = _mm_loadh_pd(_mm_load_sd(words + at[4]), words + at[5]);
    __m128d d = _mm_loadh_pd(_mm_load_sd(words + at[6]), words + at[7]);
    __m256d low = _mm256_insertf128_pd(_mm256_castpd128_pd256(a), b, 1);
    __m256d high = _mm256_insertf128_pd(_mm256_castpd128_pd256(c), d, 1);
    return _mm512_insertf64x4(_mm512_castpd256_pd512(low), high, 1);
}

AVX512_INLINE struct places_of_8 layers_of_8(const uint64_t *words,
                                             const struct places_of_8 *places)
{
    struct places_of_8 layers;
    EACH_OF_8
    for (int i = 0; i < AVX512_LANES; i++)
        layers.at[i] = words[places->at[i]] >> 52 & (NOISE_LAYERS - 1);
    return layers;
}

/* Stores the floors of eight trials, and returns those that are flagged. */
AVX512_INLINE __mmask8 propose_8(const uint64_t *entries, const uint64_t *words,
                                 uint64_t *candidate)
{
    const __m512i zero = _mm512_setzero_si512();
    const __m512i carry = _mm512_set1_epi64((INT64_C(1) << 52) - (INT64_C(1) << 40));
    const struct places_of_8 all = {{0, 1, 2, 3, 4, 5, 6, 7}};
    struct places_of_8 layers = layers_of_8(words, &all);
    __m512i word = _mm512_loadu_epi64(words);
    __m512i entry = _mm512_castpd_si512(pick_8(entries, &layers, 0));
    __m512i magnitude = _mm512_madd52hi_epu64(zero, word, entry);
    __m512i low = _mm512_madd52lo_epu64(zero, word, entry);
    __m512i signs = _mm512_srai_epi64(word, 63);
    _mm512_storeu_epi64(candidate, _mm512_xor_epi64(magnitude, signs));
    __mmask8 edge = _mm512_cmpge_epu64_mask(
        _mm512_srli_epi64(magnitude, NOISE_FAST_SHIFT), _mm512_srli_epi64(entry, 52));
    return (__mmask8)(edge | _mm512_cmpge_epu64_mask(low, carry));
}

/* Processes two vectors at a time. All sixteen lanes are stored at the end of the list,
 * the flagged ones first; the next store overwrites the others. */
AVX512_TARGET
static unsigned avx512_propose(const struct noise_lanes *lanes, unsigned *count)
{
    enum { TWO = 2 * AVX512_LANES };
    const uint64_t *entries = lanes->table->entry, *words = lanes->words;
    uint64_t *candidate = lanes->candidate;
    uint32_t *flagged = lanes->flagged;
    const __m512i step = _mm512_set1_epi32(TWO);
    __m512i places =
        _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    unsigned listed = 0, first = 0;
    for (; first + TWO <= lanes->trials; first += TWO) {
        unsigned second = first + AVX512_LANES;
        __mmask8 low = propose_8(entries, words + first, candidate + first);
        __mmask8 high = propose_8(entries, words + second, candidate + second);
        __mmask16 set = _mm512_kunpackb(high, low);
        _mm512_storeu_epi32(flagged + listed, _mm512_maskz_compress_epi32(set, places));
        listed += (unsigned)__builtin_popcount(set);
        places = _mm512_add_epi32(places, step);
    }
    *count = listed;
    return first;
}

/* E(x) of noise_chunk.c, operation by operation. */
AVX512_INLINE __m512d gaussian_8(__m512d x)
{
    const __m512d shift = _mm512_set1_pd(0x1.8p52);
    __m512d t = _mm512_mul_pd(_mm512_mul_pd(_mm512_set1_pd(-0.5), x), x);
    __m512d rounded =
        _mm512_add_pd(_mm512_mul_pd(t, _mm512_set1_pd(1.4426950408889634)), shift);
    __m512d n = _mm512_sub_pd(rounded, shift);
    __m512d r = _mm512_sub_pd(
        _mm512_sub_pd(t, _mm512_mul_pd(n, _mm512_set1_pd(0x1.62e42feep-1))),
        _mm512_mul_pd(n, _mm512_set1_pd(0x1.a39ef35793c76p-33)));
    __m512d e = _mm512_set1_pd(1.0 / 6227020800.0);
    for (unsigned k = 0; k < NOISE_KERNEL_TERMS; k++)
        e = _mm512_add_pd(_mm512_mul_pd(e, r), _mm512_set1_pd(noise_kernel_terms[k]));
    __m512i bits = _mm512_slli_epi64(
        _mm512_add_epi64(_mm512_castpd_si512(rounded), _mm512_set1_epi64(1023)), 52);
    return _mm512_mul_pd(e, _mm512_castsi512_pd(bits));
}

AVX512_TARGET
static void avx512_decide_8(const struct noise_lanes *lanes, unsigned k)
{
    _Static_assert(sizeof(struct noise_strip) == 3 * sizeof(double),
                   "a strip is base, height and width");
    const __m512i zero = _mm512_setzero_si512();
    const __m512i fraction_bits = _mm512_set1_epi64((INT64_C(1) << 52) - 1);
    const uint64_t *heights = lanes->words + lanes->trials;
    const uint64_t *thetas = heights + lanes->flags;
    struct places_of_8 trials, strips;
    EACH_OF_8
    for (unsigned i = 0; i < AVX512_LANES; i++)
        trials.at[i] = lanes->flagged[k + i];
    const struct places_of_8 layers = layers_of_8(lanes->words, &trials);
    EACH_OF_8
    for (unsigned i = 0; i < AVX512_LANES; i++)
        strips.at[i] = 3 * layers.at[i];
    __m512i word = _mm512_castpd_si512(pick_8(lanes->words, &trials, 0));
    __m512i entry = _mm512_castpd_si512(pick_8(lanes->table->entry, &layers, 0));
    __m512d base = pick_8(lanes->table->strip, &strips, 0);
    __m512d height = pick_8(lanes->table->strip, &strips, 1);
    __m512d width = pick_8(lanes->table->strip, &strips, 2);

    __m512i low = _mm512_madd52lo_epu64(zero, word, entry);
    __m512i s = _mm512_madd52hi_epu64(low, _mm512_loadu_epi64(thetas + k), entry);
    __m512i magnitude = _mm512_add_epi64(_mm512_madd52hi_epu64(zero, word, entry),
                                         _mm512_srli_epi64(s, 52));
    __m512d u = _mm512_cvtepi64_pd(_mm512_and_epi64(word, fraction_bits));
    __m512d v = _mm512_mul_pd(
        _mm512_cvtepi64_pd(_mm512_srli_epi64(_mm512_loadu_epi64(heights + k), 12)),
        _mm512_set1_pd(0x1p-52));
    __m512d y = _mm512_add_pd(_mm512_mul_pd(height, v), base);
    __m512d f = gaussian_8(_mm512_mul_pd(u, width));
    _mm512_storeu_pd(lanes->gap + k, _mm512_sub_pd(f, y));
    _mm512_storeu_epi64(lanes->magnitude + k, magnitude);
    _mm512_storeu_epi64(lanes->fraction + k, s);
}

AVX512_TARGET
static unsigned avx512_decide(const struct noise_lanes *lanes)
{
    unsigned k = 0;
    for (; k + AVX512_LANES <= lanes->flags; k += AVX512_LANES)
        avx512_decide_8(lanes, k);
    return k;
}

const struct noise_kernel noise_avx512 = {.name = "avx512",
                                          .available = avx512_available,
                                          .propose = avx512_propose,
                                          .decide = avx512_decide};

#endif
