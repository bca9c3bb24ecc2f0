/* Goal: a key's policy that allows more takes effect once another person has agreed to
 * exactly that policy; one that allows less takes effect at once. Method: a daemon with
 * keys of several owners, made by `epsilond key` on the host. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "tests/expect.h"
#include "tests/e2e/approval_fixture.h"

static const struct reply *change_policy(const char *key, const char *id,
                                         const char *policy)
{
    char path[96];
    snprintf(path, sizeof path, "/v1/keys/%.63s:policy", id);
    return client_post(approval_as(key), path, NULL, "{'policy':%s}", policy);
}

static const struct reply *approve_policy(const char *key, const char *id,
                                          const char *policy)
{
    char path[96];
    snprintf(path, sizeof path, "/v1/keys/%.63s:approve", id);
    return client_post(approval_as(key), path, NULL,
                       "{'policy':%s,'reason':'as was agreed'}", policy);
}

static const struct reply *reject_policy(const char *key, const char *id)
{
    char path[96];
    snprintf(path, sizeof path, "/v1/keys/%.63s:reject", id);
    return client_post(approval_as(key), path, NULL, "{'reason':'as was agreed'}");
}

/* Checks which changes of the key's policy, in the audit trail's order, an officer sees
 * as pending. */
static void assert_waits(const char *id, const char *expected)
{
    char text[64] = "[";
    size_t i;
    const json_t *act;
    const struct reply *acts = client_get(approval_as(approval_scene.bob),
                                          "/v1/audit?action=key.policy&object=%s", id);
    json_array_foreach(reply_at(acts, "acts"), i, act)
    {
        const json_t *detail = json_object_get(act, "detail");
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s",
                 i > 0 ? "," : "",
                 json_is_true(json_object_get(detail, "waits")) ? "true" : "false");
    }
    strcat(text, "]");
    assert_string_equal(text, expected);
}

/* A pending policy is still pending after a restart, unchanged. */
static void expect_after_a_restart(const char *id, const struct reply *before)
{
    assert_int_equal(daemon_stop(&approval_scene.stage->daemon, SIGKILL),
                     128 + SIGKILL);
    daemon_start(&approval_scene.stage->daemon, NULL);
    const struct reply *after =
        client_get(approval_as(approval_scene.ana), "/v1/keys/%s", id);
    assert_true(json_equal(reply_at(after, "policy_proposed"),
                           reply_at(before, "policy_proposed")));
}

static void a_wider_policy_of_a_key_takes_a_second_person(void **state)
{
    (void)state;
    const struct reply *made =
        client_post(approval_as(approval_scene.ana), "/v1/keys", NULL,
                    "{'owner':'dora','project':'fraud','role':'analyst','policy':"
                    "{'max_epsilon_per_job':1}}");
    assert_status(made, 201);
    const char *id = reply_text(made, "id");
    const struct reply *key =
        change_policy(approval_scene.ana, id, "{'max_epsilon_per_job':0.5}");
    assert_status(key, 200);
    assert_true(json_is_null(reply_at(key, "policy_proposed")));
    assert_true(reply_number(key, "policy.max_epsilon_per_job") == 0.5);
    key = change_policy(approval_scene.ana, id, "null");
    assert_status(key, 202);
    assert_true(reply_number(key, "policy.max_epsilon_per_job") == 0.5);
    assert_true(json_is_null(reply_at(key, "policy_proposed.policy")));
    assert_string_equal(reply_text(key, "policy_proposed.proposed_by"), "ana");
    expect_after_a_restart(id, key);
    assert_waits(id, "[false,true]");
    assert_problem(change_policy(approval_scene.carl, id, "null"), 403, "forbidden");
    assert_problem(approve_policy(approval_scene.ana, id, "null"), 403, "forbidden");
    assert_problem(approve_policy(approval_scene.ana_officer, id, "null"), 403,
                   "second_person");
    assert_status(reject_policy(approval_scene.bob, id), 200);
    assert_problem(approve_policy(approval_scene.bob, id, "null"), 409,
                   "grant_decided");
    assert_status(change_policy(approval_scene.ana, id, "{'max_epsilon_per_job':2}"),
                  202);
    key = approve_policy(approval_scene.bob, id, "{'max_epsilon_per_job':2}");
    assert_status(key, 200);
    assert_true(reply_number(key, "policy.max_epsilon_per_job") == 2);
    assert_true(json_is_null(reply_at(key, "policy_proposed")));
    const struct reply *acts =
        client_get(approval_as(approval_scene.bob),
                   "/v1/audit?action=key.policy.approve&result=ok");
    assert_int_equal(json_array_size(reply_at(acts, "acts")), 1);
    assert_string_equal(reply_text(acts, "acts.0.object"), id);
    assert_string_equal(reply_text(acts, "acts.0.detail.proposed_by"), "ana");
    /* A key that can make keys has no policy, and the policy of an ended key cannot be
     * changed. */
    char path[96];
    snprintf(path, sizeof path, "%.8s", approval_scene.ana + strlen("dpk_"));
    assert_invalid_at(change_policy(approval_scene.ana, path, "{'max_open_jobs':1}"),
                      "/policy");
    snprintf(path, sizeof path, "/v1/keys/%.63s:revoke", id);
    assert_status(client_act(approval_as(approval_scene.ana), "%s", path), 200);
    assert_problem(change_policy(approval_scene.ana, id, "null"), 409, "key_ended");
}

/* Neither the proposer of a policy nor the key's owner can decide it, and capital
 * letters in their names do not change that. */
static void capitals_are_no_second_person_of_a_policy(void **state)
{
    (void)state;
    static const char *const names[] = {"ANA", "Vera", "VERA"};
    const struct reply *made =
        client_post(approval_as(approval_scene.ana), "/v1/keys", NULL,
                    "{'owner':'vera','project':'fraud','role':'analyst','policy':"
                    "{'max_epsilon_per_job':1}}");
    assert_status(made, 201);
    const char *id = reply_text(made, "id");
    assert_status(change_policy(approval_scene.ana, id, "null"), 202);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char officer[KEY_SIZE], words[96];
        snprintf(words, sizeof words,
                 "--owner %s --role privacy_officer --project fraud", names[i]);
        approval_make_key(officer, words);
        assert_problem(approve_policy(officer, id, "null"), 403, "second_person");
    }
    assert_status(approve_policy(approval_scene.bob, id, "null"), 200);
}

/* An officer has read a narrow policy, and a wide one replaces it before the officer
 * agrees. */
static void a_policy_that_was_exchanged_is_not_approved(void **state)
{
    (void)state;
    static const char mild[] = "{'max_epsilon_per_job':2}", wide[] = "null";
    const struct reply *made =
        client_post(approval_as(approval_scene.ana), "/v1/keys", NULL,
                    "{'owner':'dora-too','project':'fraud','role':'analyst','policy':"
                    "{'max_epsilon_per_job':1}}");
    assert_status(made, 201);
    const char *id = reply_text(made, "id");
    assert_status(change_policy(approval_scene.ana, id, mild), 202);
    assert_status(change_policy(approval_scene.ana, id, wide), 202);
    assert_problem(approve_policy(approval_scene.bob, id, mild), 409, "grant_decided");
    /* The same if the first was withdrawn in between. */
    assert_status(change_policy(approval_scene.ana, id, "{'max_epsilon_per_job':1}"),
                  200);
    assert_problem(approve_policy(approval_scene.bob, id, mild), 409, "grant_decided");
    assert_status(change_policy(approval_scene.ana, id, wide), 202);
    assert_problem(approve_policy(approval_scene.bob, id, mild), 409, "grant_decided");
    const struct reply *key = approve_policy(approval_scene.bob, id, wide);
    assert_status(key, 200);
    assert_true(json_is_null(reply_at(key, "policy")));
}

static void a_policy_that_has_lapsed_is_not_approved(void **state)
{
    (void)state;
    struct daemon *daemon = &approval_scene.stage->daemon;
    char command[512];
    const struct reply *made =
        client_post(approval_as(approval_scene.ana), "/v1/keys", NULL,
                    "{'owner':'dora-last','project':'fraud','role':'analyst','policy':"
                    "{'max_epsilon_per_job':1}}");
    assert_status(made, 201);
    const char *id = reply_text(made, "id");
    assert_status(change_policy(approval_scene.ana, id, "null"), 202);
    assert_int_equal(daemon_stop(daemon, SIGTERM), 0);
    snprintf(command, sizeof command,
             "python3 -c \"import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); "
             "assert db.execute('UPDATE policy_proposal SET propose_ms=propose_ms-15*"
             "86400000').rowcount > 0; db.commit()\" '%s/epsilond.db'",
             daemon->data_dir);
    assert_int_equal(system(command), 0);
    daemon_start(daemon, NULL);
    assert_problem(approve_policy(approval_scene.bob, id, "null"), 409,
                   "grant_decided");
    const struct reply *key =
        client_get(approval_as(approval_scene.ana), "/v1/keys/%s", id);
    assert_true(reply_number(key, "policy.max_epsilon_per_job") == 1);
    assert_true(json_is_null(reply_at(key, "policy_proposed")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wider_policy_of_a_key_takes_a_second_person),
        cmocka_unit_test(capitals_are_no_second_person_of_a_policy),
        cmocka_unit_test(a_policy_that_was_exchanged_is_not_approved),
        cmocka_unit_test(a_policy_that_has_lapsed_is_not_approved),
    };
    return cmocka_run_group_tests(tests, approval_begin, stage_end);
}
