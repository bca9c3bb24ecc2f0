/* Goal: the cipher is AES-256-GCM, and decrypts only what it encrypted. Known answers
 * are test cases 13 to 16 of McGrew and Viega, "The Galois/Counter Mode of Operation",
 * 2005, and one of Python's cryptography 48. */
#include "base/cipher.h"

#include <string.h>

#include "tests/expect.h"

enum { SIZE_MAX_TESTED = 128 };

static size_t unhex(uint8_t *bytes, const char *hex)
{
    size_t size = strlen(hex) / 2;
    for (size_t i = 0; i < size; i++) {
        unsigned value;
        assert_int_equal(sscanf(hex + 2 * i, "%2x", &value), 1);
        bytes[i] = (uint8_t)value;
    }
    return size;
}

static void known_answers_come_out(void **state)
{
    (void)state;
    static const struct {
        const char *key, *nonce, *bound, *plain, *sealed;
    } known[] = {
        {"0000000000000000000000000000000000000000000000000000000000000000",
         "000000000000000000000000", "", "", "530f8afbc74536b9a963b4f1c4cb738b"},
        {"0000000000000000000000000000000000000000000000000000000000000000",
         "000000000000000000000000", "", "00000000000000000000000000000000",
         "cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919"},
        {"feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308",
         "cafebabefacedbaddecaf888", "",
         "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
         "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b391aafd255",
         "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
         "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662898015ad"
         "b094dac5d93471bdec1a502270e3cc6c"},
        {"feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308",
         "cafebabefacedbaddecaf888", "feedfacedeadbeeffeedfacedeadbeefabaddad2",
         "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
         "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39",
         "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
         "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662"
         "76fc6ece0f4e1768cddf8853bb2d551b"},
        {"0708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20212223242526",
         "6465666768696a6b6c6d6e6f", "657073696c6f6e64206368756e6b203100",
         "7768617420697320626f756e64206f70656e73206e6f776865726520656c7365"
         "2c206e6f7220616e7920736f6f6e6572",
         "293f72896562a8c340bc43fbd6c75a1e1c21fd45583892787027c13260622ded"
         "e5bcf3752bb01f5e6df9b3cc6720d6500c7a197c7f4b236781d1eba17983daec"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        uint8_t key[CIPHER_KEY_SIZE], nonce[CIPHER_NONCE_SIZE], bound[32];
        uint8_t plain[SIZE_MAX_TESTED], expected[SIZE_MAX_TESTED];
        uint8_t sealed[SIZE_MAX_TESTED], opened[SIZE_MAX_TESTED];
        unhex(key, known[i].key);
        unhex(nonce, known[i].nonce);
        size_t bound_size = unhex(bound, known[i].bound);
        size_t size = unhex(plain, known[i].plain);
        assert_int_equal(unhex(expected, known[i].sealed), size + CIPHER_TAG_SIZE);
        const struct cipher_use use = {key, nonce, bound, bound_size};
        cipher_seal(&use, sealed, plain, size);
        assert_memory_equal(sealed, expected, size + CIPHER_TAG_SIZE);
        assert_true(cipher_open(&use, opened, sealed, size));
        assert_memory_equal(opened, plain, size);
        cipher_seal(&use, plain, plain, size); /* in place */
        assert_memory_equal(plain, expected, size + CIPHER_TAG_SIZE);
    }
}

static void a_bit_that_is_another_is_seen_and_nothing_is_opened(void **state)
{
    (void)state;
    static const uint8_t zeros[20] = {0};
    uint8_t key[CIPHER_KEY_SIZE] = {1}, nonce[CIPHER_NONCE_SIZE] = {2}, bound[5] = {3};
    uint8_t sealed[20 + CIPHER_TAG_SIZE], opened[20];
    const struct cipher_use use = {key, nonce, bound, sizeof bound};
    const struct {
        uint8_t *bytes;
        size_t size;
    } parts[] = {{key, sizeof key},
                 {nonce, sizeof nonce},
                 {bound, sizeof bound},
                 {sealed, sizeof sealed}};
    cipher_seal(&use, sealed, "twenty bytes of text", sizeof opened);
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++)
        for (size_t i = 0; i < parts[p].size * 8; i++) {
            parts[p].bytes[i / 8] ^= (uint8_t)(1 << i % 8);
            memset(opened, 1, sizeof opened);
            assert_false(cipher_open(&use, opened, sealed, sizeof opened));
            assert_memory_equal(opened, zeros, sizeof opened);
            parts[p].bytes[i / 8] ^= (uint8_t)(1 << i % 8);
        }
    assert_true(cipher_open(&use, opened, sealed, sizeof opened));
    assert_memory_equal(opened, "twenty bytes of text", sizeof opened);
    const struct cipher_use shorter = {key, nonce, bound, sizeof bound - 1};
    assert_false(cipher_open(&shorter, opened, sealed, sizeof opened));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_answers_come_out),
        cmocka_unit_test(a_bit_that_is_another_is_seen_and_nothing_is_opened),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
