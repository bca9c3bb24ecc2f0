/* A model whose products round by place with the kernels at hand is refused by name where
 * it would be private, before anything is reserved; with kernels that round alike it is
 * taken. What was queued under those and meets the others is ended, unpaid. */
#include <signal.h>
#include <string.h>

#include "tests/expect.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"
#include "tests/engine/kernels_fixture.h"

#define CONVOLUTIONS                                                                   \
    "{'input':{'shape':[8,8,1]},'layers':[{'type':'conv2d','out':16,'kernel':3,"       \
    "'padding':1},{'type':'relu'},{'type':'conv2d','out':16,'kernel':[8,2]},"          \
    "{'type':'flatten'},{'type':'dense','out':10}]}"
#define JOB                                                                            \
    "{'dataset':'digits','model':" CONVOLUTIONS ",'algorithm':{'name':'dpsgd'},"       \
    "'batch_size':64,'steps':3,'privacy':{'noise_multiplier':%g}}"

static void start_with(struct daemon *daemon, const char *kernel)
{
    static const char *const options[] = {"--workers", "1", "--drain-timeout", "0",
                                          NULL};
    setenv("OPENBLAS_CORETYPE", kernel, 1);
    daemon_start(daemon, options);
    unsetenv("OPENBLAS_CORETYPE");
}

static int begin(void **state)
{
    stage_begin(state);
    struct stage *stage = *state;
    ready_digits(&stage->client, "digits", SAMPLE_TRAIN, SAMPLE_BUDGET(4));
    ready_digits(&stage->client, "open", SAMPLE_TEST, SAMPLE_PUBLIC);
    assert_int_equal(daemon_stop(&stage->daemon, SIGTERM), 0);
    return 0;
}

static void expect_refused(const struct reply *reply)
{
    assert_problem(reply, 400, "not_float_safe");
    assert_string_equal(reply_text(reply, "errors.0.pointer"), "/model");
    assert_non_null(strstr(reply_text(reply, "detail"), "Haswell"));
}

static void a_model_that_no_noise_would_cover_is_refused(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    if (!kernels_have("Haswell")) {
        print_message("no kernels that round by place on this processor\n");
        skip();
    }
    start_with(&stage->daemon, "Haswell");
    for (int again = 0; again < 2; again++) { /* as found, and as remembered */
        expect_refused(client_post(client, "/v1/jobs:estimate", NULL, JOB, 20.0));
        expect_refused(client_create(client, "/v1/jobs", JOB, 20.0));
    }
    assert_int_equal(json_array_size(reply_at(client_get(client, "/v1/jobs"), "jobs")),
                     0);
    assert_true(reply_number(client_get(client, "/v1/datasets/digits/budget"),
                             "fraction_remaining") == 1);
    /* What is public has nothing to cover. */
    train(client, "{'dataset':'open','model':" CONVOLUTIONS
                  ",'algorithm':{'name':'sgd'},'batch_size':64,'steps':3}");
    /* Rows of dense layers round alike whatever the BLAS does. */
    const struct reply *job =
        train(client,
              "{'dataset':'digits','model':{'preset':'mlp'},'algorithm':{'name':"
              "'dpsgd'},'batch_size':64,'steps':3,'privacy':{'noise_multiplier':20}}");
    const struct reply *model = model_of(client, job);
    assert_true(json_is_true(reply_at(model, "certificate.noise.float_safe")));
    assert_true(reply_number(model, "certificate.noise.position_classes") == 1);
    assert_non_null(reply_text(model, "certificate.noise.dense_kernel"));
    assert_int_equal(daemon_stop(&stage->daemon, SIGTERM), 0);

    start_with(&stage->daemon, "Sandybridge");
    model = model_of(client, train(client, JOB, 20.0));
    assert_true(json_is_true(reply_at(model, "certificate.noise.float_safe")));
    assert_string_equal(reply_text(model, "certificate.noise.kernel"), "Sandybridge");
}

static void what_was_queued_under_other_kernels_ends_unpaid(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    if (!kernels_have("Haswell")) {
        print_message("no kernels that round by place on this processor\n");
        skip();
    }
    start_with(&stage->daemon, "Sandybridge");
    const char *running =
        submit(client,
               "{'dataset':'digits','model':{'preset':'linear'},'algorithm':{'name':"
               "'dpsgd'},'batch_size':64,'steps':%d,'privacy':{'noise_multiplier':%g}}",
               SAMPLE_ENDLESS, 30000.0);
    const char *queued = submit(client, JOB, 20.0);
    await_training(client, running);
    assert_int_equal(daemon_stop(&stage->daemon, SIGTERM), 0);

    start_with(&stage->daemon, "Haswell");
    const struct reply *job = await_end(client, queued);
    assert_string_equal(reply_text(job, "state"), "FAILED");
    assert_string_equal(reply_text(job, "state_reason"), "not_float_safe");
    assert_true(reply_number(job, "privacy.authorised_steps") == 0);
    assert_true(reply_number(job, "privacy.epsilon_spent") == 0);
    assert_true(json_is_null(reply_at(job, "model")));
    assert_int_equal(daemon_verify(&stage->daemon), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_model_that_no_noise_would_cover_is_refused,
                                        begin, stage_end),
        cmocka_unit_test_setup_teardown(what_was_queued_under_other_kernels_ends_unpaid,
                                        begin, stage_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
