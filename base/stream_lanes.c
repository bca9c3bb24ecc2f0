/* A register holds the same word of sixteen blocks, so a quarter round of one block is
 * a quarter round of all sixteen. The sixteen words of a block take sixteen of the
 * thirty-two registers. No branch and no index depends on a key. The functions are
 * compiled for these instructions only, and run only if the processor has them. */
#include "base/stream_lanes.h"

#include "base/check.h"
#include "base/hash.h"
#include "base/processor.h"

#if PROCESSOR_X86_64

#include <immintrin.h>
#include <string.h>

/* The thread sanitizer would look up every register that is spilled to the stack. */
#define LANES_TARGET __attribute__((target("avx512f"), no_sanitize("thread")))
#define LANES_INLINE LANES_TARGET static inline __attribute__((always_inline))
#define EACH_WORD    _Pragma("GCC unroll 16")
#define EACH_COLUMN  _Pragma("GCC unroll 4")

enum { WORDS = 16, COUNTER_LOW = 12, COUNTER_HIGH = 13, DOUBLE_ROUNDS = 10 };

struct before {           /* sixteen blocks before the rounds */
    uint32_t word[WORDS]; /* the same in all of them, except the counters */
    __m512i low, high;    /* the counters */
};

bool stream_lanes_available(void)
{
    return processor_runs(PROCESSOR_AVX512F);
}

LANES_INLINE __m512i word_before(const struct before *before, int i)
{
    if (i == COUNTER_LOW)
        return before->low;
    if (i == COUNTER_HIGH)
        return before->high;
    return _mm512_set1_epi32((int)before->word[i]);
}

LANES_TARGET static void count_blocks(struct before *before, uint64_t block)
{
    const __m512i places =
        _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    __m512i first = _mm512_set1_epi32((int)(uint32_t)block);
    __m512i high = _mm512_set1_epi32((int)(uint32_t)(block >> 32));
    before->low = _mm512_add_epi32(first, places);
    __mmask16 carry = _mm512_cmplt_epu32_mask(before->low, first);
    before->high = _mm512_mask_add_epi32(high, carry, high, _mm512_set1_epi32(1));
}

/* x[a] += x[b], x[d] = (x[d] ^ x[a]) <<< bits, of the four quarter rounds of a round.
 * Row r of the state is rotated by turn r words, which makes its diagonals columns. */
struct half {
    int a, b, d; /* rows */
};
LANES_INLINE void mix(__m512i *x, const struct half rows, const int turn,
                      const int bits)
{
    EACH_COLUMN
    for (int i = 0; i < 4; i++) {
        __m512i *a = &x[4 * rows.a + (i + rows.a * turn) % 4];
        *a = _mm512_add_epi32(*a, x[4 * rows.b + (i + rows.b * turn) % 4]);
    }
    EACH_COLUMN
    for (int i = 0; i < 4; i++) {
        __m512i *d = &x[4 * rows.d + (i + rows.d * turn) % 4];
        __m512i mixed = _mm512_xor_si512(*d, x[4 * rows.a + (i + rows.a * turn) % 4]);
        switch (bits) { /* the instruction takes only a constant count */
        case 16: *d = _mm512_rol_epi32(mixed, 16); break;
        case 12: *d = _mm512_rol_epi32(mixed, 12); break;
        case 8: *d = _mm512_rol_epi32(mixed, 8); break;
        default: *d = _mm512_rol_epi32(mixed, 7); break;
        }
    }
}

LANES_INLINE void round_of(__m512i *x, const int turn)
{
    const struct half upper = {0, 1, 3}, lower = {2, 3, 1};
    mix(x, upper, turn, 16);
    mix(x, lower, turn, 12);
    mix(x, upper, turn, 8);
    mix(x, lower, turn, 7);
}

/* Transposes four words x of sixteen blocks: register k then holds, one after the
 * other, the four words of blocks k, 4 + k, 8 + k and 12 + k. */
LANES_INLINE void turn_four(__m512i *x)
{
    __m512i a = _mm512_unpacklo_epi32(x[0], x[1]);
    __m512i b = _mm512_unpackhi_epi32(x[0], x[1]);
    __m512i c = _mm512_unpacklo_epi32(x[2], x[3]);
    __m512i d = _mm512_unpackhi_epi32(x[2], x[3]);
    x[0] = _mm512_unpacklo_epi64(a, c);
    x[1] = _mm512_unpackhi_epi64(a, c);
    x[2] = _mm512_unpacklo_epi64(b, d);
    x[3] = _mm512_unpackhi_epi64(b, d);
}

/* Writes blocks k, 4 + k, 8 + k and 12 + k of words that turn_four transposed. */
LANES_INLINE void write_four(uint8_t *out, const __m512i *x, const int k)
{
    const int four = 4 * STREAM_BLOCK_SIZE;
    __m512i even = _mm512_shuffle_i32x4(x[k], x[4 + k], 0x88);
    __m512i odd = _mm512_shuffle_i32x4(x[k], x[4 + k], 0xdd);
    __m512i even_last = _mm512_shuffle_i32x4(x[8 + k], x[12 + k], 0x88);
    __m512i odd_last = _mm512_shuffle_i32x4(x[8 + k], x[12 + k], 0xdd);
    uint8_t *to = out + k * STREAM_BLOCK_SIZE;
    _mm512_storeu_si512(to, _mm512_shuffle_i32x4(even, even_last, 0x88));
    _mm512_storeu_si512(to + four, _mm512_shuffle_i32x4(odd, odd_last, 0x88));
    _mm512_storeu_si512(to + 2 * four, _mm512_shuffle_i32x4(even, even_last, 0xdd));
    _mm512_storeu_si512(to + 3 * four, _mm512_shuffle_i32x4(odd, odd_last, 0xdd));
}

LANES_TARGET static void write_blocks(uint8_t *out, const struct before *before)
{
    __m512i x[WORDS];
    EACH_WORD
    for (int i = 0; i < WORDS; i++)
        x[i] = word_before(before, i);
    for (int k = 0; k < DOUBLE_ROUNDS; k++) {
        round_of(x, 0);
        round_of(x, 1);
    }
    /* The key is read again and not kept, so that no copy of it is spilled to the
     * stack, where it would not be zeroed. */
    __asm__ volatile("" ::: "memory");
    EACH_WORD
    for (int i = 0; i < WORDS; i++)
        x[i] = _mm512_add_epi32(x[i], word_before(before, i));
    EACH_COLUMN
    for (int i = 0; i < 4; i++)
        turn_four(x + 4 * i);
    EACH_COLUMN
    for (int k = 0; k < 4; k++)
        write_four(out, x, k);
}

static void load_key(uint32_t word[WORDS], const struct stream_position *from)
{
    static const uint32_t constants[4] = {0x61707865, 0x3320646e, 0x79622d32,
                                          0x6b206574};
    memcpy(word, constants, sizeof constants);
    memcpy(word + 4, from->key, STREAM_KEY_SIZE);
    memcpy(word + 14, &from->nonce, sizeof from->nonce);
}

size_t stream_lanes_read(void *out, size_t size, const struct stream_position *from)
{
    struct before before = {.word = {0}};
    uint64_t block = from->block;
    size_t done = 0;
    load_key(before.word, from);
    for (; done + STREAM_LANES_SIZE <= size; done += STREAM_LANES_SIZE) {
        count_blocks(&before, block);
        write_blocks((uint8_t *)out + done, &before);
        block += STREAM_LANES;
    }
    hash_zero(&before, sizeof before);
    return done;
}

#else

bool stream_lanes_available(void)
{
    return false;
}

size_t stream_lanes_read(void *out, size_t size, const struct stream_position *from)
{
    (void)out;
    (void)size;
    (void)from;
    CHECK(false);
}

#endif
