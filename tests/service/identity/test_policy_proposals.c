/* Goal: a key has one pending policy, until it lapses, is decided, or room is needed,
 * across a restart and at every daemon of a store. */
#include "service/identity/policy_proposals.h"

#include <stdio.h>
#include <string.h>

#include "api/limits.h"
#include "store/rows/access_key_rows.h"
#include "store/rows/policy_proposal_rows.h"
#include "tests/expect.h"

static const int64_t lapse_ms = (int64_t)LIMIT_GRANT_DAYS * 86400000;

static struct store *store;

static struct store_tx *open_tx(void)
{
    struct store_tx *tx = NULL;
    assert_int_equal(store_begin(store, STORE_ROW, &tx, NULL), ST_OK);
    return tx;
}

static void add_key(const char *id)
{
    struct store_tx *tx = open_tx();
    const struct access_key_row row = {.id = id,
                                       .owner = "ana",
                                       .project = "fraud",
                                       .role = "analyst",
                                       .scopes = "",
                                       .policy = "{}"};
    assert_int_equal(access_key_row_insert(tx, &row, NULL), ST_OK);
    assert_int_equal(store_commit(tx, NULL), ST_OK);
}

static int open_store(void **state)
{
    (void)state;
    assert_int_equal(store_open(&store, ":memory:", NULL), ST_OK);
    add_key("k7QdAbC1");
    add_key("another1");
    return 0;
}

static int close_store(void **state)
{
    (void)state;
    store_close(store);
    return 0;
}

static enum status put(struct policy_proposals *proposals,
                       const struct policy_proposal *proposal)
{
    struct store_tx *tx = open_tx();
    return store_end(tx, policy_proposals_put(proposals, tx, proposal, NULL), NULL);
}

static void drop(struct policy_proposals *proposals, const char *key)
{
    struct store_tx *tx = open_tx();
    assert_int_equal(policy_proposals_drop(proposals, tx, key, NULL), ST_OK);
    assert_int_equal(store_commit(tx, NULL), ST_OK);
}

static struct policy_proposal of(const char *key, uint64_t jobs, int64_t now_ms)
{
    struct policy_proposal proposal = {
        .policy = {.max_open_jobs = jobs}, .proposed_by = "ana", .propose_ms = now_ms};
    snprintf(proposal.key, sizeof proposal.key, "%s", key);
    return proposal;
}

static void a_key_has_the_last_one_until_it_lapses(void **state)
{
    (void)state;
    struct policy_proposals *proposals = policy_proposals_create();
    struct policy_proposal first = of("k7QdAbC1", 1, 5), second = of("k7QdAbC1", 2, 9),
                           found;
    assert_false(policy_proposals_find(proposals, "k7QdAbC1", 5, &found));
    assert_int_equal(put(proposals, &first), ST_OK);
    assert_int_equal(put(proposals, &second), ST_OK);
    assert_true(policy_proposals_find(proposals, "k7QdAbC1", lapse_ms + 8, &found));
    assert_int_equal(found.policy.max_open_jobs, 2);
    assert_false(policy_proposals_find(proposals, "k7QdAbC1", lapse_ms + 9, &found));
    assert_false(policy_proposals_find(proposals, "k7QdAbC2", 9, &found));
    drop(proposals, "k7QdAbC2");
    drop(proposals, "k7QdAbC1");
    assert_false(policy_proposals_find(proposals, "k7QdAbC1", 9, &found));
    policy_proposals_destroy(proposals);
}

static void there_is_room_for_so_many_and_lapsed_ones_make_it(void **state)
{
    (void)state;
    struct policy_proposals *proposals = policy_proposals_create();
    struct policy_proposal proposal, found;
    char key[ACCESS_KEY_ID_SIZE];
    for (int i = 0; i < LIMIT_POLICY_PROPOSALS; i++) {
        snprintf(key, sizeof key, "key%05u", (unsigned)i % 100000U);
        add_key(key);
        proposal = of(key, 1, i);
        assert_int_equal(put(proposals, &proposal), ST_OK);
    }
    proposal = of("another1", 1, LIMIT_POLICY_PROPOSALS);
    assert_int_equal(put(proposals, &proposal), ST_QUEUE_FULL);
    proposal = of("key00003", 7, LIMIT_POLICY_PROPOSALS);
    assert_int_equal(put(proposals, &proposal), ST_OK);
    proposal = of("another1", 1, lapse_ms);
    assert_int_equal(put(proposals, &proposal), ST_OK);
    assert_true(policy_proposals_find(proposals, "another1", lapse_ms, &found));
    assert_true(policy_proposals_find(proposals, "key00003", lapse_ms, &found));
    assert_int_equal(found.policy.max_open_jobs, 7);
    policy_proposals_destroy(proposals);
}

static void renew(struct policy_proposals *proposals, const char *key)
{
    struct store_tx *tx = open_tx();
    assert_int_equal(policy_proposals_renew(proposals, tx, key, NULL), ST_OK);
    assert_int_equal(store_commit(tx, NULL), ST_OK);
}

/* The other daemon dropped a proposal that had lapsed, and put another in its place. */
static void a_full_list_takes_what_came_before_what_went(void **state)
{
    (void)state;
    struct policy_proposals *here = policy_proposals_create(),
                            *there = policy_proposals_create();
    struct policy_proposal proposal, found;
    char key[ACCESS_KEY_ID_SIZE];
    for (int i = 0; i < LIMIT_POLICY_PROPOSALS; i++) {
        snprintf(key, sizeof key, "full%04u", (unsigned)i % 10000U);
        add_key(key);
        proposal = of(key, 1, i == 0 ? 0 : 9);
        assert_int_equal(put(here, &proposal), ST_OK);
        renew(there, key);
    }
    proposal = of("another1", 1, lapse_ms);
    assert_int_equal(put(here, &proposal), ST_OK);
    renew(there, "another1");
    renew(there, "full0000");
    assert_true(policy_proposals_find(there, "another1", lapse_ms, &found));
    assert_false(policy_proposals_find(there, "full0000", 1, &found));
    policy_proposals_destroy(there);
    policy_proposals_destroy(here);
}

static void one_waits_through_a_restart_and_at_every_daemon(void **state)
{
    (void)state;
    struct policy_proposals *here = policy_proposals_create(),
                            *there = policy_proposals_create(), *later;
    struct policy_proposal asked = of("k7QdAbC1", 3, 5), found;
    assert_int_equal(put(here, &asked), ST_OK);
    assert_false(policy_proposals_find(there, "k7QdAbC1", 5, &found));
    renew(there, "k7QdAbC1");
    assert_true(policy_proposals_find(there, "k7QdAbC1", 5, &found));
    assert_int_equal(found.policy.max_open_jobs, 3);
    assert_string_equal(found.proposed_by, "ana");
    later = policy_proposals_create();
    struct store_tx *tx = open_tx();
    assert_int_equal(policy_proposals_load(later, tx, NULL), ST_OK);
    store_rollback(tx);
    assert_true(policy_proposals_find(later, "k7QdAbC1", lapse_ms + 4, &found));
    assert_int_equal(found.policy.max_open_jobs, 3);
    assert_false(policy_proposals_find(later, "k7QdAbC1", lapse_ms + 5, &found));
    drop(there, "k7QdAbC1");
    assert_true(policy_proposals_find(here, "k7QdAbC1", 5, &found));
    renew(here, "k7QdAbC1");
    assert_false(policy_proposals_find(here, "k7QdAbC1", 5, &found));
    policy_proposals_destroy(here);
    policy_proposals_destroy(there);
    policy_proposals_destroy(later);
}

static void what_is_undone_does_not_wait(void **state)
{
    (void)state;
    struct policy_proposals *proposals = policy_proposals_create();
    struct policy_proposal asked = of("k7QdAbC1", 3, 5), found;
    struct store_tx *tx = open_tx();
    assert_int_equal(policy_proposals_put(proposals, tx, &asked, NULL), ST_OK);
    store_rollback(tx);
    assert_false(policy_proposals_find(proposals, "k7QdAbC1", 5, &found));
    asked = of("nobodys1", 3, 5);
    assert_int_equal(put(proposals, &asked), ST_NOT_FOUND);
    policy_proposals_destroy(proposals);
}

static void a_row_that_does_not_read_back_is_named(void **state)
{
    (void)state;
    struct error error = {0};
    struct policy_proposals *proposals = policy_proposals_create();
    const struct policy_proposal_row row = {"k7QdAbC1", "{\"max_open_jobs\":-1}", "ana",
                                            5};
    struct store_tx *tx = open_tx();
    assert_int_equal(policy_proposal_row_set(tx, &row, NULL), ST_OK);
    assert_int_equal(policy_proposals_load(proposals, tx, &error), ST_CORRUPT);
    assert_non_null(strstr(error.text, "k7QdAbC1"));
    assert_int_equal(policy_proposals_renew(proposals, tx, "k7QdAbC1", &error),
                     ST_CORRUPT);
    store_rollback(tx);
    policy_proposals_destroy(proposals);
}

static void an_approval_names_the_very_policy_that_waits(void **state)
{
    (void)state;
    struct error error = {0};
    const struct policy_proposal mild = of("k7QdAbC1", 1, 5),
                                 wide = of("k7QdAbC1", 2, 5);
    const struct policy_proposal widest = of("k7QdAbC1", 0, 5);
    const struct policy_proposal *const all[] = {&mild, &wide, &widest};
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 3; j++)
            assert_int_equal(
                policy_proposal_check_named(all[i], &all[j]->policy, &error),
                i == j ? ST_OK : ST_GRANT_DECIDED);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_store, close_store)
    const struct CMUnitTest tests[] = {
        TEST(a_key_has_the_last_one_until_it_lapses),
        TEST(an_approval_names_the_very_policy_that_waits),
        TEST(a_full_list_takes_what_came_before_what_went),
        TEST(one_waits_through_a_restart_and_at_every_daemon),
        TEST(what_is_undone_does_not_wait),
        TEST(a_row_that_does_not_read_back_is_named),
        TEST(there_is_room_for_so_many_and_lapsed_ones_make_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
