/* Goal: bytes become the characters of UTF-8, and each general category has its traits.
 * Method: characters of every category with the traits that the Unicode Standard gives
 * them (chapter 4.5); the borders of UTF-8 (3.9, table 3-7); decompositions, classes and
 * lower case of UnicodeData.txt. */
#include "tests/expect.h"

#include <string.h>

#include "engine/text/unicode.h"

static void every_category_has_its_traits(void **state)
{
    enum { CASES = 2 };
    static const struct {
        const char *category;
        int32_t codes[CASES];
        unsigned traits;
    } rows[] = {
        {"Lu", {'A', 0x0391}, UNICODE_LETTER},
        {"Ll", {'z', 0x00DF}, UNICODE_LETTER},
        {"Lt", {0x01C5, 0x1F88}, UNICODE_LETTER},
        {"Lm", {0x02B0, 0x3005}, UNICODE_LETTER},
        {"Lo", {0x05D0, 0xAC00}, UNICODE_LETTER},
        {"Mn", {0x0301, 0x0941}, UNICODE_MARK},
        {"Mc", {0x0903, 0x093E}, 0},
        {"Me", {0x0488, 0x20DD}, 0},
        {"Nd", {'0', 0x0969}, UNICODE_NUMBER},
        {"Nl", {0x2167, 0x16EE}, UNICODE_NUMBER},
        {"No", {0x00B2, 0x2460}, UNICODE_NUMBER},
        {"Pc", {'_', 0x203F}, UNICODE_PUNCTUATION},
        {"Pd", {'-', 0x2014}, UNICODE_PUNCTUATION},
        {"Ps", {'(', 0x300C}, UNICODE_PUNCTUATION},
        {"Pe", {'}', 0x300D}, UNICODE_PUNCTUATION},
        {"Pi", {0x00AB, 0x201C}, UNICODE_PUNCTUATION},
        {"Pf", {0x00BB, 0x201D}, UNICODE_PUNCTUATION},
        {"Po", {'!', 0x3002}, UNICODE_PUNCTUATION},
        {"Sm of ASCII", {'+', '~'}, UNICODE_PUNCTUATION},
        {"Sc of ASCII", {'$', '$'}, UNICODE_PUNCTUATION},
        {"Sk of ASCII", {'^', '`'}, UNICODE_PUNCTUATION},
        {"Sm", {0x00D7, 0x2212}, 0},
        {"Sc", {0x20AC, 0x00A3}, 0},
        {"Sk", {0x00B4, 0x1F3FD}, 0},
        {"So", {0x00A9, 0x1F468}, 0},
        {"Zs", {' ', 0x3000}, UNICODE_SPACE},
        {"Zl", {0x2028, 0x2028}, UNICODE_SPACE},
        {"Zp", {0x2029, 0x2029}, UNICODE_SPACE},
        {"Cc", {0x0000, 0x007F}, UNICODE_CONTROL},
        {"Cc that is white", {'\t', 0x0085}, UNICODE_CONTROL | UNICODE_SPACE},
        {"Cf", {0x00AD, 0x200D}, UNICODE_CONTROL},
        {"Co", {0xE000, 0x10FFFD}, UNICODE_CONTROL},
        {"Cs", {0xD800, 0xDFFF}, UNICODE_CONTROL},
        {"Cn", {0x0378, 0x10FFFF}, 0},
        {"no character", {UNICODE_INVALID, UNICODE_INVALID}, 0},
        {"CJK", {0x4E00, 0x9FFF}, UNICODE_LETTER | UNICODE_IDEOGRAPH},
        {"CJK extension A", {0x3400, 0x4DBF}, UNICODE_LETTER | UNICODE_IDEOGRAPH},
        {"CJK extension B", {0x20000, 0x2A6DF}, UNICODE_LETTER | UNICODE_IDEOGRAPH},
        {"CJK extensions C to E",
         {0x2A700, 0x2CEA1},
         UNICODE_LETTER | UNICODE_IDEOGRAPH},
        {"CJK extension D", {0x2B740, 0x2B81D}, UNICODE_LETTER | UNICODE_IDEOGRAPH},
        {"CJK extension E", {0x2B820, 0x2B91F}, UNICODE_LETTER | UNICODE_IDEOGRAPH},
        {"CJK extension F", {0x2CEB0, 0x2EBE0}, UNICODE_LETTER},
        {"CJK of compatibility", {0xF900, 0x2FA1D}, UNICODE_LETTER | UNICODE_IDEOGRAPH},
        {"kana, hangul", {0x3042, 0xD55C}, UNICODE_LETTER},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t j = 0; j < CASES; j++)
            if (unicode_traits(rows[i].codes[j]) != rows[i].traits)
                fail_msg("U+%04X of %s has the traits %u", (unsigned)rows[i].codes[j],
                         rows[i].category, unicode_traits(rows[i].codes[j]));
}

static void every_character_is_read_as_it_was_written(void **state)
{
    (void)state;
    for (int32_t code = 0; code < 0x110000; code++) {
        char text[UNICODE_SIZE_MAX + 1];
        int32_t read = -2;
        if (code >= 0xD800 && code < 0xE000)
            continue;
        size_t size = unicode_encode(text, code);
        assert_int_equal(size, code < 0x80      ? 1
                               : code < 0x800   ? 2
                               : code < 0x10000 ? 3
                                                : 4);
        text[size] = 'x'; /* what follows is of no matter */
        assert_int_equal(unicode_decode(&read, text, size + 1), size);
        assert_int_equal(read, code);
        if (size == 1)
            continue;
        assert_int_equal(unicode_decode(&read, text, size - 1), 1); /* cut off */
        assert_int_equal(read, UNICODE_INVALID);
    }
}

static void what_is_no_utf_8_is_one_byte_of_no_character(void **state)
{
    static const char *const wrong[] = {
        "\x80",         "\xbf\x80",         "\xc0\x80",
        "\xc1\xbf",     "\xe0\x9f\xbf",     "\xed\xa0\x80",
        "\xed\xbf\xbf", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80",
        "\xf5\x80\x80", "\xff\xff\xff\xff", "\xc3(",
        "\xe2\x82(",
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        int32_t code = 0;
        assert_int_equal(unicode_decode(&code, wrong[i], strlen(wrong[i])), 1);
        assert_int_equal(code, UNICODE_INVALID);
    }
}

static void expect_decomposed(int32_t code, const int32_t *expected, size_t count)
{
    int32_t out[UNICODE_DECOMPOSED_MAX];
    assert_int_equal(unicode_decompose(out, code), count);
    assert_memory_equal(out, expected, count * sizeof *out);
}
#define assert_decomposed(code, ...)                                                   \
    expect_decomposed((code), (const int32_t[]){__VA_ARGS__},                          \
                      sizeof((const int32_t[]){__VA_ARGS__}) / sizeof(int32_t))

static void a_decomposition_is_canonical_and_whole(void **state)
{
    (void)state;
    assert_decomposed('a', 'a');
    assert_decomposed(0x00E9, 'e', 0x0301);
    assert_decomposed(0x1E69, 's', 0x0323, 0x0307);            /* of two steps */
    assert_decomposed(0x1F82, 0x03B1, 0x0313, 0x0300, 0x0345); /* the longest */
    assert_decomposed(0x212B, 'A', 0x030A);                    /* of one character */
    assert_decomposed(0xD55C, 0x1112, 0x1161, 0x11AB);         /* by rule: hangul */
    assert_decomposed(0xAC00, 0x1100, 0x1161);
    assert_decomposed(0xFB01, 0xFB01); /* only by look */
    assert_decomposed(0x2460, 0x2460);
    assert_decomposed(0x1D15E, 0x1D157, 0x1D165);
}

static void no_character_decomposes_into_more_than_the_limit(void **state)
{
    int32_t out[UNICODE_DECOMPOSED_MAX];
    (void)state;
    for (int32_t code = 0; code < 0x110000; code++)
        assert_in_range(unicode_decompose(out, code), 1, UNICODE_DECOMPOSED_MAX);
}

static void marks_have_their_combining_classes(void **state)
{
    (void)state;
    assert_int_equal(unicode_combining_class('a'), 0);
    assert_int_equal(unicode_combining_class(0x0301), 230);
    assert_int_equal(unicode_combining_class(0x0323), 220);
    assert_int_equal(unicode_combining_class(0x0345), 240);
    assert_int_equal(unicode_combining_class(0x094D), 9);
    assert_int_equal(unicode_combining_class(0x034F), 0);
    assert_int_equal(unicode_combining_class(0x302E), 224);
}

static void upper_and_title_case_become_lower(void **state)
{
    (void)state;
    assert_int_equal(unicode_lower('Q'), 'q');
    assert_int_equal(unicode_lower('q'), 'q');
    assert_int_equal(unicode_lower(0x01C5), 0x01C6);
    assert_int_equal(unicode_lower(0x1E9E), 0x00DF);
    assert_int_equal(unicode_lower(0x03A3), 0x03C3);
    assert_int_equal(unicode_lower(0xFF21), 0xFF41);
    assert_int_equal(unicode_lower(0x2160), 0x2170);
    assert_int_equal(unicode_lower(0x10400), 0x10428);
    assert_int_equal(unicode_lower(0x4E00), 0x4E00);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_category_has_its_traits),
        cmocka_unit_test(every_character_is_read_as_it_was_written),
        cmocka_unit_test(what_is_no_utf_8_is_one_byte_of_no_character),
        cmocka_unit_test(a_decomposition_is_canonical_and_whole),
        cmocka_unit_test(no_character_decomposes_into_more_than_the_limit),
        cmocka_unit_test(marks_have_their_combining_classes),
        cmocka_unit_test(upper_and_title_case_become_lower),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
