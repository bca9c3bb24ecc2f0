/* Goal: the names of privacy units are read back, and nothing else is one. */
#include "base/unit.h"

#include "tests/expect.h"

static void names_are_read_back(void **state)
{
    (void)state;
    enum unit unit = UNIT_PERSON;
    assert_true(unit_parse(&unit, unit_name(UNIT_RECORD)));
    assert_int_equal(unit, UNIT_RECORD);
    assert_true(unit_parse(&unit, "person"));
    assert_int_equal(unit, UNIT_PERSON);
}

static void nothing_else_is_a_unit(void **state)
{
    (void)state;
    static const char *const bad[] = {"", "Person", "persons", "records", "user"};
    enum unit unit = UNIT_PERSON;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(unit_parse(&unit, bad[i]));
    assert_int_equal(unit, UNIT_PERSON);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_read_back),
        cmocka_unit_test(nothing_else_is_a_unit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
