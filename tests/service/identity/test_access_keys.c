/* Goal: a key admits only the principal that it was made for, until it ends; the stored
 * form is no secret, and it survives a restart. */
#include "service/identity/access_keys.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "store/sql/scope.h"
#include "store/store.h"
#include "tests/expect.h"

static struct store *store;
static struct access_keys *keys;

static void open_keys(void)
{
    struct store_tx *tx;
    assert_int_equal(store_begin(store, STORE_LEDGER, &tx, NULL), ST_OK);
    assert_int_equal(access_keys_open(&keys, tx, NULL), ST_OK);
    store_rollback(tx);
}

static int begin(void **state)
{
    (void)state;
    assert_int_equal(store_open(&store, ":memory:", NULL), ST_OK);
    open_keys();
    return 0;
}

static int end(void **state)
{
    (void)state;
    access_keys_close(keys);
    store_close(store);
    return 0;
}

static struct access_key_made make(const char *owner, enum role role)
{
    struct store_tx *tx;
    struct access_key_made made;
    struct key_request request = {.principal = {.project = "fraud", .role = role},
                                  .days = 90,
                                  .policy = {.max_open_jobs = 3}};
    snprintf(request.principal.name, PRINCIPAL_NAME_SIZE, "%s", owner);
    request.principal.scopes = SCOPE_BIT(SCOPE_BUDGETS_AUDIT);
    assert_int_equal(store_begin(store, STORE_LEDGER, &tx, NULL), ST_OK);
    assert_int_equal(access_keys_add(keys, tx, &request, &made, NULL), ST_OK);
    assert_int_equal(store_commit(tx, NULL), ST_OK);
    return made;
}

static enum status verify(const char *text)
{
    struct principal principal = {.name = "before"};
    enum status status = access_keys_verify(keys, text, &principal, NULL);
    if (status != ST_OK)
        assert_string_equal(principal.name, "before");
    return status;
}

static void a_key_is_the_principal_that_it_was_made_for(void **state)
{
    (void)state;
    struct principal principal;
    struct access_key key;
    assert_false(access_keys_any(keys));
    struct access_key_made made = make("ana", ROLE_ANALYST);
    assert_true(access_keys_any(keys));
    for (int opening = 0; opening < 2; opening++) {
        assert_int_equal(access_keys_verify(keys, made.text, &principal, NULL), ST_OK);
        assert_string_equal(principal.name, "ana");
        assert_string_equal(principal.project, "fraud");
        assert_string_equal(principal.key, made.id);
        assert_int_equal(principal.role, ROLE_ANALYST);
        assert_int_equal(principal.via, VIA_BEARER);
        assert_true(principal.scopes == SCOPE_BIT(SCOPE_BUDGETS_AUDIT));
        assert_true(access_keys_find(keys, made.id, &key));
        assert_int_equal(key.policy.max_open_jobs, 3);
        assert_int_equal(key.expire_ms - key.create_ms, INT64_C(90) * 86400000);
        assert_int_equal(key.used_day, clock_wall_ms() / 86400000);
        access_keys_save_used(keys, store);
        access_keys_close(keys);
        open_keys();
        assert_true(access_keys_any(keys));
    }
    assert_true(access_keys_find(keys, made.id, &key));
    assert_int_equal(key.used_day, clock_wall_ms() / 86400000);
}

static void any_other_secret_is_unknown(void **state)
{
    (void)state;
    struct access_key_made ana = make("ana", ROLE_ANALYST),
                           bob = make("bob", ROLE_AUDITOR);
    char text[ACCESS_KEY_TEXT_SIZE];
    assert_int_equal(verify(ana.text), ST_OK);
    for (size_t at = 13; at < 56; at++) {
        memcpy(text, ana.text, sizeof text);
        text[at] = text[at] == 'a' ? 'b' : 'a';
        assert_int_equal(verify(text), ST_KEY_UNKNOWN);
    }
    memcpy(text, ana.text, sizeof text);
    memcpy(text + 4, bob.id, 8);
    assert_int_equal(verify(text), ST_KEY_UNKNOWN);
    memcpy(text + 4, "00000000", 8);
    assert_int_equal(verify(text), ST_KEY_UNKNOWN);
    text[55] = '\0';
    assert_int_equal(verify(text), ST_KEY_MALFORMED);
    assert_int_equal(verify(""), ST_KEY_MALFORMED);
}

static enum status end_by_revoking(const char *id)
{
    struct store_tx *tx;
    assert_int_equal(store_begin(store, STORE_LEDGER, &tx, NULL), ST_OK);
    return store_end(tx, access_keys_revoke(keys, tx, id, NULL), NULL);
}

static enum status end_by_expiring(const char *id, int64_t expire_ms)
{
    struct store_tx *tx;
    assert_int_equal(store_begin(store, STORE_LEDGER, &tx, NULL), ST_OK);
    return store_end(tx, access_keys_shorten(keys, tx, id, expire_ms, NULL), NULL);
}

static void what_is_revoked_or_expired_holds_from_the_commit_on(void **state)
{
    (void)state;
    struct principal ana, bob;
    struct access_key key;
    struct access_key_made a = make("ana", ROLE_ANALYST), b = make("bob", ROLE_AUDITOR);
    assert_int_equal(access_keys_verify(keys, a.text, &ana, NULL), ST_OK);
    assert_int_equal(access_keys_verify(keys, b.text, &bob, NULL), ST_OK);
    assert_int_equal(end_by_revoking(a.id), ST_OK);
    assert_int_equal(access_keys_hold(keys, &ana, NULL), ST_KEY_REVOKED);
    assert_int_equal(access_keys_hold(keys, &bob, NULL), ST_OK);
    assert_int_equal(end_by_expiring(b.id, clock_wall_ms() - 1), ST_OK);
    assert_int_equal(access_keys_hold(keys, &bob, NULL), ST_KEY_EXPIRED);
    for (int opening = 0; opening < 2; opening++) {
        assert_int_equal(verify(a.text), ST_KEY_REVOKED);
        assert_int_equal(verify(b.text), ST_KEY_EXPIRED);
        access_keys_close(keys);
        open_keys();
    }
    assert_int_equal(end_by_revoking(a.id), ST_OK);
    assert_int_equal(end_by_expiring(b.id, clock_wall_ms() + 1000000), ST_OK);
    assert_int_equal(verify(b.text), ST_KEY_EXPIRED);
    assert_int_equal(end_by_revoking("00000000"), ST_NOT_FOUND);
    assert_true(access_keys_find(keys, b.id, &key));
    assert_int_equal(key.revoke_ms, 0);
}

static void what_is_rolled_back_was_nothing(void **state)
{
    (void)state;
    struct store_tx *tx;
    struct access_key_made made;
    const struct key_request request = {
        .principal = {.name = "ana", .project = "p", .role = ROLE_ANALYST}, .days = 1};
    assert_int_equal(store_begin(store, STORE_LEDGER, &tx, NULL), ST_OK);
    assert_int_equal(access_keys_add(keys, tx, &request, &made, NULL), ST_OK);
    store_rollback(tx);
    assert_false(access_keys_any(keys));
    assert_int_equal(verify(made.text), ST_KEY_UNKNOWN);
}

static void the_local_principal_stays_until_there_is_a_key(void **state)
{
    (void)state;
    const struct principal proxied = {
        .name = "ana", .via = VIA_PROXY, .role = ROLE_AUDITOR};
    assert_int_equal(access_keys_hold(keys, &principal_local, NULL), ST_OK);
    make("ana", ROLE_ANALYST);
    assert_int_equal(access_keys_hold(keys, &principal_local, NULL), ST_KEY_MISSING);
    assert_int_equal(access_keys_hold(keys, &proxied, NULL), ST_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_key_is_the_principal_that_it_was_made_for,
                                        begin, end),
        cmocka_unit_test_setup_teardown(any_other_secret_is_unknown, begin, end),
        cmocka_unit_test_setup_teardown(
            what_is_revoked_or_expired_holds_from_the_commit_on, begin, end),
        cmocka_unit_test_setup_teardown(what_is_rolled_back_was_nothing, begin, end),
        cmocka_unit_test_setup_teardown(the_local_principal_stays_until_there_is_a_key,
                                        begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
