/* Goal: what a key's policy limits is refused alike in estimates, jobs, sweeps and
 * statistics, and counted for the key's owner. Method: keys with policies, made by a
 * data owner. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "tests/expect.h"
#include "tests/e2e/access_fixture.h"
#include "tests/e2e/sample_fixture.h"

/* Makes a key with a new owner each time: a key for a used name can only be made on the
 * host. */
static void make_key_with(char key[KEY_SIZE], const char *owner, const char *policy)
{
    static unsigned count;
    struct client *client = access_client();
    access_show(access_scene.own.owner);
    const struct reply *made =
        client_post(client, "/v1/keys", NULL,
                    "{'owner':'%s-%u','project':'fraud','role':'analyst','policy':%s}",
                    owner, count++, policy);
    assert_status(made, 201);
    snprintf(key, KEY_SIZE, "%s", reply_text(made, "key"));
    access_show(key);
}

static const char limited[] =
    "{'dataset':'calls','model':{'preset':'linear'},'algorithm':{'name':'%s'},"
    "'batch_size':50,'steps':%d,'privacy':{%s}}";

/* Asserts that an estimate and a submission are refused alike, at pointer, because of
 * this member of the policy. */
static void expect_breach(const char *algorithm, const char *privacy,
                          const char *member, const char *pointer)
{
    struct client *client = access_client();
    for (int submits = 0; submits < 2; submits++) {
        const struct reply *reply =
            submits ? client_create(client, "/v1/jobs", limited, algorithm, 3, privacy)
                    : client_post(client, "/v1/jobs:estimate", NULL, limited, algorithm,
                                  3, privacy);
        assert_problem(reply, 403, "policy_violation");
        assert_string_equal(reply_text(reply, "policy"), member);
        if (pointer[0] != '\0')
            assert_string_equal(reply_text(reply, "errors.0.pointer"), pointer);
    }
}

static void a_policy_holds_of_estimates_and_jobs_alike(void **state)
{
    (void)state;
    struct client *client = access_client();
    char key[KEY_SIZE];
    make_key_with(key, "careful",
                  "{'max_epsilon_per_job':2,'min_noise_multiplier':2,"
                  "'algorithms':['dpsgd','dpgd'],'max_open_jobs':1}");
    expect_breach("dpsgd", "'epsilon':2.1", "max_epsilon_per_job", "/privacy/epsilon");
    expect_breach("dpsgd", "'noise_multiplier':1.9", "min_noise_multiplier",
                  "/privacy/noise_multiplier");
    expect_breach("dcsgd_p", "'epsilon':0.4", "algorithms", "/algorithm/name");
    assert_status(client_post(client, "/v1/jobs:estimate", NULL, limited, "dpsgd", 3,
                              "'epsilon':0.5"),
                  200);
    const char *job = submit(client, SAMPLE_JOB, "calls", SAMPLE_ENDLESS, 1e4);
    expect_breach("dpsgd", "'epsilon':0.4", "max_open_jobs", "");
    cancel(client, job);
    await_end(client, job);
    assert_status(client_post(client, "/v1/jobs:estimate", NULL, limited, "dpsgd", 3,
                              "'epsilon':0.4"),
                  200);
}

/* Each run could be submitted by itself, but all of them count. */
static void a_policy_counts_the_runs_of_a_sweep_together(void **state)
{
    (void)state;
    static const char sweep[] =
        "{'job':{'dataset':'calls','model':{'preset':'linear'},'algorithm':{'name':"
        "'dpsgd'},'batch_size':50,'steps':3,'privacy':{%s}},'runs':[%s]}";
    static const char two[] = "{'/batch_size':40},{'/batch_size':50}";
    struct client *client = access_client();
    char key[KEY_SIZE];
    make_key_with(key, "sweeper", "{'max_open_jobs':1}");
    const struct reply *refused =
        client_create(client, "/v1/sweeps", sweep, "'epsilon':0.1", two);
    assert_problem(refused, 403, "policy_violation");
    assert_string_equal(reply_text(refused, "policy"), "max_open_jobs");
    assert_true(reply_number(refused, "limit") == 1);
    make_key_with(key, "careful", "{'max_epsilon_per_job':0.05}");
    refused = client_post(client, "/v1/sweeps:estimate", NULL, sweep, "'epsilon':0.1",
                          "{'/privacy/epsilon':0.04},{'/batch_size':40}");
    assert_problem(refused, 403, "policy_violation");
    assert_string_equal(reply_text(refused, "policy"), "max_epsilon_per_job");
    assert_true(reply_number(refused, "limit") == 0.05);
    assert_string_equal(reply_text(refused, "errors.0.pointer"),
                        "/job/privacy/epsilon");
    assert_non_null(strstr(reply_text(refused, "detail"), "run 1"));
    make_key_with(key, "sharer", "{'max_share':{'share':0.1,'period':'P30D'}}");
    refused = client_create(client, "/v1/sweeps", sweep, "'budget_fraction':0.08", two);
    assert_problem(refused, 403, "policy_violation");
    assert_string_equal(reply_text(refused, "policy"), "max_share");
    assert_status(client_post(client, "/v1/sweeps:estimate", NULL, sweep,
                              "'budget_fraction':0.08", "{'/batch_size':40}"),
                  200);
}

/* The policy refuses the sweep because of any one of its runs. */
static void a_policy_holds_of_every_run_of_a_sweep(void **state)
{
    (void)state;
    static const struct {
        const char *policy, *privacy, *good, *bad;
    } cases[] = {
        {"{'max_epsilon_per_job':1}", "'epsilon':0.1", "{'/privacy/epsilon':0.2}",
         "{'/privacy/epsilon':1.5}"},
        {"{'min_noise_multiplier':2}", "'noise_multiplier':9",
         "{'/privacy/noise_multiplier':8}", "{'/privacy/noise_multiplier':1.9}"},
        {"{'algorithms':['dpsgd']}", "'epsilon':0.1", "{'/algorithm/name':'dpsgd'}",
         "{'/algorithm/name':'dcsgd_e'}"},
        {"{'max_share':{'share':0.1,'period':'P30D'}}", "'budget_fraction':0.01",
         "{'/privacy/budget_fraction':0.02}", "{'/privacy/budget_fraction':0.15}"},
    };
    static const char *const paths[] = {"/v1/sweeps:estimate", "/v1/sweeps"};
    struct client *client = access_client();
    char key[KEY_SIZE], runs[192];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make_key_with(key, "sweeping", cases[i].policy);
        for (unsigned k = 0; k < 8; k++) { /* at every position, by every path */
            unsigned place = k / 2;
            char *end = runs;
            for (unsigned run = 0; run < 3; run++)
                end += sprintf(end, "%s%s", run > 0 ? "," : "",
                               run == place ? cases[i].bad : cases[i].good);
            const struct reply *reply = client_create(
                client, place < 3 ? paths[k % 2] : paths[0],
                "{'job':{'dataset':'calls','model':{'preset':'linear'},'algorithm':"
                "{'name':'dpsgd'},'batch_size':50,'steps':3,'privacy':{%s}},"
                "'runs':[%s]}",
                cases[i].privacy, runs);
            if (place < 3)
                assert_problem(reply, 403, "policy_violation");
            else
                assert_status(reply, 200);
        }
    }
}

static void set_policy(const char *key, const char *policy)
{
    char path[96];
    snprintf(path, sizeof path, "/v1/keys/%.63s:policy", access_key_id(key));
    access_show(access_scene.keys[ROLE_OPERATOR]);
    assert_status(client_post(access_client(), path, NULL, "{'policy':%s}", policy),
                  200);
    access_show(key);
}

/* A job that takes half of the share fits. What it has spent counts against the next
 * job of the same owner, by another key too, but not of another owner. */
static void a_share_is_of_all_that_its_owner_takes_of_a_dataset(void **state)
{
    (void)state;
    static const char tenth[] = "{'max_share':{'share':0.1,'period':'P30D'}}";
    struct client *client = access_client();
    char key[KEY_SIZE], again[KEY_SIZE], other[KEY_SIZE];
    make_key_with(key, "spender", tenth);
    expect_breach("dpsgd", "'budget_fraction':0.15", "max_share",
                  "/privacy/budget_fraction");
    train(client, limited, "dpsgd", 3, "'budget_fraction':0.07");
    expect_breach("dpsgd", "'budget_fraction':0.07", "max_share",
                  "/privacy/budget_fraction");
    access_show(access_scene.own.owner);
    const struct reply *rotated =
        client_act(client, "/v1/keys/%s:rotate", access_key_id(key));
    assert_status(rotated, 201);
    snprintf(again, sizeof again, "%s", reply_text(rotated, "key"));
    access_show(again);
    expect_breach("dpsgd", "'budget_fraction':0.07", "max_share",
                  "/privacy/budget_fraction");
    char shouted[KEY_SIZE], owner[64];
    access_show(access_scene.own.owner);
    snprintf(
        owner, sizeof owner, "%s",
        reply_text(client_get(client, "/v1/keys/%s", access_key_id(key)), "owner"));
    for (char *c = owner; *c != '\0'; c++)
        *c = (char)toupper((unsigned char)*c);
    access_make_key(shouted, owner, "analyst", "fraud");
    set_policy(shouted, tenth);
    expect_breach("dpsgd", "'budget_fraction':0.07", "max_share",
                  "/privacy/budget_fraction");
    make_key_with(other, "saver", tenth);
    assert_status(client_post(client, "/v1/jobs:estimate", NULL, limited, "dpsgd", 3,
                              "'budget_fraction':0.07"),
                  200);
}

/* The limits apply to an evaluation on the holdout as they do to training. */
static void a_policy_holds_of_the_evaluation_on_a_holdout(void **state)
{
    (void)state;
    static const char measured[] =
        "{'dataset':'divided','evaluation':{'holdout':true,'epsilon':%s},'model':"
        "{'preset':'linear'},'algorithm':{'name':'dpsgd'},'batch_size':200,'steps':3,"
        "'privacy':{'noise_multiplier':20}}";
    static const struct {
        const char *policy, *epsilon, *member; /* NULL: allowed */
    } cases[] = {
        {"{'max_epsilon_per_job':1}", "0.5", NULL},
        {"{'max_epsilon_per_job':1}", "0.9999", "max_epsilon_per_job"},
        {"{'max_epsilon_per_job':1}", "2", "max_epsilon_per_job"},
        {"{'min_noise_multiplier':5}", "0.1", NULL},
        {"{'min_noise_multiplier':5}", "4", "min_noise_multiplier"},
    };
    struct client *client = access_client();
    char key[KEY_SIZE];
    access_show(access_scene.own.owner);
    ready_points(client, "divided", 3000, 9,
                 "{'epsilon':8,'delta':1e-5},'holdout':0.2");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make_key_with(key, "measurer", cases[i].policy);
        const struct reply *reply =
            client_post(client, "/v1/jobs:estimate", NULL, measured, cases[i].epsilon);
        if (cases[i].member == NULL) {
            assert_status(reply, 200);
            continue;
        }
        assert_problem(reply, 403, "policy_violation");
        assert_string_equal(reply_text(reply, "policy"), cases[i].member);
        assert_problem(client_create(client, "/v1/jobs", measured, cases[i].epsilon),
                       403, "policy_violation");
    }
}

/* Asks to evaluate the model on the holdout of the dataset it was trained on, or what
 * that would cost. */
static const struct reply *ask_look(const char *model, const char *action)
{
    char path[96];
    snprintf(path, sizeof path, "/v1/models/%s:%s", model, action);
    return client_create(access_client(), path,
                         "{'evaluation':{'holdout':true,'epsilon':1.5}}");
}

/* A look that is still running counts in the share of the holdout, as one that has
 * ended does. */
static void a_share_is_of_looks_at_a_holdout_too(void **state)
{
    (void)state;
    struct client *client = access_client();
    char key[KEY_SIZE], model[64], path[96];
    access_show(access_scene.own.owner);
    ready_points(client, "looked-at", 3000, 10,
                 "{'epsilon':8,'delta':1e-5},'holdout':0.2");
    make_key_with(key, "looker", "{'max_share':{'share':0.1,'period':'P30D'}}");
    const struct reply *job =
        train(client,
              "{'dataset':'looked-at','model':{'preset':'linear'},'algorithm':"
              "{'name':'dpsgd'},'batch_size':200,'steps':3,'privacy':{%s}}",
              "'noise_multiplier':20");
    snprintf(model, sizeof model, "%s", reply_text(job, "model"));
    assert_status(ask_look(model, "estimate"), 200);
    const struct reply *made = ask_look(model, "evaluate");
    assert_status(made, 201);
    snprintf(path, sizeof path, "/v1/evaluations/%s", reply_text(made, "id"));
    for (int ended = 0; ended < 2; ended++) {
        static const char *const actions[] = {"estimate", "evaluate"};
        for (size_t i = 0; i < 2; i++) {
            const struct reply *refused = ask_look(model, actions[i]);
            assert_problem(refused, 403, "policy_violation");
            assert_string_equal(reply_text(refused, "policy"), "max_share");
            assert_string_equal(reply_text(refused, "errors.0.pointer"),
                                "/evaluation/epsilon");
        }
        while (strcmp(reply_text(client_get(client, "%s", path), "state"), "RUNNING") ==
               0)
            continue;
    }
}

static const struct reply *ask_statistics(const char *path, const char *privacy)
{
    return client_create(access_client(), path,
                         "{'dataset':'calls','statistics':[{'kind':'histogram',"
                         "'column':'above'}],'privacy':{%s}}",
                         privacy);
}

static void expect_statistics_refused(const char *privacy, const char *member)
{
    static const char *const paths[] = {"/v1/statistics:estimate", "/v1/statistics"};
    for (size_t i = 0; i < 2; i++) {
        const struct reply *reply = ask_statistics(paths[i], privacy);
        assert_problem(reply, 403, "policy_violation");
        assert_string_equal(reply_text(reply, "policy"), member);
    }
}

/* A policy that allows some algorithms does not therefore allow statistics; and what
 * statistics have spent counts against the next job. */
static void a_policy_holds_of_statistics_too(void **state)
{
    (void)state;
    struct client *client = access_client();
    char key[KEY_SIZE], path[96];
    make_key_with(key, "curious",
                  "{'max_epsilon_per_job':20,'min_noise_multiplier':2,"
                  "'max_open_jobs':1}");
    expect_statistics_refused("'epsilon':21", "max_epsilon_per_job");
    expect_statistics_refused("'noise_multiplier':1.9", "min_noise_multiplier");
    const char *job = submit(client, SAMPLE_JOB, "calls", SAMPLE_ENDLESS, 1e4);
    expect_statistics_refused("'epsilon':0.4", "max_open_jobs");
    cancel(client, job);
    await_end(client, job);
    make_key_with(key, "trainer", "{'algorithms':['dpsgd']}");
    expect_statistics_refused("'epsilon':0.4", "algorithms");
    make_key_with(key, "counter", "{'max_share':{'share':0.1,'period':'P30D'}}");
    const struct reply *asked =
        ask_statistics("/v1/statistics", "'noise_multiplier':3");
    assert_status(asked, 201);
    expect_breach("dpsgd", "'budget_fraction':0.07", "max_share",
                  "/privacy/budget_fraction");
    snprintf(path, sizeof path, "/v1/statistics/%s", reply_text(asked, "id"));
    while (strcmp(reply_text(client_get(client, "%s", path), "state"), "RUNNING") == 0)
        continue;
    expect_breach("dpsgd", "'budget_fraction':0.07", "max_share",
                  "/privacy/budget_fraction");
}

/* The price was reserved while the policy allowed it, so the job runs and pays it. */
static void what_was_reserved_runs_under_the_policy_of_that_day(void **state)
{
    (void)state;
    struct client *client = access_client();
    char key[KEY_SIZE];
    make_key_with(key, "narrowed", "{'max_epsilon_per_job':2}");
    const char *first = submit(client, SAMPLE_JOB, "calls", SAMPLE_ENDLESS, 1e4);
    const char *queued = submit(client, limited, "dpsgd", 3, "'epsilon':0.3");
    const char *spared = submit(client, limited, "dpsgd", 3, "'epsilon':0.3");
    set_policy(key, "{'max_epsilon_per_job':0.1,'algorithms':['dpgd']}");
    expect_breach("dpsgd", "'epsilon':0.3", "algorithms", "/algorithm/name");
    cancel(client, spared);
    access_show(access_scene.own.owner);
    assert_status(client_act(client, "/v1/keys/%s:revoke", access_key_id(key)), 200);
    cancel(client, first);
    const struct reply *ended = await_success(client, queued);
    assert_close(reply_number(ended, "privacy.epsilon_spent"),
                 reply_number(ended, "privacy.epsilon_planned"), 1e-12);
    assert_true(reply_number(await_end(client, spared), "privacy.epsilon_spent") == 0);
    await_end(client, first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_policy_holds_of_estimates_and_jobs_alike),
        cmocka_unit_test(a_policy_counts_the_runs_of_a_sweep_together),
        cmocka_unit_test(a_policy_holds_of_every_run_of_a_sweep),
        cmocka_unit_test(a_share_is_of_all_that_its_owner_takes_of_a_dataset),
        cmocka_unit_test(a_policy_holds_of_the_evaluation_on_a_holdout),
        cmocka_unit_test(a_share_is_of_looks_at_a_holdout_too),
        cmocka_unit_test(a_policy_holds_of_statistics_too),
        cmocka_unit_test(what_was_reserved_runs_under_the_policy_of_that_day),
    };
    return cmocka_run_group_tests(tests, access_begin_keys, stage_end);
}
