/* Goal: until records are imported, a dataset belongs only to its owner: no other data
 * owner of the project can upload its files, declare it again, import or delete it, and
 * only the owner can see that an import was refused. Method: a table of attempts by a
 * second data owner; everything that other roles can read, before and after imports
 * that are refused. */
#include <stdlib.h>
#include <string.h>

#include "tests/expect.h"
#include "tests/e2e/access_fixture.h"
#include "tests/e2e/declaration_fixture.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"
#include "tests/e2e/stream_fixture.h"

/* --- what another data owner may not do --- */

static const struct attempt {
    const char *method, *path;
    const char *headers[2];
    const char *body;
    long status;
    const char *code;
} attempts[] = {
    {"POST",
     "/v1/datasets",
     {"Idempotency-Key: a"},
     TABLE("held", RIGHT, "'public'"),
     409,
     "already_exists"},
    {"POST",
     "/v1/datasets",
     {"Idempotency-Key: b"},
     TABLE("held", WRONG, SAMPLE_BUDGET(1)),
     409,
     "already_exists"},
    {"POST",
     "/v1/datasets:check",
     {0},
     TABLE("held", WRONG, SAMPLE_BUDGET(1)),
     409,
     "already_exists"},
    {"PUT",
     "/v1/datasets/held",
     {0},
     TABLE("held", WRONG, SAMPLE_BUDGET(1)),
     403,
     "forbidden"},
    {"PUT",
     "/v1/datasets/held",
     {0},
     TABLE("held", RIGHT, "'public'"),
     403,
     "forbidden"},
    {"PUT", "/v1/datasets/held/files/data", {0}, "0,0,no\n", 403, "forbidden"},
    {"PUT",
     "/v1/datasets/held/files/data",
     {"Upload-Offset: 0", "Upload-Length: 70"},
     "0,0,no\n",
     403,
     "forbidden"},
    {"PUT",
     "/v1/datasets/held/files/data",
     {"Upload-Offset: 7", "Upload-Length: 70"},
     "0,0,no\n",
     403,
     "forbidden"},
    {"GET", "/v1/datasets/held/files/data", {0}, NULL, 403, "forbidden"},
    {"HEAD", "/v1/datasets/held/files/data", {0}, NULL, 403, NULL},
    {"POST",
     "/v1/datasets/held/files/data:fetch",
     {0},
     "{'url':'https://files.invalid/'}",
     403,
     "forbidden"},
    {"GET", "/v1/datasets/held/files/data/fetch", {0}, NULL, 403, "forbidden"},
    {"DELETE", "/v1/datasets/held/files/data/fetch", {0}, NULL, 403, "forbidden"},
    {"POST", "/v1/datasets/held:import", {0}, NULL, 403, "forbidden"},
    {"DELETE", "/v1/datasets/held", {0}, NULL, 403, "forbidden"},
};

static const struct reply *try_it(const struct attempt *attempt)
{
    char body[1024];
    bool is_file =
        strstr(attempt->path, "/files/") != NULL && attempt->method[1] == 'U';
    snprintf(body, sizeof body, "%s", attempt->body != NULL ? attempt->body : "");
    for (char *c = body; *c != '\0'; c++)
        *c = *c == '\'' ? '"' : *c;
    return client_send(
        access_client(),
        &(struct request){.method = attempt->method,
                          .path = attempt->path,
                          .headers = {is_file ? "Content-Type: text/csv"
                                              : "Content-Type: application/json",
                                      attempt->headers[0], attempt->headers[1]},
                          .body = attempt->body != NULL ? body : NULL,
                          .size = strlen(body)});
}

static void put_points(const char *id, unsigned salt)
{
    char path[96], *points = sample_points(300, salt);
    snprintf(path, sizeof path, "/v1/datasets/%s/files/data", id);
    assert_status(client_put(access_client(), path, points, strlen(points)), 204);
    free(points);
}

static void no_other_data_owner_touches_a_dataset_that_is_not_imported(void **state)
{
    (void)state;
    static const char *const names[] = {"second", "owner-of-fraud2"};
    struct client *client = access_client();
    access_show(access_scene.own.owner);
    assert_status(
        client_create(client, "/v1/datasets", TABLE("held", RIGHT, SAMPLE_BUDGET(1))),
        201);
    put_points("held", 31);
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        char second[KEY_SIZE];
        access_make_key(second, names[n], "data_owner", "fraud");
        access_show(second);
        for (size_t i = 0; i < sizeof attempts / sizeof *attempts; i++) {
            const struct reply *reply = try_it(&attempts[i]);
            if (reply->status != attempts[i].status)
                fail_msg("%s %s (%zu): %ld %s", attempts[i].method, attempts[i].path, i,
                         reply->status, reply->body);
            if (attempts[i].code != NULL)
                assert_string_equal(reply_text(reply, "code"), attempts[i].code);
        }
        assert_string_equal(
            reply_text(client_get(client, "/v1/datasets/held"), "state"), "CREATED");
    }
    access_show(access_scene.own.owner);
    assert_status(client_act(client, "/v1/datasets/held:import"), 200);
    assert_true(reply_number(client_get(client, "/v1/datasets/held"), "records") ==
                300);
}

/* This holds for a public dataset, too: its import is compared with its owner's private
 * records. */
static void a_guess_in_anothers_public_dataset_is_refused_unread(void **state)
{
    (void)state;
    struct client *client = access_client();
    char second[KEY_SIZE], *guess = sample_points(300, 1);
    access_make_key(second, "second", "data_owner", "fraud");
    access_show(access_scene.own.owner);
    assert_status(declare_points(client, "open", SAMPLE_PUBLIC), 201);
    access_show(second);
    assert_problem(
        client_put(client, "/v1/datasets/open/files/data", guess, strlen(guess)), 403,
        "forbidden");
    assert_problem(client_act(client, "/v1/datasets/open:import"), 403, "forbidden");
    /* Under an id of their own the guess is not reported as a duplicate. */
    ready_points(client, "own-guess", 300, 1, SAMPLE_PUBLIC);
    free(guess);
}

/* --- what others see of a refused import --- */

static const char *const surfaces[] = {
    "/v1/datasets/$",
    "/v1/datasets/$/import",
    "/v1/datasets?view=full",
    "/v1/datasets?view=summary",
    "/v1/datasets?state=CREATED",
    "/v1/datasets?state=FAILED,IMPORTING",
    "/v1/grants",
    "/v1/jobs",
    "/v1/status",
    "/v1/audit?action=dataset.import",
    "/v1/webhooks",
    "/v1/job-schema?dataset=$",
    "/v1/models",
};
enum { SURFACES = sizeof surfaces / sizeof *surfaces };

struct seen { /* what one reader sees: an answer and its ETag */
    long status;
    char *body, tag[256];
};

static void look(struct seen *seen, const char *surface, const char *id)
{
    char path[128];
    size_t before = strcspn(surface, "$");
    bool names_it = surface[before] == '$';
    snprintf(path, sizeof path, "%.*s%s%s", (int)before, surface, names_it ? id : "",
             names_it ? surface + before + 1 : "");
    const struct reply *reply = client_get(access_client(), "%s", path);
    seen->status = reply->status;
    /* The text of a refusal names its request and depends on the reader's role, so it
     * is left out. */
    seen->body = strdup(reply->status == 200 ? reply->body : "");
    if (!reply_header(reply, "etag", seen->tag))
        seen->tag[0] = '\0';
}

/* Returns the number of answers of that route with this status. */
static double counted(const char *status)
{
    char sample[160];
    access_show(access_scene.keys[ROLE_OPERATOR]);
    const struct reply *metrics = client_get(access_client(), "/metrics");
    snprintf(sample, sizeof sample,
             "route=\"/v1/datasets/{id}:import\",method=\"POST\",status=\"%s\"} ",
             status);
    const char *at = strstr(metrics->body, sample);
    return at != NULL ? strtod(at + strlen(sample), NULL) : 0;
}

/* The readers: each role of the project; the data owner among them is not the dataset's
 * owner. */
static void look_all(struct seen seen[ROLE_COUNT][SURFACES], const char *id)
{
    for (unsigned role = ROLE_ANALYST; role < ROLE_COUNT; role++) {
        access_show(access_scene.keys[role]);
        for (size_t i = 0; i < SURFACES; i++)
            look(&seen[role][i], surfaces[i], id);
    }
}

static void expect_same(struct seen before[ROLE_COUNT][SURFACES],
                        struct seen after[ROLE_COUNT][SURFACES])
{
    for (unsigned role = ROLE_ANALYST; role < ROLE_COUNT; role++)
        for (size_t i = 0; i < SURFACES; i++) {
            if (before[role][i].status != after[role][i].status ||
                strcmp(before[role][i].tag, after[role][i].tag) != 0 ||
                strcmp(before[role][i].body, after[role][i].body) != 0)
                fail_msg("role %u, %s: %s %s, then %s %s", role, surfaces[i],
                         before[role][i].tag, before[role][i].body, after[role][i].tag,
                         after[role][i].body);
            free(before[role][i].body);
            free(after[role][i].body);
        }
}

static void a_refused_import_is_seen_by_the_owner_alone(void **state)
{
    (void)state;
    static const struct {
        const char *id, *privacy, *bad, *code;
    } cases[] = {{"torn", SAMPLE_BUDGET(1), "torn\n", "import_failed"},
                 {"torn-open", SAMPLE_PUBLIC, "torn\n", "import_failed"},
                 {"again", SAMPLE_BUDGET(1), NULL, "duplicate_content"}};
    static struct seen before[ROLE_COUNT][SURFACES], after[ROLE_COUNT][SURFACES];
    struct client *client = access_client();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[64];
        access_show(access_scene.own.owner);
        assert_status(declare_points(client, cases[i].id, cases[i].privacy), 201);
        snprintf(path, sizeof path, "/v1/datasets/%s/files/data", cases[i].id);
        if (cases[i].bad != NULL)
            assert_status(client_put(client, path, cases[i].bad, strlen(cases[i].bad)),
                          204);
        else
            put_points(cases[i].id, 1); /* the records of "calls" */
        double answers = counted("422") + counted("409") + counted("202");
        look_all(before, cases[i].id);
        access_show(access_scene.own.owner);
        const struct reply *refused =
            client_act(client, "/v1/datasets/%s:import", cases[i].id);
        assert_string_equal(reply_text(refused, "code"), cases[i].code);
        look_all(after, cases[i].id);
        expect_same(before, after);
        assert_true(counted("422") + counted("409") + counted("202") == answers);
        access_show(access_scene.own.owner);
        assert_string_equal(
            reply_text(client_get(client, "/v1/datasets/%s", cases[i].id), "state"),
            "FAILED");
        assert_string_equal(
            reply_text(client_get(client, "/v1/datasets/%s/import", cases[i].id),
                       "failure.code"),
            cases[i].code);
        char logged[64];
        snprintf(logged, sizeof logged, "\"dataset\":\"%s\"", cases[i].id);
        assert_false(daemon_logged(&access_scene.stage->daemon, logged));
    }
    static const char *const answered[] = {"422", "409", "202"};
    for (size_t i = 0; i < sizeof answered / sizeof *answered; i++) {
        char logged[64];
        snprintf(logged, sizeof logged, ":import\",\"status\":\"%s\"", answered[i]);
        assert_false(daemon_logged(&access_scene.stage->daemon, logged));
    }
}

/* Opens a stream of all events for each role of the project. */
static void open_streams(struct event_stream streams[ROLE_COUNT])
{
    for (unsigned role = ROLE_ANALYST; role < ROLE_COUNT; role++) {
        char bearer[KEY_SIZE + 32];
        struct event event;
        snprintf(bearer, sizeof bearer, "Authorization: Bearer %s",
                 access_scene.keys[role]);
        stream_open_with(&streams[role], &access_scene.stage->daemon, "/v1/events",
                         bearer);
        assert_int_equal(streams[role].status, 200);
        stream_expect(&streams[role], &event, "snapshot");
        event_fini(&event);
    }
}

/* Reads the stream until it shows the end of the job. Nothing before that may name the
 * dataset. */
static void expect_unmentioned(struct event_stream *stream, const char *dataset,
                               const char *job)
{
    struct event event;
    bool has_ended = false;
    while (!has_ended && stream_next(stream, &event)) {
        if (strstr(event.text, dataset) != NULL)
            fail_msg("%s: %s", event.name, event.text);
        has_ended =
            strstr(event.text, job) != NULL && strstr(event.text, "SUCCEEDED") != NULL;
        event_fini(&event);
    }
    assert_true(has_ended);
    stream_close(stream);
}

/* Neither a stream nor a webhook reports a refused import to others; a successful
 * import is reported. */
static void a_refused_import_is_no_event(void **state)
{
    (void)state;
    static struct event_stream streams[ROLE_COUNT];
    struct client *client = access_client();
    access_show(access_scene.keys[ROLE_DATA_OWNER]);
    const struct reply *hook =
        client_post(client, "/v1/webhooks", NULL,
                    "{'url':'https://hooks.invalid/','events':['dataset.imported']}");
    assert_status(hook, 201);
    const char *id = reply_text(hook, "id");
    access_show(access_scene.own.owner);
    assert_status(declare_points(client, "unheard", SAMPLE_BUDGET(1)), 201);
    assert_status(client_put(client, "/v1/datasets/unheard/files/data", "torn\n", 5),
                  204);
    open_streams(streams);
    assert_problem(client_act(client, "/v1/datasets/unheard:import"), 422,
                   "import_failed");
    access_show(access_scene.own.analyst);
    const char *job = submit(client, SAMPLE_JOB, "calls", 3, 90.0);
    await_success(client, job);
    for (unsigned role = ROLE_ANALYST; role < ROLE_COUNT; role++)
        expect_unmentioned(&streams[role], "unheard", job);
    access_show(access_scene.own.owner);
    ready_points(client, "heard", 300, 77, SAMPLE_BUDGET(1));
    access_show(access_scene.keys[ROLE_DATA_OWNER]);
    const struct reply *log = client_get(client, "/v1/webhooks/%s/deliveries", id);
    assert_status(log, 200);
    assert_int_equal(json_array_size(reply_at(log, "deliveries")), 1);
}

/* Once there are keys no one has the name "local": its datasets stay as they are, or
 * are deleted. */
static void what_was_declared_before_there_were_keys_is_imported_by_nobody(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    char dana[KEY_SIZE];
    access_scene.stage = stage;
    assert_status(declare_points(client, "left", SAMPLE_BUDGET(1)), 201);
    assert_status(client_put(client, "/v1/datasets/left/files/data", "torn\n", 5), 204);
    assert_problem(client_act(client, "/v1/datasets/left:import"), 422,
                   "import_failed");
    access_make_key(dana, "dana", "data_owner", "default");
    access_show(dana);
    const struct reply *told = client_get(client, "/v1/datasets/left/import");
    assert_non_null(strstr(reply_text(told, "failure.detail"), "another id"));
    assert_true(json_is_null(reply_at(told, "failure.line")));
    assert_problem(client_act(client, "/v1/datasets/left:import"), 403, "forbidden");
    assert_problem(client_put(client, "/v1/datasets/left/files/data", "torn\n", 5), 403,
                   "forbidden");
    assert_problem(declare_points(client, "left", SAMPLE_BUDGET(1)), 409,
                   "already_exists");
    assert_status(client_delete(client, "/v1/datasets/left"), 204);
}

int main(void)
{
    const struct CMUnitTest before_keys[] = {
        cmocka_unit_test_setup_teardown(
            what_was_declared_before_there_were_keys_is_imported_by_nobody, stage_begin,
            stage_end),
    };
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_other_data_owner_touches_a_dataset_that_is_not_imported),
        cmocka_unit_test(a_guess_in_anothers_public_dataset_is_refused_unread),
        cmocka_unit_test(a_refused_import_is_seen_by_the_owner_alone),
        cmocka_unit_test(a_refused_import_is_no_event),
    };
    return cmocka_run_group_tests(before_keys, NULL, NULL) +
           cmocka_run_group_tests(tests, access_begin_keys, stage_end);
}
