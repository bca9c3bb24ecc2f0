/* Goal: ADP through HTTP: each schedule trains the digits, is charged step by step, and
 * its certificate says what was charged; a schedule without a plan is refused by
 * name. */
#include <signal.h>
#include <string.h>

#include "tests/expect.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"

static const struct reply *submit_adp(struct client *client, const char *algorithm,
                                      const char *privacy)
{
    return client_create(client, "/v1/jobs",
                         "{'dataset':'digits','evaluation':'digits-test',"
                         "'model':{'preset':'linear'},'algorithm':%s,"
                         "'optimizer':{'name':'sgd','learning_rate':4.0},"
                         "'batch_size':256,'epochs':30,'privacy':%s}",
                         algorithm, privacy);
}

static const struct reply *train_adp(struct client *client, const char *algorithm)
{
    const struct reply *created = submit_adp(client, algorithm, "{'epsilon':2}");
    assert_status(created, 201);
    const struct reply *job = await_success(client, reply_text(created, "id"));
    double planned = reply_number(job, "privacy.epsilon_planned");
    assert_true(planned <= 2 && planned > 1.999);
    assert_true(reply_number(job, "privacy.epsilon_spent") == planned);
    assert_true(reply_number(job, "metrics.evaluation.accuracy") > 0.75);
    return job;
}

static double noise_of(const json_t *runs, size_t k)
{
    return json_number_value(json_array_get(json_array_get(runs, k), 1));
}

/* Returns the steps of all runs, whose noise must increase from run to run. */
static double steps_of(const json_t *runs)
{
    double total = 0, before = 0;
    const json_t *run;
    size_t k;
    json_array_foreach(runs, k, run)
    {
        assert_true(noise_of(runs, k) > before);
        before = noise_of(runs, k);
        total += json_number_value(json_array_get(run, 2));
    }
    return total;
}

/* Checks that the certificate's runs hold all steps; returns the number of runs. */
static size_t assert_runs(const struct reply *job, struct client *client)
{
    const struct reply *model = model_of(client, job);
    const json_t *runs = reply_at(model, "certificate.guarantee.mechanism.runs");
    double first = reply_number(job, "privacy.noise_multiplier");
    assert_close(noise_of(runs, 0), first, 1e-14); /* as exact as the number shown */
    assert_true(steps_of(runs) == reply_number(job, "progress.steps"));
    return json_array_size(runs);
}

static void decaying_schedules_are_charged_run_by_run(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    const struct reply *job =
        train_adp(client, "{'name':'adp','schedule':'inverse_sqrt','noise_power':0.5,"
                          "'offset':1,'slope':0.1}");
    assert_string_equal(reply_text(job, "algorithm.schedule"), "inverse_sqrt");
    assert_true(reply_number(job, "algorithm.slope") == 0.1);
    assert_null(json_object_get(reply_at(job, "algorithm"), "initial"));
    assert_in_range(assert_runs(job, client), 32, 64);
    job = train_adp(client, "{'name':'adp','schedule':'sqrt_decay','initial':1,"
                            "'final':0.01}");
    assert_in_range(assert_runs(job, client), 32, 64);
}

/* Both repairs of AdaGrad-Norm: b follows either a norm that is paid for, or the noisy
 * gradient. */
static void adagrad_norm_shows_what_its_divisor_follows(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    const struct reply *job =
        train_adp(client, "{'name':'adp','schedule':'adagrad_norm','start_square':1}");
    assert_true(reply_number(job, "algorithm.norm_noise") == 4);
    const json_t *points = reply_at(job, "metrics.released"), *point;
    assert_true(json_array_size(points) > 80);
    double before = 1;
    size_t k;
    json_array_foreach(points, k, point)
    {
        double divisor = json_number_value(json_object_get(point, "divisor"));
        assert_true(json_is_number(json_object_get(point, "gradient_norm")));
        assert_true(divisor >= before);
        before = divisor;
    }
    assert_true(before > 1.1);
    const struct reply *model = model_of(client, job);
    assert_true(reply_number(model, "certificate.noise.norm.scale") > 0);
    assert_runs(job, client);
    train_adp(client, "{'name':'adp','schedule':'adagrad_norm','start_square':1,"
                      "'norm_noise':0}");
}

static void constant_noise_is_charged_as_dpsgd(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    const struct reply *job = train_adp(client, "{'name':'adp','schedule':'constant'}");
    double noise = reply_number(job, "privacy.noise_multiplier");
    assert_int_equal(assert_runs(job, client), 1);
    const struct reply *estimate = client_post(
        client, "/v1/jobs:estimate", NULL,
        "{'dataset':'digits','model':{'preset':'linear'},'algorithm':{'name':'dpsgd'},"
        "'batch_size':256,'epochs':30,'privacy':{'epsilon':2}}");
    assert_close(reply_number(estimate, "noise_multiplier"), noise, 1e-14);
}

static void assert_refused(struct client *client, const char *algorithm,
                           const char *privacy, const char *pointer)
{
    const struct reply *reply = submit_adp(client, algorithm, privacy);
    assert_invalid_at(reply, pointer);
}

/* The accountant calibrates the noise. The paper's formula is shown next to it as a
 * claim. The formula does not cover AdaGrad-Norm as it is run here, so no claim is
 * shown for that. */
static void the_paper_s_formula_is_shown_as_a_claim(void **state)
{
    static const char *const schedules[] = {"inverse_sqrt", "adagrad_norm"};
    struct client *client = &((struct stage *)*state)->client;
    for (size_t k = 0; k < 2; k++) {
        const struct reply *estimate =
            client_post(client, "/v1/jobs:estimate", NULL,
                        "{'dataset':'digits','model':{'preset':'linear'},'algorithm':"
                        "{'name':'adp','schedule':'%s'},'batch_size':256,'epochs':30,"
                        "'privacy':{'epsilon':2}}",
                        schedules[k]);
        assert_status(estimate, 200);
        assert_true(reply_number(estimate, "epsilon_planned") > 1.999);
        const json_t *claim = reply_at(estimate, "paper_claim");
        assert_true(k == 0 ? json_number_value(claim) >
                                 10 * reply_number(estimate, "noise_multiplier")
                           : json_is_null(claim));
    }
}

/* --- noise that follows what was released --- */

static const char following[] =
    "{'name':'adp','schedule':'adagrad_norm','start_square':0.01,"
    "'noise_follows':'divisor','noise_start':%s,'noise_power':0.1}";

static const struct reply *submit_following(struct client *client, const char *start,
                                            const char *steps)
{
    char algorithm[256];
    snprintf(algorithm, sizeof algorithm, following, start);
    return client_create(client, "/v1/jobs",
                         "{'dataset':'digits','evaluation':'digits-test',"
                         "'model':{'preset':'linear'},'algorithm':%s,"
                         "'optimizer':{'name':'sgd','learning_rate':2.0},"
                         "'batch_size':256,'steps':%s,'privacy':{'epsilon':2}}",
                         algorithm, steps);
}

/* The run ends by itself, with a model, at the step at which its own noise has used up
 * the reservation. The certificate has the runs that it took in addition to what it was
 * charged. */
static void a_run_ends_when_what_it_reserved_is_used_up(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    const struct reply *created = submit_following(client, "0.5", "400");
    assert_status(created, 201);
    const struct reply *job = await_success(client, reply_text(created, "id"));
    assert_string_equal(reply_text(job, "state_reason"), "used_up");
    double ran = reply_number(job, "progress.step");
    assert_true(ran > 40 && ran < 400);
    double planned = reply_number(job, "privacy.epsilon_planned");
    assert_true(planned <= 2 && planned > 1.999);
    assert_true(reply_number(job, "privacy.epsilon_spent") == planned);
    assert_true(reply_number(job, "metrics.evaluation.step") == ran);
    assert_true(reply_number(job, "metrics.evaluation.accuracy") > 0.5);
    const json_t *points = reply_at(job, "metrics.released");
    const json_t *last = json_array_get(points, json_array_size(points) - 1);
    assert_true(json_number_value(json_object_get(last, "step")) == ran);

    const struct reply *model = model_of(client, job);
    assert_true(reply_number(model, "certificate.steps") == ran);
    assert_true(reply_number(model, "certificate.guarantee.steps") == ran);
    assert_string_equal(reply_text(model, "certificate.guarantee.mechanism.kind"),
                        "filtered_gaussian");
    assert_true(reply_number(model, "certificate.guarantee.mechanism.filter.0") == 16);
    assert_true(reply_number(model, "certificate.guarantee.mechanism.runs.0.2") == 400);
    const json_t *runs = reply_at(model, "certificate.guarantee.ran.runs");
    assert_true(json_array_size(runs) > 3);
    assert_true(steps_of(runs) == ran);
    assert_close(noise_of(runs, 0), 0.5 * reply_number(job, "privacy.noise_multiplier"),
                 1e-12);
    assert_int_equal(daemon_verify(&stage->daemon), 0);
}

/* An estimate says what would be reserved: the steps that fit at that noise. It shows
 * no claim of the paper, which does not treat this case. */
static void an_estimate_is_of_what_would_be_reserved(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    char algorithm[256];
    snprintf(algorithm, sizeof algorithm, following, "0.75");
    const struct reply *estimate =
        client_post(client, "/v1/jobs:estimate", NULL,
                    "{'dataset':'digits','model':{'preset':'linear'},'algorithm':%s,"
                    "'batch_size':256,'steps':400,'privacy':{'epsilon':2}}",
                    algorithm);
    assert_status(estimate, 200);
    double planned = reply_number(estimate, "epsilon_planned");
    assert_true(planned <= 2 && planned > 1.999);
    assert_true(reply_number(estimate, "steps") == 400);
    assert_true(reply_number(estimate, "most_steps") > 400);
    assert_true(reply_number(estimate, "largest_epsilon") > 2);
    assert_true(json_is_null(reply_at(estimate, "paper_claim")));
    const struct reply *share =
        client_post(client, "/v1/jobs:estimate", NULL,
                    "{'dataset':'digits','model':{'preset':'linear'},'algorithm':%s,"
                    "'batch_size':256,'steps':400,'privacy':{'budget_fraction':0.01}}",
                    algorithm);
    assert_status(share, 200);
    assert_true(reply_number(share, "epsilon_planned") > 0);
    assert_string_equal(reply_text(share, "fits"), "yes");
}

/* The reservation lasts for all the steps that it was made for. */
static void a_run_that_fits_takes_all_its_steps(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    const struct reply *created = submit_following(client, "1", "200");
    assert_status(created, 201);
    const struct reply *job = await_success(client, reply_text(created, "id"));
    assert_true(json_is_null(reply_at(job, "state_reason")));
    assert_true(reply_number(job, "progress.step") == 200);
}

/* The whole reservation is on disk as authorised before the first step samples, so a
 * run that is killed or cancelled is charged all of it. */
static void a_run_cut_short_is_charged_whole(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    for (int killed = 0; killed < 2; killed++) {
        const struct reply *created = submit_following(client, "1", "200000");
        assert_status(created, 201);
        const char *id = reply_text(created, "id");
        const struct reply *job = await_training(client, id);
        assert_true(reply_number(job, "privacy.authorised_steps") == 200000);
        if (killed == 1) {
            daemon_stop(&stage->daemon, SIGKILL);
            daemon_start(&stage->daemon, NULL);
        } else {
            cancel(client, id);
        }
        job = await_end(client, id);
        assert_string_equal(reply_text(job, "state"),
                            killed == 1 ? "FAILED" : "CANCELLED");
        double spent = reply_number(job, "privacy.epsilon_spent");
        assert_true(spent > 1.999);
        assert_true(spent == reply_number(job, "privacy.epsilon_planned"));
    }
    assert_int_equal(daemon_verify(&stage->daemon), 0);
}

/* Otherwise it would be charged for the model that it began with. */
static void a_run_that_would_not_begin_is_refused(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    const struct reply *reply = submit_following(client, "0.8", "1");
    assert_invalid_at(reply, "/algorithm/noise_start");
}

static void what_has_no_plan_is_refused_by_name(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    assert_refused(client, "{'name':'adp','schedule':'adagrad'}", "{'epsilon':2}",
                   "/algorithm/schedule");
    assert_refused(client, "{'name':'adp','slope':-1}", "{'epsilon':2}",
                   "/algorithm/slope");
    assert_refused(client, "{'name':'adp','schedule':'inverse','slope':1}",
                   "{'epsilon':2}", "/algorithm/slope");
    assert_refused(client, "{'name':'adp','norm_noise':4}", "{'epsilon':2}",
                   "/algorithm/norm_noise");
    assert_refused(client, "{'name':'adp','noise_power':1.5}", "{'epsilon':2}",
                   "/algorithm/noise_power");
    assert_refused(client,
                   "{'name':'adp','schedule':'sqrt_decay','initial':0.1,'final':0.2}",
                   "{'epsilon':2}", "/algorithm/final");
    assert_refused(client, "{'name':'adp','schedule':'sqrt_decay','final':0}",
                   "{'epsilon':2}", "/algorithm/final");
    assert_refused(client, "{'name':'adp','noise_follows':'divisor'}", "{'epsilon':2}",
                   "/algorithm/noise_follows");
    assert_refused(client, "{'name':'adp','schedule':'adagrad_norm','noise_start':0.5}",
                   "{'epsilon':2}", "/algorithm/noise_start");
    assert_refused(client,
                   "{'name':'adp','schedule':'adagrad_norm','noise_follows':'divisor'}",
                   "{'epsilon':2,'accountant':'pld'}", "/privacy/epsilon");
    /* The first steps would have almost no noise. */
    assert_refused(client, "{'name':'adp','noise_power':1,'offset':1e-6}",
                   "{'epsilon':30}", "/privacy/epsilon");
    assert_refused(client, "{'name':'adp'}", "{'noise_multiplier':0.4}",
                   "/privacy/noise_multiplier");
}

static int begin(void **state)
{
    return stage_begin_digits(state, SAMPLE_BUDGET(30) SAMPLE_CONFIRMED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decaying_schedules_are_charged_run_by_run),
        cmocka_unit_test(adagrad_norm_shows_what_its_divisor_follows),
        cmocka_unit_test(constant_noise_is_charged_as_dpsgd),
        cmocka_unit_test(the_paper_s_formula_is_shown_as_a_claim),
        cmocka_unit_test(a_run_ends_when_what_it_reserved_is_used_up),
        cmocka_unit_test(an_estimate_is_of_what_would_be_reserved),
        cmocka_unit_test(a_run_that_fits_takes_all_its_steps),
        cmocka_unit_test(a_run_cut_short_is_charged_whole),
        cmocka_unit_test(a_run_that_would_not_begin_is_refused),
        cmocka_unit_test(what_has_no_plan_is_refused_by_name),
    };
    return cmocka_run_group_tests(tests, begin, stage_end);
}
