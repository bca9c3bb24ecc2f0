/* Goal: only loopback names are our own. End-to-end tests check the rest of admission,
 * which needs a connection. */
#include "service/http/admission.h"

#include "service/config/config.h"
#include "tests/expect.h"

static void loopback_names_are_ours(void **state)
{
    (void)state;
    static const char *const ours[] = {"localhost",      "LOCALHOST:80", "127.0.0.1",
                                       "127.0.0.1:8080", "127.9.8.7:1",  "[::1]",
                                       "[::1]:8080"};
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        assert_true(host_is_loopback(ours[i]));
}

static void other_names_are_not(void **state)
{
    (void)state;
    static const char *const foreign[] = {"",
                                          "example.org",
                                          "localhost.example.org",
                                          "127.0.0.1.nip.io",
                                          "10.0.0.1",
                                          "128.0.0.1",
                                          "[::1",
                                          "::1",
                                          "[::2]:80",
                                          "127.0.0.1:80x",
                                          "localhost:80:80",
                                          "0.0.0.0",
                                          "[::ffff:1]",
                                          "127.0.0.1:80 extra"};
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        assert_false(host_is_loopback(foreign[i]));
}

static void every_body_has_a_limit(void **state)
{
    (void)state;
    struct config config = {.upload_size_max = 12345};
    assert_int_equal(admission_body_max(BODY_NONE, &config), 0);
    assert_int_equal(admission_body_max(BODY_JSON, &config), 1 << 20);
    assert_int_equal(admission_body_max(BODY_LOGIN, &config), 1 << 10);
    assert_int_equal(admission_body_max(BODY_PREDICT, &config), 64 << 20);
    assert_int_equal(admission_body_max(BODY_FILE, &config), 12345);
    assert_int_equal(admission_body_max(BODY_OPTIONAL, &config), 1 << 20);
    assert_int_equal(admission_body_max(BODY_ROWS, &config), 12345);
    assert_true(admission_body_max(BODY_EMPTY, &config) < 1024);
}

static void no_byte_and_empty_braces_are_no_body(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        size_t size;
        bool empty;
    } cases[] = {
        {NULL, 0, true},      {"", 0, true},      {" \r\n\t", 4, false},
        {"{}", 2, true},      {" { } ", 5, true}, {"\0", 1, false},
        {"\0{bad", 5, false}, {"{}\0", 3, false}, {"{\0}", 3, false},
        {"{", 1, false},      {"}", 1, false},    {"}{", 2, false},
        {"{}{}", 4, false},   {"{} {", 4, false}, {"{\"a\":1}", 7, false},
        {"null", 4, false},   {"[]", 2, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (body_is_empty(cases[i].body, cases[i].size) != cases[i].empty)
            fail_msg("%s", cases[i].body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loopback_names_are_ours),
        cmocka_unit_test(other_names_are_not),
        cmocka_unit_test(every_body_has_a_limit),
        cmocka_unit_test(no_byte_and_empty_braces_are_no_body),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
