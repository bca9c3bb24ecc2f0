/* The same method as in noise_avx512.c, with registers of half the width and without
 * IFMA: the product of U and w is computed from products of their halves. */
#include "engine/noise/noise_avx2.h"

#if NOISE_HAS_AVX2

#include <immintrin.h>
#include <stddef.h>

/* The thread sanitizer: as in noise_avx512.c. */
#define AVX2_TARGET __attribute__((target("avx2"), no_sanitize("thread")))
#define AVX2_INLINE AVX2_TARGET static inline __attribute__((always_inline))
#define EACH_OF_4   _Pragma("GCC unroll 4")

enum { AVX2_LANES = 4 };

static bool avx2_available(void)
{
    return __builtin_cpu_supports("avx2");
}

struct places_of_4 { /* the lanes' indices in an array of 64-bit words */
    size_t at[AVX2_LANES];
};

AVX2_INLINE __m256d pick_4(const void *from, const struct places_of_4 *places,
                           size_t offset)
{
    const double *words = (const double *)from + offset;
    const size_t *at = places->at;
    __m128d low = _mm_loadh_pd(_mm_load_sd(words + at[0]), words + at[1]);
    __m128d high = _mm_loadh_pd(_mm_load_sd(words + at[2]), words + at[3]);
    return _mm256_insertf128_pd(_mm256_castpd128_pd256(low), high, 1);
}

AVX2_INLINE struct places_of_4 layers_of_4(const uint64_t *words,
                                           const struct places_of_4 *places)
{
    struct places_of_4 layers;
    EACH_OF_4
    for (int i = 0; i < AVX2_LANES; i++)
        layers.at[i] = words[places->at[i]] >> 52 & (NOISE_LAYERS - 1);
    return layers;
}

/* The product of the low 52 bits of a word and the low 40 bits of an entry. With U = a
 * + 2^32 b and w = c + 2^32 d it is a c + 2^32 (a d + b c) + 2^64 b d. */
struct product_of_4 {
    __m256i high; /* product >> 52 */
    __m256i low;  /* product mod 2^52 */
};
AVX2_INLINE struct product_of_4 multiply_4(__m256i word, __m256i entry)
{
    const __m256i twenty = _mm256_set1_epi64x((1 << 20) - 1);
    __m256i b = _mm256_and_si256(_mm256_srli_epi64(word, 32), twenty);
    __m256i d =
        _mm256_and_si256(_mm256_srli_epi64(entry, 32), _mm256_set1_epi64x(0xff));
    __m256i ac = _mm256_mul_epu32(word, entry);
    __m256i crossed =
        _mm256_add_epi64(_mm256_mul_epu32(word, d), _mm256_mul_epu32(b, entry));
    __m256i middle = _mm256_add_epi64(crossed, _mm256_srli_epi64(ac, 32));
    __m256i low = _mm256_slli_epi64(_mm256_and_si256(middle, twenty), 32);
    struct product_of_4 product;
    product.high = _mm256_add_epi64(_mm256_srli_epi64(middle, 20),
                                    _mm256_slli_epi64(_mm256_mul_epu32(b, d), 12));
    product.low = _mm256_blend_epi32(low, ac, 0x55); /* a c's own low halves */
    return product;
}

/* Stores the floors of four trials, and returns those that are flagged, a bit each. All
 * numbers compared are below 2^63. */
AVX2_INLINE unsigned propose_4(const uint64_t *entries, const uint64_t *words,
                               uint64_t *candidate)
{
    const __m256i most =
        _mm256_set1_epi64x((INT64_C(1) << 52) - (INT64_C(1) << 40) - 1);
    const struct places_of_4 all = {{0, 1, 2, 3}};
    struct places_of_4 layers = layers_of_4(words, &all);
    __m256i word = _mm256_loadu_si256((const __m256i *)(const void *)words);
    __m256i entry = _mm256_castpd_si256(pick_4(entries, &layers, 0));
    struct product_of_4 product = multiply_4(word, entry);
    __m256i signs = _mm256_cmpgt_epi64(_mm256_setzero_si256(), word);
    _mm256_storeu_si256((__m256i *)(void *)candidate,
                        _mm256_xor_si256(product.high, signs));
    __m256i inside =
        _mm256_cmpgt_epi64(_mm256_srli_epi64(entry, 52),
                           _mm256_srli_epi64(product.high, NOISE_FAST_SHIFT));
    __m256i carries = _mm256_cmpgt_epi64(product.low, most);
    __m256i accepted = _mm256_andnot_si256(carries, inside);
    return ~(unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(accepted)) & 0xf;
}

/* For each set of flagged lanes, the lanes in ascending order. */
static const uint32_t lanes_in_front[16][AVX2_LANES] = {
    {0}, {0},    {1},    {0, 1},    {2},    {0, 2},    {1, 2},    {0, 1, 2},
    {3}, {0, 3}, {1, 3}, {0, 1, 3}, {2, 3}, {0, 2, 3}, {1, 2, 3}, {0, 1, 2, 3}};

/* All four lanes are stored at the end of the list, the flagged ones first; the next
 * vector overwrites the others. */
AVX2_TARGET
static unsigned avx2_propose(const struct noise_lanes *lanes, unsigned *count)
{
    const uint64_t *entries = lanes->table->entry, *words = lanes->words;
    uint64_t *candidate = lanes->candidate;
    uint32_t *flagged = lanes->flagged;
    unsigned listed = 0, first = 0;
    for (; first + AVX2_LANES <= lanes->trials; first += AVX2_LANES) {
        unsigned set = propose_4(entries, words + first, candidate + first);
        __m128i front =
            _mm_loadu_si128((const __m128i *)(const void *)lanes_in_front[set]);
        _mm_storeu_si128((__m128i *)(void *)(flagged + listed),
                         _mm_add_epi32(front, _mm_set1_epi32((int)first)));
        listed += (unsigned)__builtin_popcount(set);
    }
    *count = listed;
    return first;
}

/* E(x) of noise_chunk.c, operation by operation. */
AVX2_INLINE __m256d gaussian_4(__m256d x)
{
    const __m256d shift = _mm256_set1_pd(0x1.8p52);
    __m256d t = _mm256_mul_pd(_mm256_mul_pd(_mm256_set1_pd(-0.5), x), x);
    __m256d rounded =
        _mm256_add_pd(_mm256_mul_pd(t, _mm256_set1_pd(1.4426950408889634)), shift);
    __m256d n = _mm256_sub_pd(rounded, shift);
    __m256d r = _mm256_sub_pd(
        _mm256_sub_pd(t, _mm256_mul_pd(n, _mm256_set1_pd(0x1.62e42feep-1))),
        _mm256_mul_pd(n, _mm256_set1_pd(0x1.a39ef35793c76p-33)));
    __m256d e = _mm256_set1_pd(1.0 / 6227020800.0);
    for (unsigned k = 0; k < NOISE_KERNEL_TERMS; k++)
        e = _mm256_add_pd(_mm256_mul_pd(e, r), _mm256_set1_pd(noise_kernel_terms[k]));
    __m256i bits = _mm256_slli_epi64(
        _mm256_add_epi64(_mm256_castpd_si256(rounded), _mm256_set1_epi64x(1023)), 52);
    return _mm256_mul_pd(e, _mm256_castsi256_pd(bits));
}

/* Converts integers below 2^52 to doubles: in 2^52 + n, the low bits of the double are
 * n. */
AVX2_INLINE __m256d doubles_of_4(__m256i integers)
{
    const __m256d base = _mm256_set1_pd(0x1p52);
    return _mm256_sub_pd(
        _mm256_castsi256_pd(_mm256_or_si256(integers, _mm256_castpd_si256(base))),
        base);
}

AVX2_INLINE __m256i load_4(const uint64_t *from)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)from);
}

AVX2_TARGET
static void avx2_decide_4(const struct noise_lanes *lanes, unsigned k)
{
    _Static_assert(sizeof(struct noise_strip) == 3 * sizeof(double),
                   "a strip is base, height and width");
    const uint64_t *heights = lanes->words + lanes->trials;
    const uint64_t *thetas = heights + lanes->flags;
    const __m256i fraction_bits = _mm256_set1_epi64x((INT64_C(1) << 52) - 1);
    struct places_of_4 trials, strips;
    EACH_OF_4
    for (unsigned i = 0; i < AVX2_LANES; i++)
        trials.at[i] = lanes->flagged[k + i];
    const struct places_of_4 layers = layers_of_4(lanes->words, &trials);
    EACH_OF_4
    for (unsigned i = 0; i < AVX2_LANES; i++)
        strips.at[i] = 3 * layers.at[i];
    __m256i word = _mm256_castpd_si256(pick_4(lanes->words, &trials, 0));
    __m256i entry = _mm256_castpd_si256(pick_4(lanes->table->entry, &layers, 0));
    __m256d base = pick_4(lanes->table->strip, &strips, 0);
    __m256d height = pick_4(lanes->table->strip, &strips, 1);
    __m256d width = pick_4(lanes->table->strip, &strips, 2);

    struct product_of_4 product = multiply_4(word, entry);
    __m256i refined = multiply_4(load_4(thetas + k), entry).high;
    __m256i s = _mm256_add_epi64(product.low, refined);
    __m256i magnitude = _mm256_add_epi64(product.high, _mm256_srli_epi64(s, 52));
    __m256d u = doubles_of_4(_mm256_and_si256(word, fraction_bits));
    __m256d v = _mm256_mul_pd(doubles_of_4(_mm256_srli_epi64(load_4(heights + k), 12)),
                              _mm256_set1_pd(0x1p-52));
    __m256d y = _mm256_add_pd(_mm256_mul_pd(height, v), base);
    __m256d f = gaussian_4(_mm256_mul_pd(u, width));
    _mm256_storeu_pd(lanes->gap + k, _mm256_sub_pd(f, y));
    _mm256_storeu_si256((__m256i *)(void *)(lanes->magnitude + k), magnitude);
    _mm256_storeu_si256((__m256i *)(void *)(lanes->fraction + k), s);
}

AVX2_TARGET
static unsigned avx2_decide(const struct noise_lanes *lanes)
{
    unsigned k = 0;
    for (; k + AVX2_LANES <= lanes->flags; k += AVX2_LANES)
        avx2_decide_4(lanes, k);
    return k;
}

const struct noise_kernel noise_avx2 = {.name = "avx2",
                                        .available = avx2_available,
                                        .propose = avx2_propose,
                                        .decide = avx2_decide};

#endif
