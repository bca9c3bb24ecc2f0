/* Goal: the stream is ChaCha20 in the layout of noise.md 4.3, addressed by (key, nonce,
 * block), in every implementation. Method: the known words of noise.md 9, the vectors
 * of the cipher's authors and of RFC 8439, and long ranges compared block by block with
 * what the cipher library computes. */
#include "base/random.h"

#include <string.h>

#include "base/stream_lanes.h"
#include "tests/expect.h"

static uint64_t word(const uint8_t *bytes)
{
    uint64_t value = 0;
    for (int i = 7; i >= 0; i--)
        value = value << 8 | bytes[i];
    return value;
}

static void the_all_zero_key_gives_the_published_keystream(void **state)
{
    (void)state;
    static const uint8_t expected[8] = {0x76, 0xb8, 0xe0, 0xad, 0xa0, 0xf1, 0x3d, 0x90};
    uint8_t key[STREAM_KEY_SIZE] = {0}, out[64];
    struct stream *stream = stream_create();
    stream_read(stream, out, sizeof out, &(struct stream_position){.key = key});
    assert_memory_equal(out, expected, sizeof expected);
    stream_destroy(stream);
}

static void blocks_are_addressed_by_nonce_and_counter(void **state)
{
    (void)state;
    uint8_t key[STREAM_KEY_SIZE], out[2304 * 8], part[64];
    struct stream *stream = stream_create();
    for (int i = 0; i < STREAM_KEY_SIZE; i++)
        key[i] = (uint8_t)i;
    stream_read(stream, out, sizeof out,
                &(struct stream_position){.key = key, .nonce = 5});
    assert_true(word(out) == 0xbbc149554a19004f);
    assert_true(word(out + 24) == 0x041e168ab07e5187);
    assert_true(word(out + 2112 * 8) == 0x1fb7012171314516);
    assert_true(word(out + 2208 * 8) == 0xc3b7e3364a2b4ff2);
    stream_read(stream, part, sizeof part, &(struct stream_position){key, 5, 264});
    assert_memory_equal(part, out + 264 * 64, sizeof part);
    stream_destroy(stream);
}

/* RFC 8439, 2.3.2: its counter is the first half of ours, its nonce the rest. */
static void a_block_is_that_of_the_standard(void **state)
{
    (void)state;
    static const uint8_t expected[STREAM_BLOCK_SIZE] = {
        0x10, 0xf1, 0xe7, 0xe4, 0xd1, 0x3b, 0x59, 0x15, 0x50, 0x0f, 0xdd, 0x1f, 0xa3,
        0x20, 0x71, 0xc4, 0xc7, 0xd1, 0xf4, 0xc7, 0x33, 0xc0, 0x68, 0x03, 0x04, 0x22,
        0xaa, 0x9a, 0xc3, 0xd4, 0x6c, 0x4e, 0xd2, 0x82, 0x64, 0x46, 0x07, 0x9f, 0xaa,
        0x09, 0x14, 0xc2, 0xd7, 0x05, 0xd9, 0x8b, 0x02, 0xa2, 0xb5, 0x12, 0x9c, 0xd1,
        0xde, 0x16, 0x4e, 0xb9, 0xcb, 0xd0, 0x83, 0xe8, 0xa2, 0x50, 0x3c, 0x4e};
    uint8_t key[STREAM_KEY_SIZE], out[STREAM_LANES_SIZE];
    const struct stream_position from = {key, 0x4a000000, 0x0900000000000001};
    struct stream *stream = stream_create();
    for (int i = 0; i < STREAM_KEY_SIZE; i++)
        key[i] = (uint8_t)i;
    stream_read(stream, out, STREAM_BLOCK_SIZE, &from); /* by the library */
    assert_memory_equal(out, expected, sizeof expected);
    memset(out, 0, sizeof out);
    stream_read(stream, out, sizeof out, &from); /* by vector instructions, if any */
    assert_memory_equal(out, expected, sizeof expected);
    stream_destroy(stream);
}

/* Compares a range of several vector widths and a remainder with its single blocks. */
static void a_stretch_is_its_blocks(struct stream *stream,
                                    const struct stream_position *from)
{
    enum { BLOCKS = 3 * STREAM_LANES + 5 };
    uint8_t out[BLOCKS * STREAM_BLOCK_SIZE + 9], block[STREAM_BLOCK_SIZE];
    stream_read(stream, out + 1, sizeof out - 1, from);
    for (uint64_t i = 0; i < BLOCKS; i++) {
        stream_read(stream, block, sizeof block,
                    &(struct stream_position){from->key, from->nonce, from->block + i});
        assert_memory_equal(out + 1 + i * sizeof block, block, sizeof block);
    }
    stream_read(
        stream, block, 8,
        &(struct stream_position){from->key, from->nonce, from->block + BLOCKS});
    assert_memory_equal(out + 1 + BLOCKS * sizeof block, block, 8);
}

static void a_long_stretch_is_its_blocks_one_by_one(void **state)
{
    (void)state;
    static const uint64_t firsts[] = {0,
                                      1,
                                      7 * 65536,
                                      0xffffffff - 40,
                                      0xffffffff - 8,
                                      0xffffffff,
                                      0x7fffffffffffffff,
                                      0x123456789abcdef0};
    static const uint64_t nonces[] = {0, 5, UINT64_MAX - 1, 0x8000000080000000};
    uint8_t key[STREAM_KEY_SIZE];
    struct stream *stream = stream_create();
    for (size_t i = 0; i < sizeof firsts / sizeof *firsts; i++) {
        for (size_t k = 0; k < sizeof key; k++)
            key[k] = (uint8_t)(151 * k + 29 * i + 3);
        a_stretch_is_its_blocks(
            stream, &(struct stream_position){key, nonces[i % 4], firsts[i]});
    }
    stream_destroy(stream);
    if (!stream_lanes_available())
        print_message("this processor has no AVX-512: nothing is proved of "
                      "stream_lanes\n");
}

static void the_kernels_generator_does_not_repeat(void **state)
{
    (void)state;
    uint8_t a[32], b[32];
    random_bytes(a, sizeof a);
    random_bytes(b, sizeof b);
    assert_memory_not_equal(a, b, sizeof a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_all_zero_key_gives_the_published_keystream),
        cmocka_unit_test(blocks_are_addressed_by_nonce_and_counter),
        cmocka_unit_test(a_block_is_that_of_the_standard),
        cmocka_unit_test(a_long_stretch_is_its_blocks_one_by_one),
        cmocka_unit_test(the_kernels_generator_does_not_repeat),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
