/* Each algorithm of the papers through HTTP: it trains the digits or small points, is
 * charged as planned, shows what it released, and refuses what it has no proof for. */
#include <string.h>

#include "tests/expect.h"
#include "tests/e2e/sample.h"
#include "tests/e2e/stage.h"

/* A job on the digits at noise that leaves a linear model far better than guessing. */
static const struct reply *train_digits(struct client *client, const char *algorithm,
                                        const char *optimizer)
{
    const struct reply *created = client_create(
        client, "/v1/jobs",
        "{'dataset':'digits','evaluation':'digits-test','model':{'preset':'linear'},"
        "'algorithm':%s,'optimizer':%s,'batch_size':256,'epochs':20,"
        "'privacy':{'noise_multiplier':1.5}}",
        algorithm, optimizer);
    assert_status(created, 201);
    const struct reply *job = await_end(client, reply_text(created, "id"));
    assert_string_equal(reply_text(job, "state"), "SUCCEEDED");
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

static void flat_clipping_is_the_default_and_has_no_gamma(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    const struct reply *job =
        train_digits(client, "{'name':'dpsgd'}", "{'name':'sgd','learning_rate':1.0}");
    json_auto_t *algorithm = json_pack("{s:s,s:s,s:f}", "name", "dpsgd", "clipping",
                                       "flat", "clip_norm", 1.0);
    assert_true(json_equal(reply_at(job, "algorithm"), algorithm));
}

/* A refusal and the member at fault. */
static void assert_refused(struct client *client, const char *algorithm,
                           const char *privacy, const char *pointer)
{
    const struct reply *reply =
        client_create(client, "/v1/jobs",
                      "{'dataset':'digits','model':{'preset':'linear'},'algorithm':%s,"
                      "'batch_size':256,'steps':10,'privacy':%s}",
                      algorithm, privacy);
    assert_problem(reply, 400, "invalid_argument");
    assert_string_equal(reply_text(reply, "errors.0.pointer"), pointer);
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
}

static int begin(void **state)
{
    int failed = stage_begin(state);
    if (failed != 0)
        return failed;
    struct client *client = &((struct stage *)*state)->client;
    ready_digits(client, "digits", SAMPLE_TRAIN, SAMPLE_BUDGET(100));
    ready_digits(client, "digits-test", SAMPLE_TEST, SAMPLE_PUBLIC);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(automatic_clipping_trains_the_digits),
        cmocka_unit_test(flat_clipping_is_the_default_and_has_no_gamma),
        cmocka_unit_test(what_has_no_proof_is_refused_by_name),
    };
    return cmocka_run_group_tests(tests, begin, stage_end);
}
