/* Goal: the compressed form of a resource has its own tag, and a list that contains
 * either of the two tags matches the resource. */
#include "service/http/entity_tag.h"

#include "tests/expect.h"

static void a_packed_form_has_a_tag_of_its_own(void **state)
{
    char packed[PACKED_TAG_SIZE];
    (void)state;
    tag_pack(packed, sizeof packed, "\"ab-17\"");
    assert_string_equal(packed, "\"ab-17-gzip\"");
}

static void a_list_holds_a_tag_in_either_form_and_says_in_which(void **state)
{
    static const struct {
        const char *list;
        bool holds, packed;
    } cases[] = {
        {NULL, false, false},
        {"", false, false},
        {"W/\"x\", W/\"ab-1\"", true, false},
        {"\"ab-1\"", true, false},
        {"\"ab-1-gzip\"", true, true},
        {"W/\"ab-1\"", true, false},
        {"W/\"ab-1-gzip\"", true, true},
        {" \"x\" ,\t\"ab-1-gzip\" , \"y\"", true, true},
        {"\"ab-1\", \"ab-1-gzip\"", true, true},
        {"*", true, false},
        {"\"ab-17\"", false, false},
        {"\"ab-1-gzi\"", false, false},
        {"\"ab-1-gzip", false, false},
        {"\"ab-1\"x", false, false},
        {"ab-1", false, false},
        {"\"ab-\"", false, false},
        {",,,", false, false},
        {"W/", false, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (tag_list_holds(cases[i].list, "\"ab-1\"") != cases[i].holds ||
            tag_list_holds_packed(cases[i].list, "\"ab-1\"") != cases[i].packed)
            fail_msg("case %zu: %s", i, cases[i].list);
}

static void a_weak_tag_is_held_by_weak_comparison_alone(void **state)
{
    static const struct {
        const char *list;
        bool strongly;
    } cases[] = {
        {NULL, false},
        {"W/\"ab-1\"", false},
        {"W/\"ab-1-gzip\", W/\"ab-1\"", false},
        {"W/\"ab-1\", \"ab-1\"", true},
        {"\"x\",\"ab-1-gzip\"", true},
        {"\"ab-1\"", true},
        {"*", true},
        {"\"ab-17\"", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (tag_list_holds_strongly(cases[i].list, "\"ab-1\"") != cases[i].strongly)
            fail_msg("case %zu: %s", i, cases[i].list);
}

static void a_packed_tag_becomes_that_of_the_thing(void **state)
{
    char tag[] = "\"ab-17-gzip\"", plain[] = "\"ab-17\"";
    (void)state;
    tag_unpack(tag);
    assert_string_equal(tag, "\"ab-17\"");
    tag_unpack(plain);
    assert_string_equal(plain, "\"ab-17\"");
}

static void any_thing_is_held_by_an_asterisk(void **state)
{
    (void)state;
    assert_true(tag_list_holds_any("*"));
    assert_true(tag_list_holds_any("\"a\" ,\t*"));
    assert_false(tag_list_holds_any("\"*\""));
    assert_false(tag_list_holds_any("\"a\""));
    assert_false(tag_list_holds_any(""));
    assert_false(tag_list_holds_any(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_packed_form_has_a_tag_of_its_own),
        cmocka_unit_test(a_list_holds_a_tag_in_either_form_and_says_in_which),
        cmocka_unit_test(a_weak_tag_is_held_by_weak_comparison_alone),
        cmocka_unit_test(any_thing_is_held_by_an_asterisk),
        cmocka_unit_test(a_packed_tag_becomes_that_of_the_thing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
