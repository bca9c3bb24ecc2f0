/* Goal: a key that is truncated, unknown, revoked, expired or sent in a query is
 * refused however often it is sent; a rotated key stays valid together with its
 * successor; and no user can make a key that reaches further than their own. Method: a
 * daemon with keys of each role. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "tests/expect.h"
#include "tests/e2e/access_fixture.h"
#include "tests/e2e/sample_fixture.h"

static void a_key_that_is_cut_or_unknown_or_in_a_query_lets_nobody_in(void **state)
{
    (void)state;
    struct client *client = access_client();
    char key[KEY_SIZE], path[128];
    snprintf(key, sizeof key, "%s", access_scene.own.analyst);
    key[55] = key[55] == 'a' ? 'b' : 'a';
    access_show(key);
    assert_problem(client_get(client, "/v1/jobs"), 401, "key_unknown");
    assert_problem(client_get(client, "/v1/algorithms"), 401, "key_unknown");
    key[55] = '\0';
    access_show(key);
    assert_problem(client_get(client, "/v1/jobs"), 401, "key_malformed");
    snprintf(key, sizeof key, "%s", access_scene.own.analyst);
    memset(key + 4, '0', 8);
    access_show(key);
    assert_problem(client_get(client, "/v1/jobs"), 401, "key_unknown");
    access_show("");
    assert_problem(client_get_with(client, "/v1/jobs", "Authorization: Basic YTpi"),
                   401, "key_malformed");
    snprintf(path, sizeof path, "/v1/jobs?access_token=%s", access_scene.own.analyst);
    assert_problem(client_get(client, "%s", path), 400, "key_in_query");
    access_show(access_scene.own.analyst);
    snprintf(path, sizeof path, "/v1/jobs?dataset=%s", access_scene.own.analyst);
    assert_problem(client_get(client, "%s", path), 400, "key_in_query");
    snprintf(path, sizeof path, "/v1/jobs/%s:cancel", access_scene.own.analyst);
    assert_status(client_act(client, "%s", path), 404);
    assert_false(
        daemon_logged(&access_scene.stage->daemon, access_scene.own.analyst + 13));
}

struct waiter { /* polls a job until it changes */
    struct client client;
    const char *job;
    long status;
    char code[32];
};

static void *wait_for_job(void *argument)
{
    struct waiter *waiter = argument;
    const struct reply *reply =
        client_get(&waiter->client, "/v1/jobs/%s?wait=60", waiter->job);
    waiter->status = reply->status;
    snprintf(waiter->code, sizeof waiter->code, "%s", reply_text(reply, "code"));
    return NULL;
}

/* The daemon has noted that the key was used, so the request sent with it is waiting or
 * about to. */
static void who_waits_while_its_key_is_revoked_is_answered_nothing(void **state)
{
    (void)state;
    struct client *client = access_client();
    struct waiter waiter = {0};
    char key[KEY_SIZE], words[64], out[128];
    pthread_t thread;
    access_make_key(key, "waiter", "analyst", "fraud");
    access_show(access_scene.own.analyst);
    waiter.job = submit(client, SAMPLE_JOB, "calls", SAMPLE_ENDLESS, 1e4);
    client_init(&waiter.client, &access_scene.stage->daemon);
    snprintf(waiter.client.key, sizeof waiter.client.key, "%s", key);
    assert_int_equal(pthread_create(&thread, NULL, wait_for_job, &waiter), 0);
    access_show(access_scene.own.owner);
    while (json_is_null(
        reply_at(client_get(client, "/v1/keys/%s", access_key_id(key)), "last_used")))
        continue;
    snprintf(words, sizeof words, "revoke %s", access_key_id(key));
    assert_int_equal(access_run_key(words, out, sizeof out), 0);
    cancel(client, waiter.job);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(waiter.status, 401);
    assert_string_equal(waiter.code, "key_revoked");
    client_fini(&waiter.client);
}

static void what_is_revoked_on_the_host_holds_at_once(void **state)
{
    (void)state;
    struct client *client = access_client();
    char key[KEY_SIZE], words[64], out[128];
    access_make_key(key, "leaver", "analyst", "fraud");
    access_show(key);
    assert_status(client_get(client, "/v1/jobs"), 200);
    snprintf(words, sizeof words, "revoke %s", access_key_id(key));
    assert_int_equal(access_run_key(words, out, sizeof out), 0);
    assert_problem(client_get(client, "/v1/jobs"), 401, "key_revoked");
    assert_int_equal(access_run_key("revoke 00000000", out, sizeof out), 64);
    assert_int_equal(
        access_run_key("create --owner Local --role analyst", out, sizeof out), 64);
    assert_int_equal(access_run_key("create --owner x --role king", out, sizeof out),
                     64);
    assert_int_equal(access_run_key("nonsense", out, sizeof out), 64);
}

static void a_rotated_key_and_its_successor_are_both_good(void **state)
{
    (void)state;
    struct client *client = access_client();
    char key[KEY_SIZE];
    access_show(access_scene.own.owner);
    const struct reply *made =
        client_post(client, "/v1/keys", NULL,
                    "{'owner':'turner','project':'fraud','role':'analyst'}");
    assert_status(made, 201);
    snprintf(key, sizeof key, "%s", reply_text(made, "key"));
    made = client_act(client, "/v1/keys/%s:rotate", access_key_id(key));
    assert_status(made, 201);
    const char *next = reply_text(made, "key");
    assert_status(client_act(client, "/v1/keys/%s:rotate", access_key_id(next)), 201);
    const struct reply *old = client_get(client, "/v1/keys/%s", access_key_id(key));
    assert_string_not_equal(reply_text(old, "expire_time"),
                            reply_text(made, "expire_time"));
    assert_null(strstr(old->body, "dpk_"));
    access_show(key);
    assert_status(client_get(client, "/v1/jobs"), 200);
    access_show(reply_text(made, "key"));
    assert_status(client_get(client, "/v1/jobs"), 200);
    access_show(access_scene.keys[ROLE_OPERATOR]);
    assert_status(client_act(client, "/v1/keys/%s:revoke", access_key_id(key)), 200);
    access_show(access_scene.own.owner);
    assert_problem(client_act(client, "/v1/keys/%s:rotate", access_key_id(key)), 409,
                   "key_ended");
}

/* Rotating a key yields its successor's secret, and with it the owner's identity. */
static void a_key_is_rotated_by_who_made_it_alone(void **state)
{
    (void)state;
    struct client *client = access_client();
    char hers[KEY_SIZE], second[KEY_SIZE];
    access_make_key(hers, "hers", "analyst", "fraud");
    access_make_key(second, "second-owner", "data_owner", "fraud");
    access_show(access_scene.own.owner);
    const struct reply *made =
        client_post(client, "/v1/keys", NULL,
                    "{'owner':'theirs','project':'fraud','role':'analyst'}");
    assert_status(made, 201);
    char theirs[KEY_SIZE];
    snprintf(theirs, sizeof theirs, "%s", reply_text(made, "key"));
    const struct {
        const char *key, *rotates;
        long status;
    } cases[] = {
        {access_scene.own.owner, hers, 403},
        {access_scene.keys[ROLE_OPERATOR], hers, 403},
        {access_scene.keys[ROLE_OPERATOR], theirs, 403},
        {second, theirs, 403},
        {access_scene.own.owner, theirs, 201},
        {access_scene.own.owner, access_scene.own.owner, 403}, /* it proposes grants */
        {access_scene.keys[ROLE_OPERATOR], access_scene.keys[ROLE_OPERATOR], 201},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        access_show(cases[i].key);
        assert_status(
            client_act(client, "/v1/keys/%s:rotate", access_key_id(cases[i].rotates)),
            cases[i].status);
    }
}

static void keys_are_listed_in_either_order(void **state)
{
    (void)state;
    struct client *client = access_client();
    char first[KEY_SIZE], last[KEY_SIZE], newest[64];
    access_make_key(first, "early", "analyst", "fraud");
    access_make_key(last, "late", "analyst", "fraud");
    access_show(access_scene.keys[ROLE_OPERATOR]);
    snprintf(newest, sizeof newest, "%s",
             reply_text(client_get(client, "/v1/keys?page_size=1"), "keys.0.id"));
    assert_string_equal(newest, access_key_id(last));
    assert_string_equal(
        reply_text(client_get(client, "/v1/keys?order=desc"), "keys.0.id"), newest);
    assert_string_not_equal(
        reply_text(client_get(client, "/v1/keys?order=asc"), "keys.0.id"), newest);
    assert_problem(client_get(client, "/v1/keys?order=sideways"), 400,
                   "invalid_argument");
}

static void who_makes_keys_makes_none_that_approves_or_reaches_further(void **state)
{
    (void)state;
    static const struct {
        bool operator;              /* otherwise a data owner */
        const char *body, *pointer; /* NULL: the key is made */
    } cases[] = {
        {true, "{'owner':'x','project':'ads','role':'analyst'}", "/role"},
        {true, "{'owner':'x','project':'ads','role':'auditor'}", "/role"},
        {true, "{'owner':'somebody','project':'ads','role':'analyst'}", "/role"},
        {true,
         "{'owner':'somebody','project':'ads','role':'operator','scopes':['models:read'"
         "]}",
         "/scopes"},
        {true,
         "{'owner':'x','project':'ads','role':'operator','scopes':['certificates:read']"
         "}",
         "/scopes"},
        {true,
         "{'owner':'x','project':'ads','role':'operator','scopes':['charges:submit']}",
         "/scopes"},
        {true, "{'owner':'y','project':'ads','role':'operator'}", NULL},
        {true, "{'owner':'somebody','project':'ads','role':'operator'}", NULL},
        {true, "{'owner':'SomeBody','project':'ads','role':'operator'}", NULL},
        {true, "{'owner':'x','project':'ads','role':'data_owner'}", "/role"},
        {true, "{'owner':'x','project':'ads','role':'privacy_officer'}", "/role"},
        {true,
         "{'owner':'x','project':'ads','role':'auditor','scopes':['grants:approve']}",
         "/scopes"},
        {false,
         "{'owner':'x','project':'fraud','role':'analyst','scopes':['budgets:audit']}",
         NULL},
        {false, "{'owner':'x','project':'fraud','role':'analyst'}", "/owner"},
        {false, "{'owner':'X','project':'fraud','role':'analyst'}", "/owner"},
        {false, "{'owner':'analyst-of-fraud','project':'fraud','role':'analyst'}",
         "/owner"},
        {false, "{'owner':'Analyst-Of-Fraud','project':'fraud','role':'analyst'}",
         "/owner"},
        {false, "{'owner':'owner-of-fraud','project':'fraud','role':'analyst'}", NULL},
        {false, "{'owner':'z','project':'ads','role':'analyst'}", "/project"},
        {false, "{'owner':'z','project':'fraud','role':'data_owner'}", "/role"},
        {false, "{'owner':'z','project':'fraud','role':'privacy_officer'}", "/role"},
        {false,
         "{'owner':'z','project':'fraud','role':'analyst','scopes':['grants:propose']}",
         "/scopes"},
        {false,
         "{'owner':'z','project':'fraud','role':'analyst','scopes':['grants:approve']}",
         "/scopes"},
        {false, "{'owner':'x','project':'fraud','role':'auditor'}", "/role"},
        {false, "{'owner':'x','project':'fraud','role':'operator'}", "/role"},
        {false,
         "{'owner':'x','project':'fraud','role':'analyst','scopes':['ops:read']}",
         "/scopes"},
    };
    struct client *client = access_client();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        access_show(cases[i].operator? access_scene.keys[ROLE_OPERATOR]
                                     : access_scene.own.owner);
        const struct reply *reply =
            client_post(client, "/v1/keys", NULL, "%s", cases[i].body);
        if (cases[i].pointer == NULL) {
            assert_status(reply, 201);
            continue;
        }
        assert_problem(reply, 403, "forbidden");
        assert_string_equal(reply_text(reply, "errors.0.pointer"), cases[i].pointer);
    }
    access_show(access_scene.keys[ROLE_OPERATOR]);
    assert_problem(client_act(client, "/v1/keys/%s:rotate",
                              access_key_id(access_scene.keys[ROLE_PRIVACY_OFFICER])),
                   403, "forbidden");
    assert_invalid_at(client_post(client, "/v1/keys", NULL,
                                  "{'owner':'x','project':'ads','role':'king'}"),
                      "/role");
    assert_invalid_at(client_post(client, "/v1/keys", NULL,
                                  "{'owner':'local','project':'ads','role':'analyst'}"),
                      "/owner");
    assert_invalid_at(client_post(client, "/v1/keys", NULL,
                                  "{'owner':'x','project':'Ads','role':'analyst'}"),
                      "/project");
    assert_invalid_at(
        client_post(client, "/v1/keys", NULL,
                    "{'owner':'x','project':'ads','role':'analyst','days':0}"),
        "/days");
    assert_invalid_at(
        client_post(client, "/v1/keys", NULL,
                    "{'owner':'x','project':'ads','role':'operator','days':3651}"),
        "/days");
    assert_invalid_at(
        client_post(client, "/v1/keys", NULL,
                    "{'owner':'x','project':'ads','role':'analyst','scopes':"
                    "['keys:admin'],'policy':{'max_epsilon_per_job':1}}"),
        "/policy");
    access_show(access_scene.own.owner);
    assert_problem(client_act(client, "/v1/keys/%s:revoke",
                              access_key_id(access_scene.keys[ROLE_OPERATOR])),
                   403, "forbidden");
}

/* Sets the key's expiry in its row to 1970, while the daemon is stopped. */
static void expire(const char *key)
{
    struct stage *stage = access_scene.stage;
    char command[512];
    assert_int_equal(daemon_stop(&stage->daemon, SIGTERM), 0);
    snprintf(command, sizeof command,
             "python3 -c \"import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); "
             "assert db.execute('UPDATE access_key SET expire_ms=1 WHERE id=?', "
             "[sys.argv[2]]).rowcount == 1; db.commit()\" '%s/epsilond.db' %s",
             stage->daemon.data_dir, access_key_id(key));
    assert_int_equal(system(command), 0);
    daemon_start(&stage->daemon, NULL);
}

static void a_key_that_has_expired_lets_nobody_in(void **state)
{
    (void)state;
    struct client *client = access_client();
    char key[KEY_SIZE];
    access_make_key(key, "past", "analyst", "fraud");
    access_show(key);
    assert_status(client_get(client, "/v1/jobs"), 200);
    expire(key);
    assert_problem(client_get(client, "/v1/jobs"), 401, "key_expired");
    assert_problem(client_create(client, "/v1/jobs", SAMPLE_JOB, "calls", 3, 90.0), 401,
                   "key_expired");
    assert_problem(client_post(client, "/v1/session", NULL, "{'key':'%s'}", key), 401,
                   "key_expired");
    access_show(access_scene.keys[ROLE_OPERATOR]);
    assert_problem(client_act(client, "/v1/keys/%s:rotate", access_key_id(key)), 409,
                   "key_ended");
}

/* This test must be last: the address is throttled for a minute. */
static void
a_thousand_wrong_keys_are_told_to_wait_and_a_right_one_is_let_in(void **state)
{
    (void)state;
    struct client *client = access_client();
    char key[KEY_SIZE], after[256];
    unsigned unknown = 0, waits = 0;
    snprintf(key, sizeof key, "%s", access_scene.own.analyst);
    for (int i = 0; i < 1000; i++) {
        char digits[16];
        snprintf(digits, sizeof digits, "%04d", i);
        memcpy(key + 52, digits, 4);
        access_show(key);
        const struct reply *reply = client_get(client, "/v1/jobs");
        unknown += reply->status == 401;
        waits += reply->status == 429;
        if (reply->status == 429) {
            assert_string_equal(reply_text(reply, "code"), "too_many_wrong_keys");
            assert_true(reply_header(reply, "retry-after", after));
        }
    }
    assert_int_equal(unknown + waits, 1000);
    assert_true(unknown <= 20); /* ten a minute, within two minutes */
    access_show(access_scene.own.analyst);
    assert_status(client_get(client, "/v1/jobs"), 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_that_is_cut_or_unknown_or_in_a_query_lets_nobody_in),
        cmocka_unit_test(who_waits_while_its_key_is_revoked_is_answered_nothing),
        cmocka_unit_test(what_is_revoked_on_the_host_holds_at_once),
        cmocka_unit_test(a_rotated_key_and_its_successor_are_both_good),
        cmocka_unit_test(a_key_is_rotated_by_who_made_it_alone),
        cmocka_unit_test(keys_are_listed_in_either_order),
        cmocka_unit_test(who_makes_keys_makes_none_that_approves_or_reaches_further),
        cmocka_unit_test(a_key_that_has_expired_lets_nobody_in),
        cmocka_unit_test(
            a_thousand_wrong_keys_are_told_to_wait_and_a_right_one_is_let_in),
    };
    return cmocka_run_group_tests(tests, access_begin_keys, stage_end);
}
