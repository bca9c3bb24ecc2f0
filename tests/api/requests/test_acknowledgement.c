/* Goal: a weak promise is confirmed by name, exactly: no less and no more than the
 * figures need, up to the last digit. Method: tables of figures and of bodies. */
#include "api/requests/import_body.h"

#include <math.h>
#include <string.h>

#include "tests/expect.h"

enum { BOTH = ACKNOWLEDGED_EPSILON | ACKNOWLEDGED_DELTA };

static void only_what_is_above_a_limit_has_to_be_confirmed(void **state)
{
    (void)state;
    const struct {
        double epsilon, delta;
        uint64_t units;
        unsigned needed;
    } cases[] = {
        {10, 1e-5, 300, ACKNOWLEDGED_NOTHING},
        {nextafter(10, 11), 1e-5, 300, ACKNOWLEDGED_EPSILON},
        {3, 1. / 300, 300, ACKNOWLEDGED_NOTHING},
        {3, 0.001, 1000, ACKNOWLEDGED_NOTHING},
        {3, nextafter(1. / 300, 1), 300, ACKNOWLEDGED_DELTA},
        {3, 0.00101, 1000, ACKNOWLEDGED_DELTA},
        {3, 0.9, 1, ACKNOWLEDGED_NOTHING},
        {3, 0.9, 0, ACKNOWLEDGED_NOTHING}, /* n is not known */
        {30, 0.9, 2, BOTH},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(
            acknowledgement_needed(cases[i].epsilon, cases[i].delta, cases[i].units),
            cases[i].needed);
}

static void a_request_confirms_exactly_what_is_needed(void **state)
{
    (void)state;
    for (unsigned given = 0; given <= BOTH; given++) {
        for (unsigned needed = 0; needed <= BOTH; needed++) {
            struct error error = {0};
            enum status status = acknowledgement_check(
                (enum acknowledged)given, (enum acknowledged)needed, &error);
            assert_int_equal(status, given == needed ? ST_OK : ST_INVALID);
            if (given == needed)
                continue;
            bool lacks = (needed & ~given) != 0;
            assert_string_equal(error.pointer, "/acknowledge");
            assert_non_null(
                strstr(error.text, lacks ? "\"acknowledge\": [" : "nothing asked for"));
            unsigned named = lacks ? needed & ~given : given & ~needed;
            for (unsigned i = 0; acknowledged_names[i] != NULL; i++)
                assert_int_equal(strstr(error.text, acknowledged_names[i]) != NULL,
                                 named >> i & 1);
        }
    }
}

static void a_body_confirms_by_names_that_exist(void **state)
{
    (void)state;
    static const struct {
        const char *body, *pointer; /* pointer NULL: it is good */
        unsigned confirmed;
    } cases[] = {
        {"", NULL, ACKNOWLEDGED_NOTHING},
        {"{}", NULL, ACKNOWLEDGED_NOTHING},
        {"{\"acknowledge\":[]}", NULL, ACKNOWLEDGED_NOTHING},
        {"{\"acknowledge\":[\"delta_above_1_over_n\"]}", NULL, ACKNOWLEDGED_DELTA},
        {"{\"acknowledge\":[\"delta_above_1_over_n\",\"epsilon_above_10\"]}", NULL,
         BOTH},
        {"{\"acknowledge\":\"epsilon_above_10\"}", "/acknowledge", 0},
        {"{\"acknowledge\":true}", "/acknowledge", 0},
        {"{\"acknowledge\":null}", "/acknowledge", 0},
        {"{\"acknowledge\":[\"everything\"]}", "/acknowledge/0", 0},
        {"{\"acknowledge\":[7]}", "/acknowledge/0", 0},
        {"{\"acknowledge\":[\"epsilon_above_10\",\"epsilon_above_10\"]}",
         "/acknowledge/1", 0},
        {"{\"acknowledged\":[]}", "/acknowledged", 0},
        {"[]", "", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error error = {0};
        struct import_body body = {.has_query = false};
        enum status status =
            import_body_parse(&body, json_text_of(cases[i].body), &error);
        assert_int_equal(status, cases[i].pointer == NULL ? ST_OK : ST_INVALID);
        if (cases[i].pointer != NULL)
            assert_string_equal(error.pointer, cases[i].pointer);
        assert_int_equal(body.acknowledged, cases[i].confirmed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_is_above_a_limit_has_to_be_confirmed),
        cmocka_unit_test(a_request_confirms_exactly_what_is_needed),
        cmocka_unit_test(a_body_confirms_by_names_that_exist),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
