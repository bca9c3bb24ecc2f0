/* Goal: lines end at either ending, and none is lost or made up. Method: texts whose lines
 * are written out. */
#include "tests/expect.h"

#include <string.h>

#include "engine/text/text_lines.h"

/* Expects the lines of the text, each followed by "|". */
static void expect_lines(const char *text, const char *expected)
{
    struct text rest = {text, strlen(text)}, line;
    char joined[64] = "";
    size_t count = 0;
    for (; text_lines_next(&rest, &line); count++) {
        strncat(joined, line.bytes, line.size);
        strcat(joined, "|");
    }
    assert_string_equal(joined, expected);
    assert_int_equal(text_lines_count((struct text){text, strlen(text)}), count);
}

static void a_line_ends_with_its_ending_or_the_text(void **state)
{
    (void)state;
    expect_lines("", "");
    expect_lines("a", "a|");
    expect_lines("a\n", "a|");
    expect_lines("a\r\nb\nc\r\n", "a|b|c|");
    expect_lines("\n\na\r\n\r\n", "||a||");
}

static void a_carriage_return_elsewhere_is_a_byte(void **state)
{
    (void)state;
    expect_lines("a\rb\n\rc\r\r\n", "a\rb|\rc\r|");
    expect_lines("a\r", "a|");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_ends_with_its_ending_or_the_text),
        cmocka_unit_test(a_carriage_return_elsewhere_is_a_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
