/* Goal: a text is cleaned and cut into words by the rules of the header. Method: each rule
 * by texts whose words are written out; the order of marks is that of NFD (Unicode
 * Standard Annex 15; the examples were normalised by Python's unicodedata). */
#include "tests/expect.h"

#include <string.h>

#include "engine/text/basic_tokenizer.h"

/* Expects the words of the text, joined by "|"; a word too long is "...". */
static void expect_words(const char *text, size_t size, bool lower,
                         const char *expected)
{
    struct basic_tokenizer tokenizer;
    struct basic_word word;
    char joined[2048];
    size_t length = 0;
    basic_tokenizer_init(&tokenizer, text, size, lower);
    while (basic_tokenizer_next(&tokenizer, &word)) {
        assert_in_range(word.count, 1, BASIC_WORD_CHARACTERS_MAX);
        if (length > 0)
            joined[length++] = '|';
        for (size_t i = 0; i < word.count && !word.is_too_long; i++)
            length += unicode_encode(joined + length, word.codes[i]);
        if (word.is_too_long)
            length += (size_t)sprintf(joined + length, "...");
    }
    joined[length] = '\0';
    assert_string_equal(joined, expected);
    assert_false(basic_tokenizer_next(&tokenizer, &word));
}
#define assert_cased(literal, expected)                                                \
    expect_words("" literal, sizeof(literal) - 1, false, (expected))
#define assert_uncased(literal, expected)                                              \
    expect_words("" literal, sizeof(literal) - 1, true, (expected))

static void words_end_at_white_space(void **state)
{
    (void)state;
    assert_cased("", "");
    assert_cased(" \t\r\n ", "");
    assert_cased("  one two\tthree\nfour\r\nfive ", "one|two|three|four|five");
    assert_cased("a\u00a0b\u2003c\u2028d\u3000e", "a|b|c|d|e");
}

static void controls_and_what_is_no_character_are_left_out(void **state)
{
    (void)state;
    assert_cased("a\0b\x01"
                 "c\x7f"
                 "d\xc2\x85"
                 "e",
                 "abcde");
    assert_cased("a\u200bb\u00adc\ufeffd\ue000e", "abcde");
    assert_cased("a\ufffd\xff\xe2\x82"
                 "b",
                 "ab");
    assert_cased("a\u0378b", "a\u0378b"); /* unassigned */
}

static void each_punctuation_character_is_a_word(void **state)
{
    (void)state;
    assert_cased("Don't stop!!", "Don|'|t|stop|!|!");
    assert_cased("a\u2014b\u3002$c^_", "a|\u2014|b|\u3002|$|c|^|_");
    assert_cased("5\u20ac", "5\u20ac"); /* a currency sign outside of ASCII */
    /* It decomposes into ASCII's semicolon and accents. */
    assert_uncased("a\u037eb\u1fefc", "a|;|b|`|c");
}

static void each_ideograph_is_a_word(void **state)
{
    (void)state;
    assert_cased("\u4e2d\u6587\u548cEnglish", "\u4e2d|\u6587|\u548c|English");
    assert_cased("\u6771\u4eac\u306b\u304f\ud55c\uad6d",
                 "\u6771|\u4eac|\u306b\u304f\ud55c\uad6d");
    assert_cased("a\U00020000b", "a|\U00020000|b");
    assert_uncased("\uf900", "\u8c48"); /* one of compatibility */
}

static void lower_case_has_no_accents(void **state)
{
    (void)state;
    assert_cased("Caf\u00e9 CAFE\u0301", "Caf\u00e9|CAFE\u0301");
    assert_uncased("Caf\u00e9 CAFE\u0301", "cafe|cafe");
    assert_uncased("\u0130\u0131 \u00c5\u212b \u1e9e\u03a3", "i\u0131|aa|\u00df\u03c3");
    assert_uncased("\u0301 \u0301a", "a"); /* a word of marks is none */
    assert_uncased("\ud55c", "\u1112\u1161\u11ab");
}

static void marks_that_stay_are_in_nfds_order(void **state)
{
    (void)state;
    /* U+302E (class 224, Mc) and U+1D165 (class 216, Mc) stay; U+0301 goes. */
    assert_uncased("a\u302e\U0001d165", "a\U0001d165\u302e");
    assert_uncased("a\u302e\u0301\U0001d165", "a\U0001d165\u302e");
    assert_uncased("a\u302f\u302e", "a\u302f\u302e"); /* of one class */
    assert_uncased("a\u302eb\U0001d165", "a\u302eb\U0001d165");
    /* A mark of class 0 separates, though it goes. */
    assert_uncased("a\u302e\u034f\U0001d165", "a\u302e\U0001d165");
    assert_uncased("a\u302e \U0001d165", "a\u302e|\U0001d165");
    assert_cased("a\u302e\U0001d165", "a\u302e\U0001d165");
}

static void a_word_above_the_limit_is_marked(void **state)
{
    char text[2 * BASIC_WORD_CHARACTERS_MAX + 8], expected[sizeof text];
    (void)state;
    snprintf(expected, sizeof expected, "%0100d|b", 0);
    snprintf(text, sizeof text, "%0100d b", 0);
    expect_words(text, strlen(text), true, expected);
    snprintf(text, sizeof text, "%0101d b", 0);
    expect_words(text, strlen(text), true, "...|b");
    /* Marks that are left out do not count. */
    snprintf(text, sizeof text, "%0100d\u0301\u0301 b", 0);
    expect_words(text, strlen(text), true, expected);
    expect_words(text, strlen(text), false, "...|b");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_end_at_white_space),
        cmocka_unit_test(controls_and_what_is_no_character_are_left_out),
        cmocka_unit_test(each_punctuation_character_is_a_word),
        cmocka_unit_test(each_ideograph_is_a_word),
        cmocka_unit_test(lower_case_has_no_accents),
        cmocka_unit_test(marks_that_stay_are_in_nfds_order),
        cmocka_unit_test(a_word_above_the_limit_is_marked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
