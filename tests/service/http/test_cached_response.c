/* Goal: a cached response's ready-made forms have the same content as a new one, and
 * live as long as any reference to them. Method: the sanitizers find memory that is
 * freed too early or never. */
#include <stdlib.h>
#include <string.h>
#include <microhttpd.h>

#include "service/http/cached_response.h"
#include "tests/expect.h"

static struct cached_response *answer_of(bool terminal)
{
    return cached_response_create(strdup("{\"id\":\"job_1\"}"), 7, terminal);
}

static void assert_header(struct MHD_Response *response, const char *name,
                          const char *value)
{
    const char *given = MHD_get_response_header(response, name);
    assert_non_null(given);
    assert_string_equal(given, value);
}

static void its_tag_is_of_what_it_shows_alone(void **state)
{
    (void)state;
    struct cached_response *answer =
        cached_response_create(strdup("{\"a\":1}"), 7, false);
    struct cached_response *again =
        cached_response_create(strdup("{\"a\":1}"), 8, false);
    struct cached_response *other =
        cached_response_create(strdup("{\"a\":2}"), 7, false);
    assert_string_equal(answer->tag, "\"015abd7f5cc57a2dd94b7590f04ad808\"");
    assert_string_equal(answer->tag, again->tag);
    assert_string_not_equal(answer->tag, other->tag);
    cached_response_drop(answer);
    cached_response_drop(again);
    cached_response_drop(other);
}

static void only_a_job_that_goes_on_is_to_be_asked_again(void **state)
{
    (void)state;
    struct cached_response *live = answer_of(false), *ended = answer_of(true);
    assert_header(live->found, "Retry-After", "2");
    assert_null(MHD_get_response_header(ended->found, "Retry-After"));
    cached_response_drop(live);
    cached_response_drop(ended);
}

static void a_fresh_response_has_the_headers_of_the_ready_one(void **state)
{
    static const char *const names[] = {"Content-Type", "X-Content-Type-Options",
                                        "ETag", "Cache-Control", "Retry-After"};
    (void)state;
    struct cached_response *answer = answer_of(false);
    struct MHD_Response *found = cached_response_found(answer);
    struct MHD_Response *same = cached_response_not_modified(answer);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_header(found, names[i],
                      MHD_get_response_header(answer->found, names[i]));
    assert_header(same, "ETag", answer->tag);
    assert_header(answer->not_modified, "ETag", answer->tag);
    MHD_destroy_response(same);
    cached_response_drop(answer); /* the response still holds it */
    assert_header(found, "ETag", "\"dfabf9cf308c4e707ee2c093c530ab4d\"");
    MHD_destroy_response(found);
}

static void it_stays_until_the_last_holder_drops_it(void **state)
{
    (void)state;
    struct cached_response *answer = answer_of(true);
    assert_ptr_equal(cached_response_hold(answer), answer);
    cached_response_drop(answer);
    assert_string_equal(answer->text, "{\"id\":\"job_1\"}");
    cached_response_drop(answer);
    cached_response_drop(NULL);
}

/* Returns a text of a made-up job that is long enough to compress. */
static struct cached_response *long_answer(void)
{
    enum { SIZE = 5000 };
    char *text = malloc(SIZE + 1);
    for (size_t i = 0; i < SIZE; i++)
        text[i] = "{\"step\":1},"[i % 11];
    text[SIZE] = '\0';
    return cached_response_create(text, 7, false);
}

static void it_is_packed_once_with_a_tag_of_its_own(void **state)
{
    (void)state;
    struct cached_response *answer = long_answer();
    assert_header(answer->found, "Vary", "Accept-Encoding");
    assert_null(MHD_get_response_header(answer->found, "Content-Encoding"));
    struct cached_response *packed =
        cached_response_packed(cached_response_hold(answer));
    struct cached_response *again =
        cached_response_packed(cached_response_hold(answer));
    assert_ptr_not_equal(packed, answer);
    assert_ptr_equal(packed, again);
    assert_string_equal(packed->tag, "\"22888712f808bfd3e8ebce81c3a7e647-gzip\"");
    assert_true(packed->size < answer->size);
    assert_memory_equal(packed->text, "\x1f\x8b", 2);
    assert_header(packed->found, "Content-Encoding", "gzip");
    assert_header(packed->found, "Vary", "Accept-Encoding");
    assert_header(packed->found, "ETag", packed->tag);
    assert_header(packed->found, "Retry-After", "2");
    assert_header(packed->not_modified, "ETag", packed->tag);
    assert_header(packed->not_modified, "Vary", "Accept-Encoding");
    cached_response_drop(answer); /* the packed form lives on while referenced */
    assert_int_equal(packed->version, 7);
    cached_response_drop(packed);
    cached_response_drop(again);
}

static void what_is_too_small_to_pay_is_never_packed(void **state)
{
    (void)state;
    struct cached_response *answer = answer_of(true);
    assert_ptr_equal(cached_response_packed(answer), answer);
    assert_null(MHD_get_response_header(answer->found, "Vary"));
    cached_response_drop(answer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(its_tag_is_of_what_it_shows_alone),
        cmocka_unit_test(only_a_job_that_goes_on_is_to_be_asked_again),
        cmocka_unit_test(a_fresh_response_has_the_headers_of_the_ready_one),
        cmocka_unit_test(it_stays_until_the_last_holder_drops_it),
        cmocka_unit_test(it_is_packed_once_with_a_tag_of_its_own),
        cmocka_unit_test(what_is_too_small_to_pay_is_never_packed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
