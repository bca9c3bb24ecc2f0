/* Goal: words that are not public are bought: by two people, at a price that is shown
 * before, from the share of delta that the grant sets aside; the answer has the frequent
 * words and no word of one record. Method: a real daemon with keys; a table whose sites are
 * known here. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/expect.h"
#include "tests/e2e/approval_fixture.h"

#define TABLE                                                                          \
    "{'id':'%s','format':'csv','task':'classification','header':false,'columns':["     \
    "{'name':'site','kind':'hashed','buckets':8,'text_bytes':16},"                     \
    "{'name':'age','kind':'numeric','range':[0,100]},"                                 \
    "{'name':'ill','kind':'label','values':['no','yes']}],'privacy':%s}"

#define WORDS(dataset, column, delta)                                                  \
    "{'dataset':'" dataset "','statistics':[{'kind':'words','column':'" column "'}],"  \
    "'privacy':{'epsilon':0.5,'delta':1e-6,'discovery_delta':" delta "}}"

static void upload(const char *id)
{
    static const struct {
        const char *site;
        unsigned count;
    } sites[] = {{"north", 500}, {"south clinic", 400}, {"Jane Roe", 1}, {"few", 3}};
    struct client *client = approval_as(approval_scene.ana);
    char *text = calloc(1, 65536), path[96];
    size_t size = 0;
    assert_non_null(text);
    for (size_t k = 0; k < sizeof sites / sizeof *sites; k++)
        for (unsigned i = 0; i < sites[k].count; i++)
            size += (size_t)sprintf(text + size, "%s,%u,%s\n", sites[k].site, i % 90,
                                    i % 3 ? "no" : "yes");
    snprintf(path, sizeof path, "/v1/datasets/%s/files/data", id);
    assert_status(client_put(client, path, text, size), 204);
    free(text);
}

static void make_ready(const char *id, const char *privacy)
{
    char path[96], grant[64];
    const struct reply *made = client_create(approval_as(approval_scene.ana),
                                             "/v1/datasets", TABLE, id, privacy);
    assert_status(made, 201);
    snprintf(grant, sizeof grant, "%s", reply_text(made, "grant.id"));
    upload(id);
    assert_status(approval_decide(approval_scene.bob, "approve", grant), 200);
    snprintf(path, sizeof path, "/v1/datasets/%s:import", id);
    assert_status(client_act(approval_as(approval_scene.ana), "%s", path), 200);
}

static const struct reply *await_answers(const char *id)
{
    char path[64];
    const struct reply *reply;
    snprintf(path, sizeof path, "/v1/statistics/%s", id);
    while (reply = client_get(approval_as(approval_scene.ana), "%s", path),
           assert_status(reply, 200),
           strcmp(reply_text(reply, "state"), "RUNNING") == 0)
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    return reply;
}

static const struct reply *ask(void)
{
    return client_create(approval_as(approval_scene.ana), "/v1/statistics",
                         WORDS("visits", "site", "1e-6"));
}

static const struct reply *budget(const char *id)
{
    return client_get(approval_as(approval_scene.ana), "/v1/datasets/%s/budget", id);
}

static void expect_price(const struct reply *estimate)
{
    assert_status(estimate, 200);
    assert_string_equal(reply_text(estimate, "fits"), "yes");
    assert_close(reply_number(estimate, "epsilon"), .5, 1e-6);
    assert_close(reply_number(estimate, "deviation"), 8.06, 5e-3);
    assert_close(reply_number(estimate, "threshold"), 39.3, 2e-3);
    assert_close(reply_number(estimate, "discovery_delta"), 1e-6, 1e-6);
    assert_true(reply_number(estimate, "surveys_like_this") == 2);
}

/* Proposes the discovery; returns the id of what waits. */
static void propose(char grant[64])
{
    const struct reply *waits = ask();
    assert_status(waits, 202);
    assert_string_equal(reply_text(waits, "kind"), "words");
    assert_string_equal(reply_text(waits, "state"), "PENDING");
    assert_string_equal(reply_text(waits, "words.column"), "site");
    assert_close(reply_number(waits, "words.threshold"), 39.3, 2e-3);
    assert_close(reply_number(waits, "words.deviation"), 8.06, 5e-3);
    assert_close(reply_number(waits, "words.discovery_delta"), 1e-6, 1e-6);
    snprintf(grant, 64, "%s", reply_text(waits, "id"));
}

static void words_take_two_people_and_both_deltas(void **state)
{
    (void)state;
    char grant[64], other[64], run[64];
    make_ready("visits", "{'epsilon':4,'delta':1e-5,'discovery_delta':2e-6}");
    expect_price(client_post(approval_as(approval_scene.ana), "/v1/statistics:estimate",
                             NULL, WORDS("visits", "site", "1e-6")));
    propose(grant);
    propose(other); /* sent again: it is the same */
    assert_string_equal(grant, other);
    assert_problem(client_create(approval_as(approval_scene.ana), "/v1/statistics",
                                 WORDS("visits", "site", "5e-7")),
                   409, "grant_pending");
    assert_true(reply_number(budget("visits"), "discoveries.held") == 0);
    assert_problem(approval_decide(approval_scene.ana_officer, "approve", grant), 403,
                   "second_person");
    assert_status(approval_decide(approval_scene.bob, "approve", grant), 200);

    const struct reply *made = ask();
    assert_status(made, 201);
    snprintf(run, sizeof run, "%s", reply_text(made, "id"));
    const struct reply *done = await_answers(run);
    assert_string_equal(reply_text(done, "state"), "SUCCEEDED");
    assert_string_equal(reply_text(done, "answers.0.words.0.word"), "north");
    assert_string_equal(reply_text(done, "answers.0.words.1.word"), "south clinic");
    assert_int_equal(json_array_size(reply_at(done, "answers.0.words")), 2);
    assert_true(reply_number(done, "answers.0.words.0.count") > 440 &&
                reply_number(done, "answers.0.words.0.count") < 560);
    assert_close(reply_number(done, "guarantee.discovery_delta"), 1e-6, 1e-6);
    assert_null(strstr(done->body, "Jane"));
    assert_close(reply_number(budget("visits"), "discoveries.spent"), 1e-6, 1e-6);
    assert_close(reply_number(budget("visits"), "discoveries.left"), 1e-6, 1e-6);
    const struct reply *used =
        client_get(approval_as(approval_scene.bob), "/v1/grants/%s", grant);
    assert_string_equal(reply_text(used, "words.statistics"), run);
    assert_int_equal(daemon_verify(&approval_scene.stage->daemon), 0);
}

/* An approval is for one run; the share of delta holds after a restart. A daemon that
 * asks nobody about budgets still asks about words. */
static void an_approval_is_used_once_and_delta_never_comes_back(void **state)
{
    (void)state;
    static const char *const no_approvals[] = {"--approvals", "off", NULL};
    char grant[64];
    for (int round = 0; round < 2; round++) {
        propose(grant);
        assert_status(approval_decide(approval_scene.bob, "approve", grant), 200);
        assert_int_equal(daemon_stop(&approval_scene.stage->daemon, SIGTERM), 0);
        daemon_start(&approval_scene.stage->daemon, round == 0 ? no_approvals : NULL);
        const struct reply *made = ask();
        if (round == 1) { /* two discoveries were set aside, and both are spent */
            assert_problem(made, 409, "budget_exhausted");
            break;
        }
        assert_status(made, 201);
        char run[64];
        snprintf(run, sizeof run, "%s", reply_text(made, "id"));
        assert_string_equal(reply_text(await_answers(run), "state"), "SUCCEEDED");
    }
    assert_true(reply_number(budget("visits"), "discoveries.left") < 1e-12);
    /* Everything else goes on. */
    const struct reply *made =
        client_create(approval_as(approval_scene.ana), "/v1/statistics",
                      "{'dataset':'visits','statistics':[{'kind':'histogram','column':"
                      "'site'}],'privacy':{'epsilon':0.1}}");
    assert_status(made, 201);
    assert_int_equal(daemon_verify(&approval_scene.stage->daemon), 0);
}

/* The worst person has as many texts of their own as rows are kept: at 16 the threshold
 * is where 16 Phi(-(t - 1/16) / s) is 1e-6. */
static void persons_have_a_higher_threshold(void **state)
{
    (void)state;
    char path[96], grant[64];
    struct client *client = approval_as(approval_scene.ana);
    const struct reply *made =
        client_create(client, "/v1/datasets",
                      "{'id':'people','format':'csv','task':'classification','header':"
                      "false,'columns':["
                      "{'name':'who','kind':'privacy_id'},"
                      "{'name':'site','kind':'hashed','buckets':8,'text_bytes':16},"
                      "{'name':'ill','kind':'label','values':['no','yes']}],"
                      "'privacy':{'epsilon':4,'delta':1e-5,'discovery_delta':2e-6}}");
    assert_status(made, 201);
    snprintf(grant, sizeof grant, "%s", reply_text(made, "grant.id"));
    char *text = calloc(1, 65536);
    size_t size = 0;
    for (unsigned i = 0; i < 600; i++)
        size +=
            (size_t)sprintf(text + size, "p%u,north,%s\n", i / 2, i % 3 ? "no" : "yes");
    assert_status(client_put(client, "/v1/datasets/people/files/data", text, size),
                  204);
    free(text);
    assert_status(approval_decide(approval_scene.bob, "approve", grant), 200);
    snprintf(path, sizeof path, "/v1/datasets/%s:import", "people");
    assert_status(client_act(approval_as(approval_scene.ana), "%s", path), 200);
    const struct reply *estimate =
        client_post(approval_as(approval_scene.ana), "/v1/statistics:estimate", NULL,
                    WORDS("people", "site", "1e-6"));
    assert_status(estimate, 200);
    assert_close(reply_number(estimate, "threshold"), 42.65, 2e-3);
}

static void what_is_not_set_aside_or_stored_is_refused(void **state)
{
    (void)state;
    make_ready("plain", "{'epsilon':4,'delta':1e-5}");
    struct client *client = approval_as(approval_scene.ana);
    const struct reply *refused =
        client_create(client, "/v1/statistics", WORDS("plain", "site", "1e-6"));
    assert_invalid_at(refused, "/dataset");
    assert_non_null(strstr(refused->body, "discovery_delta"));
    static const struct {
        const char *body, *pointer;
    } cases[] = {
        {WORDS("visits", "age", "1e-6"), "/statistics/0/column"},
        {WORDS("visits", "town", "1e-6"), "/statistics/0/column"},
        {WORDS("visits", "site", "3e-6"), "/privacy/discovery_delta"},
        {WORDS("visits", "site", "0"), "/privacy/discovery_delta"},
        {WORDS("visits", "site", "1e-300"), "/privacy/epsilon"},
        {"{'dataset':'visits','statistics':[{'kind':'words','column':'site'}],"
         "'privacy':{'epsilon':0.5}}",
         "/privacy/discovery_delta"},
        {"{'dataset':'visits','statistics':[{'kind':'histogram','column':'site'}],"
         "'privacy':{'epsilon':0.5,'discovery_delta':1e-6}}",
         "/privacy/discovery_delta"},
        {"{'dataset':'visits','statistics':[{'kind':'words','column':'site'},"
         "{'kind':'histogram','column':'site'}],"
         "'privacy':{'epsilon':0.5,'discovery_delta':1e-6}}",
         "/statistics/0/kind"},
        {"{'dataset':'visits','statistics':[{'kind':'words','column':'site'}],"
         "'privacy':{'epsilon':0.5,'delta':9e-6,'discovery_delta':1e-6}}",
         "/privacy/delta"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_invalid_at(client_create(client, "/v1/statistics", "%s", cases[i].body),
                          cases[i].pointer);
}

static void what_is_set_aside_must_leave_some_of_delta(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "{'epsilon':4,'delta':1e-5,'discovery_delta':1e-5}",
        "{'epsilon':4,'delta':1e-5,'discovery_delta':2e-5}",
        "{'epsilon':4,'delta':1e-5,'discovery_delta':0}",
        "{'epsilon':4,'delta':1e-5,'discovery_delta':-1e-6}"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_invalid_at(client_create(approval_as(approval_scene.ana), "/v1/datasets",
                                        DECLARATION, "bad", bad[i]),
                          "/privacy/discovery_delta");
    static const char *const texts[] = {"0", "65", "-1", "1.5"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_invalid_at(
            client_create(
                approval_as(approval_scene.ana), "/v1/datasets",
                "{'id':'bad','format':'csv','task':'classification','columns':[{'name':"
                "'s','kind':'hashed','buckets':8,'text_bytes':%s},{'name':'y','kind':"
                "'label','values':['a','b']}],'privacy':{'epsilon':1,'delta':1e-6}}",
                texts[i]),
            "/columns/0/text_bytes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_take_two_people_and_both_deltas),
        cmocka_unit_test(an_approval_is_used_once_and_delta_never_comes_back),
        cmocka_unit_test(persons_have_a_higher_threshold),
        cmocka_unit_test(what_is_not_set_aside_or_stored_is_refused),
        cmocka_unit_test(what_is_set_aside_must_leave_some_of_delta),
    };
    return cmocka_run_group_tests(tests, approval_begin, stage_end);
}
