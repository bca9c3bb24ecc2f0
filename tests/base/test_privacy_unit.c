/* Goal: the names of privacy units are parsed, and no other name is one. */
#include "base/privacy_unit.h"

#include "tests/expect.h"

static void names_are_read_back(void **state)
{
    (void)state;
    enum privacy_unit unit = PRIVACY_UNIT_PERSON;
    assert_true(privacy_unit_parse(&unit, privacy_unit_name(PRIVACY_UNIT_RECORD)));
    assert_int_equal(unit, PRIVACY_UNIT_RECORD);
    assert_true(privacy_unit_parse(&unit, "person"));
    assert_int_equal(unit, PRIVACY_UNIT_PERSON);
}

static void nothing_else_is_a_unit(void **state)
{
    (void)state;
    static const char *const bad[] = {"", "Person", "persons", "records", "user"};
    enum privacy_unit unit = PRIVACY_UNIT_PERSON;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(privacy_unit_parse(&unit, bad[i]));
    assert_int_equal(unit, PRIVACY_UNIT_PERSON);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_read_back),
        cmocka_unit_test(nothing_else_is_a_unit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
