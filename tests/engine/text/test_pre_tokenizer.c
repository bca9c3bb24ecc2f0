/* Goal: a text is cut as GPT-2's regular expression cuts it, and no byte is lost. Method:
 * texts whose pieces are written out, for each branch of the expression and for each way
 * in which white space can stand. */
#include "tests/expect.h"

#include <string.h>

#include "engine/text/pre_tokenizer.h"

/* Expects the pieces of the text, joined by "|". */
static void expect_pieces(const char *text, const char *expected)
{
    char joined[256];
    size_t length = 0, size = strlen(text);
    for (size_t at = 0, piece; at < size; at += piece) {
        piece = pre_tokenizer_piece(text + at, size - at);
        assert_in_range(piece, 1, size - at);
        if (length > 0)
            joined[length++] = '|';
        memcpy(joined + length, text + at, piece);
        length += piece;
    }
    joined[length] = '\0';
    assert_string_equal(joined, expected);
}

static void english_endings_are_pieces_in_lower_case(void **state)
{
    (void)state;
    expect_pieces("he's can't they're we've I'm you'll he'd",
                  "he|'s| can|'t| they|'re| we|'ve| I|'m| you|'ll| he|'d");
    expect_pieces("IT'S 'x 'sx", "IT|'|S| '|x| '|sx");
    expect_pieces("'st'r'", "'s|t|'|r|'");
    expect_pieces("--'s", "--'|s");
    expect_pieces("'", "'");
}

static void letters_numbers_and_others_are_apart(void **state)
{
    (void)state;
    expect_pieces("abc123?!x", "abc|123|?!|x");
    expect_pieces("\u00e9\u4e2d\u05d0\u0663\u2167\u00b2",
                  "\u00e9\u4e2d\u05d0|\u0663\u2167\u00b2");
    expect_pieces("e\u0301x", "e|\u0301|x"); /* a mark is no letter */
    expect_pieces("a\xff\xe2\x82!b", "a|\xff\xe2\x82!|b");
    expect_pieces("a\u0378b", "a|\u0378|b"); /* unassigned */
}

static void one_space_belongs_to_what_follows(void **state)
{
    (void)state;
    expect_pieces(" a 1 !", " a| 1| !");
    expect_pieces("a  b", "a| | b");
    expect_pieces("a   1", "a|  | 1");
    expect_pieces("a\u00a0b", "a|\u00a0|b"); /* only U+0020 does */
    expect_pieces("a\n b", "a|\n| b");
    expect_pieces("a \nb", "a| |\n|b");
}

static void white_space_at_the_end_is_one_piece(void **state)
{
    (void)state;
    expect_pieces("a ", "a| ");
    expect_pieces("a \n\t ", "a| \n\t ");
    expect_pieces("\n", "\n");
    expect_pieces("\n\nb", "\n|\n|b");
    expect_pieces(" \u2028\u3000x", " \u2028|\u3000|x");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(english_endings_are_pieces_in_lower_case),
        cmocka_unit_test(letters_numbers_and_others_are_apart),
        cmocka_unit_test(one_space_belongs_to_what_follows),
        cmocka_unit_test(white_space_at_the_end_is_one_piece),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
