/* Goal: a job of two ranks is trained by two processes that mpirun starts, and charged
 * and certified as any other; a cancelled one leaves no process, and one that loses a
 * rank ends and stays charged. Method: the real launcher and the real program, on this
 * machine, over shared memory. If mpirun is missing the test is skipped with that
 * reason. */
#include <signal.h>
#include <stdlib.h>

#include "tests/expect.h"
#include "tests/e2e/account_fixture.h"
#include "tests/e2e/rank_fixture.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"

#define JOB                                                                            \
    "{'dataset':'digits','evaluation':'digits-test','model':{'preset':'linear'},"      \
    "'algorithm':{'name':'%s'},'batch_size':512,'steps':%d,'ranks':%d,"                \
    "'privacy':{'noise_multiplier':%g}}"

static int begin(void **state)
{
    static char launcher[1024];
    if (!ranks_can_start())
        return 0;
    snprintf(launcher, sizeof launcher, RANKS_MPIRUN " -n {ranks} %s-rank",
             getenv("EPSILOND"));
    stage_begin_with(state, (const char *const[]){"--workers", "1", "--threads", "1",
                                                  "--ranks-launcher", launcher,
                                                  "--ranks-max", "2", NULL});
    struct client *client = &((struct stage *)*state)->client;
    ready_digits(client, "digits", SAMPLE_TRAIN, SAMPLE_BUDGET(8));
    ready_digits(client, "digits-test", SAMPLE_TEST, SAMPLE_PUBLIC);
    return 0;
}

static int finish(void **state)
{
    return *state == NULL ? 0 : stage_end(state);
}

static struct client *client_of(void **state)
{
    return ranks_client(*state);
}

/* Asserts how many files there are for models to arrive in; each exists as long as its
 * ranks do. */
static void assert_model_files(const struct daemon *daemon, unsigned count)
{
    char command[192];
    snprintf(command, sizeof command, "[ $(ls %s/scratch | grep -c '[.]ranks$') = %u ]",
             daemon->data_dir, count);
    assert_int_equal(system(command), 0);
}

static void two_processes_train_a_model(void **state)
{
    struct client *client = client_of(state);
    const char *id = submit(client, JOB, "dpsgd", FEW_STEPS, RANKS, 8.0);
    const struct reply *job = await_end(client, id);
    assert_string_equal(reply_text(job, "state"), "SUCCEEDED");
    assert_true(reply_number(job, "ranks") == RANKS);
    assert_true(reply_number(job, "progress.step") == FEW_STEPS);
    assert_true(reply_number(job, "privacy.authorised_steps") == FEW_STEPS);
    assert_true(reply_number(job, "metrics.evaluation.accuracy") > 0.5);
    const struct reply *model = model_of(client, job);
    assert_true(reply_number(model, "certificate.ranks") == RANKS);
    assert_true(reply_number(model, "certificate.steps") == FEW_STEPS);
    assert_true(reply_number(model, "certificate.noise.cells") >= RANKS);
    assert_int_equal(find_ranks(client->daemon, NULL, 0), 0);
    assert_model_files(client->daemon, 0);
    assert_int_equal(daemon_verify(&((struct stage *)*state)->daemon), 0);
}

static void what_a_step_releases_beside_the_gradient_is_shown(void **state)
{
    struct client *client = client_of(state);
    const char *id = submit(client, JOB, "dcsgd_p", FEW_STEPS, RANKS, 20.0);
    const struct reply *job = await_end(client, id);
    assert_string_equal(reply_text(job, "state"), "SUCCEEDED");
    assert_true(reply_number(job, "metrics.released.0.clip_norm") > 0);
    assert_true(reply_number(job, "metrics.released.39.step") == FEW_STEPS);
}

/* All that may run over ranks, by the rows of /v1/algorithms and the clippings of
 * dpsgd: two processes take the same number of steps, at the same price, as one. */
static void ranks_take_the_steps_of_any_algorithm_at_its_price(void **state)
{
    static const char *const algorithms[] = {
        "'dpsgd','clipping':'automatic'},'batch_size':512",
        "'dpsgd','clipping':'per_layer'},'batch_size':512",
        "'dpgd'}",
        "'diff2_gd'}",
        "'diff2_bvr_l_sgd'}",
        "'dcsgd_p'},'batch_size':512",
        "'dcsgd_e'},'batch_size':512",
        "'quantile_clip'},'batch_size':512",
        "'adp'},'batch_size':512",
        "'value_clip'},'batch_size':512",
    };
    static const char format[] =
        "{'dataset':'digits','model':{'preset':'linear'},'algorithm':{'name':%s,"
        "'steps':8,'ranks':%d,'privacy':{'epsilon':0.3}}";
    struct client *client = client_of(state);
    for (size_t k = 0; k < sizeof algorithms / sizeof *algorithms; k++) {
        const struct reply *alone =
            client_post(client, "/v1/jobs:estimate", NULL, format, algorithms[k], 1);
        assert_status(alone, 200);
        const struct reply *job = train(client, format, algorithms[k], RANKS);
        assert_true(reply_number(job, "privacy.authorised_steps") ==
                    reply_number(alone, "steps"));
        assert_close(reply_number(job, "privacy.epsilon_spent"),
                     reply_number(alone, "epsilon_planned"), 1e-14);
        const struct reply *model = model_of(client, job);
        assert_true(reply_number(model, "certificate.ranks") == RANKS);
    }
}

/* Both ranks read the weights at the daemon's path, and check that they are the right
 * ones. */
static void ranks_begin_with_public_weights(void **state)
{
    struct client *client = client_of(state);
    const struct reply *first = train(client, JOB, "dpsgd", FEW_STEPS, 1, 20.0);
    const struct reply *job = train(
        client,
        "{'dataset':'digits','model':{'preset':'linear','weights':'%s'},"
        "'algorithm':{'name':'dpsgd'},'batch_size':512,'steps':1,'ranks':%d,"
        "'optimizer':{'name':'sgd','learning_rate':1e-6},'evaluation':'digits-test',"
        "'privacy':{'noise_multiplier':20}}",
        reply_text(first, "model"), RANKS);
    assert_close(reply_number(job, "metrics.evaluation.accuracy"),
                 reply_number(first, "metrics.evaluation.accuracy"), 0.02);
    assert_true(reply_number(job, "metrics.evaluation.accuracy") > 0.5);
}

/* Each step is authorised by itself, because its cost depends on what the earlier ones
 * released. */
static void a_filtered_run_ends_when_what_it_reserved_is_used_up(void **state)
{
    struct client *client = client_of(state);
    const char *id = submit(
        client,
        "{'dataset':'digits','evaluation':'digits-test','model':{'preset':'linear'},"
        "'algorithm':{'name':'adp','schedule':'adagrad_norm','start_square':0.01,"
        "'noise_follows':'divisor','noise_start':0.5,'noise_power':0.1},"
        "'optimizer':{'name':'sgd','learning_rate':2.0},'batch_size':512,'steps':120,"
        "'ranks':%d,'privacy':{'epsilon':1}}",
        RANKS);
    const struct reply *job = await_end(client, id);
    assert_string_equal(reply_text(job, "state"), "SUCCEEDED");
    assert_string_equal(reply_text(job, "state_reason"), "used_up");
    double ran = reply_number(job, "progress.step");
    assert_true(ran > 5 && ran < 120);
    assert_true(reply_number(job, "metrics.evaluation.step") == ran);
    const struct reply *model = model_of(client, job);
    assert_true(reply_number(model, "certificate.steps") == ran);
    double steps = 0;
    size_t k;
    json_t *run;
    const json_t *runs = reply_at(model, "certificate.guarantee.ran.runs");
    json_array_foreach(runs, k, run) steps += json_number_value(json_array_get(run, 2));
    assert_true(steps == ran);
}

/* Submits a job, waits until it has taken steps, and finds its processes. */
static const char *begin_endless(struct client *client, pid_t found[RANKS])
{
    const char *id = submit(client, JOB, "dpsgd", ENDLESS_STEPS, RANKS, 3000.0);
    await_training(client, id);
    assert_int_equal(find_ranks(client->daemon, found, RANKS), RANKS);
    return id;
}

static void a_cancelled_job_leaves_no_process(void **state)
{
    pid_t found[RANKS];
    struct client *client = client_of(state);
    const char *id = begin_endless(client, found);
    assert_model_files(client->daemon, 1);
    cancel(client, id);
    const struct reply *job = await_end(client, id);
    assert_string_equal(reply_text(job, "state"), "CANCELLED");
    assert_charged_in_part(job);
    assert_ranks_gone(found, RANKS);
    assert_model_files(client->daemon, 0);
}

static void a_job_that_loses_a_rank_fails_and_stays_charged(void **state)
{
    struct client *client = client_of(state);
    for (int k = 0; k < RANKS; k++) {
        pid_t found[RANKS];
        const char *id = begin_endless(client, found);
        assert_int_equal(kill(found[k], SIGKILL), 0);
        const struct reply *job = await_end(client, id);
        assert_string_equal(reply_text(job, "state"), "FAILED");
        assert_string_equal(reply_text(job, "state_reason"), "rank_lost");
        assert_charged_in_part(job);
        assert_int_equal(find_ranks(client->daemon, NULL, 0), 0);
        assert_int_equal(daemon_verify(&((struct stage *)*state)->daemon), 0);
    }
}

static void an_estimate_says_that_small_steps_do_not_pay(void **state)
{
    struct client *client = client_of(state);
    const struct reply *reply = client_post(client, "/v1/jobs:estimate", NULL, JOB,
                                            "dpsgd", FEW_STEPS, RANKS, 8.0);
    assert_status(reply, 200);
    assert_true(reply_number(reply, "ranks.count") == RANKS);
    assert_true(reply_number(reply, "ranks.efficiency") < 0.5);
    assert_true(json_is_false(reply_at(reply, "ranks.pays")));
    assert_invalid_at(client_post(client, "/v1/jobs:estimate", NULL, JOB, "dpsgd",
                                  FEW_STEPS, RANKS + 1, 8.0),
                      "/ranks");
    const struct reply *schema = client_get(client, "/v1/job-schema?dataset=digits");
    assert_true(reply_number(schema, "properties.ranks.maximum") == RANKS);
    assert_problem(client_post(client, "/v1/jobs:estimate", NULL, JOB, "dicesgd",
                               FEW_STEPS, RANKS, 8.0),
                   400, "one_rank_only");
}

/* Refused are an algorithm without a proof over ranks, and more ranks than have
 * work. */
static void a_job_that_ranks_cannot_take_holds_nothing(void **state)
{
    struct client *client = client_of(state);
    const struct reply *before = client_get(client, "/v1/datasets/digits/ledger");
    double held =
        reply_number(client_get(client, "/v1/datasets/digits/budget"), "epsilon_held");
    assert_problem(
        client_create(client, "/v1/jobs", JOB, "dicesgd", FEW_STEPS, RANKS, 8.0), 400,
        "one_rank_only");
    assert_invalid_at(
        client_create(client, "/v1/jobs",
                      "{'dataset':'digits','model':{'preset':'linear'},'algorithm':"
                      "{'name':'dpsgd'},'batch_size':16,'steps':10,'ranks':%d,"
                      "'privacy':{'noise_multiplier':8}}",
                      RANKS),
        "/ranks");
    assert_invalid_at(
        client_create(client, "/v1/jobs", JOB, "dpsgd", FEW_STEPS, RANKS + 1, 8.0),
        "/ranks");
    assert_true(reply_number(client_get(client, "/v1/datasets/digits/budget"),
                             "epsilon_held") == held);
    assert_string_equal(client_get(client, "/v1/datasets/digits/ledger")->body,
                        before->body);
}

/* The daemon is killed: its ranks reach the end of their input, and end. */
static void ranks_outlive_no_daemon(void **state)
{
    pid_t found[RANKS];
    struct client *client = client_of(state);
    struct daemon *daemon = &((struct stage *)*state)->daemon;
    begin_endless(client, found);
    daemon_stop(daemon, SIGKILL);
    assert_ranks_gone(found, RANKS);
}

/* The earlier tests left no process running. The launcher here starts no ranks. */
static void a_job_whose_ranks_do_not_begin_is_not_charged(void **state)
{
    struct client *client = client_of(state);
    struct daemon *daemon = &((struct stage *)*state)->daemon;
    daemon_start(daemon, (const char *const[]){"--workers", "1", "--ranks-launcher",
                                               "echo {ranks}", NULL});
    const char *id = submit(client, JOB, "dpsgd", FEW_STEPS, RANKS, 8.0);
    const struct reply *job = await_end(client, id);
    assert_string_equal(reply_text(job, "state"), "FAILED");
    assert_string_equal(reply_text(job, "state_reason"), "rank_lost");
    assert_true(reply_number(job, "privacy.authorised_steps") == 0);
    assert_true(reply_number(job, "privacy.epsilon_spent") == 0);
    assert_int_equal(daemon_verify(daemon), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_estimate_says_that_small_steps_do_not_pay),
        cmocka_unit_test(a_job_that_ranks_cannot_take_holds_nothing),
        cmocka_unit_test(two_processes_train_a_model),
        cmocka_unit_test(ranks_take_the_steps_of_any_algorithm_at_its_price),
        cmocka_unit_test(ranks_begin_with_public_weights),
        cmocka_unit_test(what_a_step_releases_beside_the_gradient_is_shown),
        cmocka_unit_test(a_filtered_run_ends_when_what_it_reserved_is_used_up),
        cmocka_unit_test(a_cancelled_job_leaves_no_process),
        cmocka_unit_test(a_job_that_loses_a_rank_fails_and_stays_charged),
        cmocka_unit_test(ranks_outlive_no_daemon),
        cmocka_unit_test(a_job_whose_ranks_do_not_begin_is_not_charged),
    };
    return cmocka_run_group_tests(tests, begin, finish);
}
