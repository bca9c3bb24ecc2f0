/* Goal: after a backup is restored, no balance contains what was spent since. With the
 * head kept elsewhere the daemon notices, charges everything that was open in full, and
 * freezes the budgets until the owner grants a new epoch; without it this cannot be
 * noticed. */
#include <signal.h>
#include <string.h>

#include "tests/expect.h"
#include "tests/e2e/account_fixture.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"

static void shell(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void shell(const char *format, ...)
{
    char command[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(command, sizeof command, format, arguments);
    va_end(arguments);
    assert_int_equal(system(command), 0);
}

/* Copies the database and its log together, as they are on disk while the daemon is
 * stopped. */
static void back_up(const struct daemon *daemon)
{
    shell("mkdir '%s/backup' && cp '%s'/epsilond.db* '%s/backup'", daemon->directory,
          daemon->data_dir, daemon->directory);
}

static void restore(const struct daemon *daemon)
{
    shell("rm '%s'/epsilond.db* && cp '%s'/backup/* '%s'", daemon->data_dir,
          daemon->directory, daemon->data_dir);
}

struct scene {
    struct stage *stage;
    char head[96];
    const char *running, *queued, *free; /* jobs at the time of the backup */
    const char *charge;                  /* open then, and granted a block since */
    double spent_since; /* epsilon of the budget when the backup was restored */
};

static void start(struct scene *scene, bool with_head)
{
    const char *const options[] = {"--workers", "1", with_head ? "--head-file" : NULL,
                                   scene->head, NULL};
    daemon_start(&scene->stage->daemon, options);
}

static double epsilon_spent(struct scene *scene)
{
    return reply_number(client_get(&scene->stage->client, "/v1/datasets/points/budget"),
                        "epsilon_spent");
}

/* One job runs and two wait when the backup is made; more is spent; the backup is
 * restored. The daemon is left stopped. */
static void play(struct scene *scene, void **state, bool with_head)
{
    scene->stage = *state;
    struct client *client = &scene->stage->client;
    struct daemon *daemon = &scene->stage->daemon;
    snprintf(scene->head, sizeof scene->head, "%s/head", daemon->directory);
    assert_int_equal(daemon_stop(daemon, SIGTERM), 0);
    start(scene, with_head);
    ready_points(client, "points", 500, 1, SAMPLE_BUDGET(4));
    ready_points(client, "open", 300, 2, SAMPLE_PUBLIC);
    scene->running = submit(client, SAMPLE_JOB, "points", SAMPLE_ENDLESS, 30000.0);
    scene->queued = submit(client, SAMPLE_JOB, "points", 700, 40.0);
    scene->free = submit(client, SAMPLE_JOB, "open", 20, 1.0);
    const struct reply *charge =
        client_create(client, "/v1/charges",
                      "{'dataset':'points','engine':'sql','unit':'record','block_steps'"
                      ":2,'mechanism':"
                      "{'kind':'gaussian','noise_multiplier':3000,'steps':5,'neighbour'"
                      ":'zero_out'}}");
    assert_status(charge, 201);
    scene->charge = reply_text(charge, "id");
    await_training(client, scene->running);
    daemon_stop(daemon, SIGKILL);
    back_up(daemon);

    start(scene, with_head);
    await_end(client, scene->queued);
    await_end(client, submit(client, SAMPLE_JOB, "points", 20, 3.0));
    char blocks[96];
    snprintf(blocks, sizeof blocks, "/v1/charges/%s/blocks", scene->charge);
    assert_status(
        client_create(client, blocks, "{'block':1,'process':'0123456789abcdef'}"), 201);
    scene->spent_since = epsilon_spent(scene);
    assert_int_equal(daemon_stop(daemon, SIGTERM), 0);
    restore(daemon);
}

static void expect_all_charged(struct scene *scene, const char *job, const char *state,
                               double steps)
{
    const struct reply *lost = client_get(&scene->stage->client, "/v1/jobs/%s", job);
    assert_string_equal(reply_text(lost, "state"), state);
    assert_string_equal(reply_text(lost, "state_reason"), "worker_lost");
    assert_true(reply_number(lost, "privacy.authorised_steps") == steps);
    assert_true(reply_number(lost, "privacy.epsilon_spent") ==
                reply_number(lost, "privacy.epsilon_planned"));
}

/* It is unknown how much of it was granted since, so all of it counts as spent. */
static void expect_charge_ended_whole(struct scene *scene)
{
    const struct reply *charge =
        client_get(&scene->stage->client, "/v1/charges/%s", scene->charge);
    assert_string_equal(reply_text(charge, "state"), "LAPSED");
    assert_true(reply_number(charge, "authorised_steps") == 5);
    assert_true(reply_number(charge, "epsilon_spent") ==
                reply_number(charge, "epsilon_planned"));
}

/* The promise of the lost epoch, and a little more: the steps that the backup shows as
 * authorised may have run once more after another restore (docs/ledger.md 6, marks). */
static void expect_whole_epoch(double epsilon, double promised)
{
    assert_true(epsilon > promised);
    assert_true(epsilon < promised + 1e-3);
}

static const struct reply *expect_frozen(struct scene *scene)
{
    struct client *client = &scene->stage->client;
    assert_problem(client_create(client, "/v1/jobs", SAMPLE_JOB, "points", 7, 33.0),
                   409, "dataset_frozen");
    assert_problem(
        client_create(client, "/v1/jobs",
                      "{'dataset':'points','model':{'preset':'linear'},'algorithm':"
                      "{'name':'dpsgd'},'batch_size':50,'steps':20,'privacy':"
                      "{'budget_fraction':1}}"),
        409, "dataset_frozen");
    assert_problem(
        client_post(client, "/v1/jobs:estimate", NULL, SAMPLE_JOB, "points", 7, 33.0),
        409, "dataset_frozen");
    const struct reply *budget = client_get(client, "/v1/datasets/points/budget");
    assert_true(json_is_true(reply_at(budget, "frozen")));
    assert_true(reply_number(budget, "epoch") == 1);
    assert_true(reply_number(budget, "epsilon_held") == 0);
    /* All of it may have been spent in what was lost. */
    expect_whole_epoch(reply_number(budget, "guarantee.epsilon"), 4);
    expect_whole_epoch(reply_number(budget, "exposure.epsilon_spent"), 4);
    return budget;
}

static int regrant(struct daemon *daemon, const char *dataset, const char *epsilon)
{
    return daemon_run(daemon, (const char *const[]){
                                  "regrant", dataset, "--epsilon", epsilon, "--delta",
                                  "1e-6", "--data-dir", daemon->data_dir, NULL});
}

/* The promises to the people: 4 in the epoch that was lost, plus those of the new
 * one. */
static void expect_all_promised(const struct reply *shown, const char *within)
{
    static const char *const names[] = {"guarantee.delta", "epochs.0.epsilon",
                                        "epochs.1.epsilon"};
    static const double values[] = {1.1e-5, 4, 1};
    char path[96];
    snprintf(path, sizeof path, "%sguarantee.epsilon", within);
    expect_whole_epoch(reply_number(shown, path), 5);
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s%s", within, names[i]);
        assert_close(reply_number(shown, path), values[i], 1e-14);
    }
    snprintf(path, sizeof path, "%sepochs.0.frozen", within);
    assert_true(json_is_true(reply_at(shown, path)));
}

/* Checks the GRANTs of both epochs, and that the old one was charged in full for what
 * was open. */
static void expect_both_epochs(struct scene *scene)
{
    const struct reply *ledger =
        client_get(&scene->stage->client, "/v1/datasets/points/ledger?page_size=100");
    const json_t *entries = reply_at(ledger, "entries");
    unsigned grants[3] = {0};
    size_t i;
    json_t *entry;
    json_array_foreach(entries, i, entry)
    {
        size_t epoch = (size_t)json_integer_value(json_object_get(entry, "epoch"));
        assert_true(epoch == 1 || epoch == 2);
        if (strcmp(json_string_value(json_object_get(entry, "kind")), "GRANT") == 0)
            grants[epoch]++;
    }
    assert_true(grants[1] == 1 && grants[2] == 1);
    const char *const lost[] = {scene->running, scene->queued};
    for (int k = 0; k < 2; k++)
        assert_true(json_equal(
            json_object_get(account_entry(ledger, "COMMIT", lost[k]), "curve"),
            json_object_get(account_entry(ledger, "RESERVE", lost[k]), "curve")));
}

static void a_backup_put_back_freezes_until_a_new_grant(void **state)
{
    struct scene scene;
    play(&scene, state, true);
    struct client *client = &scene.stage->client;
    struct daemon *daemon = &scene.stage->daemon;
    start(&scene, true);
    assert_true(daemon_logged(daemon, "\"frozen\""));
    expect_frozen(&scene);
    expect_charge_ended_whole(&scene);
    expect_all_charged(&scene, scene.running, "FAILED", SAMPLE_ENDLESS);
    expect_all_charged(&scene, scene.queued, "CANCELLED", 700);
    await_success(client, scene.free); /* public data has no budget to freeze */
    assert_int_equal(regrant(daemon, "points", "1"), 75); /* the directory is in use */
    assert_int_equal(daemon_stop(daemon, SIGTERM), 0);
    assert_int_equal(daemon_verify(daemon), 0);
    start(&scene, true); /* the freeze is durable */
    expect_frozen(&scene);
    assert_int_equal(daemon_stop(daemon, SIGKILL), 128 + SIGKILL);

    assert_int_equal(regrant(daemon, "nobody", "1"), 64);
    assert_int_equal(regrant(daemon, "points", "-1"), 64);
    assert_int_equal(regrant(daemon, "points", "1"), 0);
    assert_int_equal(regrant(daemon, "points", "1"), 64); /* no longer frozen */
    assert_int_equal(daemon_verify(daemon), 0);
    start(&scene, true);
    expect_both_epochs(&scene);
    const struct reply *budget = client_get(client, "/v1/datasets/points/budget");
    assert_true(json_is_false(reply_at(budget, "frozen")));
    assert_true(reply_number(budget, "epoch") == 2);
    assert_true(reply_number(budget, "epsilon") == 1);
    assert_true(reply_number(budget, "delta") == 1e-6);
    assert_true(reply_number(budget, "epsilon_spent") == 0);
    expect_all_promised(budget, "");
    expect_whole_epoch(reply_number(budget, "exposure.epsilon_spent"), 4);
    assert_true(daemon_logged(daemon, "over all its epochs epsilon 5.0000"));
    assert_true(daemon_logged(daemon, "at delta 1.1e-05"));
    assert_true(daemon_logged(daemon, "dataset points: epsilon 5.0000"));
    assert_true(daemon_logged(daemon, "over 2 epochs: 1: 4 at 1e-05 (frozen, counts "
                                      "whole); 2: 1 at 1e-06"));
    assert_problem(client_post(client, "/v1/datasets/points:regrant", NULL,
                               "{'epsilon':1,'delta':1e-6}"),
                   409, "dataset_not_frozen");
    const struct reply *asked =
        client_post(client, "/v1/jobs:estimate", NULL, SAMPLE_JOB, "points", 7, 33.0);
    double foreseen = reply_number(asked, "exposure_after.epsilon");
    const char *job = submit(client, SAMPLE_JOB, "points", 7, 33.0);
    expect_all_promised(model_of(client, await_success(client, job)),
                        "certificate.dataset_guarantee.");
    expect_all_promised(client_get(client, "/v1/datasets/points"), "");
    budget = client_get(client, "/v1/datasets/points/budget");
    expect_all_promised(budget, "");
    double exposure = reply_number(budget, "exposure.epsilon_spent");
    assert_true(exposure > 4 && exposure <= reply_number(budget, "guarantee.epsilon"));
    assert_true(exposure == foreseen);
    const struct reply *history =
        client_get(client, "/v1/datasets/points/budget/history?points=1");
    assert_true(reply_number(history, "points.0.epoch") == 2);
    assert_true(reply_number(history, "points.0.exposure.epsilon_spent") == exposure);
    assert_true(exposure - 4 >= reply_number(budget, "epsilon_spent"));
    assert_true(json_integer_value(json_object_get(
                    account_entry(client_get(client, "/v1/datasets/points/ledger"),
                                  "COMMIT", job),
                    "epoch")) == 2);
    assert_int_equal(daemon_verify(daemon), 0);
}

/* If a second backup rolls a regrant back, that is noticed as well. */
static void an_older_backup_freezes_again(void **state)
{
    struct scene scene;
    play(&scene, state, true);
    struct daemon *daemon = &scene.stage->daemon;
    start(&scene, true);
    assert_int_equal(daemon_stop(daemon, SIGTERM), 0);
    assert_int_equal(regrant(daemon, "points", "1"), 0);
    start(&scene, true);
    assert_int_equal(daemon_stop(daemon, SIGTERM), 0);
    restore(daemon);
    start(&scene, true);
    expect_frozen(&scene);
}

static int regrant_for_words(struct daemon *daemon, const char *discovery_delta)
{
    return daemon_run(
        daemon, (const char *const[]){"regrant", "points", "--epsilon", "1", "--delta",
                                      "1e-6", "--discovery-delta", discovery_delta,
                                      "--data-dir", daemon->data_dir, NULL});
}

/* The old epoch has set nothing aside for discoveries of words, and the new one has. */
static void the_command_sets_delta_aside_for_discoveries(void **state)
{
    struct scene scene;
    play(&scene, state, true);
    struct client *client = &scene.stage->client;
    struct daemon *daemon = &scene.stage->daemon;
    start(&scene, true);
    const struct reply *budget = client_get(client, "/v1/datasets/points/budget");
    assert_null(json_object_get(budget->json, "discoveries"));
    assert_int_equal(daemon_stop(daemon, SIGTERM), 0);
    assert_int_equal(regrant_for_words(daemon, "some"), 64);
    assert_int_equal(regrant_for_words(daemon, "-1e-7"), 64);
    assert_int_equal(regrant_for_words(daemon, "1e-6"), 64); /* nothing is left */
    assert_int_equal(regrant_for_words(daemon, "4e-7"), 0);
    assert_int_equal(daemon_verify(daemon), 0);
    start(&scene, true);
    budget = client_get(client, "/v1/datasets/points/budget");
    assert_true(reply_number(budget, "epoch") == 2);
    assert_true(reply_number(budget, "delta") == 1e-6);
    assert_close(reply_number(budget, "discoveries.delta"), 4e-7, 1e-9);
    assert_true(reply_number(budget, "discoveries.spent") == 0);
    const struct reply *audit =
        client_get(client, "/v1/audit?page_size=1&action=dataset.regrant");
    assert_true(reply_number(audit, "acts.0.detail.discovery_delta") == 4e-7);
}

/* Without keys there is no second person, so a request grants at once. */
static void a_request_grants_what_the_command_does(void **state)
{
    struct scene scene;
    play(&scene, state, true);
    struct client *client = &scene.stage->client;
    const char *path = "/v1/datasets/points:regrant";
    start(&scene, true);
    await_success(client, scene.free);
    assert_invalid_at(client_post(client, path, NULL, "{'epsilon':-1,'delta':1e-6}"),
                      "/epsilon");
    assert_problem(client_post(client, "/v1/datasets/open:regrant", NULL,
                               "{'epsilon':1,'delta':1e-6}"),
                   409, "dataset_public");
    const struct reply *budget =
        client_post(client, path, NULL, "{'epsilon':1,'delta':1e-6}");
    assert_status(budget, 200);
    assert_true(json_is_false(reply_at(budget, "frozen")));
    assert_true(reply_number(budget, "epoch") == 2);
    expect_all_promised(budget, "");
    assert_problem(client_post(client, path, NULL, "{'epsilon':1,'delta':1e-6}"), 409,
                   "dataset_not_frozen");
    assert_int_equal(daemon_verify(&scene.stage->daemon), 0);
}

/* Shows why the head belongs on another disk: without it, a backup is all that the
 * daemon has. */
static void without_the_head_a_backup_is_not_noticed(void **state)
{
    struct scene scene;
    play(&scene, state, false);
    struct client *client = &scene.stage->client;
    start(&scene, false);
    const struct reply *budget = client_get(client, "/v1/datasets/points/budget");
    assert_true(json_is_false(reply_at(budget, "frozen")));
    await_end(client, scene.queued);
    assert_true(epsilon_spent(&scene) < scene.spent_since);
    assert_int_equal(daemon_verify(&scene.stage->daemon), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_backup_put_back_freezes_until_a_new_grant,
                                        stage_begin, stage_end),
        cmocka_unit_test_setup_teardown(an_older_backup_freezes_again, stage_begin,
                                        stage_end),
        cmocka_unit_test_setup_teardown(the_command_sets_delta_aside_for_discoveries,
                                        stage_begin, stage_end),
        cmocka_unit_test_setup_teardown(a_request_grants_what_the_command_does,
                                        stage_begin, stage_end),
        cmocka_unit_test_setup_teardown(without_the_head_a_backup_is_not_noticed,
                                        stage_begin, stage_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
