/* Goal: a link's hash is the documented function of its parts, and tells where one ends.
 * Method: digests that hashlib of Python made of the same bytes, put together by hand. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_link_is_hashed_as_documented),
        cmocka_unit_test(where_a_part_ends_is_hashed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
