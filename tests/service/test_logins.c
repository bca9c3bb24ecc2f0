/* Goal: a cookie leads to its key until it is ended, idle for an hour or twelve hours old,
 * and there are never more than the limits. Method: a clock that is moved by hand. */
#include "service/logins.h"

#include <string.h>

#include "tests/expect.h"
#include "api/limits.h"

static const int64_t start_s = 1000;

static void begin(struct logins *logins, const char *key, int64_t now_s,
                  char cookie[LOGIN_COOKIE_SIZE])
{
    assert_int_equal(logins_begin(logins, key, now_s, cookie, NULL), ST_OK);
    assert_int_equal(strlen(cookie), LOGIN_COOKIE_SIZE - 1);
}

static void a_cookie_leads_to_its_key(void **state)
{
    (void)state;
    struct logins *logins = logins_create();
    char one[LOGIN_COOKIE_SIZE], two[LOGIN_COOKIE_SIZE];
    struct login found;
    begin(logins, "k1", start_s, one);
    begin(logins, "k2", start_s, two);
    assert_string_not_equal(one, two);
    assert_true(logins_find(logins, one, start_s + 5, &found));
    assert_string_equal(found.key, "k1");
    assert_int_equal(found.left_s, LOGIN_LIFE_S - 5);
    assert_true(logins_find(logins, two, start_s, &found));
    assert_string_equal(found.key, "k2");
    assert_true(logins_hold(logins, one, start_s));
    logins_end(logins, one);
    assert_false(logins_hold(logins, one, start_s));
    assert_false(logins_find(logins, one, start_s, &found));
    assert_true(logins_find(logins, two, start_s, &found));
    logins_destroy(logins);
}

static void a_cookie_that_was_never_given_leads_nowhere(void **state)
{
    (void)state;
    struct logins *logins = logins_create();
    char cookie[LOGIN_COOKIE_SIZE], changed[LOGIN_COOKIE_SIZE];
    struct login found;
    begin(logins, "k1", start_s, cookie);
    for (size_t i = 0; i < LOGIN_COOKIE_SIZE - 1; i++) {
        memcpy(changed, cookie, sizeof changed);
        changed[i] = changed[i] == '0' ? '1' : '0';
        assert_false(logins_find(logins, changed, start_s, &found));
    }
    assert_false(logins_find(logins, "", start_s, &found));
    memcpy(changed, cookie, sizeof changed);
    changed[LOGIN_COOKIE_SIZE - 2] = '\0';
    assert_false(logins_find(logins, changed, start_s, &found));
    memcpy(changed, cookie, sizeof changed);
    changed[5] = 'G';
    assert_false(logins_find(logins, changed, start_s, &found));
    memset(changed, '0', LOGIN_COOKIE_SIZE - 1); /* its digest is no place's */
    assert_false(logins_find(logins, changed, start_s, &found));
    assert_true(logins_find(logins, cookie, start_s, &found));
    logins_destroy(logins);
}

static void it_ends_after_an_idle_hour_and_after_twelve(void **state)
{
    (void)state;
    struct logins *logins = logins_create();
    char idle[LOGIN_COOKIE_SIZE], busy[LOGIN_COOKIE_SIZE];
    struct login found;
    begin(logins, "k1", start_s, idle);
    assert_true(logins_find(logins, idle, start_s + LOGIN_IDLE_S - 1, &found));
    /* What is long under way holds on to it, and does not use it. */
    assert_true(logins_hold(logins, idle, start_s + 2 * LOGIN_IDLE_S - 2));
    assert_false(logins_hold(logins, idle, start_s + 2 * LOGIN_IDLE_S - 1));
    assert_false(logins_find(logins, idle, start_s + 2 * LOGIN_IDLE_S - 1, &found));
    assert_false(logins_find(logins, idle, start_s, &found)); /* it is gone for good */
    begin(logins, "k1", start_s, busy);
    int64_t now_s = start_s;
    while (now_s + LOGIN_IDLE_S - 1 < start_s + LOGIN_LIFE_S) {
        now_s += LOGIN_IDLE_S - 1;
        assert_true(logins_find(logins, busy, now_s, &found));
    }
    assert_false(logins_find(logins, busy, start_s + LOGIN_LIFE_S, &found));
    logins_destroy(logins);
}

static void a_key_has_few_and_loses_the_one_idle_longest(void **state)
{
    (void)state;
    struct logins *logins = logins_create();
    char cookies[LIMIT_LOGINS_PER_KEY + 1][LOGIN_COOKIE_SIZE];
    struct login found;
    for (int i = 0; i < LIMIT_LOGINS_PER_KEY; i++)
        begin(logins, "k1", start_s, cookies[i]); /* within one second */
    assert_true(logins_find(logins, cookies[0], start_s, &found));
    begin(logins, "k1", start_s, cookies[LIMIT_LOGINS_PER_KEY]);
    for (int i = 0; i <= LIMIT_LOGINS_PER_KEY; i++)
        assert_int_equal(logins_find(logins, cookies[i], start_s, &found), i != 1);
    logins_destroy(logins);
}

static void there_are_never_more_than_the_limit(void **state)
{
    (void)state;
    struct logins *logins = logins_create();
    char cookie[LOGIN_COOKIE_SIZE], key[PRINCIPAL_KEY_SIZE];
    struct error error = {0};
    struct login found;
    for (int i = 0; i < LIMIT_LOGINS; i++) {
        snprintf(key, sizeof key, "k%d", i);
        begin(logins, key, start_s, cookie);
    }
    assert_int_equal(logins_begin(logins, "late", start_s, cookie, &error),
                     ST_QUEUE_FULL);
    assert_true(logins_find(logins, cookie, start_s + 1, &found)); /* untouched */
    begin(logins, "late", start_s + LOGIN_IDLE_S, cookie);
    assert_true(logins_find(logins, cookie, start_s + LOGIN_IDLE_S, &found));
    assert_string_equal(found.key, "late");
    logins_destroy(logins);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cookie_leads_to_its_key),
        cmocka_unit_test(a_cookie_that_was_never_given_leads_nowhere),
        cmocka_unit_test(it_ends_after_an_idle_hour_and_after_twelve),
        cmocka_unit_test(a_key_has_few_and_loses_the_one_idle_longest),
        cmocka_unit_test(there_are_never_more_than_the_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
