/* Goal: HMAC-SHA-256 is that of RFC 4231. The RFC pads a key shorter than a block with
 * zeros, so our keys are the vectors' short keys followed by zeros. */
#include "tests/expect.h"

#include <string.h>

#include "base/hash.h"

static void hmac_is_that_of_the_rfc(void **state)
{
    static const struct {
        const char *key, *data, *digest;
    } cases[] = {
        {"\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b"
         "\x0b",
         "Hi There",
         "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"},
        {"Jefe", "what do ya want for nothing?",
         "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t key[SHA256_SIZE] = {0}, digest[SHA256_SIZE];
        char hex[SHA256_HEX_SIZE];
        memcpy(key, cases[i].key, strlen(cases[i].key));
        hmac_sha256(digest, key, cases[i].data, strlen(cases[i].data));
        sha256_render(hex, digest);
        assert_string_equal(hex, cases[i].digest);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hmac_is_that_of_the_rfc),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
