/* Fused multiply-add of 52-bit integers (IFMA) is what makes a vector worth it: it reads
 * the low 52 bits of its operands, so trial words and table entries go in as they are, and
 * gives the floor and the fraction of w U in one instruction each. Nothing branches on
 * what was drawn. The functions are compiled for these instructions alone and run only
 * where the processor has them all. */
#include "engine/noise/noise_lanes.h"

#include "base/check.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

/* The thread sanitizer leaves them alone: it would ask of every vector that is spilled to
 * the stack who else has it. The arrays that they read and write are a chunk's own, and
 * noise_chunk.c, which it does watch, touches the same ones before and after. */
#define LANES_TARGET                                                                   \
    __attribute__((target("avx512f,avx512dq,avx512vl,avx512ifma"),                     \
                   no_sanitize("thread")))

enum { LANES = 8 };

bool noise_lanes_available(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512ifma");
}

/* The table's entries of the layers that the words name. */
LANES_TARGET
static __m512i entries_of(const struct noise_lanes *lanes, __m512i layer)
{
    return _mm512_i64gather_epi64(layer, lanes->table->entry, sizeof(uint64_t));
}

LANES_TARGET
static __m512i layers_of(__m512i word)
{
    return _mm512_and_epi64(_mm512_srli_epi64(word, 52),
                            _mm512_set1_epi64(NOISE_LAYERS - 1));
}

/* One vector of propose: stores the floors of the lanes that valid names, and returns
 * those among them that are flagged. */
LANES_TARGET
static __mmask8 propose_lanes(const struct noise_lanes *lanes, unsigned first,
                              __mmask8 valid)
{
    const __m512i zero = _mm512_setzero_si512();
    const __m512i carry = _mm512_set1_epi64((INT64_C(1) << 52) - (INT64_C(1) << 40));
    __m512i word = _mm512_maskz_loadu_epi64(valid, lanes->words + first);
    __m512i entry = entries_of(lanes, layers_of(word));
    __m512i magnitude = _mm512_madd52hi_epu64(zero, word, entry);
    __m512i low = _mm512_madd52lo_epu64(zero, word, entry);
    __m512i signs = _mm512_srai_epi64(word, 63);
    _mm512_mask_storeu_epi64(lanes->candidate + first, valid,
                             _mm512_xor_epi64(magnitude, signs));
    __mmask8 edge = _mm512_cmpge_epu64_mask(
        _mm512_srli_epi64(magnitude, NOISE_FAST_SHIFT), _mm512_srli_epi64(entry, 52));
    return (__mmask8)((edge | _mm512_cmpge_epu64_mask(low, carry)) & valid);
}

/* All eight lanes are stored behind the list; those that are flagged stand in front, and
 * the next vector overwrites the rest. */
LANES_TARGET
unsigned noise_lanes_propose(const struct noise_lanes *lanes)
{
    const __m256i step = _mm256_set1_epi32(LANES);
    __m256i places = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    unsigned count = 0;
    for (unsigned first = 0; first < lanes->trials; first += LANES) {
        unsigned left = lanes->trials - first;
        __mmask8 valid = (__mmask8)(left < LANES ? (1U << left) - 1 : 0xffU);
        __mmask8 flagged = propose_lanes(lanes, first, valid);
        _mm256_storeu_si256((__m256i *)(void *)(lanes->flagged + count),
                            _mm256_maskz_compress_epi32(flagged, places));
        count += (unsigned)__builtin_popcount(flagged);
        places = _mm256_add_epi32(places, step);
    }
    return count;
}

/* E(x) of noise_chunk.c, operation by operation. */
LANES_TARGET
static __m512d gaussian_lanes(__m512d x)
{
    static const double terms[] = {1.0 / 479001600.0,
                                   1.0 / 39916800.0,
                                   1.0 / 3628800.0,
                                   1.0 / 362880.0,
                                   1.0 / 40320.0,
                                   1.0 / 5040.0,
                                   1.0 / 720.0,
                                   1.0 / 120.0,
                                   1.0 / 24.0,
                                   1.0 / 6.0,
                                   0.5,
                                   1.0,
                                   1.0};
    const __m512d shift = _mm512_set1_pd(0x1.8p52);
    __m512d t = _mm512_mul_pd(_mm512_mul_pd(_mm512_set1_pd(-0.5), x), x);
    __m512d rounded =
        _mm512_add_pd(_mm512_mul_pd(t, _mm512_set1_pd(1.4426950408889634)), shift);
    __m512d n = _mm512_sub_pd(rounded, shift);
    __m512d r = _mm512_sub_pd(
        _mm512_sub_pd(t, _mm512_mul_pd(n, _mm512_set1_pd(0x1.62e42feep-1))),
        _mm512_mul_pd(n, _mm512_set1_pd(0x1.a39ef35793c76p-33)));
    __m512d e = _mm512_set1_pd(1.0 / 6227020800.0);
    for (unsigned k = 0; k < sizeof terms / sizeof *terms; k++)
        e = _mm512_add_pd(_mm512_mul_pd(e, r), _mm512_set1_pd(terms[k]));
    __m512i bits = _mm512_slli_epi64(
        _mm512_add_epi64(_mm512_castpd_si512(rounded), _mm512_set1_epi64(1023)), 52);
    return _mm512_mul_pd(e, _mm512_castsi512_pd(bits));
}

/* member: where it stands in a struct noise_strip, counted in doubles. */
LANES_TARGET
static __m512d strips_of(const struct noise_lanes *lanes, __m512i layer, int member)
{
    const double *strips = (const double *)lanes->table->strip;
    __m512i at = _mm512_add_epi64(layer, _mm512_slli_epi64(layer, 1));
    return _mm512_i64gather_pd(at, strips + member, sizeof(double));
}

LANES_TARGET
static void decide_lanes(const struct noise_lanes *lanes, unsigned k, __m512i height,
                         __m512i theta)
{
    _Static_assert(sizeof(struct noise_strip) == 3 * sizeof(double),
                   "a strip is base, height and width");
    const __m512i zero = _mm512_setzero_si512();
    __m256i places =
        _mm256_loadu_si256((const __m256i *)(const void *)(lanes->flagged + k));
    __m512i word = _mm512_i32gather_epi64(places, lanes->words, sizeof(uint64_t));
    __m512i layer = layers_of(word), entry = entries_of(lanes, layer);
    __m512i low = _mm512_madd52lo_epu64(zero, word, entry);
    __m512i s = _mm512_madd52hi_epu64(low, theta, entry);
    __m512i magnitude = _mm512_add_epi64(_mm512_madd52hi_epu64(zero, word, entry),
                                         _mm512_srli_epi64(s, 52));
    __m512d u = _mm512_cvtepi64_pd(
        _mm512_and_epi64(word, _mm512_set1_epi64((INT64_C(1) << 52) - 1)));
    __m512d v = _mm512_mul_pd(_mm512_cvtepi64_pd(_mm512_srli_epi64(height, 12)),
                              _mm512_set1_pd(0x1p-52));
    __m512d y = _mm512_add_pd(_mm512_mul_pd(strips_of(lanes, layer, 1), v),
                              strips_of(lanes, layer, 0));
    __m512d f = gaussian_lanes(_mm512_mul_pd(u, strips_of(lanes, layer, 2)));
    _mm512_storeu_pd(lanes->gap + k, _mm512_sub_pd(f, y));
    _mm512_storeu_epi64(lanes->magnitude + k, magnitude);
    _mm512_storeu_epi64(lanes->fraction + k, s);
}

LANES_TARGET
unsigned noise_lanes_decide(const struct noise_lanes *lanes)
{
    const uint64_t *heights = lanes->words + lanes->trials;
    const uint64_t *thetas = heights + lanes->flags;
    unsigned k = 0;
    for (; k + LANES <= lanes->flags; k += LANES)
        decide_lanes(lanes, k, _mm512_loadu_epi64(heights + k),
                     _mm512_loadu_epi64(thetas + k));
    return k;
}

#else

bool noise_lanes_available(void)
{
    return false;
}

unsigned noise_lanes_propose(const struct noise_lanes *lanes)
{
    (void)lanes;
    CHECK(false);
}

unsigned noise_lanes_decide(const struct noise_lanes *lanes)
{
    (void)lanes;
    CHECK(false);
}

#endif
