/* Goal: query strings and fingerprints have one meaning. Method: tables, and pairs of
 * bodies that are the same or differ. */
#include "tests/expect.h"

#include <string.h>

#include "api/limits.h"
#include "api/http/query.h"

static void counts_are_digits_in_range(void **state)
{
    (void)state;
    static const char *const bad[] = {"",
                                      "-1",
                                      "+3",
                                      "3.0",
                                      "3x",
                                      " 3",
                                      "61",
                                      "1e1",
                                      "0x3",
                                      "nan",
                                      "99999999999999999999999999999"};
    struct query_range range = {0, LIMIT_WAIT_S, 5};
    uint64_t value = 77;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct error error = {0};
        assert_int_equal(query_count(&value, "wait", bad[i], range, &error),
                         ST_INVALID);
        assert_non_null(strstr(error.text, "wait"));
        assert_int_equal(value, 77);
    }
    assert_int_equal(query_count(&value, "wait", "60", range, NULL), ST_OK);
    assert_int_equal(value, 60);
    assert_int_equal(query_count(&value, "wait", NULL, range, NULL), ST_OK);
    assert_int_equal(value, 5);
}

/* A link may repeat its digits, and has no room for a thousand. */
static void a_count_has_sixteen_digits_at_most(void **state)
{
    (void)state;
    char text[1002];
    struct query_range range = {0, LIMIT_WAIT_S, 5};
    uint64_t value = 77;
    size_t size = 0;
    memset(text, '0', sizeof text);
    strcpy(text + 15, "7");
    assert_int_equal(query_count(&value, "wait", text, range, NULL), ST_OK);
    assert_int_equal(value, 7);
    strcpy(text + 15, "07");
    assert_int_equal(query_count(&value, "wait", text, range, NULL), ST_INVALID);
    memset(text, '0', 1001);
    text[1001] = '\0';
    assert_int_equal(query_count(&value, "wait", text, range, NULL), ST_INVALID);
    assert_int_equal(query_page_size(&size, text, NULL), ST_INVALID);
}

static const struct route *route_named(const char *name)
{
    size_t i = 0;
    while (strcmp(route_at(i)->name, name) != 0)
        i++;
    return route_at(i);
}

static void a_query_holds_what_its_route_names_and_once(void **state)
{
    (void)state;
    static const struct {
        const char *route;
        const char *names[6];
        /* named by the refusal of the last of names; NULL: all are accepted */
        const char *named;
    } cases[] = {
        {"job_list", {"page_token", "state", "page_size", "dataset", "order"}, NULL},
        {"job_list", {"dataset", "sate"}, "sate"},
        {"job_list", {"state", "dataset", "state"}, "state"},
        {"job_list", {"page"}, "page"},
        {"job_list", {"State"}, "State"},
        {"job_list", {"state dataset"}, "state dataset"},
        {"job_list", {""}, "\"\""},
        {"job_get", {"wait"}, NULL},
        {"job_get", {"page_size"}, "page_size"},
        {"job_estimate", {"runs", "runs"}, "runs"},
        {"livez", {"state"}, "state"},
        {"livez", {""}, "\"\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct query_seen seen = {.route = route_named(cases[i].route)};
        struct error error = {0};
        for (const char *const *name = cases[i].names; *name != NULL; name++) {
            bool last = name[1] == NULL;
            assert_int_equal(query_take(&seen, *name, &error),
                             last && cases[i].named != NULL ? ST_INVALID : ST_OK);
        }
        if (cases[i].named != NULL)
            assert_non_null(strstr(error.text, cases[i].named));
    }
}

static void page_sizes_beyond_the_limit_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t size; /* 0: refused */
    } cases[] = {{NULL, 50},
                 {"0", 50},
                 {"1", 1},
                 {"1000", 1000},
                 {"1001", 0},
                 {"-1", 0},
                 {"x", 0},
                 {"", 0},
                 {"0000000000000050", 50},
                 {"00000000000000050", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t size = 0;
        enum status expected = cases[i].size > 0 ? ST_OK : ST_INVALID;
        assert_int_equal(query_page_size(&size, cases[i].text, NULL), expected);
        assert_int_equal(size, cases[i].size);
    }
}

static void tokens_read_back_and_others_are_refused(void **state)
{
    (void)state;
    static const uint64_t positions[] = {0, 1, 4711, LIMIT_COUNT - 1};
    static const char *const bad[] = {"",
                                      "p",
                                      "1",
                                      "p-1",
                                      "p 1",
                                      "P1",
                                      "p01",
                                      "p1 ",
                                      "p11111111111111111",
                                      "q1",
                                      "p20000000000000",
                                      "p7fffffffffffffff",
                                      "p8000000000000000",
                                      "pffffffffffffffff"};
    struct page_mark read = {.order = 'p'};
    for (size_t i = 0; i < sizeof positions / sizeof *positions; i++) {
        char token[PAGE_TOKEN_SIZE];
        page_mark_render(token,
                         &(struct page_mark){.order = 'p', .position = positions[i]});
        assert_int_equal(page_mark_parse(&read, token, NULL), ST_OK);
        assert_int_equal(read.position, positions[i]);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(page_mark_parse(&read, bad[i], NULL), ST_INVALID);
}

/* A page token is valid only in the order in which it was given out. */
static void marks_read_back_in_their_own_order_alone(void **state)
{
    (void)state;
    static const double numbers[] = {0, -2.385, INFINITY, -INFINITY, 0x1p-1074};
    char token[PAGE_TOKEN_SIZE];
    struct page_mark mark = {.order = 's', .position = LIMIT_COUNT - 1}, read = mark;
    page_mark_render(token, &mark);
    assert_int_equal(page_mark_parse(&read, token, NULL), ST_OK);
    assert_int_equal(read.position, LIMIT_COUNT - 1);
    struct page_mark other = {.order = 'r', .position = 5};
    struct error error = {0};
    assert_int_equal(page_mark_parse(&other, token, &error), ST_INVALID);
    assert_non_null(strstr(error.text, "another order"));
    assert_int_equal(other.position, 5);
    other = (struct page_mark){.order = 's', .has_number = true};
    assert_int_equal(page_mark_parse(&other, token, NULL), ST_INVALID);
    mark.has_number = read.has_number = true;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        mark.number = numbers[i];
        page_mark_render(token, &mark);
        assert_int_equal(page_mark_parse(&read, token, NULL), ST_OK);
        assert_true(read.number == numbers[i] && read.position == mark.position);
    }
    mark.number = NAN;
    page_mark_render(token, &mark);
    assert_int_equal(page_mark_parse(&read, token, NULL), ST_INVALID);
    static const char *const bad[] = {
        "",   "s",  "s1.", "s1.0", "s1.00000000000000000", "s1.000000000000000G",
        "{1", "o1", "S1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(page_mark_parse(&read, bad[i], NULL), ST_INVALID);
}

static void a_choice_is_one_of_its_names_as_they_are_written(void **state)
{
    (void)state;
    static const char *const names[] = {"yes", "no", "later", NULL};
    static const char *const bad[] = {"", "Yes", "ye", "yess", "no ", "yes,no"};
    unsigned place = 7;
    assert_int_equal(query_choice(&place, "x", NULL, names, NULL), ST_OK);
    assert_int_equal(place, 7);
    assert_int_equal(query_choice(&place, "x", "later", names, NULL), ST_OK);
    assert_int_equal(place, 2);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct error error = {0};
        assert_int_equal(query_choice(&place, "x", bad[i], names, &error), ST_INVALID);
        assert_string_equal(error.text, "query parameter x must be yes, no or later");
    }
    assert_int_equal(place, 2);
}

static void choices_are_names_with_commas_between_them(void **state)
{
    (void)state;
    static const char *const names[] = {"yes", "no", "later", NULL};
    static const char *const bad[] = {"",        ",",      "yes,",   ",yes",
                                      "yes,,no", "yes no", "yes, no"};
    unsigned places = 1;
    assert_int_equal(query_choices(&places, "x", NULL, names, NULL), ST_OK);
    assert_int_equal(places, 1);
    assert_int_equal(query_choices(&places, "x", "later,yes", names, NULL), ST_OK);
    assert_int_equal(places, 5);
    assert_int_equal(query_choices(&places, "x", "no,no", names, NULL), ST_OK);
    assert_int_equal(places, 2);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(query_choices(&places, "x", bad[i], names, NULL), ST_INVALID);
    assert_int_equal(places, 2);
}

static void a_time_is_written_as_it_is_answered(void **state)
{
    (void)state;
    static const char *const bad[] = {"",
                                      "2026-01-31",
                                      "2026-01-31T12:00:00",
                                      "2026-01-31T12:00:00z",
                                      "2026-01-31 12:00:00Z",
                                      "2026-02-30T12:00:00Z",
                                      "2026-01-31T24:00:00Z",
                                      "2026-01-31T12:00:00.5Z",
                                      "2026-01-31T12:00:00+01:00",
                                      "2026-1-031T12:00:00Z",
                                      "1769860800"};
    int64_t read = 4711;
    assert_int_equal(query_time(&read, "t", NULL, NULL), ST_OK);
    assert_int_equal(read, 4711);
    assert_int_equal(query_time(&read, "t", "2026-01-31T12:00:07Z", NULL), ST_OK);
    assert_int_equal(read, INT64_C(1769860807000));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (query_time(&read, "t", bad[i], NULL) != ST_INVALID)
            fail_msg("a time: %s", bad[i]);
    assert_int_equal(read, INT64_C(1769860807000));
}

static const struct request_line jobs = {"POST", "/v1/jobs"};

static bool same(const struct request_line *line, const char *a, const char *b)
{
    uint8_t first[SHA256_SIZE], second[SHA256_SIZE];
    assert_int_equal(body_fingerprint(first, &jobs, json_text_of(a), NULL), ST_OK);
    assert_int_equal(body_fingerprint(second, line, json_text_of(b), NULL), ST_OK);
    return memcmp(first, second, SHA256_SIZE) == 0;
}

static void fingerprints_see_values_and_not_their_form(void **state)
{
    (void)state;
    const char *body = "{\"a\":1,\"b\":[0.1,{\"c\":\"\\u00e9\",\"d\":null}]}";
    assert_true(same(&jobs, body, body));
    assert_true(same(&jobs, body,
                     " {\"b\" : [1e-1, {\"d\":null,\n\"c\":\"\xc3\xa9\"}], \"a\":1} "));
    assert_false(
        same(&jobs, body, "{\"a\":2,\"b\":[0.1,{\"c\":\"\\u00e9\",\"d\":null}]}"));
    assert_false(same(&jobs, body, "{\"a\":1,\"b\":[0.1,{\"c\":\"e\",\"d\":null}]}"));
    assert_false(
        same(&jobs, body,
             "{\"a\":1,\"b\":[0.10000000000000002,{\"c\":\"\\u00e9\",\"d\":null}]}"));
    assert_false(same(&jobs, "[1,2]", "[2,1]"));
    assert_false(same(&(struct request_line){"POST", "/v1/datasets"}, body, body));
    assert_false(same(&(struct request_line){"PUT", "/v1/jobs"}, body, body));
    assert_false(same(&(struct request_line){"POST/", "v1/jobs"}, body, body));
}

static void a_body_that_is_not_json_has_no_fingerprint(void **state)
{
    (void)state;
    uint8_t fingerprint[SHA256_SIZE];
    struct error error = {0};
    assert_int_equal(body_fingerprint(fingerprint, &jobs,
                                      json_text_sized("{\"a\":1,\"a\":2}", 13), &error),
                     ST_INVALID);
    assert_string_equal(error.pointer, "/a");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_digits_in_range),
        cmocka_unit_test(a_count_has_sixteen_digits_at_most),
        cmocka_unit_test(a_query_holds_what_its_route_names_and_once),
        cmocka_unit_test(page_sizes_beyond_the_limit_are_refused),
        cmocka_unit_test(tokens_read_back_and_others_are_refused),
        cmocka_unit_test(marks_read_back_in_their_own_order_alone),
        cmocka_unit_test(a_choice_is_one_of_its_names_as_they_are_written),
        cmocka_unit_test(choices_are_names_with_commas_between_them),
        cmocka_unit_test(a_time_is_written_as_it_is_answered),
        cmocka_unit_test(fingerprints_see_values_and_not_their_form),
        cmocka_unit_test(a_body_that_is_not_json_has_no_fingerprint),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
