/* Goal: one fetch for each file, a bound on all of them, and no user sees another's. */
#include "tests/expect.h"

#include <string.h>

#include "service/ingest/fetch_status.h"

static struct fetch_place place_of(int number, const char *name)
{
    struct fetch_place place = {.file = "data"};
    snprintf(place.dataset.text, sizeof place.dataset.text, "set-%d", number);
    snprintf(place.principal.name, sizeof place.principal.name, "%s", name);
    return place;
}

static const struct fetch_request request = {.url = "https://example.com/a"};
static const struct fetch_source source = {.request = &request};

static struct fetch *add(struct fetch_status *fetches, const struct fetch_place *place)
{
    struct fetch *fetch = NULL;
    assert_int_equal(fetch_status_add(fetches, place, &source, &fetch, NULL), ST_OK);
    return fetch;
}

static void expect_state(struct fetch_status *fetches, const struct fetch_place *place,
                         const char *state)
{
    char *text = fetch_status_text(fetches, place);
    if (text == NULL || strstr(text, state) == NULL)
        fail_msg("not %s: %s", state, text);
    free(text);
}

static void another_sees_nothing(void **state)
{
    struct fetch_status *fetches = fetch_status_create();
    const struct fetch_place mine = place_of(1, "ana"), others = place_of(1, "bob");
    struct fetch *fetch = add(fetches, &mine), *second;
    (void)state;
    fetch_status_grew(fetches, fetch, 7, 9);
    expect_state(fetches, &mine, "\"bytes\":7,\"size\":9");
    assert_null(fetch_status_text(fetches, &others));
    assert_false(fetch_status_cancel(fetches, &others));
    assert_false(atomic_load(&fetch->cancel));
    assert_int_equal(fetch_status_add(fetches, &others, &source, &second, NULL),
                     ST_UPLOAD_BUSY);
    fetch_status_destroy(fetches);
}

static void one_that_waits_is_cancelled_when_its_turn_comes(void **state)
{
    struct fetch_status *fetches = fetch_status_create();
    const struct fetch_place place = place_of(1, "ana");
    struct fetch *fetch = add(fetches, &place);
    (void)state;
    expect_state(fetches, &place, "WAITING");
    assert_true(fetch_status_cancel(fetches, &place));
    assert_false(fetch_status_begin(fetches, fetch));
    expect_state(fetches, &place, "CANCELLED");
    fetch = add(fetches, &place);
    assert_true(fetch_status_begin(fetches, fetch));
    expect_state(fetches, &place, "RUNNING");
    fetch_status_destroy(fetches);
}

static void those_that_have_ended_make_room(void **state)
{
    struct fetch_status *fetches = fetch_status_create();
    const struct fetch_end end = {FETCH_FAILED, "refused", 404};
    struct fetch_place more = place_of(LIMIT_FETCHES, "ana"), some;
    struct fetch *fetch = NULL, *third = NULL;
    (void)state;
    for (int i = 0; i < LIMIT_FETCHES; i++) {
        some = place_of(i, "ana");
        fetch = add(fetches, &some);
        if (i == 3)
            third = fetch;
    }
    assert_int_equal(fetch_status_add(fetches, &more, &source, &fetch, NULL),
                     ST_QUEUE_FULL);
    some = place_of(3, "ana");
    fetch_status_end(fetches, third, &end);
    expect_state(fetches, &some, "\"result\":\"refused\",\"status\":404");
    add(fetches, &more);
    assert_null(fetch_status_text(fetches, &some));
    expect_state(fetches, &more, "WAITING");
    fetch_status_destroy(fetches);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_sees_nothing),
        cmocka_unit_test(one_that_waits_is_cancelled_when_its_turn_comes),
        cmocka_unit_test(those_that_have_ended_make_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
