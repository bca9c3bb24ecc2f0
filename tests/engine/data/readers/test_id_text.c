/* Goal: an id contains no invisible character, and may contain any visible letter.
 * Method: a table of texts; every code point of each category that Unicode calls a
 * control, a format character or a space, at both ends of its ranges. */
#include "engine/data/readers/id_text.h"

#include <string.h>

#include "tests/expect.h"

static void visible_text_of_any_language_is_an_id(void **state)
{
    (void)state;
    static const char *const ids[] = {"",
                                      "7",
                                      "a b",
                                      "patient-0001",
                                      "~!\"#$%&'()*+,-./:;<=>?@[]^_`{|}",
                                      "Zo\xc3\xab",
                                      "\xd0\x90\xd0\xbd\xd0\xbd\xd0\xb0",
                                      "\xe5\xb1\xb1\xe7\x94\xb0",
                                      "\xf0\x9f\x98\x80",
                                      "\xf4\x8f\xbf\xbd",
                                      "e\xcc\x81",
                                      "\xef\xbf\xbd"};
    for (size_t k = 0; k < sizeof ids / sizeof *ids; k++)
        assert_null(id_text_fault(ids[k], strlen(ids[k])));
}

static void whatever_nobody_sees_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *text, *name;
    } cases[] = {{"\x01", "control"},
                 {"\x1f", "control"},
                 {"\x7f", "control"},
                 {"\xc2\x80", "control"},
                 {"\xc2\x9f", "control"},
                 {"\t", "tab"},
                 {"\n", "line feed"},
                 {"\r", "carriage return"},
                 {"\xc2\xa0", "no-break space"},
                 {"\xe2\x80\xaf", "no-break space"},
                 {"\xc2\xad", "soft hyphen"},
                 {"\xcd\x8f", "invisible"},
                 {"\xd8\x80", "format"},
                 {"\xe1\x85\x9f", "invisible"},
                 {"\xe1\x9a\x80", "space"},
                 {"\xe1\xa0\x8e", "invisible"},
                 {"\xe2\x80\x80", "space"},
                 {"\xe2\x80\x8a", "space"},
                 {"\xe2\x80\x8b", "zero-width"},
                 {"\xe2\x80\x8d", "zero-width"},
                 {"\xe2\x80\x8e", "format"},
                 {"\xe2\x80\xa8", "separator"},
                 {"\xe2\x80\xae", "format"},
                 {"\xe2\x81\xa0", "format"},
                 {"\xe2\x81\xaf", "format"},
                 {"\xe3\x80\x80", "space"},
                 {"\xe3\x85\xa4", "invisible"},
                 {"\xef\xb8\x8f", "invisible"},
                 {"\xef\xbb\xbf", "byte order mark"},
                 {"\xef\xbf\xb9", "format"},
                 {"\xf3\xa0\x80\xa0", "invisible"},
                 {"\xf3\xa0\xbf\xbf", "invisible"}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char text[16] = "id";
        strcat(strcat(text, cases[k].text), "x");
        const char *name = id_text_fault(text, strlen(text));
        assert_non_null(name);
        assert_non_null(strstr(name, cases[k].name));
    }
    assert_non_null(strstr(id_text_fault("a\0b", 3), "NUL"));
}

static void what_is_no_utf8_is_named(void **state)
{
    (void)state;
    static const char *const texts[] = {"\x80",
                                        "\xc0\x80",
                                        "\xc1\xbf",
                                        "\xc3",
                                        "\xc3(",
                                        "\xe0\x80\x80",
                                        "\xe2\x82",
                                        "\xed\xa0\x80",
                                        "\xed\xbf\xbf",
                                        "\xf0\x80\x80\x80",
                                        "\xf0\x9f\x98",
                                        "\xf4\x90\x80\x80",
                                        "\xf5\x80\x80\x80",
                                        "\xff",
                                        "Zo\xeb"};
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
        assert_string_equal(id_text_fault(texts[k], strlen(texts[k])),
                            "bytes that are not UTF-8");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(visible_text_of_any_language_is_an_id),
        cmocka_unit_test(whatever_nobody_sees_is_named),
        cmocka_unit_test(what_is_no_utf8_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
