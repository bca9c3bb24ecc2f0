/* Goal: each algorithm of the papers through HTTP trains the digits or small points, is
 * charged as planned, shows what it released, and refuses cases without a proof. */
#include <math.h>
#include <signal.h>
#include <string.h>

#include "tests/expect.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"

/* A job on the digits with so little noise that a linear model is far better than
 * guessing. */
static const struct reply *train_digits(struct client *client, const char *algorithm,
                                        const char *optimizer)
{
    const struct reply *job = train(
        client,
        "{'dataset':'digits','evaluation':'digits-test','model':{'preset':'linear'},"
        "'algorithm':%s,'optimizer':%s,'batch_size':256,'epochs':20,"
        "'privacy':{'noise_multiplier':1.5}}",
        algorithm, optimizer);
    assert_true(reply_number(job, "privacy.epsilon_spent") ==
                reply_number(job, "privacy.epsilon_planned"));
    return job;
}

static void automatic_clipping_trains_the_digits(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    const struct reply *job =
        train_digits(client, "{'name':'dpsgd','clipping':'automatic'}",
                     "{'name':'sgd','learning_rate':1.0}");
    assert_string_equal(reply_text(job, "algorithm.clipping"), "automatic");
    assert_true(reply_number(job, "algorithm.clip_norm") == 1);
    assert_true(reply_number(job, "algorithm.gamma") == 0.01);
    assert_true(reply_number(job, "metrics.evaluation.accuracy") > 0.8);
}

static void clipping_layer_by_layer_trains_the_digits(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    const struct reply *job = train(
        client, "{'dataset':'digits','evaluation':'digits-test',"
                "'model':{'preset':'mlp','hidden':[32]},"
                "'algorithm':{'name':'dpsgd','clipping':'per_layer'},'batch_size':256,"
                "'epochs':20,'privacy':{'noise_multiplier':1.5}}");
    assert_string_equal(reply_text(job, "algorithm.clipping"), "per_layer");
    assert_true(reply_number(job, "metrics.evaluation.accuracy") > 0.6);
}

static void flat_clipping_is_the_default_and_has_no_gamma(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    const struct reply *job =
        train_digits(client, "{'name':'dpsgd'}", "{'name':'sgd','learning_rate':1.0}");
    json_auto_t *algorithm = json_pack("{s:s,s:s,s:f}", "name", "dpsgd", "clipping",
                                       "flat", "clip_norm", 1.0);
    assert_true(json_equal(reply_at(job, "algorithm"), algorithm));
    assert_int_equal(json_array_size(reply_at(job, "metrics.released")), 0);
}

/* Checks the points of metrics.released: one for each per cent of the steps, all
 * numbers finite, a histogram with `bins` counts, and a clip norm that changed. */
static void assert_released(const struct reply *job, size_t bins, double steps)
{
    const json_t *released = reply_at(job, "metrics.released"), *point;
    size_t i;
    double least = INFINITY, most = 0;
    assert_true(json_array_size(released) >= 40 && json_array_size(released) <= 101);
    json_array_foreach(released, i, point)
    {
        double clip_norm = json_real_value(json_object_get(point, "clip_norm"));
        const json_t *counts = json_object_get(point, "histogram");
        assert_true(json_real_value(json_object_get(point, "histogram_range")) > 0);
        assert_true(clip_norm > 0);
        assert_int_equal(json_array_size(counts), bins);
        assert_true(json_is_real(json_array_get(counts, bins - 1)));
        least = fmin(least, clip_norm);
        most = fmax(most, clip_norm);
    }
    assert_true(least < most);
    point = json_array_get(released, json_array_size(released) - 1);
    assert_true(json_number_value(json_object_get(point, "step")) == steps);
}

#define ADAM "{'name':'adam','learning_rate':0.01}"

static void a_percentile_of_the_norms_trains_the_digits(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    const struct reply *job =
        train_digits(client, "{'name':'dcsgd_p','unclipped_fraction':0.5}", ADAM);
    assert_true(reply_number(job, "metrics.evaluation.accuracy") > 0.8);
    assert_true(reply_number(job, "algorithm.bins") == 20);
    assert_null(json_object_get(reply_at(job, "algorithm"), "histogram_noise"));
    assert_released(job, 20, reply_number(job, "progress.steps"));
    /* The certificate names the histogram; the mechanism is the one of both releases
     * together. */
    const struct reply *model = model_of(client, job);
    assert_true(reply_number(model, "certificate.noise.histogram.bins") == 20);
    assert_true(reply_number(model, "certificate.guarantee.mechanism.runs.0.1") == 1.5);
}

static void the_least_squared_error_trains_the_digits(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    const struct reply *job = train_digits(
        client, "{'name':'dcsgd_e','bins':10,'histogram_noise':6.5}", ADAM);
    assert_true(reply_number(job, "metrics.evaluation.accuracy") > 0.8);
    assert_true(reply_number(job, "algorithm.histogram_noise") == 6.5);
    assert_released(job, 10, reply_number(job, "progress.steps"));
}

static void a_quantile_of_the_norms_trains_the_digits(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    const struct reply *job =
        train(client, "{'dataset':'digits','evaluation':'digits-test',"
                      "'model':{'preset':'mlp','hidden':[32]},"
                      "'algorithm':{'name':'quantile_clip','unclipped_fraction':0.4},"
                      "'optimizer':" ADAM ",'batch_size':256,'epochs':20,"
                      "'privacy':{'noise_multiplier':4}}");
    assert_true(reply_number(job, "metrics.evaluation.accuracy") > 0.6);
    double one = reply_number(job, "metrics.released.0.clip_norm");
    assert_true(one > 0 && reply_number(job, "metrics.released.20.clip_norm") != one);
    double share = reply_number(job, "metrics.released.20.unclipped_share");
    assert_true(share > -1 && share < 2);
    const struct reply *model = model_of(client, job);
    assert_true(reply_number(model, "certificate.noise.norm_signs.bins") == 1);
    assert_true(reply_number(model, "certificate.guarantee.mechanism.runs.0.1") == 4);
}

static void bounds_by_the_loss_train_the_digits(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    static const char *const bounds[] = {"paper", "tight", "forward"};
    for (size_t k = 0; k < 3; k++) {
        char algorithm[96];
        snprintf(algorithm, sizeof algorithm, "{'name':'value_clip','bound':'%s'}",
                 bounds[k]);
        const struct reply *job =
            train_digits(client, algorithm, "{'name':'sgd','learning_rate':2.0}");
        assert_string_equal(reply_text(job, "algorithm.bound"), bounds[k]);
        assert_true(reply_number(job, "metrics.evaluation.accuracy") > 0.7);
    }
}

static void what_was_released_survives_a_restart(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    const struct reply *job = train_digits(client, "{'name':'dcsgd_e'}", ADAM);
    assert_int_equal(daemon_stop(&stage->daemon, SIGTERM), 0);
    daemon_start(&stage->daemon, NULL);
    const struct reply *again =
        client_get(client, "/v1/jobs/%s", reply_text(job, "id"));
    assert_true(json_equal(reply_at(again, "metrics.released"),
                           reply_at(job, "metrics.released")));
}

/* Asserts that the job is refused, and which member is at fault. */
static void assert_refused_of(struct client *client, const char *model,
                              const char *algorithm, const char *privacy,
                              const char *pointer)
{
    const struct reply *reply =
        client_create(client, "/v1/jobs",
                      "{'dataset':'digits','model':%s,'algorithm':%s,"
                      "'batch_size':256,'steps':10,'privacy':%s}",
                      model, algorithm, privacy);
    assert_invalid_at(reply, pointer);
}

static void assert_refused(struct client *client, const char *algorithm,
                           const char *privacy, const char *pointer)
{
    assert_refused_of(client, "{'preset':'linear'}", algorithm, privacy, pointer);
}

#define SOME_NOISE "{'noise_multiplier':20}"

static void what_has_no_proof_is_refused_by_name(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    assert_refused(client, "{'name':'dpsgd','gamma':0.01}", SOME_NOISE,
                   "/algorithm/gamma");
    assert_refused(client, "{'name':'dpsgd','clipping':'automatic','gamma':0}",
                   SOME_NOISE, "/algorithm/gamma");
    assert_refused(client,
                   "{'name':'dpsgd','clipping':'automatic','gamma':1e-6,"
                   "'clip_norm':1e17}",
                   SOME_NOISE, "/algorithm/gamma");
    assert_refused(client, "{'name':'dcsgd_p','histogram_noise':20}", SOME_NOISE,
                   "/algorithm/histogram_noise");
    assert_refused(client, "{'name':'dcsgd_e','histogram_noise':0.1}", "{'epsilon':1}",
                   "/algorithm/histogram_noise");
    assert_refused(client, "{'name':'dcsgd_e','bins':65}", SOME_NOISE,
                   "/algorithm/bins");
    assert_refused(client, "{'name':'dcsgd_e','unclipped_fraction':0.5}", SOME_NOISE,
                   "/algorithm/unclipped_fraction");
    assert_refused(client, "{'name':'dcsgd_p','unclipped_fraction':1}", SOME_NOISE,
                   "/algorithm/unclipped_fraction");
    assert_refused(client, "{'name':'dcsgd_p','histogram_range':0}", SOME_NOISE,
                   "/algorithm/histogram_range");
    assert_refused(client, "{'name':'quantile_clip','unclipped_fraction':0}",
                   SOME_NOISE, "/algorithm/unclipped_fraction");
    assert_refused(client, "{'name':'quantile_clip','unclipped_fraction':1}",
                   SOME_NOISE, "/algorithm/unclipped_fraction");
    assert_refused(client, "{'name':'quantile_clip','clip_rate':0}", SOME_NOISE,
                   "/algorithm/clip_rate");
    assert_refused(client, "{'name':'quantile_clip','count_noise':0.1}",
                   "{'epsilon':1}", "/algorithm/count_noise");
    assert_refused(client, "{'name':'quantile_clip','bins':20}", SOME_NOISE,
                   "/algorithm/bins");
    assert_refused_of(client, "{'preset':'mlp','hidden':[16]}",
                      "{'name':'value_clip','bound':'paper'}", SOME_NOISE,
                      "/algorithm/bound");
    assert_refused_of(client,
                      "{'input':{'shape':[8,8,1]},'layers':[{'type':'conv2d','out':4,"
                      "'kernel':3},{'type':'flatten'},{'type':'dense','out':10}]}",
                      "{'name':'value_clip'}", SOME_NOISE, "/algorithm/name");
    assert_refused(client, "{'name':'value_clip','beta1':2}", SOME_NOISE,
                   "/algorithm/beta1");
    assert_refused(client, "{'name':'value_clip','beta2':2}", SOME_NOISE,
                   "/algorithm/beta2");
    assert_refused(client, "{'name':'value_clip','f_lb':0}", SOME_NOISE,
                   "/algorithm/f_lb");
    assert_refused(client, "{'name':'value_clip','bound':'loose'}", SOME_NOISE,
                   "/algorithm/bound");
}

/* A13 of papers/valueclip.md: models without a certified bound are refused, each with
 * its reason. */
static void value_clipping_takes_certified_families_alone(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    static const struct {
        const char *model, *pointer;
    } cases[] = {
        {"{'preset':'linear','loss':'poisson'}", "/model/loss"},
        {"{'preset':'linear','loss':'contrastive'}", "/model/loss"},
        {"{'layers':[{'type':'gru'},{'type':'dense','out':10}]}",
         "/model/layers/0/type"},
        {"{'layers':[{'type':'embedding','vocabulary':9,'out':4},"
         "{'type':'take','position':'last'},{'type':'dense','out':10}]}",
         "/algorithm/name"},
        {"{'layers':[{'type':'lstm','hidden':4},{'type':'dense','out':10}]}",
         "/model/layers/0/type"},
        {"{'layers':[{'type':'attention'},{'type':'dense','out':10}]}",
         "/model/layers/0/heads"},
        {"{'layers':[{'type':'embedding','vocabulary':9,'out':4},{'type':'attention',"
         "'heads':2,'query':[{'type':'dense','out':4}],'key':[{'type':'dense','out':4}]"
         ","
         "'value':[{'type':'dense','out':4}]},{'type':'take','position':'mean'},"
         "{'type':'dense','out':10}],'trainable':'head'}",
         "/algorithm/name"},
        {"{'layers':[{'type':'dense','out':8},{'type':'batch_norm'},"
         "{'type':'dense','out':10}]}",
         "/model/layers/1/type"},
        {"{'layers':[{'type':'dense','out':8},{'type':'silu'},"
         "{'type':'dense','out':10}]}",
         "/model/layers/1/type"},
        {"{'layers':[{'type':'dense','out':8},{'type':'selu'},"
         "{'type':'dense','out':10}]}",
         "/model/layers/1/type"},
        {"{'layers':[{'type':'dense','out':8},{'type':'gelu'},"
         "{'type':'dense','out':10}]}",
         "/algorithm/name"},
        {"{'layers':[{'type':'dense','out':8,'tied_to':0},{'type':'dense','out':10}]}",
         "/model/layers/0/tied_to"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        assert_refused_of(client, cases[k].model, "{'name':'value_clip'}", SOME_NOISE,
                          cases[k].pointer);
    /* The bounds by the first input do not cover biases; those of one linear layer
     * do. */
    static const char *const nets[] = {"paper", "tight"};
    for (size_t k = 0; k < 2; k++) {
        char algorithm[64];
        snprintf(algorithm, sizeof algorithm, "{'name':'value_clip','bound':'%s'}",
                 nets[k]);
        assert_refused_of(client, "{'preset':'mlp','hidden':[8]}", algorithm,
                          SOME_NOISE, "/algorithm/bound");
    }
}

/* P6: a private job shows no number that depends on the records and was not released
 * with noise. */
static void a_job_shows_what_was_released_and_nothing_else(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    static const char *const asked[] = {"{'name':'value_clip'}", "{'name':'dpsgd'}",
                                        "{'name':'dcsgd_e'}", "{'name':'dcsgd_p'}"};
    for (size_t k = 0; k < 4; k++) {
        const struct reply *job =
            await_end(client, submit(client,
                                     "{'dataset':'digits','model':{'preset':'linear'},"
                                     "'algorithm':%s,'batch_size':256,'steps':20,"
                                     "'privacy':{'noise_multiplier':4}}",
                                     asked[k]));
        json_t *metrics = json_object_get(job->json, "metrics"), *member, *point;
        const char *name;
        assert_string_equal(reply_text(job, "state"), "SUCCEEDED");
        json_object_foreach(metrics, name, member)
        {
            if (strcmp(name, "released") != 0)
                assert_true(json_is_null(member) || json_array_size(member) == 0);
        }
        json_t *released = json_object_get(metrics, "released");
        assert_int_equal(json_array_size(released) > 0, k >= 2);
        size_t i;
        json_array_foreach(released, i, point)
        {
            static const char *const shown[] = {"step", "clip_norm", "histogram_range",
                                                "histogram"};
            assert_int_equal(json_object_size(point), 4);
            for (size_t j = 0; j < 4; j++)
                assert_non_null(json_object_get(point, shown[j]));
        }
    }
}

static void tuning_has_its_price(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    static const char job[] =
        "{'dataset':'digits','model':{'preset':'linear'},"
        "'algorithm':{'name':'dcsgd_e'},'batch_size':64,'steps':50,"
        "'privacy':{'noise_multiplier':4}}";
    const struct reply *plain =
        client_post(client, "/v1/jobs:estimate", NULL, "%s", job);
    assert_status(plain, 200);
    assert_true(json_is_null(reply_at(plain, "tuning")));
    const struct reply *ten =
        client_post(client, "/v1/jobs:estimate?runs=10", NULL, "%s", job);
    assert_status(ten, 200);
    double alone = reply_number(ten, "epsilon_planned");
    assert_true(reply_number(ten, "tuning.runs") == 10);
    assert_true(reply_number(ten, "tuning.epsilon_composed") > alone);
    assert_true(reply_number(ten, "tuning.epsilon_composed") < 10 * alone);
    assert_true(reply_number(ten, "tuning.epsilon_random_stopping") > 3 * alone);
    static const char *const bad[] = {"0", "-1", "10001", "ten", "1.5"};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        char path[64];
        snprintf(path, sizeof path, "/v1/jobs:estimate?runs=%s", bad[k]);
        assert_problem(client_post(client, path, NULL, "%s", job), 400,
                       "invalid_argument");
    }
}

static int begin(void **state)
{
    return stage_begin_digits(state, SAMPLE_BUDGET(30) SAMPLE_CONFIRMED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(automatic_clipping_trains_the_digits),
        cmocka_unit_test(clipping_layer_by_layer_trains_the_digits),
        cmocka_unit_test(flat_clipping_is_the_default_and_has_no_gamma),
        cmocka_unit_test(a_percentile_of_the_norms_trains_the_digits),
        cmocka_unit_test(the_least_squared_error_trains_the_digits),
        cmocka_unit_test(a_quantile_of_the_norms_trains_the_digits),
        cmocka_unit_test(bounds_by_the_loss_train_the_digits),
        cmocka_unit_test(what_was_released_survives_a_restart),
        cmocka_unit_test(a_job_shows_what_was_released_and_nothing_else),
        cmocka_unit_test(tuning_has_its_price),
        cmocka_unit_test(value_clipping_takes_certified_families_alone),
        cmocka_unit_test(what_has_no_proof_is_refused_by_name),
    };
    return cmocka_run_group_tests(tests, begin, stage_end);
}
