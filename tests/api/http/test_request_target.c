/* Goal: a request's target is refused unless it can be read in only one way. Method:
 * each refusal that request_target.h names, next to its nearest neighbours that
 * pass. */
#include "tests/expect.h"

#include <string.h>

#include "api/limits.h"
#include "api/http/request_target.h"

static void ordinary_targets_pass(void **state)
{
    (void)state;
    static const char *const targets[] = {
        "/",
        "/v1/jobs",
        "/v1/jobs/",
        "/v1/datasets/a:import",
        "/v1/jobs?",
        "/v1/jobs?state=DONE&page_token=a%2Fb%5C+=/?..",
        "/v1/datasets/%C3%A9%e2%82%ac%F0%9F%98%80",
        "/a/...",
        "/a/.b/c.",
        "/-._~!$&'()*+,;=:@",
        "/?//",
        "/%252F",
        "http://127.0.0.1/v1/jobs",
        "HTTPS://[::1]:8080/v1/jobs?a=b",
        "http://a",
        "http://a?b=/..",
    };
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        if (request_target_check(targets[i], strlen(targets[i]), NULL) != ST_OK)
            fail_msg("refused: %s", targets[i]);
}

static void a_target_with_two_readings_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *target, *why;
    } cases[] = {
        {"", "begin"},
        {"*", "begin"},
        {"v1/jobs", "begin"},
        {"http:/127.0.0.1/v1/jobs", "begin"},
        {"ftp://127.0.0.1/v1/jobs", "begin"},
        {"http://u@127.0.0.1/v1/jobs", "begin"},
        {"http://127.0.0.1*", "begin"},
        {"http:///v1/jobs", "no host"},
        {"http://", "no host"},
        {"https://?a", "no host"},
        {"http://a//v1", "empty"},
        {"http://a/v1/../x", "segment . or"},
        {"http://a?%", "encoded"},
        {"http://a/%2f", "slash"},
        {"/v1/jobs#top", "encoded"},
        {"/v1/{id}", "encoded"},
        {"/v1/\"", "encoded"},
        {"/v1\\jobs", "encoded"},
        {"/v1/\xc3\xa9", "encoded"},
        {"/v1/ jobs", "encoded"},
        {"/v1/%", "encoded"},
        {"/v1/%4", "encoded"},
        {"/v1/%g1", "encoded"},
        {"/v1/%1g", "encoded"},
        {"/v1/jobs?a=%", "encoded"},
        {"/v1/\x01", "encoded"},
        {"/v1/a%00b", "control"},
        {"/v1/a%0a", "control"},
        {"/v1/a%1F", "control"},
        {"/v1/a%7f", "control"},
        {"/v1/jobs?state=%0D", "control"},
        {"/v1/models/..%2f..%2fx", "slash"},
        {"/v1%2Fjobs", "slash"},
        {"/v1/a%5Cb", "slash"},
        {"/v1/%ff", "UTF-8"},
        {"/v1/%c0%af", "UTF-8"},
        {"/v1/%c3", "UTF-8"},
        {"/v1/%c3x", "UTF-8"},
        {"/v1/%c3/%a9", "UTF-8"},
        {"/v1/%e0%80%80", "UTF-8"},
        {"/v1/%ed%a0%80", "UTF-8"},
        {"/v1/%f4%90%80%80", "UTF-8"},
        {"/v1/%f5%80%80%80", "UTF-8"},
        {"/v1/jobs?a=%80", "UTF-8"},
        {"//v1/jobs", "empty"},
        {"/v1//jobs", "empty"},
        {"/v1/jobs//", "empty"},
        {"/.", "segment . or"},
        {"/..", "segment . or"},
        {"/v1/./jobs", "segment . or"},
        {"/v1/../jobs", "segment . or"},
        {"/v1/jobs/..?a", "segment . or"},
        {"/v1/%2e%2E/jobs", "segment . or"},
        {"/v1/.%2e", "segment . or"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error error = {0};
        const char *target = cases[i].target;
        if (request_target_check(target, strlen(target), &error) != ST_INVALID ||
            strstr(error.text, cases[i].why) == NULL)
            fail_msg("%s: %s, not %s", target, error.text, cases[i].why);
    }
    assert_int_equal(request_target_check("/a\0b", 4, NULL), ST_INVALID);
}

static void a_target_may_have_so_many_bytes(void **state)
{
    (void)state;
    char target[LIMIT_URI + 2];
    memset(target, 'x', sizeof target);
    target[0] = '/';
    assert_int_equal(request_target_check(target, LIMIT_URI, NULL), ST_OK);
    assert_int_equal(request_target_check(target, LIMIT_URI + 1, NULL),
                     ST_URI_TOO_LONG);
}

static void the_path_of_a_target_has_one_form(void **state)
{
    (void)state;
    static const struct {
        const char *target, *path;
    } cases[] = {
        {"/v1/jobs?a=%6a", "/v1/jobs"},
        {"/v1/%6A%6fbs", "/v1/jobs"},
        {"/%76%31/a%2D%2e%5f%7E", "/v1/a-._~"},
        {"/v1/a%3Aimport%2F%25%C3%a9", "/v1/a%3Aimport%2F%25%C3%a9"},
        {"/%256A", "/%256A"},
        {"http://127.0.0.1:8080/v1/%6Aobs?x", "/v1/jobs"},
        {"https://a", "/"},
        {"http://a?b=/c", "/"},
        {"*", "*"}, /* not checked: any text */
        {"/%", "/%"},
        {"/%g", "/%g"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *path = request_target_path(cases[i].target);
        assert_string_equal(path, cases[i].path);
        free(path);
    }
}

static void a_piece_is_decoded_once_or_not_at_all(void **state)
{
    (void)state;
    char to[8] = "old";
    assert_true(request_target_decode(to, sizeof to, "a%2Fb%3a", 8));
    assert_string_equal(to, "a/b:");
    assert_true(request_target_decode(to, sizeof to, "%252F", 5));
    assert_string_equal(to, "%2F");
    assert_true(request_target_decode(to, sizeof to, "1234567", 7));
    assert_string_equal(to, "1234567");
    assert_false(request_target_decode(to, sizeof to, "12345678", 8));
    assert_string_equal(to, "");
    assert_true(request_target_decode(to, sizeof to, "%31%32%33%34%35%36%37", 21));
    assert_false(request_target_decode(to, sizeof to, "%31%32%33%34%35%36%37%38", 24));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ordinary_targets_pass),
        cmocka_unit_test(a_target_with_two_readings_is_refused),
        cmocka_unit_test(a_target_may_have_so_many_bytes),
        cmocka_unit_test(the_path_of_a_target_has_one_form),
        cmocka_unit_test(a_piece_is_decoded_once_or_not_at_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
