/* Goal: no request reads or charges a budget while its grant is pending, and a grant
 * that was not decided within fourteen days is never made. Method: a table of requests;
 * rows whose time of proposal is moved back while the daemon is stopped. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "tests/expect.h"
#include "tests/e2e/approval_fixture.h"

static void no_request_uses_a_budget_that_is_pending(void **state)
{
    (void)state;
    static const char charge[] =
        "{'dataset':'people','engine':'opacus','unit':'record','records':300,"
        "'mechanism':{'kind':'gaussian','noise_multiplier':40,'steps':2,"
        "'neighbour':'add_remove'}}";
    static const char asked[] =
        "{'dataset':'people','statistics':[{'kind':'histogram','column':'y'}],"
        "'privacy':{'noise_multiplier':90}}";
    static const char sweep[] =
        "{'job':{'dataset':'people','model':{'preset':'linear'},'algorithm':{'name':"
        "'dpsgd'},'batch_size':50,'privacy':{'noise_multiplier':9}},"
        "'runs':[{'/steps':3}]}";
    static const struct {
        const char *path, *body;
    } cases[] = {
        {"/v1/charges", charge},   {"/v1/charges:estimate", charge},
        {"/v1/statistics", asked}, {"/v1/statistics:estimate", asked},
        {"/v1/sweeps", sweep},     {"/v1/sweeps:estimate", sweep},
    };
    approval_propose("people", SAMPLE_BUDGET(4), 1);
    struct client *client = approval_as(approval_scene.ana);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct reply *reply =
            client_create(client, cases[i].path, "%s", cases[i].body);
        if (reply->status != 409 ||
            strcmp(reply_text(reply, "code"), "grant_pending") != 0)
            fail_msg("%s: %ld %s", cases[i].path, reply->status, reply->body);
    }
    assert_true(reply_number(client_get(client, "/v1/ledger/head"), "seq") == 0);
}

/* Makes every pending proposal fifteen days older in its row. */
static void let_fifteen_days_pass(void)
{
    struct daemon *daemon = &approval_scene.stage->daemon;
    char command[512];
    assert_int_equal(daemon_stop(daemon, SIGTERM), 0);
    snprintf(command, sizeof command,
             "python3 -c \"import re, sqlite3, sys; db = sqlite3.connect(sys.argv[1]); "
             "older = lambda text: re.sub('(?<=propose_ms.:)[0-9]+', lambda ms: "
             "str(int(ms[0]) - 15 * 86400000), text); db.create_function('older', 1, "
             "older); assert db.execute('UPDATE dataset SET detail=older(detail) WHERE "
             "detail LIKE ?', ['%%PENDING%%']).rowcount > 0; db.commit()\" "
             "'%s/epsilond.db'",
             daemon->data_dir);
    assert_int_equal(system(command), 0);
    daemon_start(daemon, NULL);
}

static void what_has_lapsed_is_never_granted(void **state)
{
    (void)state;
    const char *grant = approval_propose("late", SAMPLE_BUDGET(4), 5);
    let_fifteen_days_pass();
    assert_problem(approval_decide(approval_scene.bob, "approve", grant), 409,
                   "grant_decided");
    assert_problem(approval_decide(approval_scene.bob, "reject", grant), 409,
                   "grant_decided");
    const struct reply *lapsed =
        client_get(approval_as(approval_scene.bob), "/v1/grants/%s", grant);
    assert_string_equal(reply_text(lapsed, "state"), "LAPSED");
    assert_problem(
        client_act(approval_as(approval_scene.ana), "/v1/datasets/late:import"), 409,
        "grant_pending");
    assert_problem(
        client_get(approval_as(approval_scene.bob), "/v1/datasets/late/ledger"), 409,
        "grant_pending");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_request_uses_a_budget_that_is_pending),
        cmocka_unit_test(what_has_lapsed_is_never_granted),
    };
    return cmocka_run_group_tests(tests, approval_begin, stage_end);
}
