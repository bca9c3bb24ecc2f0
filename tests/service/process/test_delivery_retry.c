/* Goal: a failed delivery is retried only at the times in delivery_retry.h, and a
 * webhook is disabled when it is gone or has failed for five days. Method: each
 * attempt, by numbers. */
#include "tests/expect.h"

#include "service/process/delivery_retry.h"

static const int64_t start_ms = INT64_C(1700000000000);
static const int64_t day_ms = INT64_C(86400000);

static void every_wait_is_as_the_table_says(void **state)
{
    static const int64_t waits_s[] = {5,     300,   1800,  7200, 18000,
                                      36000, 50400, 72000, 86400};
    (void)state;
    for (unsigned i = 0; i < 9; i++) {
        struct attempt attempt = {
            .number = i + 1, .status = 503, .now_ms = start_ms, .failing_ms = start_ms};
        struct delivery_retry next = delivery_retry_of(&attempt);
        assert_int_equal(next.state, DELIVERY_RETRY_WAITS);
        assert_int_equal(next.next_ms, start_ms + waits_s[i] * 1000);
        attempt.chance = 0.5;
        next = delivery_retry_of(&attempt);
        assert_int_equal(next.next_ms, start_ms + waits_s[i] * 1050);
        assert_null(next.disable);
    }
}

static void the_tenth_attempt_is_the_last(void **state)
{
    const struct attempt attempt = {.number = 10, .now_ms = start_ms};
    struct delivery_retry next = delivery_retry_of(&attempt);
    (void)state;
    assert_int_equal(next.state, DELIVERY_RETRY_FAILED);
    assert_null(next.disable);
    assert_int_equal(next.failing_ms, start_ms);
}

static void any_success_delivers_and_ends_the_failing(void **state)
{
    static const unsigned statuses[] = {200, 201, 204, 299};
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        const struct attempt attempt = {.number = 3,
                                        .status = statuses[i],
                                        .now_ms = start_ms,
                                        .failing_ms = start_ms - 9 * day_ms};
        struct delivery_retry next = delivery_retry_of(&attempt);
        assert_int_equal(next.state, DELIVERY_RETRY_DELIVERED);
        assert_int_equal(next.failing_ms, 0);
        assert_null(next.disable);
    }
}

static void what_is_no_success_fails(void **state)
{
    static const unsigned statuses[] = {0, 100, 199, 300, 302, 404, 500, 599};
    (void)state;
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
        const struct attempt attempt = {
            .number = 1, .status = statuses[i], .now_ms = start_ms};
        struct delivery_retry next = delivery_retry_of(&attempt);
        assert_int_equal(next.state, DELIVERY_RETRY_WAITS);
        assert_int_equal(next.failing_ms, start_ms);
    }
}

static void gone_disables_at_once_and_failing_after_five_days(void **state)
{
    struct attempt attempt = {.number = 1, .status = 410, .now_ms = start_ms};
    struct delivery_retry next = delivery_retry_of(&attempt);
    (void)state;
    assert_int_equal(next.state, DELIVERY_RETRY_FAILED);
    assert_string_equal(next.disable, "gone");
    attempt.status = 500;
    attempt.failing_ms = start_ms - 5 * day_ms + 1;
    assert_null(delivery_retry_of(&attempt).disable);
    attempt.failing_ms--;
    next = delivery_retry_of(&attempt);
    assert_string_equal(next.disable, "failing");
    assert_int_equal(next.state, DELIVERY_RETRY_FAILED);
}

static void a_test_is_tried_once_and_disables_nothing(void **state)
{
    const struct attempt attempt = {
        .number = 1, .status = 410, .is_test = true, .now_ms = start_ms};
    struct delivery_retry next = delivery_retry_of(&attempt);
    (void)state;
    assert_int_equal(next.state, DELIVERY_RETRY_FAILED);
    assert_null(next.disable);
    assert_int_equal(next.failing_ms, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_wait_is_as_the_table_says),
        cmocka_unit_test(the_tenth_attempt_is_the_last),
        cmocka_unit_test(any_success_delivers_and_ends_the_failing),
        cmocka_unit_test(what_is_no_success_fails),
        cmocka_unit_test(gone_disables_at_once_and_failing_after_five_days),
        cmocka_unit_test(a_test_is_tried_once_and_disables_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
