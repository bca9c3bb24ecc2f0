/* Goal: a request for statistics is parsed as it says and shown as it was made, and
 * every mistake in it is refused at its place. */
#include "api/requests/statistics_request.h"

#include <string.h>

#include "api/limits.h"
#include "tests/expect.h"

static const char whole[] =
    "{\"dataset\":\"adult\",\"statistics\":["
    "{\"kind\":\"histogram\",\"column\":\"age\",\"bins\":[17.0,30.5,90.0]},"
    "{\"kind\":\"table\",\"columns\":[{\"column\":\"sex\"},{\"column\":\"age\","
    "\"bins\":7}]},"
    "{\"kind\":\"sum\",\"column\":\"age\"},"
    "{\"kind\":\"mean\",\"column\":\"age\",\"range\":[20.0,60.0]},"
    "{\"kind\":\"variance\",\"column\":\"age\"},"
    "{\"kind\":\"quantiles\",\"column\":\"age\",\"bins\":64,\"probabilities\":[0.25,0."
    "5]},"
    "{\"kind\":\"moments\",\"clip_norm\":2.5}],"
    "\"privacy\":{\"epsilon\":0.385}}";

static void what_is_asked_is_read_and_shown_again(void **state)
{
    (void)state;
    struct statistics_request request;
    assert_int_equal(statistics_request_parse(&request, json_text_of(whole), NULL),
                     ST_OK);
    assert_string_equal(request.dataset.text, "adult");
    assert_int_equal(request.statistics.count, 7);
    assert_true(request.has_epsilon && request.target == 0.385 && request.delta == 0);
    const struct statistic *items = request.statistics.items;
    assert_int_equal(items[0].kind, STATISTIC_HISTOGRAM);
    assert_int_equal(items[0].axes[0].bins, 2);
    assert_true(items[0].axes[0].edges[1] == 30.5);
    assert_int_equal(items[1].axis_count, 2);
    assert_string_equal(items[1].axes[1].column, "age");
    assert_int_equal(items[1].axes[1].bins, 7);
    assert_true(items[3].axes[0].edges[1] == 60);
    assert_int_equal(items[5].probability_count, 2);
    assert_int_equal(items[6].kind, STATISTIC_MOMENTS);
    assert_true(items[6].moments.clip_norm == 2.5);
    char *shown = statistics_render(&request.statistics);
    assert_non_null(strstr(whole, shown));
    free(shown);
    statistics_request_fini(&request);
}

static void noise_may_be_named_in_the_place_of_epsilon(void **state)
{
    (void)state;
    static const char body[] =
        "{\"dataset\":\"adult\",\"statistics\":[{\"kind\":\"sum\",\"column\":\"age\"}],"
        "\"privacy\":{\"noise_multiplier\":4.5,\"delta\":1e-6}}";
    struct statistics_request request;
    assert_int_equal(statistics_request_parse(&request, json_text_of(body), NULL),
                     ST_OK);
    assert_true(!request.has_epsilon && request.target == 4.5 && request.delta == 1e-6);
    statistics_request_fini(&request);
}

/* Expects that the complete request with one place changed is refused there. */
static void expect_refused(const char *from, const char *to, const char *pointer)
{
    char body[2048];
    struct statistics_request request;
    struct error error = {0};
    const char *at = strstr(whole, from);
    assert_non_null(at);
    snprintf(body, sizeof body, "%.*s%s%s", (int)(at - whole), whole, to,
             at + strlen(from));
    assert_int_equal(statistics_request_parse(&request, json_text_of(body), &error),
                     ST_INVALID);
    if (strcmp(error.pointer, pointer) != 0)
        fail_msg("%s in the place of %s is refused at %s", to, from, error.pointer);
}

static void every_mistake_is_refused_at_its_place(void **state)
{
    (void)state;
    expect_refused("\"adult\"", "\"Adult\"", "/dataset");
    expect_refused("\"histogram\"", "\"mode\"", "/statistics/0/kind");
    expect_refused("{\"kind\":\"sum\",\"column\":\"age\"}", "7", "/statistics/2");
    expect_refused("\"kind\":\"sum\",", "", "/statistics/2/kind");
    expect_refused("\"kind\":\"sum\",\"column\":\"age\"", "\"kind\":\"sum\"",
                   "/statistics/2/column");
    expect_refused("\"kind\":\"sum\"", "\"kind\":\"sum\",\"bins\":3",
                   "/statistics/2/bins");
    expect_refused("[17.0,30.5,90.0]", "[17,90,90]", "/statistics/0/bins/2");
    expect_refused("[17.0,30.5,90.0]", "[17]", "/statistics/0/bins");
    expect_refused("[17.0,30.5,90.0]", "0", "/statistics/0/bins");
    expect_refused("[17.0,30.5,90.0]", "10000000", "/statistics/0/bins");
    expect_refused("[17.0,30.5,90.0]", "[17,\"a\",90]", "/statistics/0/bins/1");
    expect_refused("[20.0,60.0]", "[60,20]", "/statistics/3/range/1");
    expect_refused("[20.0,60.0]", "[20,40,60]", "/statistics/3/range");
    expect_refused("{\"column\":\"sex\"},", "", "/statistics/1/columns");
    expect_refused("{\"column\":\"sex\"}", "{\"column\":\"sex\",\"range\":[0,1]}",
                   "/statistics/1/columns/0/range");
    expect_refused("[0.25,0.5]", "[0.25,1]", "/statistics/5/probabilities/1");
    expect_refused("[0.25,0.5]", "[0]", "/statistics/5/probabilities/0");
    expect_refused("[0.25,0.5]", "[]", "/statistics/5/probabilities");
    expect_refused(",\"probabilities\":[0.25,0.5]", "", "/statistics/5/probabilities");
    expect_refused(":2.5", ":0", "/statistics/6/clip_norm");
    expect_refused(":2.5", ":9e-7", "/statistics/6/clip_norm");
    expect_refused(":2.5", ":1000001", "/statistics/6/clip_norm");
    expect_refused("\"clip_norm\"", "\"column\"", "/statistics/6/column");
    expect_refused("\"epsilon\":0.385", "\"epsilon\":0", "/privacy/epsilon");
    expect_refused("\"epsilon\":0.385", "\"epsilon\":31", "/privacy/epsilon");
    expect_refused("\"epsilon\":0.385", "\"noise_multiplier\":0.01",
                   "/privacy/noise_multiplier");
    expect_refused("\"epsilon\":0.385", "\"epsilon\":1,\"noise_multiplier\":2",
                   "/privacy");
    expect_refused("\"epsilon\":0.385", "\"delta\":1e-5", "/privacy");
    expect_refused("\"epsilon\":0.385", "\"epsilon\":1,\"delta\":1", "/privacy/delta");
    expect_refused("\"epsilon\":0.385", "\"epsilon\":1,\"accountant\":\"pld\"",
                   "/privacy/accountant");
    expect_refused(",\"privacy\":{\"epsilon\":0.385}", "", "/privacy");
}

static void more_statistics_than_the_limit_are_refused(void **state)
{
    (void)state;
    struct statistics_request request;
    struct error error = {0};
    char body[8192] = "{\"dataset\":\"a\",\"statistics\":[", *end = body + strlen(body);
    for (int i = 0; i <= LIMIT_STATISTICS; i++)
        end +=
            sprintf(end, "%s{\"kind\":\"sum\",\"column\":\"age\"}", i > 0 ? "," : "");
    sprintf(end, "],\"privacy\":{\"epsilon\":1}}");
    assert_int_equal(statistics_request_parse(&request, json_text_of(body), &error),
                     ST_INVALID);
    assert_string_equal(error.pointer, "/statistics");
}

static void more_probabilities_than_the_limit_are_refused(void **state)
{
    (void)state;
    struct statistics_request request;
    struct error error = {0};
    char body[4096] = "{\"dataset\":\"a\",\"statistics\":[{\"kind\":\"quantiles\","
                      "\"column\":\"age\",\"probabilities\":[",
         *end = body + strlen(body);
    for (int i = 0; i <= LIMIT_PROBABILITIES; i++)
        end += sprintf(end, "%s0.5", i > 0 ? "," : "");
    sprintf(end, "]}],\"privacy\":{\"epsilon\":1}}");
    assert_int_equal(statistics_request_parse(&request, json_text_of(body), &error),
                     ST_INVALID);
    assert_string_equal(error.pointer, "/statistics/0/probabilities");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_asked_is_read_and_shown_again),
        cmocka_unit_test(noise_may_be_named_in_the_place_of_epsilon),
        cmocka_unit_test(every_mistake_is_refused_at_its_place),
        cmocka_unit_test(more_statistics_than_the_limit_are_refused),
        cmocka_unit_test(more_probabilities_than_the_limit_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
