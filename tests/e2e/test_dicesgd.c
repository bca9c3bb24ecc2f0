/* DiceSGD through HTTP: each sound accountant trains the digits and is charged what was
 * planned; what has no proof is refused with what to do instead; nothing of the error it
 * keeps comes out. */
#include <string.h>

#include "tests/expect.h"
#include "tests/e2e/sample.h"
#include "tests/e2e/stage.h"

static const struct reply *train(struct client *client, const char *algorithm,
                                 const char *noise)
{
    const struct reply *created = client_create(
        client, "/v1/jobs",
        "{'dataset':'digits','evaluation':'digits-test','model':{'preset':'linear'},"
        "'algorithm':%s,'optimizer':{'name':'sgd','learning_rate':1.0},"
        "'batch_size':256,'epochs':10,'privacy':%s}",
        algorithm, noise);
    assert_status(created, 201);
    const struct reply *job = await_end(client, reply_text(created, "id"));
    assert_string_equal(reply_text(job, "state"), "SUCCEEDED");
    assert_true(reply_number(job, "privacy.epsilon_spent") ==
                reply_number(job, "privacy.epsilon_planned"));
    return job;
}

static void each_sound_accountant_trains_and_is_charged(void **state)
{
    static const char *const algorithms[] = {
        "{'name':'dicesgd'}",
        "{'name':'dicesgd','accountant':'m2','pre_clip_norm':1.5}",
        "{'name':'dicesgd','accountant':'m3','batches':'poisson'}"};
    struct client *client = &((struct stage *)*state)->client;
    for (size_t k = 0; k < sizeof algorithms / sizeof *algorithms; k++) {
        const struct reply *job =
            train(client, algorithms[k], "{'noise_multiplier':10}");
        assert_true(reply_number(job, "metrics.evaluation.accuracy") > 0.5);
    }
    /* m1 pays for all that its error could be: little of it, and much noise. */
    train(client,
          "{'name':'dicesgd','accountant':'m1','pre_clip_norm':0,"
          "'error_clip_norm':0.004}",
          "{'noise_multiplier':30}");
}

static void the_defaults_meet_a_target_epsilon(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    const struct reply *job = train(client, "{'name':'dicesgd'}", "{'epsilon':4}");
    assert_true(reply_number(job, "privacy.epsilon_spent") <= 4);
    assert_true(reply_number(job, "privacy.epsilon_spent") > 3.99);
    assert_string_equal(reply_text(job, "algorithm.accountant"), "m2r");
    assert_true(reply_number(job, "metrics.evaluation.accuracy") > 0.5);
}

static void the_paper_s_noise_is_shown_as_a_claim(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    const struct reply *asked =
        client_post(client, "/v1/jobs:estimate", NULL,
                    "{'dataset':'digits','model':{'preset':'linear'},'algorithm':{'"
                    "name':'dicesgd'},"
                    "'batch_size':256,'epochs':10,'privacy':{'noise_multiplier':10}}");
    assert_status(asked, 200);
    assert_true(reply_number(asked, "paper_claim") > 0);
    assert_true(reply_number(asked, "noise_multiplier") == 10);
}

static void assert_refused(struct client *client, const char *algorithm,
                           const char *pointer, const char *advice)
{
    const struct reply *reply =
        client_create(client, "/v1/jobs",
                      "{'dataset':'digits','model':{'preset':'linear'},'algorithm':%s,"
                      "'batch_size':256,'steps':10,"
                      "'privacy':{'noise_multiplier':20}}",
                      algorithm);
    assert_problem(reply, 400, "invalid_argument");
    assert_string_equal(reply_text(reply, "errors.0.pointer"), pointer);
    assert_non_null(strstr(reply_text(reply, "detail"), advice));
}

static void what_has_no_proof_is_refused_with_what_to_do(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    assert_refused(client, "{'name':'dicesgd','accountant':'paper_claim'}",
                   "/algorithm/accountant", "choose m2r");
    assert_refused(client, "{'name':'dicesgd','accountant':'m2','batches':'poisson'}",
                   "/algorithm/batches", "partition");
    assert_refused(client, "{'name':'dicesgd','accountant':'m3'}", "/algorithm/batches",
                   "poisson");
    assert_refused(client, "{'name':'dicesgd','pre_clip_norm':0.5}",
                   "/algorithm/pre_clip_norm", "above clip_norm");
    assert_refused(client, "{'name':'dicesgd','clip_norm':0}", "/algorithm/clip_norm",
                   "");
}

static int begin(void **state)
{
    int failed = stage_begin(state);
    if (failed != 0)
        return failed;
    struct client *client = &((struct stage *)*state)->client;
    ready_digits(client, "digits", SAMPLE_TRAIN, SAMPLE_BUDGET(400));
    ready_digits(client, "digits-test", SAMPLE_TEST, SAMPLE_PUBLIC);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_sound_accountant_trains_and_is_charged),
        cmocka_unit_test(the_defaults_meet_a_target_epsilon),
        cmocka_unit_test(the_paper_s_noise_is_shown_as_a_claim),
        cmocka_unit_test(what_has_no_proof_is_refused_with_what_to_do),
    };
    return cmocka_run_group_tests(tests, begin, stage_end);
}
