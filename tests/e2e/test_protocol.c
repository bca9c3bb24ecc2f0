/* Goal: the conventions of HTTP that clients rely on: methods, types, keys, origins,
 * pages, polling. Method: requests to a running daemon. */
#include <string.h>
#include <time.h>

#include "tests/expect.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"

#define SMALL_JOB                                                                      \
    "{'dataset':'points','model':{'preset':'linear'},'algorithm':{'name':'dpsgd'},"    \
    "'batch_size':50,'steps':2,'privacy':{'noise_multiplier':100}}"

static int begin(void **state)
{
    stage_begin(state);
    struct client *client = &((struct stage *)*state)->client;
    ready_points(client, "points", 500, 1, SAMPLE_BUDGET(8));
    return 0;
}

static struct client *client_of(void **state)
{
    return &((struct stage *)*state)->client;
}

static const struct reply *call(struct client *client, const char *method,
                                const char *path, const char *header, const char *body)
{
    return client_send(client,
                       &(struct request){.method = method,
                                         .path = path,
                                         .headers = {header},
                                         .body = body,
                                         .size = body != NULL ? strlen(body) : 0});
}

static const struct reply *call_bytes(struct client *client, const char *path,
                                      const void *bytes, size_t size)
{
    return client_send(client,
                       &(struct request){.method = "POST",
                                         .path = path,
                                         .headers = {"Content-Type: application/json"},
                                         .body = bytes,
                                         .size = size});
}

static void the_open_routes_answer(void **state)
{
    struct client *client = client_of(state);
    assert_status(client_get(client, "/livez"), 200);
    assert_status(client_get(client, "/readyz"), 200);
    const struct reply *version = client_get(client, "/v1/version");
    assert_status(version, 200);
    assert_true(strlen(reply_text(version, "version")) > 0);
    const struct reply *openapi = client_get(client, "/openapi.yaml");
    assert_status(openapi, 200);
    assert_non_null(strstr(openapi->body, "openapi: 3.1"));
    const struct reply *algorithms = client_get(client, "/v1/algorithms");
    assert_status(algorithms, 200);
    assert_non_null(strstr(algorithms->body, "\"dpsgd\""));
}

static void an_unknown_path_is_not_found(void **state)
{
    struct client *client = client_of(state);
    const char *paths[] = {"/v1",
                           "/v1/",
                           "/v2/jobs",
                           "/v1/jobs/",
                           "/v1/jobs:cancel",
                           "/v1/jobs/job_0/cancel",
                           "/v1/datasets/points:export",
                           "/v1/jobs/job_01ARZ3NDEKTSV4RRFFQ69G5FAV",
                           "/v1/models/mdl_01ARZ3NDEKTSV4RRFFQ69G5FAV",
                           "/v1/models/mdl_01ARZ3NDEKTSV4RRFFQ69G5FAV/content",
                           "/v1/datasets/points%3Aimport",
                           "/v1/jobs%3Aestimate",
                           "/v1/%256Aobs"};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        const struct reply *reply = client_get(client, "%s", paths[i]);
        if (reply->status != 404 && !(reply->status == 405 && strstr(paths[i], ":")))
            fail_msg("GET %s: %ld %s", paths[i], reply->status, reply->body);
    }
    assert_problem(client_get(client, "/v1/nothing"), 404, "not_found");
}

static void a_wrong_method_is_told_the_right_ones(void **state)
{
    struct client *client = client_of(state);
    char allow[256];
    const struct reply *reply = call(client, "PATCH", "/v1/datasets", NULL, NULL);
    assert_problem(reply, 405, "method_not_allowed");
    assert_true(reply_header(reply, "allow", allow));
    assert_non_null(strstr(allow, "GET"));
    assert_non_null(strstr(allow, "POST"));
    assert_problem(call(client, "DELETE", "/v1/jobs", NULL, NULL), 405,
                   "method_not_allowed");
    assert_problem(call(client, "BREW", "/livez", NULL, NULL), 405,
                   "method_not_allowed");
    assert_problem(call(client, "GET", "/v1/jobs:estimate", NULL, NULL), 405,
                   "method_not_allowed");
}

static void a_form_type_is_refused_before_anything_is_read(void **state)
{
    struct client *client = client_of(state);
    const char *types[] = {"Content-Type: application/x-www-form-urlencoded",
                           "Content-Type: text/plain",
                           "Content-Type: multipart/form-data",
                           "Content-Type: application/jsonx", "Content-Type:"};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        assert_problem(call(client, "POST", "/v1/jobs", types[i], "{}"), 415,
                       "unsupported_media_type");
        assert_problem(call(client, "POST", "/v1/jobs:estimate", types[i], "{}"), 415,
                       "unsupported_media_type");
    }
    const struct reply *reply =
        call(client, "POST", "/v1/jobs:estimate",
             "Content-Type: Application/JSON; charset=utf-8",
             "{\"dataset\":\"points\",\"model\":{\"preset\":\"linear\"},"
             "\"algorithm\":{\"name\":\"dpsgd\"},\"privacy\":{\"epsilon\":1}}");
    assert_status(reply, 200);
}

static void creating_takes_a_key(void **state)
{
    struct client *client = client_of(state);
    assert_problem(client_post(client, "/v1/jobs", NULL, SMALL_JOB), 400,
                   "idempotency_key_missing");
    assert_problem(client_post(client, "/v1/datasets", NULL, "{}"), 400,
                   "idempotency_key_missing");
    char key[300];
    memset(key, 'k', 256);
    key[256] = '\0';
    assert_int_equal(client_post(client, "/v1/jobs", key, SMALL_JOB)->status, 400);
    assert_int_equal(client_post(client, "/v1/jobs", "caf\xc3\xa9", SMALL_JOB)->status,
                     400);
    key[255] = '\0';
    assert_status(client_post(client, "/v1/jobs", key, SMALL_JOB), 201);
}

static void an_action_takes_no_body_or_an_empty_object(void **state)
{
    struct client *client = client_of(state);
    const char *path = "/v1/datasets/points:import",
               *type = "Content-Type: application/json";
    assert_status(client_act(client, "%s", path), 200);
    assert_status(call(client, "POST", path, NULL, ""), 200);
    assert_status(call(client, "POST", path, type, "{}"), 200);
    assert_problem(call(client, "POST", path, type, "{\"force\":true}"), 400,
                   "invalid_argument");
    assert_problem(call(client, "POST", path, type, "{"), 400, "invalid_argument");
    assert_problem(call_bytes(client, path, "\0{bad", 6), 400, "invalid_argument");
    assert_problem(call_bytes(client, path, "{}\0", 3), 400, "invalid_argument");
}

/* A parser that stopped at the NUL would accept both as a job. */
static void a_body_ends_at_its_size_and_not_at_a_nul(void **state)
{
    struct client *client = client_of(state);
    char body[512] = "{\"dataset\":\"points\",\"model\":{\"preset\":\"linear\"},"
                     "\"algorithm\":{\"name\":\"dpsgd\"},\"privacy\":{\"epsilon\":1}}";
    size_t size = strlen(body);
    assert_status(call_bytes(client, "/v1/jobs:estimate", body, size), 200);
    assert_problem(call_bytes(client, "/v1/jobs:estimate", body, size + 1), 400,
                   "invalid_argument");
    memcpy(body + size + 1, "]", 1);
    assert_problem(call_bytes(client, "/v1/jobs:estimate", body, size + 2), 400,
                   "invalid_argument");
}

static void a_foreign_origin_is_refused(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    char own[80];
    snprintf(own, sizeof own, "Origin: %s", stage->daemon.base);
    assert_status(client_get_with(client, "/v1/datasets", own), 200);
    const char *foreign[] = {
        "Origin: https://example.com", "Origin: null", "Origin: http://127.0.0.1",
        "Origin: http://127.0.0.1.example.com", "Origin: https://localhost"};
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++) {
        assert_problem(client_get_with(client, "/v1/datasets", foreign[i]), 403,
                       "forbidden_origin");
        assert_problem(
            call(client, "PUT", "/v1/datasets/points/files/data", foreign[i], "x"), 403,
            "forbidden_origin");
    }
}

static void a_foreign_host_is_refused(void **state)
{
    struct client *client = client_of(state);
    const char *foreign[] = {
        "Host: example.com",           "Host: 127.0.0.1.example.com",
        "Host: localhost.example.com", "Host: 10.0.0.1:8080",
        "Host: localhost:80:80",       "Host: 0.0.0.0"};
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++)
        assert_problem(client_get_with(client, "/v1/datasets", foreign[i]), 403,
                       "forbidden_origin");
    const char *own[] = {"Host: localhost",  "Host: localhost:8080",
                         "Host: 127.0.0.1",  "Host: 127.0.0.1:9",
                         "Host: [::1]:8080", "Host: LOCALHOST"};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        assert_status(client_get_with(client, "/v1/datasets", own[i]), 200);
}

static void an_unchanged_job_answers_304(void **state)
{
    struct client *client = client_of(state);
    const char *job = submit(client, SMALL_JOB);
    await_end(client, job);
    char path[80], etag[256], header[300];
    snprintf(path, sizeof path, "/v1/jobs/%s", job);
    assert_true(reply_header(client_get(client, "%s", path), "etag", etag));
    snprintf(header, sizeof header, "If-None-Match: %s", etag);
    const struct reply *same = client_get_with(client, path, header);
    assert_status(same, 304);
    assert_int_equal(same->size, 0);
    assert_status(client_get_with(client, path, "If-None-Match: \"another\""), 200);
    assert_status(client_get_with(client, path, "If-None-Match: *"), 304);
}

static void a_poll_waits_for_the_change_and_no_longer(void **state)
{
    struct client *client = client_of(state);
    const char *job = submit(client, SAMPLE_JOB, "points", SAMPLE_LONG, 100000.0);
    await_training(client, job);
    double starved_s = daemon_starved_s(client->daemon);
    const struct reply *waited = client_get(client, "/v1/jobs/%s?wait=1", job);
    starved_s = daemon_starved_s(client->daemon) - starved_s;
    assert_status(waited, 200);
    assert_string_equal(reply_text(waited, "state"), "RUNNING");
    assert_true(waited->seconds >= 0.9 && waited->seconds < 5 + starved_s);
    char path[80], etag[256], header[300];
    snprintf(path, sizeof path, "/v1/jobs/%s?wait=60", job);
    assert_true(reply_header(waited, "etag", etag));
    snprintf(header, sizeof header, "If-None-Match: %s", etag);
    const struct reply *changed = client_get_with(client, path, header);
    assert_status(changed, 200); /* at the next hundredth of the steps */
    assert_true(changed->seconds < 60);
    cancel(client, job);
    const struct reply *ended = client_get(client, "/v1/jobs/%s?wait=60", job);
    assert_string_equal(reply_text(ended, "state"), "CANCELLED");
    assert_true(ended->seconds < 60);
    assert_true(reply_header(ended, "etag", etag));
    snprintf(path, sizeof path, "/v1/jobs/%s?wait=60", job);
    snprintf(header, sizeof header, "If-None-Match: %s", etag);
    const struct reply *final = client_get_with(client, path, header);
    assert_status(final, 304); /* it never changes again */
    assert_true(final->seconds < 60);
    assert_problem(client_get(client, "/v1/jobs/%s?wait=61", job), 400,
                   "invalid_argument");
    assert_problem(client_get(client, "/v1/jobs/%s?wait=-1", job), 400,
                   "invalid_argument");
    assert_problem(client_get(client, "/v1/jobs/%s?wait=soon", job), 400,
                   "invalid_argument");
}

static void pages_cover_a_list_once_newest_first(void **state)
{
    struct client *client = client_of(state);
    char ids[7][64];
    for (int i = 0; i < 7; i++) {
        snprintf(ids[i], sizeof ids[i], "page-%d", i);
        assert_status(declare_points(client, ids[i], SAMPLE_PUBLIC), 201);
    }
    char token[256] = "", path[400];
    size_t seen = 0, all = json_array_size(
                         reply_at(client_get(client, "/v1/datasets"), "datasets"));
    do {
        snprintf(path, sizeof path, "/v1/datasets?page_size=3%s%s",
                 token[0] != '\0' ? "&page_token=" : "", token);
        const struct reply *page = client_get(client, "%s", path);
        assert_status(page, 200);
        const json_t *items = reply_at(page, "datasets");
        assert_true(json_array_size(items) <= 3);
        for (size_t i = 0; i < json_array_size(items); i++, seen++)
            if (seen < 7)
                assert_string_equal(
                    json_string_value(json_object_get(json_array_get(items, i), "id")),
                    ids[6 - seen]);
        const json_t *next = reply_at(page, "next_page_token");
        snprintf(token, sizeof token, "%s",
                 json_is_null(next) ? "" : json_string_value(next));
    } while (token[0] != '\0');
    assert_int_equal(seen, all);
    assert_problem(client_get(client, "/v1/datasets?page_size=-1"), 400,
                   "invalid_argument");
    assert_problem(client_get(client, "/v1/datasets?page_size=many"), 400,
                   "invalid_argument");
    assert_problem(client_get(client, "/v1/datasets?page_token=nonsense"), 400,
                   "invalid_argument");
    assert_problem(client_get(client, "/v1/datasets?page_size=1001"), 400,
                   "invalid_argument");
    assert_status(client_get(client, "/v1/datasets?page_size=1000"), 200);
}

static void jobs_are_listed_by_state_and_dataset(void **state)
{
    struct client *client = client_of(state);
    const char *job = submit(client, SMALL_JOB);
    await_end(client, job);
    const struct reply *found =
        client_get(client, "/v1/jobs?state=SUCCEEDED&dataset=points&page_size=1");
    assert_status(found, 200);
    assert_string_equal(reply_text(found, "jobs.0.id"), job);
    const struct reply *none = client_get(client, "/v1/jobs?dataset=nowhere");
    assert_status(none, 200);
    assert_int_equal(json_array_size(reply_at(none, "jobs")), 0);
    assert_problem(client_get(client, "/v1/jobs?state=DONE"), 400, "invalid_argument");
    assert_problem(client_get(client, "/v1/jobs?dataset=No"), 400, "invalid_argument");
}

static void an_answer_has_a_type_that_is_accepted(void **state)
{
    struct client *client = client_of(state);
    const struct {
        const char *path, *accept;
        long status;
        const char *type;
    } cases[] = {
        {"/v1/jobs", "Accept: application/json", 200, "application/json"},
        {"/v1/jobs", "Accept: application/*;q=0.1", 200, "application/json"},
        {"/v1/jobs", "Accept:", 200, "application/json"}, /* sends no Accept */
        {"/v1/jobs", "Accept: text/html", 406, "application/problem+json"},
        {"/v1/jobs", "Accept: application/x-ndjson", 406, "application/problem+json"},
        {"/v1/jobs", "Accept: application/json;q=0, */*", 406,
         "application/problem+json"},
        {"/v1/jobs/nothing", "Accept: application/json", 404,
         "application/problem+json"},
        {"/openapi.yaml", "Accept: application/json", 406, "application/problem+json"},
        {"/openapi.yaml", "Accept: */*", 200, "application/yaml"},
        {"/openapi.yaml", "Accept: application/problem+json", 200, "application/yaml"},
        {"/openapi.yaml", "Accept: application/problem+xml", 406,
         "application/problem+json"},
        {"/v1/datasets/points/ledger", "Accept: application/x-ndjson", 200,
         "application/x-ndjson"},
        {"/v1/datasets/points/ledger",
         "Accept: application/x-ndjson;q=0, application/json", 200, "application/json"},
        {"/v1/datasets/points/ledger", "Accept: application/x-ndjson;q=0.5, */*", 200,
         "application/json"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char type[256] = "";
        const struct reply *reply =
            client_get_with(client, cases[i].path, cases[i].accept);
        assert_true(reply_header(reply, "content-type", type));
        if (reply->status != cases[i].status || strcmp(type, cases[i].type) != 0)
            fail_msg("%s, %s: %ld %s", cases[i].path, cases[i].accept, reply->status,
                     type);
    }
}

/* A client that cannot read the answer would not know of its job. */
static void what_cannot_be_answered_is_not_done(void **state)
{
    struct client *client = client_of(state);
    struct request request = {.method = "POST",
                              .path = "/v1/datasets",
                              .headers = {"Content-Type: application/json",
                                          "Idempotency-Key: unread",
                                          "Accept: text/html"}};
    char body[400];
    snprintf(body, sizeof body, "%s",
             "{\"id\":\"unread\",\"format\":\"idx\",\"task\":\"classification\","
             "\"classes\":2,\"features\":{\"shape\":[2],\"scale\":1},"
             "\"privacy\":\"public\"}");
    request.body = body;
    request.size = strlen(body);
    assert_problem(client_send(client, &request), 406, "not_acceptable");
    request.headers[2] = "Expect: 200-maybe";
    assert_problem(client_send(client, &request), 417, "expectation_failed");
    assert_problem(client_get(client, "/v1/datasets/unread"), 404, "not_found");
    request.headers[2] = "Expect: 100-Continue";
    assert_status(client_send(client, &request), 201);
}

static void a_parameter_that_a_route_does_not_take_is_named(void **state)
{
    struct client *client = client_of(state);
    const char *id = submit(client, SMALL_JOB);
    await_end(client, id);
    const struct {
        const char *method, *path, *header, *body, *named;
    } cases[] = {
        {"GET", "/v1/jobs?sate=FAILED", NULL, NULL, "sate"},
        {"GET", "/v1/jobs?state=FAILED&state=FAILED", NULL, NULL, "state"},
        {"GET", "/v1/jobs?page_size=1&page%5Fsize=2", NULL, NULL, "page_size"},
        {"GET", "/v1/jobs?=FAILED", NULL, NULL, "\"\""},
        {"GET", "/v1/models?state=READY", NULL, NULL, "state"},
        {"GET", "/v1/datasets/points?wait=1", NULL, NULL, "wait"},
        {"GET", "/v1/datasets/points/budget?epoch", NULL, NULL, "epoch"},
        {"GET", "/v1/datasets/points/ledger?after=2", NULL, NULL, "after"},
        {"GET", "/v1/models?privacy=public", NULL, NULL, "privacy"},
        {"GET", "/livez?verbose", NULL, NULL, "verbose"},
        {"POST", "/v1/datasets/points:import?wait=1", NULL, NULL, "wait"},
        {"POST", "/v1/jobs?validate=true", "Idempotency-Key: query", "{}", "validate"},
        {"POST", "/v1/jobs:estimate?run=2", NULL, "{}", "run"},
        {"DELETE", "/v1/datasets/points?force=1", NULL, NULL, "force"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct reply *reply = call(client, cases[i].method, cases[i].path,
                                         cases[i].header, cases[i].body);
        if (reply->status != 400 ||
            strstr(reply_text(reply, "detail"), cases[i].named) == NULL)
            fail_msg("%s %s: %ld %s", cases[i].method, cases[i].path, reply->status,
                     reply->body);
    }
    assert_status(client_get(client, "/v1/datasets/points"), 200);
    assert_status(client_get(client, "/v1/jobs?"), 200);
}

static void the_ledger_is_read_oldest_first_as_json_or_lines(void **state)
{
    struct client *client = client_of(state);
    await_end(client, submit(client, SMALL_JOB));
    const struct reply *ledger = client_get(client, "/v1/datasets/points/ledger");
    assert_status(ledger, 200);
    assert_string_equal(reply_text(ledger, "entries.0.kind"), "GRANT");
    assert_true(reply_number(ledger, "entries.0.seq") <
                reply_number(ledger, "entries.1.seq"));
    const struct reply *lines = client_get_with(client, "/v1/datasets/points/ledger",
                                                "Accept: application/x-ndjson");
    assert_status(lines, 200);
    char type[256];
    assert_true(reply_header(lines, "content-type", type));
    assert_non_null(strstr(type, "application/x-ndjson"));
    size_t count = 0;
    for (const char *at = lines->body, *end; (end = strchr(at, '\n')) != NULL;
         at = end + 1) {
        json_t *entry = json_loadb(at, (size_t)(end - at), 0, NULL);
        assert_true(json_is_object(entry));
        json_decref(entry);
        count++;
    }
    assert_int_equal(count, json_array_size(reply_at(ledger, "entries")));
}

static void times_are_whole_seconds_in_utc(void **state)
{
    struct client *client = client_of(state);
    const struct reply *job = await_end(client, submit(client, SMALL_JOB));
    const char *names[] = {"create_time", "start_time", "end_time"};
    for (size_t i = 0; i < 3; i++) {
        const char *text = reply_text(job, names[i]);
        assert_int_equal(strlen(text), strlen("2026-01-31T12:00:00Z"));
        assert_true(text[10] == 'T' && text[19] == 'Z');
    }
}

static void head_answers_as_get_without_the_body(void **state)
{
    struct client *client = client_of(state);
    const char *paths[] = {"/livez", "/v1/datasets/points", "/v1/version",
                           "/openapi.yaml"};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        const struct reply *head = call(client, "HEAD", paths[i], NULL, NULL);
        const struct reply *get = client_get(client, "%s", paths[i]);
        char of_head[256], of_get[256];
        assert_int_equal(head->status, get->status);
        assert_int_equal(head->size, 0);
        reply_header(head, "content-length", of_head);
        reply_header(get, "content-length", of_get);
        assert_string_equal(of_head, of_get);
    }
}

static void every_answer_names_its_request(void **state)
{
    struct client *client = client_of(state);
    char given[256];
    const struct reply *own =
        client_get_with(client, "/v1/datasets", "X-Request-Id: mine-7");
    assert_true(reply_header(own, "x-request-id", given));
    assert_string_equal(given, "mine-7");
    const struct reply *problem = client_get(client, "/v1/nothing");
    assert_true(reply_header(problem, "x-request-id", given));
    assert_non_null(strstr(reply_text(problem, "instance"), given));
    assert_true(strlen(reply_text(problem, "type")) > 0);
    assert_true(strlen(reply_text(problem, "title")) > 0);
    assert_true(strlen(reply_text(problem, "detail")) > 0);
    assert_true(reply_number(problem, "status") == 404);
    assert_true(json_is_boolean(reply_at(problem, "retryable")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_open_routes_answer),
        cmocka_unit_test(an_unknown_path_is_not_found),
        cmocka_unit_test(a_wrong_method_is_told_the_right_ones),
        cmocka_unit_test(a_form_type_is_refused_before_anything_is_read),
        cmocka_unit_test(creating_takes_a_key),
        cmocka_unit_test(an_action_takes_no_body_or_an_empty_object),
        cmocka_unit_test(a_body_ends_at_its_size_and_not_at_a_nul),
        cmocka_unit_test(a_foreign_origin_is_refused),
        cmocka_unit_test(a_foreign_host_is_refused),
        cmocka_unit_test(an_unchanged_job_answers_304),
        cmocka_unit_test(a_poll_waits_for_the_change_and_no_longer),
        cmocka_unit_test(pages_cover_a_list_once_newest_first),
        cmocka_unit_test(jobs_are_listed_by_state_and_dataset),
        cmocka_unit_test(an_answer_has_a_type_that_is_accepted),
        cmocka_unit_test(what_cannot_be_answered_is_not_done),
        cmocka_unit_test(a_parameter_that_a_route_does_not_take_is_named),
        cmocka_unit_test(the_ledger_is_read_oldest_first_as_json_or_lines),
        cmocka_unit_test(times_are_whole_seconds_in_utc),
        cmocka_unit_test(head_answers_as_get_without_the_body),
        cmocka_unit_test(every_answer_names_its_request),
    };
    return cmocka_run_group_tests(tests, begin, stage_end);
}
