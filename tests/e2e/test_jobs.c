/* Goal: a job's life as a client sees it: queued, running, cancelled within two ticks
 * of the tick clock, several at once on one dataset, a full queue, and the failures of
 * the closed list. */
#include <string.h>
#include <time.h>

#include "tests/expect.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"

/* A durable cancellation takes effect at the next tick, and its end is visible at the
 * one after: two seconds later, on a machine without other load. A sanitizer makes one
 * step correspondingly longer. */
/* Ticks between the request to cancel and the end of a job; a sanitizer's step takes
 * longer. */
static int cancel_ticks_max(void)
{
    return daemon_sanitizer() == SANITIZER_NONE ? 2 : 15;
}

static int begin(void **state)
{
    stage_begin_with(state, (const char *const[]){"--workers", "2", "--threads", "1",
                                                  "--queue-length-max", "3", NULL});
    ready_points(&((struct stage *)*state)->client, "points", 500, 1, SAMPLE_BUDGET(8));
    return 0;
}

static struct client *client_of(void **state)
{
    return &((struct stage *)*state)->client;
}

static const char *submit_endless(struct client *client)
{
    return submit(client, SAMPLE_JOB, "points", SAMPLE_ENDLESS, 100000.0);
}

static time_t time_of(const struct reply *reply, const char *path)
{
    struct tm parts = {0};
    assert_int_equal(sscanf(reply_text(reply, path), "%d-%d-%dT%d:%d:%dZ",
                            &parts.tm_year, &parts.tm_mon, &parts.tm_mday,
                            &parts.tm_hour, &parts.tm_min, &parts.tm_sec),
                     6);
    parts.tm_year -= 1900;
    parts.tm_mon--;
    return timegm(&parts);
}

/* Cancels the running job and returns its end. Seconds in which other programs had the
 * processors, or the disk before the cancellation was durable, do not count. */
static const struct reply *cancel_promptly(struct client *client, const char *job)
{
    double starved_s = daemon_starved_s(client->daemon);
    assert_string_equal(reply_text(cancel(client, job), "state"), "CANCELLING");
    time_t answered = time(NULL);
    const struct reply *ended = await_end(client, job);
    starved_s = daemon_starved_s(client->daemon) - starved_s;
    assert_true(difftime(time_of(ended, "end_time"), answered) <=
                cancel_ticks_max() + starved_s);
    return ended;
}

static void a_running_job_is_cancelled_within_two_ticks(void **state)
{
    struct client *client = client_of(state);
    const char *job = submit_endless(client);
    const struct reply *running = await_training(client, job);
    assert_string_equal(reply_text(running, "state"), "RUNNING");
    assert_true(json_is_null(reply_at(running, "end_time")));
    const struct reply *ended = cancel_promptly(client, job);
    assert_string_equal(reply_text(ended, "state"), "CANCELLED");
    assert_string_equal(reply_text(ended, "state_reason"), "user_cancel");
    assert_true(json_is_null(reply_at(ended, "model")));
    /* The charge is what was authorised: the steps that ran, and at most the block
     * after them. */
    double step = reply_number(ended, "progress.step");
    double authorised = reply_number(ended, "privacy.authorised_steps");
    assert_true(authorised >= step && authorised <= step + SAMPLE_ENDLESS / 4.0);
    assert_string_equal(reply_text(cancel(client, job), "state"), "CANCELLED");
}

static void a_big_step_is_cancelled_within_two_ticks(void **state)
{
    struct client *client = client_of(state);
    ready_digits(client, "digits", SAMPLE_TRAIN, SAMPLE_BUDGET(1));
    /* A sanitizer's step takes longer. */
    const int width = daemon_sanitizer() == SANITIZER_NONE ? 2048 : 512;
    const char *job =
        submit(client,
               "{'dataset':'digits','model':{'preset':'mlp','hidden':[%d,1024]},"
               "'algorithm':{'name':'dpsgd'},'batch_size':1438,'steps':100000,"
               "'privacy':{'noise_multiplier':100000}}",
               width);
    await_training(client, job);
    cancel_promptly(client, job);
}

static void a_queued_job_is_cancelled_for_nothing(void **state)
{
    struct client *client = client_of(state);
    const char *first = submit_endless(client), *second = submit_endless(client);
    const char *third = submit_endless(client);
    await_training(client, first);
    await_training(client, second);
    const struct reply *queued = client_get(client, "/v1/jobs/%s", third);
    assert_string_equal(reply_text(queued, "state"), "QUEUED");
    assert_true(json_is_null(reply_at(queued, "start_time")));
    const struct reply *cancelled = cancel(client, third);
    assert_string_equal(reply_text(cancelled, "state"), "CANCELLED");
    assert_true(reply_number(cancelled, "privacy.epsilon_spent") == 0);
    assert_true(reply_number(cancelled, "privacy.authorised_steps") == 0);
    cancel(client, first);
    cancel(client, second);
    await_end(client, first);
    await_end(client, second);
}

static void two_jobs_on_one_dataset_run_at_once(void **state)
{
    struct client *client = client_of(state);
    const char *first = submit_endless(client), *second = submit_endless(client);
    await_training(client, first);
    await_training(client, second);
    assert_string_equal(reply_text(client_get(client, "/v1/jobs/%s", first), "state"),
                        "RUNNING");
    assert_string_equal(reply_text(client_get(client, "/v1/jobs/%s", second), "state"),
                        "RUNNING");
    cancel(client, first);
    await_end(client, first);
    assert_string_equal(reply_text(client_get(client, "/v1/jobs/%s", second), "state"),
                        "RUNNING");
    cancel(client, second);
    await_end(client, second);
}

static void a_full_queue_refuses_and_reserves_nothing(void **state)
{
    struct client *client = client_of(state);
    const char *jobs[5];
    for (int i = 0; i < 5; i++) {
        jobs[i] = submit_endless(client);
        if (i < 2)
            await_training(client, jobs[i]);
    }
    const struct reply *head = client_get(client, "/v1/ledger/head");
    const struct reply *refused =
        client_post(client, "/v1/jobs", "overflow", SAMPLE_JOB, "points", 5, 1000.0);
    assert_problem(refused, 503, "queue_full");
    char after[256];
    assert_true(reply_header(refused, "retry-after", after));
    assert_true(json_is_true(reply_at(refused, "retryable")));
    assert_string_equal(client_get(client, "/v1/ledger/head")->body, head->body);
    for (int i = 4; i >= 0; i--)
        cancel(client, jobs[i]);
    for (int i = 0; i < 5; i++)
        await_end(client, jobs[i]);
    const struct reply *again =
        client_post(client, "/v1/jobs", "overflow", SAMPLE_JOB, "points", 5, 1000.0);
    assert_status(again, 201);
    await_success(client, reply_text(again, "id"));
}

static void jobs_run_first_in_first_out(void **state)
{
    struct client *client = client_of(state);
    const char *first = submit_endless(client), *second = submit_endless(client);
    const char *third = submit_endless(client), *fourth = submit_endless(client);
    await_training(client, first);
    await_training(client, second);
    cancel(client, first);
    await_training(client, third);
    assert_string_equal(reply_text(client_get(client, "/v1/jobs/%s", fourth), "state"),
                        "QUEUED");
    cancel(client, fourth);
    cancel(client, third);
    cancel(client, second);
    await_end(client, second);
    await_end(client, third);
}

static void an_ended_job_cannot_be_cancelled(void **state)
{
    struct client *client = client_of(state);
    const char *job = submit(client, SAMPLE_JOB, "points", 5, 1000.0);
    await_success(client, job);
    assert_problem(client_act(client, "/v1/jobs/%s:cancel", job), 409, "job_terminal");
    assert_problem(client_act(client, "/v1/jobs/job_01ARZ3NDEKTSV4RRFFQ69G5FAV:cancel"),
                   404, "not_found");
}

static void every_default_is_written_into_the_job(void **state)
{
    struct client *client = client_of(state);
    const struct reply *job = client_create(
        client, "/v1/jobs",
        "{'dataset':'points','model':{'preset':'mlp'},"
        "'algorithm':{'name':'dpsgd'},'privacy':{'noise_multiplier':50}}");
    assert_status(job, 201);
    /* 500 records: batch max(256, 2^3) <= n; 20 epochs; 40 steps. */
    assert_true(reply_number(job, "batch_size") == 256);
    assert_true(reply_number(job, "epochs") == 20);
    assert_true(reply_number(job, "progress.steps") == 40);
    assert_true(reply_number(job, "algorithm.clip_norm") == 1);
    assert_string_equal(reply_text(job, "optimizer.name"), "sgd");
    assert_true(reply_number(job, "optimizer.learning_rate") == 2);
    assert_true(reply_number(job, "optimizer.momentum") == 0);
    assert_true(reply_number(job, "model_spec.hidden.0") == 128);
    assert_string_equal(reply_text(job, "model_spec.activation"), "relu");
    assert_true(reply_number(job, "model_spec.init_seed") == 0);
    assert_true(reply_number(job, "privacy.delta") == 1e-5);
    assert_close(reply_number(job, "privacy.sampling_rate"), 256.0 / 500, 1e-14);
    await_end(client, reply_text(job, "id"));
}

static void adam_and_momentum_train_too(void **state)
{
    struct client *client = client_of(state);
    const char *optimizers[] = {"{'name':'sgd','learning_rate':0.5,'momentum':0.9}",
                                "{'name':'adam','learning_rate':0.01}"};
    for (size_t i = 0; i < 2; i++) {
        train(client,
              "{'dataset':'points','model':{'preset':'mlp','hidden':[8],"
              "'activation':'tanh'},'algorithm':{'name':'dpsgd'},'optimizer':%s,"
              "'batch_size':50,'steps':50,'privacy':{'noise_multiplier':200}}",
              optimizers[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_running_job_is_cancelled_within_two_ticks),
        cmocka_unit_test(a_big_step_is_cancelled_within_two_ticks),
        cmocka_unit_test(a_queued_job_is_cancelled_for_nothing),
        cmocka_unit_test(two_jobs_on_one_dataset_run_at_once),
        cmocka_unit_test(a_full_queue_refuses_and_reserves_nothing),
        cmocka_unit_test(jobs_run_first_in_first_out),
        cmocka_unit_test(an_ended_job_cannot_be_cancelled),
        cmocka_unit_test(every_default_is_written_into_the_job),
        cmocka_unit_test(adam_and_momentum_train_too),
    };
    return cmocka_run_group_tests(tests, begin, stage_end);
}
