/* Goal: DIFF2 through HTTP: both algorithms train a9a-like points and the digits, are
 * charged release by release, block by block, and certified as charged; a cancelled job
 * pays for what was authorised; a case without a plan is refused by name. */
#include <math.h>
#include <signal.h>
#include <string.h>

#include "tests/expect.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"

static const struct reply *submit_diff2(struct client *client, const char *algorithm,
                                        const char *more)
{
    return client_create(client, "/v1/jobs",
                         "{'dataset':'points','evaluation':'points-test',"
                         "'model':{'preset':'linear'},'algorithm':%s,%s}",
                         algorithm, more);
}

static const struct reply *train_diff2(struct client *client, const char *algorithm,
                                       const char *more)
{
    const struct reply *job = submit_diff2(client, algorithm, more);
    assert_status(job, 201);
    job = await_success(client, reply_text(job, "id"));
    double planned = reply_number(job, "privacy.epsilon_planned");
    assert_true(planned <= 2 && planned > 1.999);
    assert_true(reply_number(job, "privacy.epsilon_spent") == planned);
    assert_true(reply_number(job, "metrics.evaluation.accuracy") > 0.85);
    return job;
}

static double number_in(const json_t *run, size_t k)
{
    return json_number_value(json_array_get(run, k));
}

/* Checks the certificate's runs: one release at a restart and four between restarts, in
 * turn. Those between restarts sample at this rate. */
static const json_t *certified_runs(const struct reply *model, const char *kind,
                                    size_t count, double rate)
{
    assert_string_equal(reply_text(model, "certificate.guarantee.mechanism.kind"),
                        kind);
    const json_t *runs = reply_at(model, "certificate.guarantee.mechanism.runs"), *run;
    assert_int_equal(json_array_size(runs), count);
    size_t k;
    json_array_foreach(runs, k, run)
    {
        assert_true(number_in(run, 0) == (k % 2 == 0 ? 1 : rate));
        assert_true(number_in(run, 2) == (k % 2 == 0 ? 1 : 4));
    }
    return runs;
}

static void diff2_gd_is_certified_release_by_release(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    const struct reply *job =
        train_diff2(client, "{'name':'diff2_gd','restart_interval':5}",
                    "'steps':100,'privacy':{'epsilon':2}");
    assert_true(reply_number(job, "batch_size") == 4000);
    assert_true(reply_number(job, "algorithm.split") == 1.25);
    double noise = reply_number(job, "privacy.noise_multiplier");
    const struct reply *model = model_of(client, job);
    assert_true(reply_number(model, "certificate.noise.differences.scale") > 0);
    const json_t *runs = certified_runs(model, "gaussian", 40, 1), *run;
    size_t k;
    json_array_foreach(runs, k, run)
    {
        assert_close(number_in(run, 1), k % 2 == 0 ? noise : 4 * noise, 1e-12);
    }
}

/* Without any parameter the interval between restarts is a fiftieth of the 200
 * rounds. */
static void diff2_gd_trains_with_its_defaults(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    const struct reply *job =
        train_diff2(client, "{'name':'diff2_gd'}", "'privacy':{'epsilon':2}");
    assert_true(reply_number(job, "progress.steps") == 200);
    const struct reply *model = model_of(client, job);
    assert_true(reply_number(model, "certificate.guarantee.mechanism.runs.1.2") == 3);
}

static void local_steps_are_certified_as_subsets(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    const struct reply *job =
        train_diff2(client,
                    "{'name':'diff2_bvr_l_sgd','restart_interval':4,"
                    "'local_steps':5,'local_batch':40}",
                    "'steps':200,'privacy':{'epsilon':2}");
    const struct reply *model = model_of(client, job);
    assert_true(reply_number(model, "certificate.noise.local.scale") > 0);
    certified_runs(model, "fixed_subset", 80, 0.01);
}

/* Each record is charged for the subsets of its own client: with four clients the rate
 * is four times as high, and only every fourth round counts. */
static void clients_are_charged_their_own_turns(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    const struct reply *job =
        train_diff2(client,
                    "{'name':'diff2_bvr_l_sgd','restart_interval':4,"
                    "'local_steps':5,'local_batch':40,'clients':4}",
                    "'steps':200,'privacy':{'epsilon':2}");
    const struct reply *model = model_of(client, job);
    assert_true(reply_number(model, "certificate.guarantee.mechanism.turns") == 4);
    assert_true(reply_number(model, "certificate.guarantee.mechanism.runs.1.0") ==
                0.04);
}

/* There is no proof that composes the losses of subsets, so the accountant pld is
 * refused at once. */
static void losses_of_subsets_are_not_composed(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    const struct reply *reply =
        submit_diff2(client, "{'name':'diff2_bvr_l_sgd'}",
                     "'privacy':{'epsilon':2,'accountant':'pld'}");
    assert_problem(reply, 400, "invalid_argument");
    assert_non_null(strstr(reply_text(reply, "errors.0.detail"), "rdp"));
}

/* Under replace_one two sums are twice as far apart, except for subsets, where they
 * already are: the same noise costs more, and the Gaussian's part four times as
 * much. */
static void replacing_costs_more_than_leaving_out(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    double epsilon[2];
    for (int k = 0; k < 2; k++) {
        const struct reply *estimate =
            client_post(client, "/v1/jobs:estimate", NULL,
                        "{'dataset':'%s','model':{'preset':'linear'},"
                        "'algorithm':{'name':'diff2_gd','restart_interval':5},"
                        "'steps':100,'privacy':{'noise_multiplier':40}}",
                        k == 0 ? "points" : "replaced");
        assert_status(estimate, 200);
        epsilon[k] = reply_number(estimate, "epsilon_planned");
        assert_true(reply_number(estimate, "paper_claim") > 0);
        assert_true(json_is_null(reply_at(estimate, "most_steps")));
    }
    assert_true(epsilon[1] > 2 * epsilon[0]);
}

static void a_cancelled_job_pays_for_what_was_authorised(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    const struct reply *job =
        submit_diff2(client, "{'name':'diff2_gd','restart_interval':10000}",
                     "'steps':5000000,'optimizer':{'name':'sgd','learning_rate':1e-5},"
                     "'privacy':{'noise_multiplier':2000}");
    assert_status(job, 201);
    char id[64];
    snprintf(id, sizeof id, "%s", reply_text(job, "id"));
    await_training(client, id);
    cancel(client, id);
    job = await_end(client, id);
    assert_string_equal(reply_text(job, "state"), "CANCELLED");
    double spent = reply_number(job, "privacy.epsilon_spent");
    assert_true(spent > 0 && spent < reply_number(job, "privacy.epsilon_planned"));
}

/* Another process prices the runs again from the text of the ledger; and the job of a
 * killed daemon is settled at what was authorised. */
static void verify_prices_every_run_again(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    assert_int_equal(daemon_verify(&stage->daemon), 0);
    const struct reply *job = submit_diff2(
        client, "{'name':'diff2_bvr_l_sgd','restart_interval':20,'local_steps':5000}",
        "'steps':5000000,'optimizer':{'name':'sgd','learning_rate':1e-6},"
        "'privacy':{'noise_multiplier':3000}");
    assert_status(job, 201);
    char id[64];
    snprintf(id, sizeof id, "%s", reply_text(job, "id"));
    await_training(client, id);
    daemon_stop(&stage->daemon, SIGKILL);
    daemon_start(&stage->daemon, NULL);
    job = client_get(client, "/v1/jobs/%s", id);
    assert_string_equal(reply_text(job, "state"), "FAILED");
    double spent = reply_number(job, "privacy.epsilon_spent");
    assert_true(spent > 0 && spent <= reply_number(job, "privacy.epsilon_planned"));
    assert_int_equal(daemon_verify(&stage->daemon), 0);
}

static void assert_refused(struct client *client, const char *algorithm,
                           const char *more, const char *pointer)
{
    const struct reply *reply = submit_diff2(client, algorithm, more);
    assert_invalid_at(reply, pointer);
}

static void what_has_no_plan_is_refused_by_name(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    static const char some[] = "'steps':40,'privacy':{'epsilon':2}";
    assert_refused(client, "{'name':'diff2_gd','restart_interval':0}", some,
                   "/algorithm/restart_interval");
    assert_refused(client, "{'name':'diff2_gd','restart_interval':2}",
                   "'steps':100000,'privacy':{'epsilon':2}",
                   "/algorithm/restart_interval");
    assert_refused(client, "{'name':'diff2_gd','split':1}", some, "/algorithm/split");
    assert_refused(client, "{'name':'diff2_gd','clients':4001}", some,
                   "/algorithm/clients");
    assert_refused(client, "{'name':'diff2_gd','local_steps':2}", some,
                   "/algorithm/local_steps");
    assert_refused(client, "{'name':'diff2_gd'}",
                   "'batch_size':100,'privacy':{'epsilon':2}", "/batch_size");
    assert_refused(client, "{'name':'diff2_gd'}",
                   "'optimizer':{'name':'adam'},'privacy':{'epsilon':2}",
                   "/optimizer/name");
    assert_refused(client, "{'name':'diff2_gd'}",
                   "'optimizer':{'name':'sgd','momentum':0.9},'privacy':{'epsilon':2}",
                   "/optimizer/momentum");
    assert_refused(
        client, "{'name':'diff2_gd'}",
        "'optimizer':{'name':'sgd','learning_rate':{'initial':1,'final':0.1}},"
        "'privacy':{'epsilon':2}",
        "/optimizer/learning_rate");
    assert_refused(client, "{'name':'diff2_gd'}",
                   "'optimizer':{'name':'sgd','learning_rate':900},"
                   "'privacy':{'epsilon':2}",
                   "/optimizer/learning_rate");
    assert_refused(client, "{'name':'diff2_bvr_l_sgd','local_batch':4000}", some,
                   "/algorithm/local_batch");
    assert_refused(client, "{'name':'diff2_bvr_l_sgd','restart_split':1.3}", some,
                   "/algorithm/difference_split");
}

/* The refusal names the layer that has no rule. */
static void a_layer_without_differences_is_refused(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    const struct reply *reply =
        client_create(client, "/v1/jobs",
                      "{'dataset':'points','model':{'layers':[{'type':'dense','out':4},"
                      "{'type':'group_norm','groups':2},{'type':'dense','out':1}]},"
                      "'algorithm':{'name':'diff2_gd'},'privacy':{'epsilon':2}}");
    assert_invalid_at(reply, "/model");
    assert_non_null(strstr(reply_text(reply, "errors.0.detail"), "group_norm"));
}

static int begin(void **state)
{
    stage_begin(state);
    struct client *client = &((struct stage *)*state)->client;
    ready_points(client, "points", 4000, 1, SAMPLE_BUDGET(30) SAMPLE_CONFIRMED);
    ready_points(client, "points-test", 1000, 2, SAMPLE_PUBLIC);
    ready_points(
        client, "replaced", 4000, 3,
        "{'epsilon':30,'delta':1e-5,'relation':'replace_one'}" SAMPLE_CONFIRMED);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(diff2_gd_is_certified_release_by_release),
        cmocka_unit_test(diff2_gd_trains_with_its_defaults),
        cmocka_unit_test(local_steps_are_certified_as_subsets),
        cmocka_unit_test(clients_are_charged_their_own_turns),
        cmocka_unit_test(losses_of_subsets_are_not_composed),
        cmocka_unit_test(replacing_costs_more_than_leaving_out),
        cmocka_unit_test(verify_prices_every_run_again),
        cmocka_unit_test(a_cancelled_job_pays_for_what_was_authorised),
        cmocka_unit_test(what_has_no_plan_is_refused_by_name),
        cmocka_unit_test(a_layer_without_differences_is_refused),
    };
    return cmocka_run_group_tests(tests, begin, stage_end);
}
