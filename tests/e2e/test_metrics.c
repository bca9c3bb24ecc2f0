/* Goal: what an operator of the daemon gets: /metrics, the separate socket for it, the
 * log's line of each request, a client's trace, /readyz?verbose. Method: each number is
 * compared with the rest of the API, and none may reveal what the rest does not. */
#include <signal.h>
#include <string.h>
#include <time.h>

#include "tests/expect.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"

#define TRACE       "4bf92f3577b34da6a3ce929d0e0e4736"
#define TRACEPARENT "00-" TRACE "-00f067aa0ba902b7-01"

static const char *const debug[] = {"--log-level", "debug", "--workers", "1", NULL};

static int begin(void **state)
{
    if (stage_begin_with(state, debug) != 0)
        return 1;
    struct stage *stage = *state;
    ready_points(&stage->client, "points", 500, 1, SAMPLE_BUDGET(4));
    return 0;
}

/* Returns the value of a sample, named with its labels; -1 if there is none. */
static double sample(const struct reply *reply, const char *name)
{
    size_t length = strlen(name);
    for (const char *line = reply->body; line != NULL;
         line = strchr(line, '\n'), line = line != NULL ? line + 1 : NULL)
        if (strncmp(line, name, length) == 0 && line[length] == ' ')
            return strtod(line + length, NULL);
    return -1;
}

static const struct reply *scrape(struct client *client)
{
    const struct reply *reply = client_get(client, "/metrics");
    assert_status(reply, 200);
    return reply;
}

/* --- numbers --- */

static void every_sample_is_of_a_family_that_was_told_once(void **state)
{
    struct stage *stage = *state;
    char value[256], family[96] = "", seen[4096] = "";
    const struct reply *reply = scrape(&stage->client);
    assert_true(reply_header(reply, "Content-Type", value));
    assert_string_equal(value, "text/plain; version=0.0.4; charset=utf-8");
    assert_true(reply_header(reply, "Cache-Control", value));
    assert_string_equal(value, "no-store");
    char *text = strdup(reply->body), *rest = text, *line;
    while ((line = strsep(&rest, "\n")) != NULL && line[0] != '\0') {
        char name[96];
        if (sscanf(line, "# HELP %94s", name) == 1) {
            snprintf(family, sizeof family, "%.94s", name);
            strcat(name, "\n");
            assert_null(strstr(seen, name));
            strncat(seen, name, sizeof seen - strlen(seen) - 1);
        } else if (sscanf(line, "# TYPE %94s", name) == 1) {
            assert_string_equal(name, family);
        } else if (strncmp(line, family, strlen(family)) != 0) {
            fail_msg("%s is not of %s", line, family);
        }
    }
    free(text);
}

static void figures_are_those_of_the_rest_of_the_api(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    const struct reply *job = train(client, SAMPLE_JOB, "points", 500, 20.0);
    assert_problem(client_create(client, "/v1/jobs", SAMPLE_JOB, "points", 500, 0.06),
                   409, "budget_exhausted");
    const struct reply *status = client_get(client, "/v1/status");
    const struct reply *budget = client_get(client, "/v1/datasets/points/budget");
    const struct reply *metrics = scrape(client);
    double steps = reply_number(job, "progress.step");
    assert_true(steps == 500);
    assert_true(sample(metrics, "epsilond_train_steps_total{algorithm=\"dpsgd\"}") ==
                steps);
    assert_true(sample(metrics,
                       "epsilond_train_examples_expected_total{algorithm=\"dpsgd\"}") ==
                50 * steps);
    assert_true(sample(metrics, "epsilond_train_steps_total{algorithm=\"adp\"}") == 0);
    assert_true(sample(metrics, "epsilond_jobs{state=\"SUCCEEDED\"}") ==
                reply_number(status, "jobs.SUCCEEDED"));
    assert_true(
        sample(metrics, "epsilond_jobs_ended_total{state=\"SUCCEEDED\",reason=\"\"}") ==
        1);
    assert_true(
        sample(metrics, "epsilond_jobs_refused_total{code=\"budget_exhausted\"}") == 1);
    assert_true(sample(metrics, "epsilond_workers{state=\"idle\"}") == 1);
    assert_true(sample(metrics, "epsilond_ready") == 1);
    assert_true(sample(metrics, "epsilond_ledger_seq") ==
                reply_number(status, "ledger.seq"));
    assert_true(sample(metrics, "epsilond_ledger_entries_total{kind=\"RESERVE\"}") ==
                1);
    assert_true(sample(metrics, "epsilond_ledger_entries_total{kind=\"COMMIT\"}") == 1);
    assert_true(sample(metrics, "epsilond_budget_epsilon{dataset=\"points\"}") == 4);
    assert_true(sample(metrics, "epsilond_budget_spent_epsilon{dataset=\"points\"}") ==
                reply_number(budget, "epsilon_spent"));
    assert_true(
        sample(metrics, "epsilond_budget_remaining_epsilon{dataset=\"points\"}") ==
        reply_number(budget, "epsilon_remaining"));
    assert_true(
        sample(metrics, "epsilond_budget_remaining_ratio{dataset=\"points\"}") ==
        reply_number(budget, "share.left"));
    /* Two ledger commits are timed, those of the declaration and of the job; the import
     * is not. A refused request is counted. */
    assert_true(sample(metrics, "epsilond_ledger_commit_seconds_count") == 2);
    assert_true(sample(metrics, "epsilond_http_requests_total{route=\"/v1/jobs\","
                                "method=\"POST\",status=\"409\"}") == 1);
}

static void what_the_process_takes_is_coarse(void **state)
{
    struct stage *stage = *state;
    static const double grains[] = {16 << 20, 1 << 30};
    const struct reply *metrics = scrape(&stage->client);
    static const char *const names[] = {"process_resident_memory_bytes",
                                        "epsilond_storage_free_bytes"};
    for (size_t i = 0; i < 2; i++) {
        double bytes = sample(metrics, names[i]);
        assert_true(bytes > 0 && fmod(bytes, grains[i]) == 0);
    }
    double processor = sample(metrics, "process_cpu_seconds_total");
    assert_true(processor >= 0 && processor == floor(processor));
}

/* Between two ticks a run goes on, but none of its progress is shown. */
static void nothing_moves_but_at_a_tick(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    static const char *const names[] = {
        "epsilond_train_steps_total{algorithm=\"dpsgd\"}",
        "epsilond_train_examples_expected_total{algorithm=\"dpsgd\"}",
        "process_cpu_seconds_total", "process_resident_memory_bytes",
        "epsilond_storage_free_bytes"};
    enum { NAMES = sizeof names / sizeof *names, PROCESSOR = 2, MEMORY = 3, MOVES = 2 };
    const char *job = submit(client, SAMPLE_JOB, "points", SAMPLE_LONG, 30000.0);
    await_training(client, job);
    unsigned moves[NAMES] = {0}, scrapes = 0;
    double last[NAMES];
    time_t begin = time(NULL);
    const struct reply *metrics = scrape(client);
    for (size_t i = 0; i < NAMES; i++)
        last[i] = sample(metrics, names[i]);
    while (moves[0] < MOVES || scrapes <= 3 * MOVES) {
        metrics = scrape(client);
        scrapes++;
        for (size_t i = 0; i < NAMES; i++) {
            double now = sample(metrics, names[i]);
            moves[i] += now != last[i];
            last[i] = now;
        }
    }
    /* time() may be some milliseconds behind, and a tick may have been late. */
    unsigned seconds = (unsigned)(time(NULL) - begin);
    for (size_t i = 0; i < NAMES; i++)
        assert_true(moves[i] <= seconds + 2);
    assert_true(fmod(last[0] - 500, SAMPLE_QUARTER) == 0); /* 500 are the first job's */
    /* These two stay the same during a run, and so while it waits. */
    assert_int_equal(moves[PROCESSOR] + moves[MEMORY], 0);
    cancel(client, job);
    await_end(client, job);
}

/* The waiting time is the time at which a job changed, which may be private. */
static void a_request_that_waited_is_counted_and_not_timed(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    static const char timed[] = "epsilond_http_request_seconds_count";
    static const char polls[] = "epsilond_http_requests_total{route=\"/v1/jobs/{id}\","
                                "method=\"GET\",status=\"304\"}";
    char path[96], tag[256], known[300];
    const char *running =
        submit(client, SAMPLE_JOB, "points", SAMPLE_ENDLESS, 100000.0);
    const char *queued = submit(client, SAMPLE_JOB, "points", 10, 30000.0);
    await_training(client, running);
    assert_true(reply_header(client_get(client, "/v1/jobs/%s", queued), "ETag", tag));
    snprintf(path, sizeof path, "/v1/jobs/%s?wait=1", queued);
    snprintf(known, sizeof known, "If-None-Match: %s", tag);
    const struct reply *before = scrape(client);
    assert_status(client_get_with(client, path, known), 304);
    const struct reply *after = scrape(client);
    assert_true(sample(after, timed) == sample(before, timed));
    assert_true(sample(after, polls) == fmax(sample(before, polls), 0) + 1);
    cancel(client, queued);
    cancel(client, running);
    await_end(client, running);
}

static void no_label_names_a_job_or_a_model(void **state)
{
    struct stage *stage = *state;
    const struct reply *metrics = scrape(&stage->client);
    static const char *const never[] = {"job_0", "mdl_0",    "loss",       "norm",
                                        "local", "accuracy", "upload_size"};
    for (size_t i = 0; i < sizeof never / sizeof *never; i++)
        if (strstr(metrics->body, never[i]) != NULL)
            fail_msg("%s in %s", never[i], metrics->body);
}

static void datasets_beyond_the_limit_are_counted(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    daemon_stop(&stage->daemon, SIGTERM);
    daemon_start(&stage->daemon,
                 (const char *const[]){"--metrics-datasets-max", "1", "--log-level",
                                       "debug", "--workers", "1", NULL});
    assert_status(declare_points(client, "fresh", SAMPLE_BUDGET(4)), 201);
    const struct reply *metrics = scrape(client);
    assert_true(sample(metrics, "epsilond_budget_datasets_left_out") == 1);
    assert_true(sample(metrics, "epsilond_budget_epsilon{dataset=\"points\"}") == 4);
    assert_true(sample(metrics, "epsilond_budget_epsilon{dataset=\"fresh\"}") == -1);
}

/* --- a separate socket --- */

/* Returns the port in the last line of that event, or 0. */
static unsigned port_of(const struct daemon *daemon, const char *event)
{
    char path[128], line[4096], wanted[64], *at;
    unsigned port = 0;
    snprintf(path, sizeof path, "%s/log", daemon->directory);
    snprintf(wanted, sizeof wanted, "\"event\":\"%s\"", event);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL)
        if (strstr(line, wanted) != NULL && (at = strstr(line, "\"port\":\"")) != NULL)
            port = (unsigned)strtoul(at + 8, NULL, 10);
    fclose(file);
    return port;
}

static void a_socket_of_its_own_answers_metrics_alone(void **state)
{
    struct stage *stage = *state;
    struct daemon aside = stage->daemon;
    struct client client;
    daemon_stop(&stage->daemon, SIGTERM);
    daemon_start(&stage->daemon,
                 (const char *const[]){"--metrics-listen", "127.0.0.1:0", "--log-level",
                                       "debug", "--workers", "1", NULL});
    snprintf(aside.base, sizeof aside.base, "http://127.0.0.1:%u",
             port_of(&stage->daemon, "metrics_listening"));
    client_init(&client, &aside);
    assert_true(sample(scrape(&client), "epsilond_ready") == 1);
    assert_status(client_get(&client, "/v1/datasets"), 404);
    assert_status(client_get(&client, "/"), 404);
    assert_status(client_act(&client, "/metrics"), 404);
    assert_status(client_get_with(&client, "/metrics", "Host: rebound.example"), 403);
    assert_status(client_get_with(&client, "/metrics", "Origin: http://127.0.0.1"),
                  403);
    client_fini(&client);
    assert_int_equal(
        daemon_run(&stage->daemon,
                   (const char *const[]){"--data-dir", stage->daemon.data_dir,
                                         "--metrics-listen", "0.0.0.0:0", NULL}),
        64);
}

/* --- traces and the log --- */

static const struct reply *submit_traced(struct client *client, const char *key,
                                         const char *const *headers)
{
    static const char body[] =
        "{\"dataset\":\"points\",\"model\":{\"preset\":\"linear\"},\"algorithm\":"
        "{\"name\":\"dpsgd\"},\"batch_size\":50,\"steps\":20,"
        "\"privacy\":{\"noise_multiplier\":1000}}";
    char keyed[64];
    snprintf(keyed, sizeof keyed, "Idempotency-Key: %s", key);
    struct request request = {.method = "POST",
                              .path = "/v1/jobs",
                              .headers = {"Content-Type: application/json", keyed},
                              .body = body,
                              .size = strlen(body)};
    for (size_t i = 0; headers[i] != NULL; i++)
        request.headers[2 + i] = headers[i];
    return client_send(client, &request);
}

static void a_trace_is_kept_with_the_job_and_told_in_the_log(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    const struct reply *reply = submit_traced(
        client, "traced", (const char *const[]){"traceparent: " TRACEPARENT, NULL});
    assert_status(reply, 201);
    const char *id = reply_text(reply, "id");
    assert_string_equal(reply_text(reply, "traceparent"), TRACEPARENT);
    await_success(client, id);
    daemon_stop(&stage->daemon, SIGTERM);
    daemon_start(&stage->daemon, debug);
    assert_string_equal(
        reply_text(client_get(client, "/v1/jobs/%s", id), "traceparent"), TRACEPARENT);
    assert_true(daemon_logged(&stage->daemon, "\"trace_id\":\"" TRACE "\""));
    static const char *const events[] = {"job_started", "job_ended", "request"};
    for (size_t i = 0; i < 3; i++) {
        char line[128];
        snprintf(line, sizeof line, "\"event\":\"%s\"", events[i]);
        assert_true(daemon_logged(&stage->daemon, line));
    }
}

static void what_is_no_trace_is_none_and_two_are_refused(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    const struct reply *reply = submit_traced(
        client, "untraced", (const char *const[]){"traceparent: 00-no-trace-01", NULL});
    assert_status(reply, 201);
    assert_true(json_is_null(reply_at(reply, "traceparent")));
    await_success(client, reply_text(reply, "id"));
    assert_problem(
        submit_traced(client, "two",
                      (const char *const[]){"traceparent: " TRACEPARENT,
                                            "traceparent: " TRACEPARENT, NULL}),
        400, "invalid_argument");
}

static void a_line_of_the_log_has_nothing_that_the_sender_wrote(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    assert_status(client_get(client, "/v1/datasets/secret-in-a-path"), 404);
    assert_status(client_get(client, "/v1/datasets?q=secret-in-a-query"), 200);
    assert_status(client_get(client, "/secret-of-no-route"), 404);
    assert_status(client_post(client, "/v1/jobs:estimate", NULL,
                              "{'dataset':'secret-in-a-body'}"),
                  400);
    assert_true(daemon_logged(&stage->daemon, "\"route\":\"/v1/datasets/{id}\""));
    assert_true(daemon_logged(&stage->daemon, "\"route\":\"/v1/jobs:estimate\""));
    assert_true(daemon_logged(&stage->daemon, "\"status\":\"404\",\"bytes\":\""));
    assert_false(daemon_logged(&stage->daemon, "secret-"));
    /* The time of a submission would depend on the store, where runs authorise their
     * steps. */
    assert_false(daemon_logged(&stage->daemon,
                               "\"route\":\"/v1/jobs\",\"status\":\"201\","
                               "\"bytes\":\"1\""));
    assert_true(daemon_logged(&stage->daemon, "\"ms\":\"\",\"actor\":\"local\""));
}

/* --- readiness --- */

static void readiness_is_told_in_words(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    const struct reply *reply = client_get(client, "/readyz?verbose");
    assert_status(reply, 200);
    assert_string_equal(reply_text(reply, "status"), "ok");
    assert_string_equal(reply_text(reply, "ledger"), "writable");
    assert_string_equal(reply_text(reply, "chain"), "verified");
    assert_string_equal(reply_text(reply, "disk"), "room");
    assert_string_equal(reply_text(reply, "draining"), "no");
    const char *job = submit(client, SAMPLE_JOB, "points", SAMPLE_ENDLESS, 100000.0);
    await_training(client, job);
    assert_int_equal(kill(stage->daemon.pid, SIGTERM), 0);
    for (int polls = 0; polls < 3000; polls++) {
        reply = client_get(client, "/readyz?verbose");
        if (reply->status != 200)
            break;
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    assert_status(reply, 503);
    assert_string_equal(reply_text(reply, "status"), "not_ready");
    assert_string_equal(reply_text(reply, "draining"), "yes");
    assert_true(sample(scrape(client), "epsilond_ready") == 0);
    cancel(client, job);
    assert_int_equal(daemon_wait(&stage->daemon), 0);
    daemon_start(&stage->daemon, debug);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_sample_is_of_a_family_that_was_told_once),
        cmocka_unit_test(figures_are_those_of_the_rest_of_the_api),
        cmocka_unit_test(what_the_process_takes_is_coarse),
        cmocka_unit_test(nothing_moves_but_at_a_tick),
        cmocka_unit_test(a_request_that_waited_is_counted_and_not_timed),
        cmocka_unit_test(no_label_names_a_job_or_a_model),
        cmocka_unit_test(datasets_beyond_the_limit_are_counted),
        cmocka_unit_test(a_socket_of_its_own_answers_metrics_alone),
        cmocka_unit_test(a_trace_is_kept_with_the_job_and_told_in_the_log),
        cmocka_unit_test(what_is_no_trace_is_none_and_two_are_refused),
        cmocka_unit_test(a_line_of_the_log_has_nothing_that_the_sender_wrote),
        cmocka_unit_test(readiness_is_told_in_words),
    };
    return cmocka_run_group_tests(tests, begin, stage_end);
}
