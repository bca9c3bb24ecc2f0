/* Goal: a principal's name is kept whole or refused. Method: names at both limits. */
#include "base/principal.h"

#include <string.h>

#include "tests/expect.h"

static void a_name_is_kept_whole_or_refused(void **state)
{
    (void)state;
    char name[PRINCIPAL_NAME_SIZE + 1];
    struct principal principal = {"before"};
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
    struct principal other = {"loca"}, same = {"local"};
    assert_string_equal(principal_local.name, "local");
    assert_true(principal_equal(&principal_local, &same));
    assert_false(principal_equal(&principal_local, &other));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_is_kept_whole_or_refused),
        cmocka_unit_test(principals_are_told_apart_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
