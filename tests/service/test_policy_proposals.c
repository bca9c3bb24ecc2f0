/* Goal: a key has one policy that waits, until it lapses, is decided, or room is gone. */
#include "service/policy_proposals.h"

#include <stdio.h>
#include <string.h>

#include "api/limits.h"
#include "tests/expect.h"

static const int64_t lapse_ms = (int64_t)LIMIT_GRANT_DAYS * 86400000;

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
    assert_int_equal(policy_proposals_put(proposals, &first, NULL), ST_OK);
    assert_int_equal(policy_proposals_put(proposals, &second, NULL), ST_OK);
    assert_true(policy_proposals_find(proposals, "k7QdAbC1", lapse_ms + 8, &found));
    assert_int_equal(found.policy.max_open_jobs, 2);
    assert_false(policy_proposals_find(proposals, "k7QdAbC1", lapse_ms + 9, &found));
    assert_false(policy_proposals_find(proposals, "k7QdAbC2", 9, &found));
    policy_proposals_drop(proposals, "k7QdAbC2");
    policy_proposals_drop(proposals, "k7QdAbC1");
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
        proposal = of(key, 1, i);
        assert_int_equal(policy_proposals_put(proposals, &proposal, NULL), ST_OK);
    }
    proposal = of("another1", 1, LIMIT_POLICY_PROPOSALS);
    assert_int_equal(policy_proposals_put(proposals, &proposal, NULL), ST_QUEUE_FULL);
    proposal = of("key00003", 7, LIMIT_POLICY_PROPOSALS);
    assert_int_equal(policy_proposals_put(proposals, &proposal, NULL), ST_OK);
    proposal = of("another1", 1, lapse_ms);
    assert_int_equal(policy_proposals_put(proposals, &proposal, NULL), ST_OK);
    assert_true(policy_proposals_find(proposals, "another1", lapse_ms, &found));
    assert_true(policy_proposals_find(proposals, "key00003", lapse_ms, &found));
    assert_int_equal(found.policy.max_open_jobs, 7);
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
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_has_the_last_one_until_it_lapses),
        cmocka_unit_test(an_approval_names_the_very_policy_that_waits),
        cmocka_unit_test(there_is_room_for_so_many_and_lapsed_ones_make_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
