/* Goal: a traceparent of W3C's form is accepted, and any other counts as none. Method:
 * the cases of the recommendation's text. */
#include "api/http/trace_context.h"

#include <stddef.h>

#include "tests/expect.h"

#define TRACE "4bf92f3577b34da6a3ce929d0e0e4736"
#define SPAN  "00f067aa0ba902b7"

static void what_is_of_the_form_is_taken(void **state)
{
    (void)state;
    struct trace_context trace;
    char id[TRACE_ID_SIZE];
    assert_true(trace_context_parse(&trace, "00-" TRACE "-" SPAN "-01"));
    assert_string_equal(trace.parent, "00-" TRACE "-" SPAN "-01");
    assert_true(trace_context_id(&trace, id));
    assert_string_equal(id, TRACE);
    /* The known fields are read from a later version too. */
    assert_true(trace_context_parse(&trace, "cc-" TRACE "-" SPAN "-01"));
    assert_true(trace_context_parse(&trace, "cc-" TRACE "-" SPAN "-01-what-comes"));
    assert_string_equal(trace.parent, "00-" TRACE "-" SPAN "-01");
}

static void what_is_not_is_none(void **state)
{
    (void)state;
    static const char *const others[] = {
        NULL,
        "",
        "00",
        "00-" TRACE "-" SPAN,
        "00-" TRACE "-" SPAN "-0",
        "00-" TRACE "-" SPAN "-01-what-comes",
        "00-" TRACE "-" SPAN "-01 ",
        "cc-" TRACE "-" SPAN "-01.what",
        "ff-" TRACE "-" SPAN "-01",
        "0x-" TRACE "-" SPAN "-01",
        "00-00000000000000000000000000000000-" SPAN "-01",
        "00-" TRACE "-0000000000000000-01",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-" SPAN "-01",
        "00-" TRACE "-00f067aa0ba902bg-01",
        "00_" TRACE "-" SPAN "-01",
        "00-" TRACE "_" SPAN "-01",
        "00-" TRACE "-" SPAN "_01",
        "00-" TRACE "0-" SPAN "-1",
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        char id[TRACE_ID_SIZE] = "x";
        struct trace_context trace = {"x"};
        assert_false(trace_context_parse(&trace, others[i]));
        assert_string_equal(trace.parent, "");
        assert_false(trace_context_id(&trace, id));
        assert_string_equal(id, "");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_of_the_form_is_taken),
        cmocka_unit_test(what_is_not_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
