/* Goal: a stored text is the text of its cell, or its longest prefix of whole characters
 * that has room, and nothing else of a row changes it. */
#include "engine/data/cell_text.h"

#include <math.h>
#include <string.h>

#include "tests/expect.h"

static void texts_are_stored_up_to_their_room(void **state)
{
    (void)state;
    static const struct {
        uint32_t bytes;
        const char *text, *stored;
    } cases[] = {
        {1, "a", "a"},
        {1, "", ""},
        {4, "abcd", "abcd"},
        {4, "abcde", "abcd"},
        {2, "\xc3\xa9", "\xc3\xa9"},
        {1, "\xc3\xa9", ""},
        {3, "a\xe2\x82\xac", "a"},
        {4, "a\xe2\x82\xac", "a\xe2\x82\xac"},
        {6, "\xff\xff\xff", "\xff\xff\xff"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        float packed[32];
        char back[CELL_TEXT_MAX + 1] = "";
        const uint32_t floats = cell_text_floats(cases[i].bytes);
        for (size_t k = 0; k < 32; k++)
            packed[k] = 7;
        cell_text_pack(packed, cases[i].bytes, cases[i].text, strlen(cases[i].text));
        for (uint32_t k = 0; k < cases[i].bytes; k++)
            back[k] = (char)cell_text_byte(packed, k);
        assert_string_equal(back, cases[i].stored);
        for (uint32_t k = 0; k < floats; k++)
            assert_true(packed[k] >= 0 && packed[k] < 0x1p24f);
        assert_true(packed[floats] == 7);
    }
}

static void a_nul_ends_a_text(void **state)
{
    (void)state;
    float packed[2], other[2];
    cell_text_pack(packed, 6, "a\0b", 3);
    cell_text_pack(other, 6, "a", 1);
    assert_memory_equal(packed, other, sizeof packed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_stored_up_to_their_room),
        cmocka_unit_test(a_nul_ends_a_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
