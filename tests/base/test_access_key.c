/* Goal: a key has the documented form, every key is drawn at random, and only its whole
 * secret has its digest. */
#include "base/access_key.h"

#include <string.h>

#include "tests/expect.h"

static void a_key_is_made_and_read_back(void **state)
{
    (void)state;
    char id[ACCESS_KEY_ID_SIZE], other[ACCESS_KEY_ID_SIZE], read[ACCESS_KEY_ID_SIZE];
    char text[ACCESS_KEY_TEXT_SIZE], again[ACCESS_KEY_TEXT_SIZE];
    access_key_make(id, text);
    access_key_make(other, again);
    assert_int_equal(strlen(text), 56);
    assert_string_not_equal(text, again);
    assert_string_not_equal(id, other);
    assert_true(access_key_parse(read, text));
    assert_string_equal(read, id);
}

static void what_is_cut_longer_or_of_other_digits_is_no_key(void **state)
{
    (void)state;
    char id[ACCESS_KEY_ID_SIZE] = "before", text[ACCESS_KEY_TEXT_SIZE + 1];
    char made[ACCESS_KEY_ID_SIZE];
    access_key_make(made, text);
    for (size_t length = 0; length < 56; length++) {
        char cut[ACCESS_KEY_TEXT_SIZE];
        snprintf(cut, sizeof cut, "%.*s", (int)length, text);
        assert_false(access_key_parse(id, cut));
    }
    for (size_t at = 0; at < 56; at++) {
        char kept = text[at];
        text[at] = '-';
        assert_false(access_key_parse(id, text));
        text[at] = kept;
    }
    strcat(text, "a");
    assert_false(access_key_parse(id, text));
    assert_string_equal(id, "before");
}

static void every_digit_of_the_secret_is_in_its_digest(void **state)
{
    (void)state;
    uint8_t digest[SHA256_SIZE], other[SHA256_SIZE];
    char id[ACCESS_KEY_ID_SIZE], text[ACCESS_KEY_TEXT_SIZE];
    access_key_make(id, text);
    access_key_digest(digest, text);
    for (size_t at = 13; at < 56; at++) {
        char kept = text[at];
        text[at] = kept == 'a' ? 'b' : 'a';
        access_key_digest(other, text);
        assert_memory_not_equal(digest, other, SHA256_SIZE);
        text[at] = kept;
    }
}

/* 4,300 digits, each of 62 about 69 times: 30 and 120 are more than four deviations
 * off. */
static void secrets_are_made_of_all_digits_alike(void **state)
{
    (void)state;
    unsigned seen[128] = {0};
    for (int i = 0; i < 100; i++) {
        char id[ACCESS_KEY_ID_SIZE], text[ACCESS_KEY_TEXT_SIZE];
        access_key_make(id, text);
        for (const char *c = text + 13; *c != '\0'; c++)
            seen[(unsigned char)*c]++;
    }
    for (const char *c = "09AZaz5Mm"; *c != '\0'; c++)
        assert_in_range(seen[(unsigned char)*c], 30, 120);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_is_made_and_read_back),
        cmocka_unit_test(what_is_cut_longer_or_of_other_digits_is_no_key),
        cmocka_unit_test(every_digit_of_the_secret_is_in_its_digest),
        cmocka_unit_test(secrets_are_made_of_all_digits_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
