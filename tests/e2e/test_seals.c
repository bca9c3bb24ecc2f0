/* Goal: after its ledger is sealed a daemon shows what it showed before, and continues
 * with it: jobs, statistics and charges that have ended and a charge that has not,
 * budgets, certificates, backups. Method: answers before and after, through the
 * contract. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/expect.h"
#include "tests/e2e/account_fixture.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"

#define CHARGE                                                                         \
    "{'dataset':'points','engine':'opacus 1.5','unit':'record','mechanism':{'kind':"   \
    "'sampled_gaussian','sampler':'poisson','sampling_rate':0.01,"                     \
    "'noise_multiplier':4,'steps':1000,'neighbour':'add_remove'}}"
#define HISTOGRAM                                                                      \
    "{'dataset':'points','statistics':[{'kind':'histogram','column':'above'}],"        \
    "'privacy':{'noise_multiplier':30}}"

static char archive[96], head[96];

static int begin(void **state)
{
    stage_begin(state);
    struct stage *stage = *state;
    snprintf(head, sizeof head, "%s/head", stage->daemon.directory);
    snprintf(archive, sizeof archive, "%s/archive", stage->daemon.directory);
    assert_int_equal(mkdir(archive, 0700), 0);
    daemon_stop(&stage->daemon, SIGTERM);
    daemon_start(&stage->daemon, (const char *const[]){"--head-file", head, NULL});
    ready_points(&stage->client, "points", 300, 1, SAMPLE_BUDGET(8));
    return 0;
}

static const char *make_charge(struct client *client)
{
    const struct reply *made = client_create(client, "/v1/charges", CHARGE);
    assert_status(made, 201);
    const char *id = reply_text(made, "id");
    char path[96];
    snprintf(path, sizeof path, "/v1/charges/%s/blocks", id);
    assert_status(client_create(client, path, "{'block':1,'process':'%s'}",
                                "b1946ac92492d2347c6235b4d2611184"),
                  201);
    return id;
}

static int seal(struct daemon *daemon)
{
    return daemon_run(daemon, (const char *const[]){"seal", "--data-dir",
                                                    daemon->data_dir, "--head-file",
                                                    head, "--archive", archive, NULL});
}

static int verify_all(struct daemon *daemon)
{
    return daemon_run(daemon,
                      (const char *const[]){"verify", "--data-dir", daemon->data_dir,
                                            "--head-file", head, "--from-genesis",
                                            "--archive", archive, NULL});
}

static void seal_and_start(struct daemon *daemon)
{
    assert_int_equal(daemon_stop(daemon, SIGTERM), 0);
    assert_int_equal(seal(daemon), 0);
    assert_int_equal(daemon_verify(daemon), 0);
    assert_int_equal(verify_all(daemon), 0);
    daemon_start(daemon, (const char *const[]){"--head-file", head, NULL});
}

enum { SHOWN = 6 };

static void read_all(struct client *client, const char *const paths[SHOWN],
                     json_t *shown[SHOWN])
{
    for (size_t i = 0; i < SHOWN; i++) {
        const struct reply *reply = client_get(client, "%s", paths[i]);
        assert_status(reply, 200);
        shown[i] = json_deep_copy(reply->json);
    }
}

static void what_was_shown_is_shown_behind_a_seal(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    json_t *before[SHOWN], *after[SHOWN];
    char job[64], model[64], survey[80], charge[64], open[64];
    const char *id = submit(client, SAMPLE_JOB, "points", 20, 33.0);
    await_end(client, id);
    snprintf(job, sizeof job, "/v1/jobs/%s", id);
    snprintf(model, sizeof model, "/v1/models/%s",
             reply_text(client_get(client, "%s", job), "model"));
    const struct reply *asked = client_create(client, "/v1/statistics", HISTOGRAM);
    assert_status(asked, 201);
    snprintf(survey, sizeof survey, "/v1/statistics/%s", reply_text(asked, "id"));
    while (strcmp(reply_text(client_get(client, "%s", survey), "state"), "RUNNING") ==
           0)
        continue;
    id = make_charge(client);
    snprintf(charge, sizeof charge, "/v1/charges/%s", id);
    assert_status(client_act(client, "%s:settle", charge), 200);
    snprintf(open, sizeof open, "/v1/charges/%s", make_charge(client));
    const char *const paths[SHOWN] = {
        "/v1/datasets/points/budget", job, model, survey, charge, open};
    read_all(client, paths, before);
    assert_int_equal(seal(&stage->daemon), 75); /* the daemon runs */
    const double last = reply_number(client_get(client, "/v1/ledger/head"), "seq");
    seal_and_start(&stage->daemon);
    read_all(client, paths, after);
    /* The number of an ended charge's ledger entry is no longer known. */
    assert_true(json_is_null(json_object_get(after[4], "ledger_seq")));
    json_object_del(before[4], "ledger_seq");
    json_object_del(after[4], "ledger_seq");
    for (size_t i = 0; i < SHOWN; i++) {
        if (!json_equal(before[i], after[i]))
            fail_msg("%s", paths[i]);
        json_decref(before[i]);
        json_decref(after[i]);
    }
    const struct reply *page = client_get(client, "/v1/datasets/points/ledger");
    assert_true(reply_number(page, "archived_to") == last);
    assert_int_equal(json_array_size(reply_at(page, "entries")), 2);
    assert_string_equal(reply_text(page, "entries.0.kind"), "GRANT");
    assert_string_equal(reply_text(page, "entries.1.kind"), "RESERVE");
    assert_status(client_act(client, "%s:settle", open), 200);
}

static void the_history_begins_with_the_seal(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    const struct reply *history =
        client_get(client, "/v1/datasets/points/budget/history");
    assert_status(history, 200);
    assert_string_equal(reply_text(history, "points.0.kind"), "SEAL");
    assert_true(reply_number(history, "points.0.epsilon_spent") > 0);
    assert_true(reply_number(history, "points.0.share.held") > 0);
    await_end(client, submit(client, SAMPLE_JOB, "points", 20, 44.0));
    history = client_get(client, "/v1/datasets/points/budget/history");
    const size_t count = json_array_size(reply_at(history, "points"));
    assert_int_equal(count, 4); /* the charge's COMMIT, and those of a job */
    char path[48];
    snprintf(path, sizeof path, "points.%zu.epsilon_spent", count - 1);
    const double spent = reply_number(history, path);
    assert_true(reply_number(client_get(client, "/v1/datasets/points/budget"),
                             "epsilon_spent") == spent);
}

static void a_second_seal_a_backup_and_what_is_restored_go_on(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    struct daemon *daemon = &stage->daemon;
    char command[512];
    seal_and_start(daemon);
    const double spent =
        reply_number(client_get(client, "/v1/datasets/points/budget"), "epsilon_spent");
    await_end(client, submit(client, SAMPLE_JOB, "points", 20, 44.0));
    assert_int_equal(daemon_stop(daemon, SIGTERM), 0);
    snprintf(command, sizeof command, "mkdir '%s/backups'", daemon->directory);
    assert_int_equal(system(command), 0);
    snprintf(command, sizeof command, "%s/backups", daemon->directory);
    assert_int_equal(
        daemon_run(daemon, (const char *const[]){"backup", command, "--data-dir",
                                                 daemon->data_dir, NULL}),
        0);
    snprintf(command, sizeof command,
             "rm -r '%s' && '%s' restore \"$(ls -d '%s'/backups/*)\" --data-dir '%s' "
             "--head-file '%s' >/dev/null",
             daemon->data_dir, getenv("EPSILOND"), daemon->directory, daemon->data_dir,
             head);
    assert_int_equal(system(command), 0);
    daemon_start(daemon, (const char *const[]){"--head-file", head, NULL});
    seal_and_start(daemon);
    assert_true(reply_number(client_get(client, "/v1/datasets/points/budget"),
                             "epsilon_spent") > spent);
}

static void wrong_usage_seals_nothing(void **state)
{
    struct daemon *daemon = &((struct stage *)*state)->daemon;
    assert_int_equal(daemon_stop(daemon, SIGTERM), 0);
    const char *const folders[] = {"/nowhere", daemon->data_dir, head};
    assert_int_equal(daemon_run(daemon, (const char *const[]){"seal", "--data-dir",
                                                              daemon->data_dir, NULL}),
                     64);
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        assert_int_equal(
            daemon_run(daemon,
                       (const char *const[]){"seal", "--data-dir", daemon->data_dir,
                                             "--archive", folders[i], NULL}),
            78);
    assert_int_equal(daemon_run(daemon, (const char *const[]){"verify", "--data-dir",
                                                              daemon->data_dir,
                                                              "--from-genesis", NULL}),
                     64);
    assert_int_equal(seal(daemon), 0); /* there is nothing to seal */
    assert_true(daemon_logged(daemon, "nothing to seal"));
    daemon_start(daemon, (const char *const[]){"--head-file", head, NULL});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_shown_is_shown_behind_a_seal),
        cmocka_unit_test(the_history_begins_with_the_seal),
        cmocka_unit_test(a_second_seal_a_backup_and_what_is_restored_go_on),
        cmocka_unit_test(wrong_usage_seals_nothing),
    };
    return cmocka_run_group_tests(tests, begin, stage_end);
}
