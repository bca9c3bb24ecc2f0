/* Goal: whichever way a budget comes into force, epsilon above 10 and delta above 1/n
 * are confirmed in the request itself, exactly, and the audit trail says who did.
 * Method: one row for each way. Each row sends its request with every set of
 * confirmations: all are refused but one. The rows build on one another. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "tests/expect.h"
#include "tests/e2e/approval_fixture.h"

enum {
    NOTHING = 0,
    EPSILON = 1,
    DELTA = 2,
    BOTH = EPSILON | DELTA,
    RECORDS = 300, /* of approval_propose; 1/n is .0033 */
};

static const char *const confirmations[] = {
    [NOTHING] = "'acknowledge':[]",
    [EPSILON] = "'acknowledge':['epsilon_above_10']",
    [DELTA] = "'acknowledge':['delta_above_1_over_n']",
    [BOTH] = "'acknowledge':['delta_above_1_over_n','epsilon_above_10']",
};

/* DECLARATION with a member more. */
#define CONFIRMED                                                                      \
    "{'id':'%s','format':'csv','task':'classification','classes':2,'columns':"         \
    "[{'name':'x1','kind':'numeric','range':[-1,1]},{'name':'x2','kind':'numeric',"    \
    "'range':[-1,1]},{'name':'y','kind':'label','values':['no','yes']}],"              \
    "'privacy':%s,%s}"

#define CHARGE                                                                         \
    "{'dataset':'elsewhere','engine':'jax','unit':'record','records':300,"             \
    "'mechanism':{'kind':'gaussian','noise_multiplier':3000,'steps':5,"                \
    "'neighbour':'zero_out'},%s}"

/* --- the ways --- */

static struct client *ana(void)
{
    return approval_as(approval_scene.ana);
}

/* Returns the id of the newest grant that waits. */
static const char *pending_grant(void)
{
    const struct reply *list =
        client_get(approval_as(approval_scene.bob), "/v1/grants?state=PENDING");
    return reply_text(list, "grants.0.id");
}

static const struct reply *check(const char *confirmed)
{
    return client_post(ana(), "/v1/datasets:check", NULL, CONFIRMED, "weak",
                       "{'epsilon':12,'delta':0.01}", confirmed);
}

static const struct reply *declare(const char *confirmed)
{
    return client_create(ana(), "/v1/datasets", CONFIRMED, "weak",
                         "{'epsilon':12,'delta':0.01}", confirmed);
}

static const struct reply *put(const char *confirmed)
{
    char body[640];
    snprintf(body, sizeof body, CONFIRMED, "weak", "{'epsilon':13,'delta':0.01}",
             confirmed);
    for (char *c = body; *c != '\0'; c++)
        *c = *c == '\'' ? '"' : *c;
    const struct request request = {.method = "PUT",
                                    .path = "/v1/datasets/weak",
                                    .headers = {"Content-Type: application/json"},
                                    .body = body,
                                    .size = strlen(body)};
    return client_send(ana(), &request);
}

static const struct reply *approve(const char *confirmed)
{
    char path[96];
    snprintf(path, sizeof path, "/v1/grants/%s:approve", pending_grant());
    return client_post(approval_as(approval_scene.bob), path, NULL,
                       "{'reason':'an agreed exception',%s}", confirmed);
}

static const struct reply *import(const char *confirmed)
{
    return client_post(ana(), "/v1/datasets/weak:import", NULL, "{%s}", confirmed);
}

static const struct reply *estimate(const char *confirmed)
{
    return client_post(ana(), "/v1/charges:estimate", NULL, CHARGE, confirmed);
}

static const struct reply *charge(const char *confirmed)
{
    return client_create(ana(), "/v1/charges", CHARGE, confirmed);
}

static const struct reply *regrant(const char *confirmed)
{
    return client_post(ana(), "/v1/datasets/weak:regrant", NULL,
                       "{'epsilon':1,'delta':0.01,%s}", confirmed);
}

/* --- the table --- */

static const struct way {
    const char *what;
    const struct reply *(*send)(const char *confirmed);
    unsigned needed;
    long status;
    const char *action, *actor; /* of its row in the audit trail; NULL: it has none */
} before_freeze[] =
    {
        {"a check", check, EPSILON, 200, NULL, NULL},
        {"a declaration", declare, EPSILON, 201, "dataset.create", "ana"},
        {"another declaration", put, EPSILON, 200, "dataset.create", "ana"},
        {"its approval", approve, EPSILON, 200, "grant.approve", "bob"},
        {"an import", import, DELTA, 200, "dataset.import", "ana"},
        {"an estimate of work elsewhere", estimate, DELTA, 200, NULL, NULL},
        {"work elsewhere", charge, DELTA, 201, "charge.create", "ana"},
},
  after_freeze[] = {
      {"a further epoch", regrant, BOTH, 202, "dataset.regrant", "ana"},
      {"its approval", approve, BOTH, 200, "grant.approve", "bob"},
};

static void expect_refused(const struct way *way, unsigned confirmed)
{
    const struct reply *reply = way->send(confirmations[confirmed]);
    const bool lacks = (way->needed & ~confirmed) != 0;
    if (reply->status != 400)
        fail_msg("%s with %s: %ld\n%s", way->what, confirmations[confirmed],
                 reply->status, reply->body);
    assert_invalid_at(reply, "/acknowledge");
    if (!lacks)
        assert_non_null(
            strstr(reply_text(reply, "errors.0.detail"), "nothing asked for"));
    else if ((way->needed & ~confirmed & EPSILON) != 0)
        assert_non_null(
            strstr(reply_text(reply, "errors.0.detail"), "epsilon_above_10"));
    else
        assert_non_null(
            strstr(reply_text(reply, "errors.0.detail"), "delta_above_1_over_n"));
}

/* Asserts that the newest successful row of that action names who confirmed what. A
 * refusal may be written after the success that follows it (denied_events.h). */
static void expect_audited(const struct way *way)
{
    const struct reply *page =
        client_get(approval_as(approval_scene.bob),
                   "/v1/audit?order=desc&page_size=1&result=ok&action=%s", way->action);
    assert_status(page, 200);
    assert_string_equal(reply_text(page, "acts.0.actor"), way->actor);
    const json_t *confirmed = reply_at(page, "acts.0.detail.acknowledge");
    assert_int_equal(json_array_size(confirmed), way->needed == BOTH ? 2 : 1);
    assert_string_equal(reply_text(page, "acts.0.detail.acknowledge.0"),
                        (way->needed & EPSILON) != 0 ? "epsilon_above_10"
                                                     : "delta_above_1_over_n");
}

static void play(const struct way *ways, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (unsigned confirmed = 0; confirmed <= BOTH; confirmed++)
            if (confirmed != ways[i].needed)
                expect_refused(&ways[i], confirmed);
        const struct reply *reply = ways[i].send(confirmations[ways[i].needed]);
        if (reply->status != ways[i].status)
            fail_msg("%s: %ld\n%s", ways[i].what, reply->status, reply->body);
        if (ways[i].action != NULL)
            expect_audited(&ways[i]);
    }
}

static void upload(const char *path, unsigned salt)
{
    char *points = sample_points(RECORDS, salt);
    assert_status(client_put(ana(), path, points, strlen(points)), 204);
    free(points);
}

static void every_way_to_a_weak_budget_needs_its_confirmation(void **state)
{
    (void)state;
    assert_status(
        approval_decide(approval_scene.bob, "approve",
                        approval_propose("elsewhere", "{'epsilon':8,'delta':0.01}", 2)),
        200);
    play(before_freeze, 3);
    upload("/v1/datasets/weak/files/data", 1);
    play(before_freeze + 3, sizeof before_freeze / sizeof *before_freeze - 3);
}

/* The budget's confirmation covers what is done under it. */
static void a_job_within_a_confirmed_budget_needs_no_confirmation(void **state)
{
    (void)state;
    const struct reply *job =
        client_create(approval_as(approval_scene.carl), "/v1/jobs",
                      "{'dataset':'weak','model':{'preset':'linear'},'algorithm':{"
                      "'name':'dpsgd'},'steps':3,'privacy':{'epsilon':11}}");
    assert_status(job, 201);
    assert_invalid_at(
        client_create(approval_as(approval_scene.carl), "/v1/jobs",
                      "{'dataset':'weak','model':{'preset':'linear'},'algorithm':{"
                      "'name':'dpsgd'},'steps':3,'privacy':{'epsilon':11},"
                      "'acknowledge':['epsilon_above_10']}"),
        "/acknowledge");
    await_success(&approval_scene.stage->client, reply_text(job, "id"));
}

static void public_data_and_strong_budgets_need_none(void **state)
{
    (void)state;
    static const struct {
        const char *id, *privacy;
        unsigned salt;
    } strong[] = {
        {"open", SAMPLE_PUBLIC, 3},
        {"ten", "{'epsilon':10,'delta':1e-5}", 4},
        {"edge", "{'epsilon':2,'delta':0.0033333333333333335}", 5}, /* 1/300 */
    };
    for (size_t i = 0; i < sizeof strong / sizeof *strong; i++) {
        char path[64];
        for (unsigned confirmed = EPSILON; confirmed <= BOTH; confirmed++)
            assert_invalid_at(client_create(ana(), "/v1/datasets", CONFIRMED,
                                            strong[i].id, strong[i].privacy,
                                            confirmations[confirmed]),
                              "/acknowledge");
        assert_status(approval_decide(approval_scene.bob, "approve",
                                      approval_propose(strong[i].id, strong[i].privacy,
                                                       strong[i].salt)),
                      200);
        snprintf(path, sizeof path, "/v1/datasets/%s:import", strong[i].id);
        for (unsigned confirmed = EPSILON; confirmed <= BOTH; confirmed++)
            assert_invalid_at(
                client_post(ana(), path, NULL, "{%s}", confirmations[confirmed]),
                "/acknowledge");
        assert_status(client_act(ana(), "%s", path), 200);
    }
}

/* If persons are the unit, n is their number: 300 rows of 30 persons. */
static void n_of_persons_is_their_number(void **state)
{
    (void)state;
    static const struct {
        const char *id, *delta;
        unsigned needed;
    } cases[] = {{"persons", "0.03", NOTHING}, {"few-persons", "0.04", DELTA}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char rows[RECORDS * 24] = "", path[64];
        size_t size = 0;
        for (unsigned row = 0; row < RECORDS; row++)
            size +=
                (size_t)snprintf(rows + size, sizeof rows - size, "p%u,0.%u%zu,%s\n",
                                 row % 30, row, i, row % 3 == 0 ? "yes" : "no");
        assert_status(client_create(ana(), "/v1/datasets",
                                    "{'id':'%s','format':'csv','task':'classification',"
                                    "'columns':[{'name':'who','kind':'privacy_id'},"
                                    "{'name':'x','kind':'numeric','range':[0,1]},"
                                    "{'name':'y','kind':'label','values':['no','yes']}"
                                    "],'privacy':{'epsilon':1,'delta':%s}}",
                                    cases[i].id, cases[i].delta),
                      201);
        assert_status(approval_decide(approval_scene.bob, "approve", pending_grant()),
                      200);
        snprintf(path, sizeof path, "/v1/datasets/%s/files/data", cases[i].id);
        assert_status(client_put(ana(), path, rows, size), 204);
        snprintf(path, sizeof path, "/v1/datasets/%s:import", cases[i].id);
        if (cases[i].needed == DELTA)
            assert_invalid_at(client_act(ana(), "%s", path), "/acknowledge");
        assert_status(
            client_post(ana(), path, NULL, "{%s}", confirmations[cases[i].needed]),
            200);
    }
}

/* Other persons of the project see no difference between a refused confirmation and no
 * import. */
static void only_the_owner_sees_that_an_import_needs_a_confirmation(void **state)
{
    (void)state;
    assert_status(
        approval_decide(approval_scene.bob, "approve",
                        approval_propose("small", "{'epsilon':1,'delta':0.01}", 6)),
        200);
    assert_invalid_at(client_act(ana(), "/v1/datasets/small:import"), "/acknowledge");
    assert_string_equal(
        reply_text(client_get(ana(), "/v1/datasets/small/import"), "failure.code"),
        "invalid_argument");
    assert_string_equal(
        reply_text(client_get(approval_as(approval_scene.carl), "/v1/datasets/small"),
                   "state"),
        "CREATED");
}

/* Epsilon 8 and epsilon 8 more are above 10 together. */
static void a_further_epoch_counts_with_the_earlier_ones(void **state)
{
    (void)state;
    approval_freeze("ten");
    assert_invalid_at(client_post(ana(), "/v1/datasets/ten:regrant", NULL,
                                  "{'epsilon':1,'delta':1e-5}"),
                      "/acknowledge");
    assert_status(client_post(ana(), "/v1/datasets/ten:regrant", NULL,
                              "{'epsilon':1,'delta':1e-5,%s}", confirmations[EPSILON]),
                  202);
    assert_status(approve(confirmations[EPSILON]), 200);
    play(after_freeze, sizeof after_freeze / sizeof *after_freeze);
}

static int regrant_here(unsigned confirmed)
{
    struct daemon *daemon = &approval_scene.stage->daemon;
    const char *arguments[13] = {"regrant",    "elsewhere",     "--epsilon",
                                 "8",          "--delta",       "0.01",
                                 "--data-dir", daemon->data_dir};
    size_t count = 8;
    for (unsigned bit = EPSILON; bit <= DELTA; bit <<= 1) {
        if ((confirmed & bit) == 0)
            continue;
        arguments[count++] = "--acknowledge";
        arguments[count++] =
            bit == EPSILON ? "epsilon_above_10" : "delta_above_1_over_n";
    }
    return daemon_run(daemon, arguments);
}

/* Charges name n of this dataset, which was never imported. */
static void the_command_on_the_host_asks_as_well(void **state)
{
    (void)state;
    struct daemon *daemon = &approval_scene.stage->daemon;
    assert_int_equal(daemon_stop(daemon, SIGTERM), 0);
    for (unsigned confirmed = 0; confirmed < BOTH; confirmed++)
        assert_int_equal(regrant_here(confirmed), 64);
    assert_true(daemon_logged(daemon, "--acknowledge NAME"));
    assert_int_equal(
        daemon_run(daemon, (const char *const[]){"regrant", "elsewhere",
                                                 "--acknowledge", "all", NULL}),
        64);
    assert_true(daemon_logged(daemon, "needs epsilon_above_10 or"));
    assert_int_equal(regrant_here(BOTH), 0);
    assert_int_equal(daemon_verify(daemon), 0);
    daemon_start(daemon, NULL);
    expect_audited(
        &(struct way){"the command", NULL, BOTH, 0, "dataset.regrant", "local"});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_way_to_a_weak_budget_needs_its_confirmation),
        cmocka_unit_test(a_job_within_a_confirmed_budget_needs_no_confirmation),
        cmocka_unit_test(public_data_and_strong_budgets_need_none),
        cmocka_unit_test(n_of_persons_is_their_number),
        cmocka_unit_test(only_the_owner_sees_that_an_import_needs_a_confirmation),
        cmocka_unit_test(a_further_epoch_counts_with_the_earlier_ones),
        cmocka_unit_test(the_command_on_the_host_asks_as_well),
    };
    return cmocka_run_group_tests(tests, approval_begin, stage_end);
}
