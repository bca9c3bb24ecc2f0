/* Goal: the stream is ChaCha20 in the layout of noise.md 4.3, addressed by (key, nonce,
 * block). Method: the known words of noise.md 9 and the all-zero vector of the cipher's
 * authors. */
#include "base/random.h"

#include <string.h>

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
        cmocka_unit_test(the_kernels_generator_does_not_repeat),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
