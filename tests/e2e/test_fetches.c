/* Goal: the daemon fetches files itself over TLS from a real server of a third party,
 * which checks S3 signatures by its own arithmetic, cuts connections, floods and
 * redirects. */
#include <signal.h>
#include <string.h>
#include <time.h>

#include "tests/expect.h"
#include "tests/e2e/receiver_fixture.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"

struct scene {
    struct stage *stage;
    struct receiver receiver;
    const char *options[8];
    char *points;
};

/* Declares the table of sample_points, with a default for a label that is none. */
static const struct reply *declare_table(struct client *client, const char *id,
                                         const char *high, const char *privacy)
{
    return client_create(client, "/v1/datasets",
                         "{'id':'%s','format':'csv','task':'classification',"
                         "'columns':[{'name':'x','kind':'numeric','range':[-1,%s]},"
                         "{'name':'y','kind':'numeric','range':[-1,1]},"
                         "{'name':'above','kind':'label','values':['no','yes'],"
                         "'default':'no'}],'privacy':%s}",
                         id, high, privacy);
}

static int begin(void **state)
{
    struct scene *scene = calloc(1, sizeof *scene);
    void *stage;
    assert_non_null(scene);
    receiver_open_tls(&scene->receiver);
    const char *const options[] = {"--outbound-allow",  "127.0.0.1",
                                   "--outbound-ca",     scene->receiver.ca_file,
                                   "--upload-size-max", "1000000"};
    memcpy(scene->options, options, sizeof options);
    stage_begin_with(&stage, scene->options);
    scene->stage = stage;
    scene->points = sample_points(500, 1);
    assert_status(client_put(&scene->receiver.client, "/files/points", scene->points,
                             strlen(scene->points)),
                  204);
    assert_status(declare_table(&scene->stage->client, "points", "1", SAMPLE_PUBLIC),
                  201);
    *state = scene;
    return 0;
}

static int end(void **state)
{
    struct scene *scene = *state;
    void *stage = scene->stage;
    receiver_close(&scene->receiver);
    int outcome = stage_end(&stage);
    free(scene->points);
    free(scene);
    return outcome;
}

static const char place[] = "/v1/datasets/points/files/data/fetch";

/* Asks the daemon to fetch a path of the receiver; more are members after the URL. */
static const struct reply *fetch(struct scene *scene, const char *path,
                                 const char *more)
{
    return client_post(&scene->stage->client, "/v1/datasets/points/files/data:fetch",
                       NULL, "{'url':'%s%s'%s}", scene->receiver.url, path, more);
}

static const struct reply *await_fetch(struct scene *scene)
{
    enum { POLLS = 9000 }; /* three minutes: only for a hang */
    const struct reply *reply = NULL;
    for (int i = 0; i < POLLS; i++) {
        reply = client_get(&scene->stage->client, "%s", place);
        assert_status(reply, 200);
        if (!json_is_null(reply_at(reply, "end_time")))
            return reply;
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    }
    fail_msg("it does not end: %s", reply->body);
    return reply;
}

static void expect_failure(struct scene *scene, const char *path, const char *more,
                           const char *result)
{
    assert_status(fetch(scene, path, more), 202);
    const struct reply *failed = await_fetch(scene);
    if (strcmp(reply_text(failed, "state"), "FAILED") != 0 ||
        strcmp(reply_text(failed, "result"), result) != 0)
        fail_msg("%s: %s", path, failed->body);
    const struct reply *file =
        client_get(&scene->stage->client, "/v1/datasets/points/files/data");
    assert_true(json_is_false(reply_at(file, "complete")));
}

static void expect_success(struct scene *scene, const char *path, const char *more)
{
    assert_status(fetch(scene, path, more), 202);
    const struct reply *done = await_fetch(scene);
    if (strcmp(reply_text(done, "state"), "SUCCEEDED") != 0)
        fail_msg("%s: %s", path, done->body);
    assert_true(reply_number(done, "bytes") == (double)strlen(scene->points));
}

/* The digest of the imported data proves that each byte is right. */
static void expect_import(struct scene *scene)
{
    struct client *client = &scene->stage->client;
    assert_status(client_act(client, "/v1/datasets/points:import"), 200);
    assert_status(declare_points(client, "sent", SAMPLE_PUBLIC), 201);
    assert_status(client_put(client, "/v1/datasets/sent/files/data", scene->points,
                             strlen(scene->points)),
                  204);
    const struct reply *sent = client_act(client, "/v1/datasets/sent:import");
    assert_string_equal(reply_text(client_get(client, "/v1/datasets/points"), "sha256"),
                        reply_text(sent, "sha256"));
}

static void a_file_is_got_and_imported(void **state)
{
    struct scene *scene = *state;
    expect_success(scene, "/files/points", "");
    const struct reply *done = client_get(&scene->stage->client, "%s", place);
    assert_true(reply_number(done, "size") == reply_number(done, "bytes"));
    expect_import(scene);
    assert_problem(fetch(scene, "/files/points", ""), 409, "dataset_immutable");
}

static void a_digest_is_held_against_the_file(void **state)
{
    struct scene *scene = *state;
    expect_failure(scene, "/files/points",
                   ",'sha256':"
                   "'0000000000000000000000000000000000000000000000000000000000000000'",
                   "checksum");
    expect_failure(scene, "/unsized/a", "", "unsized");
    /* printf '0,0,no\n' | sha256sum */
    assert_status(
        fetch(scene, "/unsized/a",
              ",'sha256':"
              "'3474a0d0ecf776c37db86e8c6483b8666d87f45ff1624a2b317822d80113f1e5'"),
        202);
    assert_string_equal(reply_text(await_fetch(scene), "state"), "SUCCEEDED");
}

/* --- a user who cannot read the file learns nothing of its cells --- */

static void put_at_receiver(struct scene *scene, const char *path, const char *text)
{
    assert_status(client_put(&scene->receiver.client, path, text, strlen(text)), 204);
}

static void fetch_whole(struct scene *scene, const char *id, const char *path)
{
    struct client *client = &scene->stage->client;
    char fetched[96], status[96];
    snprintf(fetched, sizeof fetched, "/v1/datasets/%s/files/data:fetch", id);
    snprintf(status, sizeof status, "/v1/datasets/%s/files/data/fetch", id);
    assert_status(
        client_post(client, fetched, NULL, "{'url':'%s%s'}", scene->receiver.url, path),
        202);
    for (;;) {
        const struct reply *reply = client_get(client, "%s", status);
        if (!json_is_null(reply_at(reply, "end_time"))) {
            assert_string_equal(reply_text(reply, "state"), "SUCCEEDED");
            return;
        }
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    }
}

/* The secret maximum of x is 2345; a declared range of x is a question about it. */
static const char secret[] = "12.5,0.5,yes\n2345,0.1,no\nNaN,zebra,maybe\n7,\n";

/* Asks for the import of the dataset, and checks that it says what each import says. */
static void assert_says_nothing(struct scene *scene, const char *id)
{
    struct client *client = &scene->stage->client;
    const struct reply *ready = client_act(client, "/v1/datasets/%s:import", id);
    assert_status(ready, 200);
    assert_int_equal((int)reply_number(ready, "records"), 4);
    ready = client_get(client, "/v1/datasets/%s/import", id);
    assert_string_equal(reply_text(ready, "state"), "READY");
    assert_true(json_is_null(reply_at(ready, "failure")));
}

static void twelve_imports_do_not_find_the_maximum(void **state)
{
    struct scene *scene = *state;
    double low = 0, high = 4096;
    put_at_receiver(scene, "/files/secret", secret);
    for (int i = 0; i < 12; i++) {
        char id[24], bound[32];
        snprintf(id, sizeof id, "guess-%d", i);
        snprintf(bound, sizeof bound, "%.17g", low / 2 + high / 2);
        assert_status(declare_table(&scene->stage->client, id, bound, SAMPLE_BUDGET(1)),
                      201);
        fetch_whole(scene, id, "/files/secret");
        /* The same file under two ids is refused, whatever was declared: so the one
         * before is forgotten first. */
        assert_says_nothing(scene, id);
        char path[48];
        snprintf(path, sizeof path, "/v1/datasets/%s", id);
        assert_status(client_delete(&scene->stage->client, path), 204);
        high = low / 2 + high / 2;
    }
}

static void an_upload_that_clips_alike_does_not_find_it_either(void **state)
{
    struct scene *scene = *state;
    struct client *client = &scene->stage->client;
    /* Under this range of x both files have the same rows exactly if no x of the fetched
     * one is above the bound of the guess. */
    static const char guess[] = "1,0.5,yes\n1,0.1,no\n-1,-1,no\n1,-1,no\n";
    put_at_receiver(scene, "/files/secret", secret);
    assert_status(declare_table(client, "fetched", "1", SAMPLE_BUDGET(1)), 201);
    fetch_whole(scene, "fetched", "/files/secret");
    assert_says_nothing(scene, "fetched");
    assert_status(declare_table(client, "guess", "1", SAMPLE_BUDGET(1)), 201);
    assert_status(
        client_put(client, "/v1/datasets/guess/files/data", guess, strlen(guess)), 204);
    assert_status(client_act(client, "/v1/datasets/guess:import"), 200);
    /* The file itself, sent or fetched under another declaration, is the same data. */
    assert_status(declare_table(client, "again", "7", SAMPLE_BUDGET(1)), 201);
    fetch_whole(scene, "again", "/files/secret");
    assert_problem(client_act(client, "/v1/datasets/again:import"), 409,
                   "duplicate_content");
}

static void a_dataset_stays_one_that_was_fetched(void **state)
{
    struct scene *scene = *state;
    struct client *client = &scene->stage->client;
    put_at_receiver(scene, "/files/secret", secret);
    assert_status(declare_table(client, "mixed", "1", SAMPLE_BUDGET(1)), 201);
    fetch_whole(scene, "mixed", "/files/secret");
    assert_int_equal(daemon_stop(&scene->stage->daemon, SIGTERM), 0);
    daemon_start(&scene->stage->daemon, scene->options);
    assert_status(
        client_create(client, "/v1/datasets",
                      "{'id':'mixed','format':'csv','task':'classification',"
                      "'columns':[{'name':'x','kind':'numeric','range':[0,9]},"
                      "{'name':'y','kind':'categorical','values':['0.5']},"
                      "{'name':'above','kind':'label','values':['no','yes'],"
                      "'default':'no'}],'privacy':" SAMPLE_BUDGET(1) "}"),
        201);
    const struct reply *refused = client_act(client, "/v1/datasets/mixed:import");
    assert_problem(refused, 400, "invalid_argument");
    assert_non_null(strstr(reply_text(refused, "detail"), "column \"y\""));
    assert_status(declare_table(client, "mixed", "2000", SAMPLE_BUDGET(1)), 201);
    /* A file of the owner's own is read like the fetched one. */
    static const char own[] = "x,y,no\n7,7,7\n";
    assert_status(
        client_put(client, "/v1/datasets/mixed/files/data", own, sizeof own - 1), 204);
    const struct reply *ready = client_act(client, "/v1/datasets/mixed:import");
    assert_status(ready, 200);
    assert_int_equal((int)reply_number(ready, "records"), 2);
}

/* The number of persons is public, and would be that of the cells in any column. */
static void persons_are_not_fetched(void **state)
{
    struct scene *scene = *state;
    struct client *client = &scene->stage->client;
    assert_status(
        client_create(client, "/v1/datasets",
                      "{'id':'persons','format':'csv','task':'classification',"
                      "'columns':[{'name':'x','kind':'privacy_id'},"
                      "{'name':'y','kind':'numeric','range':[0,9]},"
                      "{'name':'above','kind':'label','values':['no','yes'],"
                      "'default':'no'}],'privacy':" SAMPLE_BUDGET(1) "}"),
        201);
    const struct reply *refused =
        client_post(client, "/v1/datasets/persons/files/data:fetch", NULL,
                    "{'url':'%s/files/points'}", scene->receiver.url);
    assert_problem(refused, 400, "invalid_argument");
    assert_non_null(strstr(reply_text(refused, "detail"), "upload the files"));
}

static void a_fetch_needs_a_place_for_each_word(void **state)
{
    struct scene *scene = *state;
    struct client *client = &scene->stage->client;
    assert_status(declare_points(client, "strict", SAMPLE_BUDGET(1)), 201);
    const struct reply *refused =
        client_post(client, "/v1/datasets/strict/files/data:fetch", NULL,
                    "{'url':'%s/files/points'}", scene->receiver.url);
    assert_problem(refused, 400, "invalid_argument");
    assert_non_null(strstr(reply_text(refused, "detail"), "column \"above\""));
    /* Nothing was fetched, so its owner's own file is still checked. */
    assert_status(
        client_put(client, "/v1/datasets/strict/files/data", "1,1,maybe\n", 10), 204);
    assert_problem(client_act(client, "/v1/datasets/strict:import"), 422,
                   "import_failed");
}

static void know_key(struct scene *scene)
{
    static const char key[] = "{\"id\":\"AKIDEXAMPLE\",\"secret\":\"wJalr/K7+xyz\","
                              "\"region\":\"eu-central-1\"}";
    assert_status(
        client_send(&scene->receiver.client, &(struct request){.method = "POST",
                                                               .path = "/key",
                                                               .body = key,
                                                               .size = strlen(key)}),
        204);
}

#define CREDENTIALS(secret, more)                                                      \
    ",'s3':{'region':'eu-central-1','access_key_id':'AKIDEXAMPLE',"                    \
    "'secret_access_key':'" secret "'" more "}"

static void requests_are_signed_for_s3(void **state)
{
    struct scene *scene = *state;
    know_key(scene);
    expect_failure(scene, "/files/points", "", "refused");
    expect_failure(scene, "/files/points", CREDENTIALS("another", ""), "refused");
    expect_success(scene, "/files/points", CREDENTIALS("wJalr/K7+xyz", ""));
    expect_success(scene, "/files/points",
                   CREDENTIALS("wJalr/K7+xyz", ",'session_token':'tok/en+=='"));
    const struct reply *log = client_get(&scene->receiver.client, "/log");
    assert_non_null(strstr(log->body, "\"x-amz-security-token\": \"tok/en+==\""));
    /* Requests of a range are signed too. */
    expect_success(scene, "/cut/points", CREDENTIALS("wJalr/K7+xyz", ""));
    expect_import(scene);
}

static void credentials_are_kept_nowhere(void **state)
{
    struct scene *scene = *state;
    char command[256];
    know_key(scene);
    expect_success(scene, "/files/points", CREDENTIALS("wJalr/K7+xyz", ""));
    assert_false(daemon_logged(&scene->stage->daemon, "wJalr"));
    assert_false(daemon_logged(&scene->stage->daemon, scene->receiver.url));
    snprintf(command, sizeof command, "! grep -raqF -e wJalr -e '%s' '%s'",
             scene->receiver.url, scene->stage->daemon.data_dir);
    assert_int_equal(system(command), 0);
    const struct reply *now = client_get(&scene->stage->client, "%s", place);
    assert_null(strstr(now->body, "localhost"));
}

static void a_broken_connection_is_taken_up_again(void **state)
{
    struct scene *scene = *state;
    expect_success(scene, "/cut/points", "");
    const struct reply *log = client_get(&scene->receiver.client, "/log");
    assert_int_equal(json_array_size(log->json), 2);
    assert_non_null(strstr(log->body, "\"range\": \"bytes="));
    assert_non_null(strstr(log->body, "\"if-match\": "));
    expect_import(scene);
}

static void await_half(struct scene *scene)
{
    enum { POLLS = 9000 }; /* three minutes: only for a hang */
    for (int i = 0; i < POLLS; i++) {
        const struct reply *reply = client_get(&scene->stage->client, "%s", place);
        if (reply_number(reply, "bytes") > 0) {
            assert_string_equal(reply_text(reply, "state"), "RUNNING");
            assert_true(reply_number(reply, "bytes") < reply_number(reply, "size"));
            return;
        }
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    }
    fail();
}

static void one_that_runs_is_seen_and_cancelled(void **state)
{
    struct scene *scene = *state;
    struct client *client = &scene->stage->client;
    assert_problem(client_get(client, "%s", place), 404, "not_found");
    assert_problem(client_delete(client, place), 404, "not_found");
    assert_status(fetch(scene, "/slow/points", ""), 202);
    await_half(scene);
    assert_problem(fetch(scene, "/files/points", ""), 409, "upload_busy");
    assert_status(client_delete(client, place), 204);
    const struct reply *cancelled = await_fetch(scene);
    assert_string_equal(reply_text(cancelled, "state"), "CANCELLED");
    assert_status(client_delete(client, place), 204);
    assert_problem(client_get(client, "%s", place), 404, "not_found");
    expect_success(scene, "/files/points", "");
}

static void one_that_a_crash_ends_is_asked_for_again(void **state)
{
    struct scene *scene = *state;
    struct client *client = &scene->stage->client;
    assert_status(fetch(scene, "/slow/points", ""), 202);
    await_half(scene);
    daemon_stop(&scene->stage->daemon, SIGKILL);
    daemon_start(&scene->stage->daemon, scene->options);
    assert_problem(client_get(client, "%s", place), 404, "not_found");
    assert_problem(client_act(client, "/v1/datasets/points:import"), 422,
                   "import_failed");
    expect_success(scene, "/files/points", "");
    expect_import(scene);
}

static void a_stop_does_not_wait_for_one(void **state)
{
    struct scene *scene = *state;
    assert_status(fetch(scene, "/slow/points", ""), 202);
    await_half(scene);
    assert_int_equal(daemon_stop(&scene->stage->daemon, SIGTERM), 0);
    daemon_start(&scene->stage->daemon, scene->options);
}

static void what_may_not_come_does_not(void **state)
{
    struct scene *scene = *state;
    char away[128];
    const char *port = strrchr(scene->receiver.url, ':') + 1;
    expect_failure(scene, "/flood/a", "", "too_large");
    expect_failure(scene, "/files/nothing", "", "refused");
    assert_true(
        reply_number(client_get(&scene->stage->client, "%s", place), "status") == 404);
    expect_failure(scene, "/head/a", "", "too_large");
    snprintf(away, sizeof away, "/away?https://127.0.0.2:%s/files/points", port);
    expect_failure(scene, away, "", "unreachable");
    snprintf(away, sizeof away, "/away?http://localhost:%s/files/points", port);
    expect_failure(scene, away, "", "redirected");
    snprintf(away, sizeof away, "/away?%s/files/points", scene->receiver.url);
    expect_failure(scene, "/here/a", CREDENTIALS("a", ""), "refused");
    expect_success(scene, away, "");
}

static void bad_input_is_refused_by_its_place(void **state)
{
    struct scene *scene = *state;
    struct client *client = &scene->stage->client;
    static const char path[] = "/v1/datasets/points/files/data:fetch";
#define URL "'url':'https://example.com/a'"
    static const struct {
        const char *body, *pointer;
    } cases[] = {
        {"{}", "/url"},
        {"{'url':'https://10.0.0.1/a'}", "/url"},
        {"{'url':'http://example.com@127.0.0.1/'}", "/url"},
        {"{'url':'file:///secret'}", "/url"},
        {"{'url':'s3://bucket/key'}", "/url"},
        {"{'url':'https://example.com/a\\r\\nHost: b'}", "/url"},
        {"{" URL ",'sha256':'AB'}", "/sha256"},
        {"{" URL ",'s3':{}}", "/s3/region"},
        {"{" URL ",'s3':7}", "/s3"},
        {"{" URL ",'token':'a'}", "/token"},
        {"{" URL CREDENTIALS("a b", "") "}", "/s3/secret_access_key"},
        {"{" URL CREDENTIALS("", "") "}", "/s3/secret_access_key"},
        {"{" URL CREDENTIALS("a", ",'session_token':'a\\r\\nb: c'") "}",
         "/s3/session_token"},
        {"{'url':'https://example.com/a?b=c'" CREDENTIALS("a", "") "}", "/url"},
        {"{" URL
         ",'s3':{'region':'eu/s3','access_key_id':'a','secret_access_key':'b'}}",
         "/s3/region"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_invalid_at(client_post(client, path, NULL, "%s", cases[i].body),
                          cases[i].pointer);
    assert_problem(client_post(client, "/v1/datasets/points/files/labels:fetch", NULL,
                               "{" URL "}"),
                   404, "not_found");
    assert_problem(
        client_post(client, "/v1/datasets/nothing/files/data:fetch", NULL, "{" URL "}"),
        404, "not_found");
    assert_problem(client_get(client, "%s", place), 404, "not_found");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
        TEST(a_file_is_got_and_imported),
        TEST(twelve_imports_do_not_find_the_maximum),
        TEST(an_upload_that_clips_alike_does_not_find_it_either),
        TEST(a_dataset_stays_one_that_was_fetched),
        TEST(persons_are_not_fetched),
        TEST(a_fetch_needs_a_place_for_each_word),
        TEST(a_digest_is_held_against_the_file),
        TEST(requests_are_signed_for_s3),
        TEST(credentials_are_kept_nowhere),
        TEST(a_broken_connection_is_taken_up_again),
        TEST(one_that_runs_is_seen_and_cancelled),
        TEST(one_that_a_crash_ends_is_asked_for_again),
        TEST(a_stop_does_not_wait_for_one),
        TEST(what_may_not_come_does_not),
        TEST(bad_input_is_refused_by_its_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
