/* Goal: the log of a job contains exactly what a client that reads the job at every
 * tick has seen: its states, blocks as they were authorised, evaluations, released
 * quantities. */
#include <signal.h>
#include <string.h>

#include "tests/expect.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"

static struct stage *stage;

static int begin(void **state)
{
    stage_begin(state);
    stage = *state;
    ready_points(&stage->client, "points", 500, 1, SAMPLE_BUDGET(8));
    ready_points(&stage->client, "open", 300, 2, SAMPLE_PUBLIC);
    return 0;
}

#define EVALUATED                                                                      \
    "{'dataset':'points','evaluation':'open','model':{'preset':'linear'},"             \
    "'algorithm':{'name':'%s'},'batch_size':50,'steps':%d,"                            \
    "'privacy':{'noise_multiplier':50}}"

static const struct reply *log_of(const char *job, const char *query)
{
    const struct reply *reply =
        client_get(&stage->client, "/v1/jobs/%s/logs?page_size=1000%s", job, query);
    assert_status(reply, 200);
    return reply;
}

static const char *line_text(const json_t *line, const char *name)
{
    const json_t *value = json_object_get(line, name);
    return json_is_string(value) ? json_string_value(value) : "";
}

/* Returns the number of log lines with this event; stores the last of them in *last. */
static size_t count_of(const struct reply *log, const char *event, const json_t **last)
{
    const json_t *line;
    size_t i, count = 0;
    json_array_foreach(reply_at(log, "log"), i, line)
    {
        assert_int_equal(json_integer_value(json_object_get(line, "seq")), i + 1);
        if (strcmp(line_text(line, "event"), event) != 0)
            continue;
        *last = line;
        count++;
    }
    return count;
}

static void a_log_says_what_the_job_shows_and_no_more(void **state)
{
    (void)state;
    const struct reply *job = train(&stage->client, EVALUATED, "dcsgd_p", 40);
    const struct reply *log = log_of(reply_text(job, "id"), "");
    const json_t *last = NULL, *line;
    size_t i;
    assert_string_equal(reply_text(log, "log.0.state"), "QUEUED");
    assert_string_equal(reply_text(log, "log.0.time"), reply_text(job, "create_time"));
    assert_string_equal(reply_text(log, "log.1.state"), "RUNNING");
    assert_string_equal(reply_text(log, "log.1.time"), reply_text(job, "start_time"));
    assert_int_equal(count_of(log, "state", &last), 3);
    assert_string_equal(line_text(last, "state"), "SUCCEEDED");
    assert_string_equal(line_text(last, "time"), reply_text(job, "end_time"));
    assert_int_equal(count_of(log, "evaluation", &last),
                     json_array_size(reply_at(job, "metrics.history")));
    assert_true(json_equal(json_object_get(last, "evaluation"),
                           reply_at(job, "metrics.evaluation")));
    assert_int_equal(count_of(log, "released", &last),
                     json_array_size(reply_at(job, "metrics.released")));
    assert_true(count_of(log, "authorised", &last) >= 1);
    assert_true((double)json_integer_value(json_object_get(last, "authorised_steps")) ==
                reply_number(job, "privacy.authorised_steps"));
    const char *before = "";
    json_array_foreach(reply_at(log, "log"), i, line)
    {
        assert_true(strcmp(line_text(line, "time"), before) >= 0);
        assert_int_equal(strlen(line_text(line, "time")), 20); /* whole seconds */
        before = line_text(line, "time");
    }
}

/* Everything that the job shows at any moment is in the log that is read after it, and
 * a log that is read before it contains no more than that. */
static void a_log_is_never_ahead_of_the_job(void **state)
{
    (void)state;
    struct client *client = &stage->client;
    const char *job = submit(client, SAMPLE_JOB, "points", SAMPLE_LONG, 1000.0);
    const json_t *last = NULL;
    for (int i = 0; i < 2; i++) {
        const struct reply *before = log_of(job, "");
        const struct reply *shown =
            await_step(client, job, (uint64_t)(i + 1) * SAMPLE_QUARTER);
        const struct reply *after = log_of(job, "");
        double steps = reply_number(shown, "privacy.authorised_steps");
        if (count_of(before, "authorised", &last) > 0)
            assert_true((double)json_integer_value(
                            json_object_get(last, "authorised_steps")) <= steps);
        assert_true(count_of(after, "authorised", &last) > 0);
        assert_true((double)json_integer_value(
                        json_object_get(last, "authorised_steps")) >= steps);
    }
    cancel(client, job);
    const struct reply *ended = await_end(client, job);
    const struct reply *log = log_of(job, "");
    assert_int_equal(count_of(log, "state", &last), 4);
    assert_string_equal(line_text(last, "state"), "CANCELLED");
    assert_string_equal(line_text(last, "state_reason"), "user_cancel");
    assert_true(count_of(log, "authorised", &last) <= 101);
    assert_true((double)json_integer_value(json_object_get(last, "authorised_steps")) ==
                reply_number(ended, "privacy.authorised_steps"));
}

static void a_log_is_kept_over_a_restart(void **state)
{
    (void)state;
    const struct reply *job = train(&stage->client, EVALUATED, "dpsgd", 30);
    const struct reply *before = log_of(reply_text(job, "id"), "");
    assert_int_equal(daemon_stop(&stage->daemon, SIGKILL), 128 + SIGKILL);
    daemon_start(&stage->daemon, NULL);
    assert_string_equal(log_of(reply_text(job, "id"), "")->body, before->body);
}

static void pages_and_lines_are_the_log(void **state)
{
    (void)state;
    struct client *client = &stage->client;
    const struct reply *job = train(client, EVALUATED, "dpsgd", 30);
    const char *id = reply_text(job, "id");
    const json_t *whole = reply_at(log_of(id, ""), "log");
    const json_t *backwards = reply_at(log_of(id, "&order=desc"), "log");
    size_t count = json_array_size(whole), read = 0;
    char token[100] = "";
    assert_true(count > 5);
    for (size_t i = 0; i < count; i++)
        assert_true(json_equal(json_array_get(whole, i),
                               json_array_get(backwards, count - 1 - i)));
    do {
        const struct reply *page =
            client_get(client, "/v1/jobs/%s/logs?page_size=2%s%s", id,
                       token[0] != '\0' ? "&page_token=" : "", token);
        const json_t *next = reply_at(page, "next_page_token");
        size_t size = json_array_size(reply_at(page, "log"));
        assert_true(size >= 1 && size <= 2);
        for (size_t i = 0; i < size; i++)
            assert_true(json_equal(json_array_get(reply_at(page, "log"), i),
                                   json_array_get(whole, read++)));
        snprintf(token, sizeof token, "%s",
                 json_is_null(next) ? "" : json_string_value(next));
    } while (token[0] != '\0');
    assert_int_equal(read, count);
    char path[100];
    snprintf(path, sizeof path, "/v1/jobs/%s/logs", id);
    const struct reply *lines =
        client_get_with(client, path, "Accept: application/x-ndjson");
    assert_status(lines, 200);
    size_t ends = 0;
    for (const char *at = lines->body; (at = strchr(at, '\n')) != NULL; at++)
        ends++;
    assert_int_equal(ends, count);
    assert_problem(client_get(client, "/v1/jobs/%s/logs?page_size=-1", id), 400,
                   "invalid_argument");
    assert_problem(client_get(client, "/v1/jobs/job_01JJZ0000000000000000000AB/logs"),
                   404, "not_found");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_log_says_what_the_job_shows_and_no_more),
        cmocka_unit_test(a_log_is_never_ahead_of_the_job),
        cmocka_unit_test(a_log_is_kept_over_a_restart),
        cmocka_unit_test(pages_and_lines_are_the_log),
    };
    return cmocka_run_group_tests(tests, begin, stage_end);
}
