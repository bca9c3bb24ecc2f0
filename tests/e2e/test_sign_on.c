/* Goal: a user whom a trusted proxy names may do what the file of groups allows, and no
 * other client can claim to be that user. Method: the headers of such a proxy, on the
 * socket that is trusted and on a port that is not. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <curl/curl.h>

#include "tests/expect.h"
#include "tests/e2e/client_fixture.h"
#include "tests/e2e/key_fixture.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stream_fixture.h"

#define JSON    "Content-Type: application/json"
#define USER    "X-Forwarded-User: 248289761001"
#define EMAIL   "X-Forwarded-Email: ana@example.org"
#define ANALYST "X-Forwarded-Groups: staff, fraud"

enum { LOG_TIMEOUT_MS = 120000 };

static const char groups[] =
    "{\"groups\":[{\"group\":\"owners\",\"role\":\"data_owner\",\"project\":\"fraud\"},"
    "{\"group\":\"fraud\",\"role\":\"analyst\",\"project\":\"fraud\"},"
    "{\"group\":\"risk\",\"role\":\"data_owner\",\"project\":\"risk\"}]}";

struct scene {
    struct daemon daemon;
    struct client client;
    char listen[128], path[96];
};

static void write_groups(const struct scene *scene, const char *text)
{
    FILE *file = fopen(scene->path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static int begin(void **state)
{
    struct scene *scene = calloc(1, sizeof *scene);
    assert_non_null(scene);
    *state = scene;
    curl_global_init(CURL_GLOBAL_DEFAULT);
    daemon_init(&scene->daemon);
    client_init(&scene->client, &scene->daemon);
    snprintf(scene->listen, sizeof scene->listen, "unix:%s/socket",
             scene->daemon.directory);
    snprintf(scene->path, sizeof scene->path, "%s/groups.json",
             scene->daemon.directory);
    write_groups(scene, groups);
    daemon_start(&scene->daemon,
                 (const char *const[]){"--listen", scene->listen, "--trust-proxy",
                                       "unix", "--groups", scene->path, NULL});
    return 0;
}

static int end(void **state)
{
    struct scene *scene = *state;
    client_fini(&scene->client);
    daemon_fini(&scene->daemon);
    free(scene);
    curl_global_cleanup();
    return 0;
}

static const struct reply *ask(struct client *client, const char *method,
                               const char *path, const char *const headers[6],
                               const char *body)
{
    struct request request = {.method = method, .path = path, .body = body};
    request.size = body != NULL ? strlen(body) : 0;
    for (size_t i = 0; i < 6; i++)
        request.headers[i] = headers[i];
    return client_send(client, &request);
}

#define HEADERS(...) ((const char *const[6]){__VA_ARGS__})

static void a_person_has_the_role_of_their_group(void **state)
{
    struct scene *scene = *state;
    const struct reply *who =
        ask(&scene->client, "GET", "/v1/session", HEADERS(USER, EMAIL, ANALYST), NULL);
    assert_status(who, 200);
    assert_string_equal(reply_text(who, "name"), "ana@example.org");
    assert_string_equal(reply_text(who, "role"), "analyst");
    assert_string_equal(reply_text(who, "project"), "fraud");
    assert_string_equal(reply_text(who, "via"), "proxy");
    who = ask(&scene->client, "GET", "/v1/session", HEADERS(USER, ANALYST), NULL);
    assert_string_equal(reply_text(who, "name"), "248289761001");
    who = ask(&scene->client, "GET", "/v1/session",
              HEADERS(USER, "X-Forwarded-Groups: fraud,owners"), NULL);
    assert_string_equal(reply_text(who, "role"), "data_owner");
    assert_status(
        ask(&scene->client, "GET", "/v1/datasets", HEADERS(USER, ANALYST), NULL), 200);
    assert_problem(ask(&scene->client, "GET", "/v1/keys", HEADERS(USER, ANALYST), NULL),
                   403, "forbidden");
}

/* The proxy may log in any user, so even a name that no user has had yet is not
 * free. */
static void a_key_in_a_name_that_the_proxy_may_bring_is_refused(void **state)
{
    struct scene *scene = *state;
    const struct reply *refused = ask(
        &scene->client, "POST", "/v1/keys",
        HEADERS(USER, "X-Forwarded-Groups: owners", "Content-Type: application/json"),
        "{\"owner\":\"carl@example.org\",\"project\":\"fraud\","
        "\"role\":\"analyst\"}");
    assert_problem(refused, 403, "forbidden");
    assert_string_equal(reply_text(refused, "errors.0.pointer"), "/owner");
}

static void another_projects_things_are_not_there(void **state)
{
    static const char body[] =
        "{\"id\":\"loans\",\"format\":\"csv\",\"task\":\"classification\","
        "\"header\":false,\"columns\":[{\"name\":\"x\",\"kind\":\"numeric\",\"range\":["
        "0,1]},"
        "{\"name\":\"y\",\"kind\":\"label\",\"values\":[\"0\",\"1\"]}],"
        "\"privacy\":\"public\"}";
    struct scene *scene = *state;
    assert_status(ask(&scene->client, "POST", "/v1/datasets",
                      HEADERS("X-Forwarded-User: rolf", "X-Forwarded-Groups: risk",
                              JSON, "Idempotency-Key: loans"),
                      body),
                  201);
    assert_problem(
        ask(&scene->client, "GET", "/v1/datasets/loans", HEADERS(USER, ANALYST), NULL),
        404, "not_found");
    assert_status(ask(&scene->client, "GET", "/v1/datasets/loans",
                      HEADERS("X-Forwarded-User: rita", "X-Forwarded-Groups: risk"),
                      NULL),
                  200);
}

static void whom_no_group_of_ours_names_is_refused(void **state)
{
    struct scene *scene = *state;
    struct client *client = &scene->client;
    assert_problem(ask(client, "GET", "/v1/jobs",
                       HEADERS(USER, "X-Forwarded-Groups: staff"), NULL),
                   403, "forbidden");
    assert_problem(ask(client, "GET", "/v1/jobs", HEADERS(USER), NULL), 403,
                   "forbidden");
    assert_problem(ask(client, "GET", "/v1/jobs", HEADERS(ANALYST), NULL), 400,
                   "invalid_argument");
    assert_problem(
        ask(client, "GET", "/v1/jobs", HEADERS("X-Forwarded-User: a b", ANALYST), NULL),
        400, "invalid_argument");
    assert_problem(ask(client, "GET", "/v1/jobs",
                       HEADERS("X-Forwarded-User: local", ANALYST), NULL),
                   400, "invalid_argument");
    assert_problem(ask(client, "GET", "/v1/jobs", HEADERS(USER, USER, ANALYST), NULL),
                   400, "invalid_argument");
    assert_problem(client_get(client, "/v1/jobs"), 401, "key_missing");
    assert_status(client_get(client, "/ui/"), 200);
}

/* A browser that a proxy has logged in sends the proxy's cookie with the requests of
 * any site's page. */
static void another_sites_page_changes_nothing(void **state)
{
    struct scene *scene = *state;
    struct client *client = &scene->client;
    const char *path = "/v1/jobs:estimate";
    assert_problem(ask(client, "POST", path,
                       HEADERS(USER, ANALYST, JSON, "Origin: https://evil.example"),
                       "{}"),
                   403, "forbidden_origin");
    assert_problem(ask(client, "POST", path,
                       HEADERS(USER, ANALYST, JSON, "Sec-Fetch-Site: cross-site"),
                       "{}"),
                   403, "forbidden_origin");
    assert_problem(ask(client, "POST", path,
                       HEADERS(USER, ANALYST, JSON, "Sec-Fetch-Site: same-origin"),
                       "{}"),
                   400, "invalid_argument");
    assert_problem(ask(client, "POST", path, HEADERS(USER, ANALYST, JSON), "{}"), 400,
                   "invalid_argument");
}

static void await_logged(const struct daemon *daemon, const char *text)
{
    for (int waited = 0; !daemon_logged(daemon, text); waited += 10) {
        if (waited > LOG_TIMEOUT_MS)
            fail_msg("the daemon never says: %s", text);
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
}

static void changed_groups_are_taken_and_broken_ones_are_not(void **state)
{
    struct scene *scene = *state;
    const char *path = "/v1/session";
    write_groups(
        scene,
        "{\"groups\":[{\"group\":\"fraud\",\"role\":\"king\",\"project\":\"fraud\"}]}");
    assert_int_equal(kill(scene->daemon.pid, SIGHUP), 0);
    await_logged(&scene->daemon, "\"not_reloaded\"");
    assert_true(daemon_logged(&scene->daemon, "/groups/0/role"));
    assert_string_equal(
        reply_text(ask(&scene->client, "GET", path, HEADERS(USER, ANALYST), NULL),
                   "role"),
        "analyst");
    write_groups(scene, "{\"groups\":[{\"group\":\"fraud\",\"role\":\"auditor\","
                        "\"project\":\"fraud\"}]}");
    assert_int_equal(kill(scene->daemon.pid, SIGHUP), 0);
    await_logged(&scene->daemon, "\"reloaded\"");
    assert_string_equal(
        reply_text(ask(&scene->client, "GET", path, HEADERS(USER, ANALYST), NULL),
                   "role"),
        "auditor");
    write_groups(scene, groups);
    assert_int_equal(kill(scene->daemon.pid, SIGHUP), 0);
}

static void from_elsewhere_it_is_a_spoof(void **state)
{
    struct daemon daemon;
    struct client client;
    char key[KEY_SIZE];
    static const char *const headers[] = {USER, EMAIL, ANALYST};
    (void)state;
    daemon_init(&daemon);
    client_init(&client, &daemon);
    daemon_start(&daemon, NULL);
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        assert_problem(client_get_with(&client, "/v1/jobs", headers[i]), 400,
                       "untrusted_proxy");
    assert_problem(client_get_with(&client, "/ui/", USER), 400, "untrusted_proxy");
    assert_status(client_get(&client, "/v1/jobs"), 200);
    assert_int_equal(daemon_stop(&daemon, SIGTERM), 0);
    /* The headers are refused with a valid key too, because they are an attempt to
     * forge an identity. */
    key_make(&daemon, "ana", "analyst", "fraud", key);
    daemon_start(&daemon, NULL);
    const struct key_header bearer = key_header(key);
    assert_problem(ask(&client, "GET", "/v1/jobs", HEADERS(bearer.text, USER), NULL),
                   400, "untrusted_proxy");
    assert_status(client_get_with(&client, "/v1/jobs", bearer.text), 200);
    client_fini(&client);
    daemon_fini(&daemon);
}

/* If a network is trusted, the headers of any other address are not. */
static void only_the_network_that_was_named_is_believed(void **state)
{
    struct scene *scene = *state;
    struct daemon daemon;
    struct client client;
    daemon_init(&daemon);
    client_init(&client, &daemon);
    daemon_start(&daemon, (const char *const[]){"--trust-proxy", "127.0.0.2",
                                                "--groups", scene->path, NULL});
    assert_problem(ask(&client, "GET", "/v1/session", HEADERS(USER, ANALYST), NULL),
                   400, "untrusted_proxy");
    assert_int_equal(daemon_stop(&daemon, SIGTERM), 0);
    daemon_start(&daemon, (const char *const[]){"--trust-proxy", "127.0.0.0/31",
                                                "--groups", scene->path, NULL});
    assert_string_equal(
        reply_text(ask(&client, "GET", "/v1/session", HEADERS(USER, ANALYST), NULL),
                   "via"),
        "proxy");
    client_fini(&client);
    daemon_fini(&daemon);
}

struct waiter { /* polls a job until it changes */
    struct client client;
    char path[96];
    long status;
};

static void *wait_for_job(void *argument)
{
    struct waiter *waiter = argument;
    waiter->status =
        ask(&waiter->client, "GET", waiter->path, HEADERS(USER, ANALYST), NULL)->status;
    return NULL;
}

static unsigned waiting(struct client *client)
{
    const char *line =
        strstr(client_get(client, "/metrics")->body, "\nepsilond_http_waiting ");
    assert_non_null(line);
    return (unsigned)strtoul(strchr(line, ' '), NULL, 10);
}

/* A stream and a long poll of a user whose group no longer has a role get no events
 * from then on. */
static void who_is_taken_out_of_the_file_is_told_no_more(void **state)
{
    struct scene *scene = *state;
    struct daemon daemon;
    struct client client, ops;
    struct waiter waiter = {0};
    struct event_stream stream;
    struct event event;
    char key[KEY_SIZE];
    pthread_t thread;
    daemon_init(&daemon);
    client_init(&client, &daemon);
    client_init(&ops, &daemon);
    key_make(&daemon, "olga", "data_owner", "fraud", key);
    snprintf(client.key, sizeof client.key, "%.63s", key);
    key_make(&daemon, "ops", "operator", "default", key);
    snprintf(ops.key, sizeof ops.key, "%.63s", key);
    daemon_start(&daemon,
                 (const char *const[]){"--trust-proxy", "127.0.0.0/31", "--groups",
                                       scene->path, "--approvals", "off", NULL});
    ready_points(&client, "calls", 500, 1, SAMPLE_BUDGET(4));
    const char *job = submit(&client, SAMPLE_JOB, "calls", SAMPLE_ENDLESS, 1e4);
    await_training(&client, job);
    stream_open_with(&stream, &daemon, "/v1/events", USER "\r\n" ANALYST);
    assert_int_equal(stream.status, 200);
    stream_expect(&stream, &event, "snapshot");
    event_fini(&event);
    client_init(&waiter.client, &daemon);
    snprintf(waiter.path, sizeof waiter.path, "/v1/jobs/%s?wait=60", job);
    assert_int_equal(pthread_create(&thread, NULL, wait_for_job, &waiter), 0);
    for (int waited = 0; waiting(&ops) == 0; waited += 10) {
        assert_true(waited < LOG_TIMEOUT_MS);
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    write_groups(scene, "{\"groups\":[{\"group\":\"owners\",\"role\":\"data_owner\","
                        "\"project\":\"fraud\"}]}");
    assert_int_equal(kill(daemon.pid, SIGHUP), 0);
    await_logged(&daemon, "\"reloaded\"");
    cancel(&client, job);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(waiter.status, 403);
    while (stream_next(&stream, &event)) {
        assert_string_not_equal(event.name, "state");
        event_fini(&event);
    }
    event_fini(&event);
    stream_close(&stream);
    write_groups(scene, groups);
    client_fini(&waiter.client);
    client_fini(&ops);
    client_fini(&client);
    daemon_fini(&daemon);
}

/* Nothing would end a webhook of a user who has no key. */
static void single_sign_on_alone_makes_no_webhook(void **state)
{
    struct scene *scene = *state;
    assert_problem(
        ask(&scene->client, "POST", "/v1/webhooks",
            HEADERS("X-Forwarded-User: rolf", "X-Forwarded-Groups: risk", JSON),
            "{\"url\":\"https://example.com/\",\"events\":[\"job.failed\"]}"),
        403, "forbidden");
}

static void assert_not_started(struct daemon *daemon, const char *const options[4],
                               int code, const char *why)
{
    assert_int_equal(
        daemon_run(daemon,
                   (const char *const[]){"--data-dir", daemon->data_dir, "--listen",
                                         "127.0.0.1:0", options[0], options[1],
                                         options[2], options[3], NULL}),
        code);
    if (!daemon_logged(daemon, why)) {
        daemon_show_log(daemon);
        fail_msg("not said: %s", why);
    }
}

#define OPTIONS(...) ((const char *const[4]){__VA_ARGS__})

static void what_cannot_be_meant_stops_the_start(void **state)
{
    struct scene *scene = *state;
    struct daemon daemon;
    daemon_init(&daemon);
    assert_not_started(&daemon, OPTIONS("--trust-proxy", "unix"), 64, "go together");
    assert_not_started(&daemon, OPTIONS("--groups", scene->path), 64, "go together");
    assert_not_started(&daemon,
                       OPTIONS("--trust-proxy", "everybody", "--groups", scene->path),
                       64, "neither unix nor a network");
    assert_not_started(&daemon,
                       OPTIONS("--trust-proxy", "unix", "--groups", "/nowhere.json"),
                       75, "No such file");
    write_groups(scene, "[]");
    assert_not_started(&daemon,
                       OPTIONS("--trust-proxy", "unix", "--groups", scene->path), 78,
                       "groups.json");
    write_groups(scene, groups);
    daemon_fini(&daemon);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_person_has_the_role_of_their_group),
        cmocka_unit_test(another_projects_things_are_not_there),
        cmocka_unit_test(a_key_in_a_name_that_the_proxy_may_bring_is_refused),
        cmocka_unit_test(whom_no_group_of_ours_names_is_refused),
        cmocka_unit_test(another_sites_page_changes_nothing),
        cmocka_unit_test(changed_groups_are_taken_and_broken_ones_are_not),
        cmocka_unit_test(from_elsewhere_it_is_a_spoof),
        cmocka_unit_test(only_the_network_that_was_named_is_believed),
        cmocka_unit_test(who_is_taken_out_of_the_file_is_told_no_more),
        cmocka_unit_test(single_sign_on_alone_makes_no_webhook),
        cmocka_unit_test(what_cannot_be_meant_stops_the_start),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
