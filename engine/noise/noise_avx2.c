/* Without IFMA, the product of U and w is computed from products of their halves. */
#include "engine/noise/noise_avx2.h"

#if PROCESSOR_X86_64

#include <immintrin.h>
#include <stddef.h>

#define VECTOR_TARGET __attribute__((target("avx2"), no_sanitize("thread")))
#define VECTOR_INLINE VECTOR_TARGET static inline __attribute__((always_inline))
#define V(name)       name##_4
#define LANES         4

typedef uint64_t integers_4 __attribute__((vector_size(32)));
typedef double reals_4 __attribute__((vector_size(32)));
typedef integers_4 flags_4; /* all bits of a lane, or none */

struct product_4 {
    integers_4 high, low;
};

VECTOR_INLINE reals_4 pick_4(const void *from, const size_t at[LANES])
{
    const double *words = from;
    __m128d low = _mm_loadh_pd(_mm_load_sd(words + at[0]), words + at[1]);
    __m128d high = _mm_loadh_pd(_mm_load_sd(words + at[2]), words + at[3]);
    return (reals_4)_mm256_insertf128_pd(_mm256_castpd128_pd256(low), high, 1);
}

/* The product of the low halves of each lane. */
VECTOR_INLINE integers_4 multiply_halves(integers_4 x, integers_4 y)
{
    return (integers_4)_mm256_mul_epu32((__m256i)x, (__m256i)y);
}

/* With U = a + 2^32 b and w = c + 2^32 d, of 52 and 40 bits, the product is
 * a c + 2^32 (a d + b c) + 2^64 b d. */
VECTOR_INLINE struct product_4 multiply_4(integers_4 word, integers_4 entry)
{
    const uint64_t twenty = (1 << 20) - 1;
    integers_4 b = word >> 32 & twenty, d = entry >> 32 & 0xff;
    integers_4 ac = multiply_halves(word, entry);
    integers_4 crossed = multiply_halves(word, d) + multiply_halves(b, entry);
    integers_4 middle = crossed + (ac >> 32);
    __m256i low = (__m256i)((middle & twenty) << 32);
    struct product_4 product;
    product.high = (middle >> 20) + (multiply_halves(b, d) << 12);
    product.low = (integers_4)_mm256_blend_epi32(low, (__m256i)ac, 0x55);
    return product; /* low: a c's own low halves */
}

VECTOR_INLINE integers_4 add_high_4(integers_4 sum, integers_4 word, integers_4 entry)
{
    return sum + multiply_4(word, entry).high;
}

VECTOR_INLINE integers_4 signs_4(integers_4 word)
{
    return (integers_4)_mm256_cmpgt_epi64(_mm256_setzero_si256(), (__m256i)word);
}

VECTOR_INLINE flags_4 at_least_4(integers_4 x, integers_4 y)
{
    return (flags_4)_mm256_cmpgt_epi64((__m256i)x, (__m256i)(y - 1));
}

/* In 2^52 + n, the low bits of the double are n. */
VECTOR_INLINE reals_4 reals_of_4(integers_4 integers)
{
    const reals_4 base = {0x1p52, 0x1p52, 0x1p52, 0x1p52};
    return (reals_4)(integers | (integers_4)base) - base;
}

#include "engine/noise/noise_vector.h"

/* For each set of flagged lanes, the lanes in ascending order. */
static const uint32_t lanes_in_front[16][LANES] = {
    {0}, {0},    {1},    {0, 1},    {2},    {0, 2},    {1, 2},    {0, 1, 2},
    {3}, {0, 3}, {1, 3}, {0, 1, 3}, {2, 3}, {0, 2, 3}, {1, 2, 3}, {0, 1, 2, 3}};

/* All four lanes are stored at the end of the list, the flagged ones first; the next
 * vector overwrites the others. */
VECTOR_TARGET
static unsigned propose_4(const struct noise_lanes *lanes, unsigned *count)
{
    const uint64_t *entries = lanes->table->entry, *words = lanes->words;
    uint64_t *candidate = lanes->candidate;
    uint32_t *flagged = lanes->flagged;
    unsigned listed = 0, first = 0;
    for (; first + LANES <= lanes->trials; first += LANES) {
        flags_4 flags = propose_vector_4(entries, words + first, candidate + first);
        unsigned set = (unsigned)_mm256_movemask_pd((__m256d)flags);
        __m128i front =
            _mm_loadu_si128((const __m128i *)(const void *)lanes_in_front[set]);
        _mm_storeu_si128((__m128i *)(void *)(flagged + listed),
                         _mm_add_epi32(front, _mm_set1_epi32((int)first)));
        listed += (unsigned)__builtin_popcount(set);
    }
    *count = listed;
    return first;
}

static bool available_4(void)
{
    return processor_runs(PROCESSOR_AVX2);
}

const struct noise_kernel noise_avx2 = {
    .name = "avx2", .available = available_4, .propose = propose_4, .decide = decide_4};

#undef VECTOR_TARGET
#undef VECTOR_INLINE
#undef V
#undef LANES

#endif
