/* Goal: a link's hash is the documented function of its parts, and shows where each
 * part ends. Method: digests that Python's hashlib made of the same bytes, assembled by
 * hand. */
#include "base/chain_hash.h"

#include <string.h>

#include "tests/expect.h"

static void expect_hex(const uint8_t digest[SHA256_SIZE], const char *hex)
{
    char text[SHA256_HEX_SIZE];
    sha256_render(text, digest);
    assert_string_equal(text, hex);
}

/* sha256(b"v1" + bytes(range(32)) + (3).to_bytes(8, "little") + b"abc"
 *        + (8).to_bytes(8, "little") + (770).to_bytes(8, "little")
 *        + (2).to_bytes(8, "little") + b"\0\xff" + (0).to_bytes(8, "little")) */
static void a_link_is_hashed_as_documented(void **state)
{
    (void)state;
    uint8_t prev[SHA256_SIZE], digest[SHA256_SIZE];
    struct chain_hash hash;
    for (size_t i = 0; i < sizeof prev; i++)
        prev[i] = (uint8_t)i;
    chain_hash_begin(&hash, "v1", prev);
    chain_hash_text(&hash, "abc");
    chain_hash_number(&hash, 770);
    chain_hash_bytes(&hash, "\0\xff", 2);
    chain_hash_text(&hash, "");
    chain_hash_end(&hash, digest);
    expect_hex(digest,
               "21e3f98748c4515301e1eeaf91197bc16df3ffdb2ccee3b5b989cf7c3d144c30");
}

static void where_a_part_ends_is_hashed(void **state)
{
    (void)state;
    static const uint8_t prev[SHA256_SIZE] = {0};
    uint8_t one[SHA256_SIZE], other[SHA256_SIZE];
    struct chain_hash hash;
    chain_hash_begin(&hash, "v1", prev);
    chain_hash_text(&hash, "ab");
    chain_hash_text(&hash, "c");
    chain_hash_end(&hash, one);
    chain_hash_begin(&hash, "v1", prev);
    chain_hash_text(&hash, "a");
    chain_hash_text(&hash, "bc");
    chain_hash_end(&hash, other);
    assert_memory_not_equal(one, other, sizeof one);
}

/* The link is longer than the initial buffer, and each part in turn is the one that
 * exceeds it. */
static void a_long_link_is_hashed_as_a_short_one(void **state)
{
    (void)state;
    static uint8_t all[2 + SHA256_SIZE + 4 * (8 + CHAIN_HASH_FIRST)];
    static const size_t sizes[] = {CHAIN_HASH_FIRST - 51, CHAIN_HASH_FIRST - 50,
                                   CHAIN_HASH_FIRST - 49, CHAIN_HASH_FIRST};
    for (size_t first = 0; first < sizeof sizes / sizeof *sizes; first++) {
        uint8_t part[CHAIN_HASH_FIRST], digest[SHA256_SIZE], expected[SHA256_SIZE];
        static const uint8_t prev[SHA256_SIZE] = {3};
        struct chain_hash hash;
        size_t size = 0;
        memcpy(all, "v1", 2);
        memcpy(all + 2, prev, sizeof prev);
        size = 2 + sizeof prev;
        chain_hash_begin(&hash, "v1", prev);
        for (size_t k = 0; k < 4; k++) {
            size_t part_size = k == 0 ? sizes[first] : 600 * k;
            memset(part, (int)(k + 5), part_size);
            chain_number_encode(all + size, part_size);
            memcpy(all + size + 8, part, part_size);
            size += 8 + part_size;
            chain_hash_bytes(&hash, part, part_size);
        }
        chain_hash_end(&hash, digest);
        sha256_of(expected, all, size);
        assert_memory_equal(digest, expected, sizeof expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_link_is_hashed_as_documented),
        cmocka_unit_test(where_a_part_ends_is_hashed),
        cmocka_unit_test(a_long_link_is_hashed_as_a_short_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
