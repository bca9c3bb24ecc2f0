/* Goal: a principal's name is stored whole or refused. Method: names at both limits. */
#include "base/principal.h"

#include <string.h>

#include "tests/expect.h"

static void a_name_is_kept_whole_or_refused(void **state)
{
    (void)state;
    char name[PRINCIPAL_NAME_SIZE + 1];
    struct principal principal = {.name = "before"};
    memset(name, 'a', sizeof name);
    name[PRINCIPAL_NAME_SIZE] = '\0';
    assert_false(principal_parse(&principal, name));
    assert_false(principal_parse(&principal, ""));
    assert_string_equal(principal.name, "before");
    name[PRINCIPAL_NAME_SIZE - 1] = '\0';
    assert_true(principal_parse(&principal, name));
    assert_string_equal(principal.name, name);
}

static void principals_are_told_apart_by_name(void **state)
{
    (void)state;
    struct principal other = {.name = "loca"}, same = {.name = "local"};
    assert_string_equal(principal_local.name, "local");
    assert_true(principal_equal(&principal_local, &same));
    assert_false(principal_equal(&principal_local, &other));
}

static void a_person_is_known_in_capitals_too(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        bool same;
    } cases[] = {
        {"ana", "ANA", true},
        {"Ana.B@x-y_Z+1", "aNA.b@X-Y_z+1", true},
        {"ana", "an", false},
        {"ana", "anb", false},
        {"an@", "an`", false},
        {"a_b",
         "a\x7f"
         "b",
         false},
        {"", "a", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(person_equal(cases[i].a, cases[i].b), cases[i].same);
        assert_int_equal(person_equal(cases[i].b, cases[i].a), cases[i].same);
    }
}

static void names_are_of_few_letters_and_a_zeroed_principal_is_nobody(void **state)
{
    (void)state;
    static const char *const good[] = {"ana", "A.na+b@x-y_z", "7"};
    static const char *const bad[] = {"",    " ana", "-ana",    "a/b",
                                      "a b", "a\n",  "\xc3\xa4"};
    char name[PRINCIPAL_NAME_SIZE + 1] = {0};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(principal_name_is_good(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(principal_name_is_good(bad[i]));
        assert_false(project_name_is_good(bad[i]));
    }
    assert_true(project_name_is_good("fraud.v2_a-b"));
    assert_false(project_name_is_good("Fraud"));
    assert_false(project_name_is_good("a@b"));
    memset(name, 'a', PRINCIPAL_NAME_SIZE);
    assert_false(principal_name_is_good(name));
    name[PRINCIPAL_NAME_SIZE - 1] = '\0';
    assert_true(principal_name_is_good(name));
    assert_int_equal((struct principal){0}.role, ROLE_NOBODY);
    assert_string_equal(via_name(VIA_BEARER), "bearer");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_is_kept_whole_or_refused),
        cmocka_unit_test(principals_are_told_apart_by_name),
        cmocka_unit_test(a_person_is_known_in_capitals_too),
        cmocka_unit_test(names_are_of_few_letters_and_a_zeroed_principal_is_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
