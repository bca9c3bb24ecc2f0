/* Goal: a cookie leads to its key until it is ended, idle for an hour or twelve hours
 * old, across a restart and at every daemon of a store, and there are never more than
 * the limits. Method: a clock that the test sets; two memories of the rows of one
 * store. */
#include "service/identity/logins.h"

#include <stdio.h>
#include <string.h>

#include "tests/expect.h"
#include "api/limits.h"
#include "store/rows/access_key_rows.h"
#include "store/rows/login_rows.h"

static const int64_t start_s = 1000;
static struct store *store;

static struct store_tx *open_tx(void)
{
    struct store_tx *tx = NULL;
    assert_int_equal(store_begin(store, STORE_ROW, &tx, NULL), ST_OK);
    return tx;
}

static void close_tx(struct store_tx *tx, enum status status)
{
    assert_int_equal(status, ST_OK);
    assert_int_equal(store_commit(tx, NULL), ST_OK);
}

static void add_key(struct store_tx *tx, const char *id)
{
    const struct access_key_row row = {.id = id,
                                       .owner = "ana",
                                       .project = "fraud",
                                       .role = "analyst",
                                       .scopes = "",
                                       .policy = "{}"};
    assert_int_equal(access_key_row_insert(tx, &row, NULL), ST_OK);
}

static int open_store(void **state)
{
    (void)state;
    assert_int_equal(store_open(&store, ":memory:", NULL), ST_OK);
    struct store_tx *tx = open_tx();
    add_key(tx, "k1");
    add_key(tx, "k2");
    close_tx(tx, ST_OK);
    return 0;
}

static int close_store(void **state)
{
    (void)state;
    store_close(store);
    return 0;
}

static enum status try_begin(struct logins *logins, const char *key, int64_t now_s,
                             char cookie[LOGIN_COOKIE_SIZE])
{
    struct store_tx *tx = open_tx();
    return store_end(tx, logins_begin(logins, tx, key, now_s * 1000, cookie, NULL),
                     NULL);
}

static void begin(struct logins *logins, const char *key, int64_t now_s,
                  char cookie[LOGIN_COOKIE_SIZE])
{
    assert_int_equal(try_begin(logins, key, now_s, cookie), ST_OK);
    assert_int_equal(strlen(cookie), LOGIN_COOKIE_SIZE - 1);
}

static bool find(struct logins *logins, const char *cookie, int64_t now_s,
                 struct login *found)
{
    return logins_find(logins, cookie, now_s * 1000, found);
}

static bool hold(struct logins *logins, const char *cookie, int64_t now_s)
{
    return logins_hold(logins, cookie, now_s * 1000);
}

static void end_login(struct logins *logins, const char *cookie)
{
    struct store_tx *tx = open_tx();
    close_tx(tx, logins_end(logins, tx, cookie, NULL));
}

/* Reads the logins as a start does. */
static struct logins *loaded(int64_t now_s)
{
    struct logins *logins = logins_create();
    struct store_tx *tx = open_tx();
    close_tx(tx, logins_load(logins, tx, now_s * 1000, NULL));
    return logins;
}

struct seen {
    size_t count;
    struct login_row row; /* of the last */
    char id[LOGIN_ID_SIZE];
};

static bool see(void *context, const struct login_row *row)
{
    struct seen *seen = context;
    seen->count++;
    seen->row = *row;
    snprintf(seen->id, sizeof seen->id, "%s", row->id);
    return true;
}

static struct seen rows(void)
{
    struct seen seen = {0};
    struct store_tx *tx = open_tx();
    close_tx(tx, login_rows_walk(tx, see, &seen, NULL));
    return seen;
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
    assert_true(find(logins, one, start_s + 5, &found));
    assert_string_equal(found.key, "k1");
    assert_int_equal(found.left_s, LOGIN_LIFE_S - 5);
    assert_true(find(logins, two, start_s, &found));
    assert_string_equal(found.key, "k2");
    assert_true(hold(logins, one, start_s));
    end_login(logins, one);
    assert_false(hold(logins, one, start_s));
    assert_false(find(logins, one, start_s, &found));
    assert_true(find(logins, two, start_s, &found));
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
        assert_false(find(logins, changed, start_s, &found));
    }
    assert_false(find(logins, "", start_s, &found));
    memcpy(changed, cookie, sizeof changed);
    changed[LOGIN_COOKIE_SIZE - 2] = '\0';
    assert_false(find(logins, changed, start_s, &found));
    memcpy(changed, cookie, sizeof changed);
    changed[5] = 'G';
    assert_false(find(logins, changed, start_s, &found));
    memset(changed, '0', LOGIN_COOKIE_SIZE - 1); /* its digest matches no slot */
    assert_false(find(logins, changed, start_s, &found));
    assert_true(find(logins, cookie, start_s, &found));
    logins_destroy(logins);
}

static void it_ends_after_an_idle_hour_and_after_twelve(void **state)
{
    (void)state;
    struct logins *logins = logins_create();
    char idle[LOGIN_COOKIE_SIZE], busy[LOGIN_COOKIE_SIZE];
    struct login found;
    begin(logins, "k1", start_s, idle);
    assert_true(find(logins, idle, start_s + LOGIN_IDLE_S - 1, &found));
    /* A long request holds the login without counting as use. */
    assert_true(hold(logins, idle, start_s + 2 * LOGIN_IDLE_S - 2));
    assert_false(hold(logins, idle, start_s + 2 * LOGIN_IDLE_S - 1));
    assert_false(find(logins, idle, start_s + 2 * LOGIN_IDLE_S - 1, &found));
    assert_false(find(logins, idle, start_s, &found)); /* it has been removed */
    begin(logins, "k1", start_s, busy);
    int64_t now_s = start_s;
    while (now_s + LOGIN_IDLE_S - 1 < start_s + LOGIN_LIFE_S) {
        now_s += LOGIN_IDLE_S - 1;
        assert_true(find(logins, busy, now_s, &found));
    }
    assert_false(find(logins, busy, start_s + LOGIN_LIFE_S, &found));
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
    assert_true(find(logins, cookies[0], start_s, &found));
    begin(logins, "k1", start_s, cookies[LIMIT_LOGINS_PER_KEY]);
    for (int i = 0; i <= LIMIT_LOGINS_PER_KEY; i++)
        assert_int_equal(find(logins, cookies[i], start_s, &found), i != 1);
    logins_destroy(logins);
}

static void there_are_never_more_than_the_limit(void **state)
{
    (void)state;
    struct logins *logins = logins_create();
    char cookie[LOGIN_COOKIE_SIZE], key[PRINCIPAL_KEY_SIZE];
    char last[LOGIN_COOKIE_SIZE];
    struct login found;
    struct store_tx *tx = open_tx();
    for (int i = 0; i < LIMIT_LOGINS; i++) {
        snprintf(key, sizeof key, "key%d", i);
        add_key(tx, key);
    }
    add_key(tx, "late");
    close_tx(tx, ST_OK);
    for (int i = 0; i < LIMIT_LOGINS; i++) {
        snprintf(key, sizeof key, "key%d", i);
        begin(logins, key, start_s, last);
    }
    assert_int_equal(try_begin(logins, "late", start_s, cookie), ST_QUEUE_FULL);
    assert_true(find(logins, last, start_s + 1, &found)); /* unchanged */
    begin(logins, "late", start_s + LOGIN_IDLE_S, cookie);
    assert_int_equal(rows().count, LIMIT_LOGINS); /* an expired one was removed */
    assert_true(find(logins, cookie, start_s + LOGIN_IDLE_S, &found));
    assert_string_equal(found.key, "late");
    logins_destroy(logins);
}

/* A cookie is a secret, so only its digest is on disk, from which the cookie cannot be
 * recovered. */
static void a_row_has_the_digest_alone(void **state)
{
    (void)state;
    struct logins *logins = logins_create();
    char cookie[LOGIN_COOKIE_SIZE], hex[SHA256_HEX_SIZE];
    uint8_t digest[SHA256_SIZE];
    begin(logins, "k1", start_s, cookie);
    sha256_of(digest, cookie, strlen(cookie));
    sha256_render(hex, digest);
    assert_string_equal(rows().id, hex);
    assert_string_not_equal(rows().id, cookie);
    logins_destroy(logins);
}

static void a_restart_finds_those_that_are_not_over(void **state)
{
    (void)state;
    struct logins *logins = logins_create(), *later;
    char kept[LOGIN_COOKIE_SIZE], ended[LOGIN_COOKIE_SIZE], idle[LOGIN_COOKIE_SIZE];
    struct login found;
    begin(logins, "k1", start_s, idle);
    begin(logins, "k1", start_s + 1800, kept);
    begin(logins, "k2", start_s + 1800, ended);
    end_login(logins, ended);
    logins_destroy(logins);
    later = loaded(start_s + LOGIN_IDLE_S);
    assert_true(find(later, kept, start_s + LOGIN_IDLE_S, &found));
    assert_string_equal(found.key, "k1");
    assert_int_equal(found.left_s, LOGIN_LIFE_S - LOGIN_IDLE_S + 1800);
    assert_false(find(later, ended, start_s + LOGIN_IDLE_S, &found));
    assert_false(find(later, idle, start_s, &found));
    logins_destroy(later);
}

static void renew(struct logins *there, const char *id)
{
    struct store_tx *tx = open_tx();
    close_tx(tx, logins_renew(there, tx, id, NULL));
}

static void another_daemon_knows_it_until_it_is_ended_anywhere(void **state)
{
    (void)state;
    struct logins *here = logins_create(), *there = loaded(start_s);
    char cookie[LOGIN_COOKIE_SIZE], other[LOGIN_COOKIE_SIZE];
    struct login found;
    begin(here, "k1", start_s, cookie);
    const struct seen one = rows();
    assert_false(find(there, cookie, start_s, &found));
    renew(there, one.id);
    renew(there, one.id);
    assert_true(find(there, cookie, start_s, &found));
    assert_string_equal(found.key, "k1");
    end_login(there, cookie);
    assert_true(hold(here, cookie, start_s)); /* it has not polled yet */
    renew(here, one.id);
    assert_false(find(here, cookie, start_s, &found));
    assert_int_equal(rows().count, 0);
    begin(here, "k2", start_s, other);
    assert_true(find(here, other, start_s, &found));
    renew(there, "no digest"); /* it admits no one */
    logins_destroy(here);
    logins_destroy(there);
}

/* A login that is used at one daemon is not idle at another. */
static void use_is_written_in_steps(void **state)
{
    (void)state;
    struct logins *here = logins_create(), *there;
    char cookie[LOGIN_COOKIE_SIZE];
    struct login found;
    begin(here, "k1", start_s, cookie);
    there = loaded(start_s);
    const struct seen one = rows();
    assert_true(find(here, cookie, start_s + LOGIN_STEP_S - 1, &found));
    logins_save(here, store, (start_s + LOGIN_STEP_S) * 1000);
    assert_int_equal(rows().row.used_ms, start_s * 1000);
    assert_true(find(here, cookie, start_s + 1800, &found));
    logins_save(here, store, (start_s + 1800) * 1000);
    assert_int_equal(rows().row.used_ms, (start_s + 1800) * 1000);
    renew(there, one.id);
    assert_true(hold(there, cookie, start_s + LOGIN_IDLE_S + 60));
    assert_false(hold(there, cookie, start_s + 1800 + LOGIN_IDLE_S));
    logins_save(there, store, (start_s + 1800 + LOGIN_IDLE_S) * 1000);
    assert_int_equal(rows().count, 0);
    assert_false(hold(there, cookie, start_s)); /* its slot is free */
    logins_destroy(here);
    logins_destroy(there);
}

/* Expired or not: `verify` reports what a start reports. */
static void a_row_that_does_not_read_back_is_named(void **state)
{
    (void)state;
    char id[SHA256_HEX_SIZE];
    struct error error = {0};
    struct logins *logins = logins_create();
    memset(id, 'z', sizeof id - 1);
    id[sizeof id - 1] = '\0';
    const struct login_row row = {id, "k1", 1, 1};
    struct store_tx *tx = open_tx();
    assert_int_equal(login_row_insert(tx, &row, NULL), ST_OK);
    assert_int_equal(logins_load(logins, tx, start_s * 1000, &error), ST_CORRUPT);
    assert_non_null(strstr(error.text, "table login, row zzzz"));
    store_rollback(tx);
    logins_destroy(logins);
}

static void one_whose_key_has_ended_is_over_here_and_goes(void **state)
{
    (void)state;
    struct logins *logins = logins_create();
    char cookie[LOGIN_COOKIE_SIZE];
    struct login found;
    begin(logins, "k1", start_s, cookie);
    logins_forget(logins, cookie);
    assert_false(find(logins, cookie, start_s, &found));
    logins_save(logins, store, start_s * 1000);
    assert_int_equal(rows().count, 0);
    logins_destroy(logins);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_store, close_store)
    const struct CMUnitTest tests[] = {
        TEST(a_cookie_leads_to_its_key),
        TEST(a_cookie_that_was_never_given_leads_nowhere),
        TEST(it_ends_after_an_idle_hour_and_after_twelve),
        TEST(a_key_has_few_and_loses_the_one_idle_longest),
        TEST(there_are_never_more_than_the_limit),
        TEST(a_row_has_the_digest_alone),
        TEST(a_restart_finds_those_that_are_not_over),
        TEST(another_daemon_knows_it_until_it_is_ended_anywhere),
        TEST(use_is_written_in_steps),
        TEST(a_row_that_does_not_read_back_is_named),
        TEST(one_whose_key_has_ended_is_over_here_and_goes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
