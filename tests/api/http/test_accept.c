/* Goal: an Accept header selects the type that it names, or none. Method: a table of
 * headers worked out by hand from RFC 9110, 12.5.1. */
#include "tests/expect.h"

#include "api/http/accept.h"

#define LEDGER "application/json application/x-ndjson"

static void the_best_type_is_taken_or_none(void **state)
{
    (void)state;
    static const struct {
        const char *accept;
        int best;
    } cases[] = {
        {NULL, 0},
        {"*/*", 0},
        {"*", 0},
        {"application/json", 0},
        {"Application/JSON", 0},
        {"application/json; charset=utf-8", 0},
        {"application/x-ndjson", 1},
        {"application/x-ndjson, */*", 0},
        {"application/x-ndjson, */*;q=0.9", 1},
        {"application/x-ndjson;q=0.5, application/json;q=0.4", 1},
        {"application/x-ndjson;q=0.5,application/json; q=0.51", 0},
        {"application/x-ndjson;q=0.001", 1},
        {"application/x-ndjson;q=0", -1},
        {"application/x-ndjson ; q=0.000 , application/json", 0},
        {"*/*, application/json;q=0", 1},
        {"application/*;q=0.2, application/json;q=0.1", 1},
        {"application/*", 0},
        {"application/*;q=0, */*", -1},
        {"text/html, image/gif, *; q=.2, */*; q=.2", 0},
        {"text/html", -1},
        {"text/*", -1},
        {"application/jsonx", -1},
        {"application/jso", -1},
        {"application", -1},
        {"json", -1},
        {"applications/*", -1},
        {"", -1},
        {" , ,", -1},
        {"application/json;q=2", -1},
        {"application/json;q=0.2.5", -1},
        {"application/json;q=high", -1},
        {"application/json;q=", -1},
        {"application/json;q=1.0", 0},
        {"text/html;level=\"1,application/json\"", -1},
        {"text/html;a=\"\\\",\";q=1, application/x-ndjson", 1},
        {"text/html;a=\"", -1},
        {"text/html;a=\"\\", -1},
        {"application/json;a=\"q=0;q=0\"", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int best = accept_choose(LEDGER, cases[i].accept);
        if (best != cases[i].best)
            fail_msg("Accept: %s: %d", cases[i].accept, best);
    }
}

static void a_coding_is_chosen_like_a_type(void **state)
{
    (void)state;
    assert_int_equal(accept_choose("gzip", "gzip, deflate, br"), 0);
    assert_int_equal(accept_choose("gzip", "br;q=1, *;q=0.1"), 0);
    assert_int_equal(accept_choose("gzip", "deflate"), -1);
    assert_int_equal(accept_choose("gzip", "*, gzip;q=0"), -1);
    assert_int_equal(accept_choose("gzip", ""), -1);
}

static void an_answer_without_content_suits_everybody(void **state)
{
    (void)state;
    assert_int_equal(accept_choose("", "text/html"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best_type_is_taken_or_none),
        cmocka_unit_test(a_coding_is_chosen_like_a_type),
        cmocka_unit_test(an_answer_without_content_suits_everybody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
