/* Goal: a refusal is written once, repetitions are counted, and no client can make the
 * trail grow by more than its share of rows a minute. Method: events and ticks of a
 * simulated clock, on a store in memory. */
#include "service/audit/denied_events.h"

#include <string.h>

#include "tests/expect.h"
#include "service/audit/audit_trail.h"
#include "tests/service/act_fixture.h"

enum { MINUTE = 1753000020 }; /* the first second of a minute */

static struct store *store;
static struct denied_events *refusals;

static int begin(void **state)
{
    (void)state;
    assert_int_equal(store_open(&store, ":memory:", NULL), ST_OK);
    refusals = denied_events_create();
    return 0;
}

static int end(void **state)
{
    (void)state;
    denied_events_destroy(refusals);
    store_close(store);
    return 0;
}

static struct audit_row refusal(int64_t second, const char *object)
{
    struct audit_row row = act_of_test;
    row.second = second;
    row.object = object;
    row.result = "denied";
    row.code = "forbidden_origin";
    return row;
}

static void note(int64_t second, const char *object)
{
    struct audit_row row = refusal(second, object);
    denied_events_note(refusals, &row);
}

struct seen {
    size_t count;
    char last[160]; /* second, object, action, detail of the newest */
};

static bool see(void *context, const struct audit_row *row)
{
    struct seen *seen = context;
    seen->count++;
    snprintf(seen->last, sizeof seen->last, "%lld %s %s %s", (long long)row->second,
             row->object, row->action, row->detail);
    return true;
}

static struct seen tick(int64_t second)
{
    struct seen seen = {0};
    struct store_tx *tx;
    const struct audit_range all = {0};
    assert_int_equal(denied_events_write(refusals, store, second, NULL), ST_OK);
    assert_int_equal(store_begin(store, STORE_LEDGER, &tx, NULL), ST_OK);
    assert_int_equal(audit_rows_walk(tx, &all, see, &seen, NULL), ST_OK);
    store_rollback(tx);
    return seen;
}

static void a_refusal_is_written_at_the_next_tick_and_once(void **state)
{
    (void)state;
    assert_int_equal(tick(MINUTE).count, 0);
    note(MINUTE, "a");
    struct seen seen = tick(MINUTE + 1);
    assert_int_equal(seen.count, 1);
    assert_string_equal(seen.last, "1753000020 a dataset.import {}");
    assert_int_equal(tick(MINUTE + 2).count, 1);
    assert_int_equal(tick(MINUTE + 200).count, 1);
}

static void what_is_repeated_is_counted_at_the_minutes_end(void **state)
{
    (void)state;
    note(MINUTE, "a");
    assert_int_equal(tick(MINUTE + 1).count, 1);
    for (int i = 0; i < 7; i++)
        note(MINUTE + 1 + i, "a");
    assert_int_equal(tick(MINUTE + 59).count, 1);
    struct seen seen = tick(MINUTE + 60);
    assert_int_equal(seen.count, 2);
    assert_string_equal(seen.last, "1753000027 a dataset.import {\"repeated\":7}");
    note(MINUTE + 61, "a");
    assert_int_equal(tick(MINUTE + 62).count, 3);
}

static void another_client_thing_or_code_is_another_refusal(void **state)
{
    (void)state;
    struct audit_row row = refusal(MINUTE, "a");
    denied_events_note(refusals, &row);
    row.object = "b";
    denied_events_note(refusals, &row);
    row.address = "192.0.2.8";
    denied_events_note(refusals, &row);
    row.actor = "bob";
    denied_events_note(refusals, &row);
    row.key = "k9";
    denied_events_note(refusals, &row);
    row.code = "invalid_argument";
    denied_events_note(refusals, &row);
    row.action = "job.create";
    denied_events_note(refusals, &row);
    row.result = "error";
    denied_events_note(refusals, &row);
    assert_int_equal(tick(MINUTE + 1).count, 8);
    assert_int_equal(tick(MINUTE + 61).count, 8);
}

static void strangers_leave_room_for_those_who_are_known(void **state)
{
    (void)state;
    struct audit_row row = refusal(MINUTE, "a");
    row.actor = "";
    for (int i = 0; i < 1000; i++) {
        char object[16];
        snprintf(object, sizeof object, "o%d", i);
        row.object = object;
        denied_events_note(refusals, &row);
    }
    assert_int_equal(tick(MINUTE + 1).count, DENIED_EVENTS_DISTINCT_MAX / 2);
    note(MINUTE + 2, "known");
    assert_int_equal(tick(MINUTE + 3).count, DENIED_EVENTS_DISTINCT_MAX / 2 + 1);
    tick(MINUTE + 60);
}

static void a_flood_is_a_bounded_number_of_rows(void **state)
{
    (void)state;
    for (int i = 0; i < 1000; i++) {
        char object[16];
        snprintf(object, sizeof object, "o%d", i % 500);
        note(MINUTE + i % 60, object);
    }
    assert_int_equal(tick(MINUTE + 1).count, DENIED_EVENTS_DISTINCT_MAX);
    struct seen seen = tick(MINUTE + 60);
    assert_int_equal(seen.count, 2 * DENIED_EVENTS_DISTINCT_MAX + 1);
    assert_string_equal(seen.last, "1753000059  refusals {\"left_out\":872}");
    note(MINUTE + 61, "new");
    assert_int_equal(tick(MINUTE + 62).count, 2 * DENIED_EVENTS_DISTINCT_MAX + 2);
}

static void a_full_list_recovers_when_the_clock_is_set_back(void **state)
{
    (void)state;
    static const int64_t back[] = {61, 3600, MINUTE};
    size_t before = 0;
    for (size_t i = 0; i < sizeof back / sizeof *back; i++) {
        const int64_t then = MINUTE - back[i];
        for (int j = 0; j < DENIED_EVENTS_DISTINCT_MAX + 5; j++) {
            char object[16];
            snprintf(object, sizeof object, "o%d", j);
            note(MINUTE, object);
        }
        before += DENIED_EVENTS_DISTINCT_MAX;
        assert_int_equal(tick(MINUTE + 1).count, before);
        struct seen seen = tick(then);
        assert_int_equal(seen.count, ++before);
        assert_non_null(strstr(seen.last, "{\"left_out\":5}"));
        note(then, "new");
        assert_int_equal(tick(then + 1).count, ++before);
        before = tick(INT64_MAX).count;
    }
}

static void the_end_writes_what_is_left(void **state)
{
    (void)state;
    note(MINUTE, "a");
    note(MINUTE, "a");
    assert_int_equal(tick(INT64_MAX).count, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_refusal_is_written_at_the_next_tick_and_once,
                                        begin, end),
        cmocka_unit_test_setup_teardown(what_is_repeated_is_counted_at_the_minutes_end,
                                        begin, end),
        cmocka_unit_test_setup_teardown(another_client_thing_or_code_is_another_refusal,
                                        begin, end),
        cmocka_unit_test_setup_teardown(strangers_leave_room_for_those_who_are_known,
                                        begin, end),
        cmocka_unit_test_setup_teardown(a_flood_is_a_bounded_number_of_rows, begin,
                                        end),
        cmocka_unit_test_setup_teardown(a_full_list_recovers_when_the_clock_is_set_back,
                                        begin, end),
        cmocka_unit_test_setup_teardown(the_end_writes_what_is_left, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
