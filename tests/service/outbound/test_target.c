/* Goal: a URL that names no server, or a server that may not be called, is refused
 * before it is stored. Method: a table of URLs, with and without loopback allowed. */
#include "service/outbound/target.h"

#include "tests/expect.h"

static void a_url_must_name_a_server_that_may_be_called(void **state)
{
    static const struct {
        const char *url;
        bool fits, fits_local; /* local: the operator has allowed 127.0.0.1 */
    } cases[] = {
        {"https://example.org", true, true},
        {"https://example.org/a?b=c", true, true},
        {"https://example.org:8443/a", true, true},
        {"https://example.org:65535/a", true, true},
        {"https://127.0.0.1:8443/a", false, true},
        {"http://127.0.0.1:8080/a", false, true},
        {"http://example.org/a", false, true},
        {"https:///a", false, false},
        {"https:///", false, false},
        {"https:/example.org/a", false, false},
        {"https:example.org/a", false, false},
        {"https://", false, false},
        {"https://:8443/a", false, false},
        {"https://?a", false, false},
        {"http:///a", false, false},
        {"https://example.org:0/a", false, false},
        {"https://example.org:00000/a", false, false},
        {"http://127.0.0.1:0/a", false, false},
        {"https://example.org:65536/a", false, false},
        {"https://example.org:-1/a", false, false},
        {"https://u@example.org/a", false, false},
        {"https://u:p@example.org/a", false, false},
        {"https://example.org/a#b", false, false},
        {"https://example.org/a b", false, false},
        {"https://10.0.0.1/a", false, false},
        {"ftp://example.org/a", false, false},
        {"example.org/a", false, false},
        {"", false, false},
    };
    struct host_address_list nothing = {0}, local = {0};
    (void)state;
    assert_int_equal(host_address_list_parse(&local, "127.0.0.1", NULL), ST_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error error = {0};
        bool fits = target_check(cases[i].url, &nothing, "/url", &error) == ST_OK;
        bool fits_local = target_check(cases[i].url, &local, "/url", NULL) == ST_OK;
        if (fits != cases[i].fits || fits_local != cases[i].fits_local)
            fail_msg("%s: %d, %d", cases[i].url, fits, fits_local);
        if (!fits)
            assert_string_equal(error.pointer, "/url");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_url_must_name_a_server_that_may_be_called),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
