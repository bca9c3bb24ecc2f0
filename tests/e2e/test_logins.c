/* Goal: a browser sends its key once and gets a cookie that allows no more than the key
 * does, changes nothing from another site's page, and ends when it should. Method:
 * libcurl as the browser, with the headers that a browser sends.
 * (tests/service/identity/test_logins.c tests by a clock of its own that a session ends
 * when it was idle or has lived for twelve hours.) */
#include <arpa/inet.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <curl/curl.h>

#include "tests/expect.h"
#include "tests/e2e/client_fixture.h"
#include "tests/e2e/identity_fixture.h"
#include "tests/e2e/key_fixture.h"

#define JSON "Content-Type: application/json"

enum { COOKIE_SIZE = 128 };

struct scene {
    struct daemon daemon;
    struct client client;
    char analyst[KEY_SIZE], operator[KEY_SIZE], owner[KEY_SIZE];
    char origin[80]; /* the header Origin with our own address */
};

static int begin(void **state)
{
    struct scene *scene = calloc(1, sizeof *scene);
    assert_non_null(scene);
    *state = scene;
    curl_global_init(CURL_GLOBAL_DEFAULT);
    daemon_init(&scene->daemon);
    client_init(&scene->client, &scene->daemon);
    key_make(&scene->daemon, "ana", "analyst", "fraud", scene->analyst);
    key_make(&scene->daemon, "ops", "operator", "default", scene->operator);
    key_make(&scene->daemon, "dana", "data_owner", "fraud", scene->owner);
    daemon_start(&scene->daemon, NULL);
    snprintf(scene->origin, sizeof scene->origin, "Origin: %s", scene->daemon.base);
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

static const struct reply *log_in(struct client *client, const char *key)
{
    return client_post(client, "/v1/session", NULL, "{'key':'%s'}", key);
}

/* Logs in and writes the header Cookie that a browser sends from then on. */
static void take_cookie(struct client *client, const char *key,
                        char header[COOKIE_SIZE])
{
    char set[256];
    const struct reply *reply = assert_status(log_in(client, key), 201);
    assert_true(reply_header(reply, "Set-Cookie", set));
    set[strcspn(set, ";")] = '\0';
    snprintf(header, COOKIE_SIZE, "Cookie: %.*s", COOKIE_SIZE - 9, set);
}

static const struct reply *ask(struct client *client, const char *method,
                               const char *path, const char *const headers[4],
                               const char *body)
{
    struct request request = {.method = method, .path = path, .body = body};
    request.size = body != NULL ? strlen(body) : 0;
    for (size_t i = 0; i < 4; i++)
        request.headers[i] = headers[i];
    return client_send(client, &request);
}

#define HEADERS(...) ((const char *const[4]){__VA_ARGS__})

static void a_key_is_exchanged_for_a_cookie(void **state)
{
    struct scene *scene = *state;
    char set[256], cookie[COOKIE_SIZE], expected[256];
    const struct reply *reply =
        assert_status(log_in(&scene->client, scene->analyst), 201);
    assert_string_equal(reply_text(reply, "name"), "ana");
    assert_string_equal(reply_text(reply, "via"), "session");
    assert_true(reply_header(reply, "Cache-Control", set));
    assert_string_equal(set, "no-store");
    assert_true(reply_header(reply, "Set-Cookie", set));
    assert_memory_equal(set, "epsilond=", 9);
    assert_int_equal(strcspn(set + 9, ";"), 64);
    assert_string_equal(set + 9 + 64,
                        "; Path=/; Max-Age=43200; HttpOnly; SameSite=Strict");
    take_cookie(&scene->client, scene->analyst, cookie);
    reply = assert_status(client_get_with(&scene->client, "/v1/session", cookie), 200);
    assert_true(json_is_true(reply_at(reply, "authenticated")));
    assert_string_equal(reply_text(reply, "role"), "analyst");
    assert_string_equal(reply_text(reply, "project"), "fraud");
    snprintf(expected, sizeof expected, "%.8s", scene->analyst + strlen("dpk_"));
    assert_string_equal(reply_text(reply, "key"), expected);
    assert_true(json_is_string(reply_at(reply, "expire_time")));
    assert_status(client_get_with(&scene->client, "/v1/jobs", cookie), 200);
    assert_problem(client_get_with(&scene->client, "/v1/keys", cookie), 403,
                   "forbidden");
}

static void without_one_there_is_nobody(void **state)
{
    struct scene *scene = *state;
    const struct reply *reply =
        assert_status(client_get(&scene->client, "/v1/session"), 200);
    assert_true(json_is_false(reply_at(reply, "authenticated")));
    assert_true(json_is_null(reply_at(reply, "name")));
    assert_int_equal(json_array_size(reply_at(reply, "scopes")), 0);
    assert_problem(client_get(&scene->client, "/v1/jobs"), 401, "key_missing");
    assert_status(client_get(&scene->client, "/ui/"), 200);
}

static void what_is_no_key_gets_none(void **state)
{
    struct scene *scene = *state;
    struct client *client = &scene->client;
    char wrong[KEY_SIZE];
    snprintf(wrong, sizeof wrong, "%s", scene->analyst);
    wrong[strlen(wrong) - 1] = wrong[strlen(wrong) - 1] == 'a' ? 'b' : 'a';
    const struct reply *reply = log_in(client, wrong);
    char set[256];
    assert_problem(reply, 401, "key_unknown");
    assert_false(reply_header(reply, "Set-Cookie", set));
    assert_problem(log_in(client, "dpk_"), 401, "key_malformed");
    assert_invalid_at(client_post(client, "/v1/session", NULL, "{}"), "/key");
    assert_invalid_at(client_post(client, "/v1/session", NULL, "{'key':7}"), "/key");
    assert_invalid_at(
        client_post(client, "/v1/session", NULL, "{'key':'x','user':'y'}"), "/user");
    char *body = malloc(1000);
    assert_non_null(body);
    snprintf(body, 1000, "%0900d", 7);
    assert_invalid_at(client_post(client, "/v1/session", NULL, "{'key':'%s'}", body),
                      "/key");
    free(body);
    assert_problem(ask(client, "POST", "/v1/session",
                       HEADERS("Content-Type: text/plain"), "{\"key\":\"x\"}"),
                   415, "unsupported_media_type");
    assert_problem(ask(client, "POST", "/v1/session",
                       HEADERS(JSON, "Origin: https://evil.example"),
                       "{\"key\":\"x\"}"),
                   403, "forbidden_origin");
}

static void a_cookie_changes_nothing_from_elsewhere(void **state)
{
    struct scene *scene = *state;
    struct client *client = &scene->client;
    const char *estimate = "/v1/jobs:estimate", *cancel = "/v1/jobs/job_x:cancel";
    const char *own = scene->origin, *same = "Sec-Fetch-Site: same-origin";
    char cookie[COOKIE_SIZE];
    take_cookie(client, scene->analyst, cookie);
    assert_problem(ask(client, "POST", estimate, HEADERS(cookie, JSON), "{}"), 403,
                   "forbidden_origin");
    assert_problem(ask(client, "POST", estimate,
                       HEADERS(cookie, JSON, "Sec-Fetch-Site: cross-site"), "{}"),
                   403, "forbidden_origin");
    assert_problem(ask(client, "POST", estimate,
                       HEADERS(cookie, JSON, "Sec-Fetch-Site: same-site"), "{}"),
                   403, "forbidden_origin");
    assert_problem(ask(client, "POST", estimate,
                       HEADERS(cookie, JSON, same, "Origin: https://evil.example"),
                       "{}"),
                   403, "forbidden_origin");
    assert_problem(ask(client, "POST", estimate,
                       HEADERS(cookie, JSON, same, "Origin: null"), "{}"),
                   403, "forbidden_origin");
    assert_problem(ask(client, "POST", cancel, HEADERS(cookie), NULL), 403,
                   "forbidden_origin");
    assert_problem(ask(client, "DELETE", "/v1/session", HEADERS(cookie), NULL), 403,
                   "forbidden_origin");
    assert_problem(ask(client, "POST", cancel, HEADERS(cookie, own), NULL), 415,
                   "unsupported_media_type");
    assert_problem(ask(client, "POST", cancel, HEADERS(cookie, own, JSON), "{}"), 404,
                   "not_found");
    assert_problem(ask(client, "POST", estimate, HEADERS(cookie, own, JSON), "{}"), 400,
                   "invalid_argument");
    assert_problem(ask(client, "POST", estimate, HEADERS(cookie, same, JSON), "{}"),
                   400, "invalid_argument");
    assert_status(client_get_with(client, "/v1/jobs", cookie), 200);
}

/* Uploads may have any content type, so only Origin shows which site's page sends
 * one. */
static void an_upload_needs_our_origin_alone(void **state)
{
    struct scene *scene = *state;
    struct client *client = &scene->client;
    const char *path = "/v1/datasets/none/files/data";
    char cookie[COOKIE_SIZE];
    take_cookie(client, scene->owner, cookie);
    assert_problem(ask(client, "PUT", path, HEADERS(cookie), "x"), 403,
                   "forbidden_origin");
    assert_problem(ask(client, "PUT", path, HEADERS(cookie, scene->origin), "x"), 404,
                   "not_found");
}

static void a_bearer_wins_over_a_cookie(void **state)
{
    struct scene *scene = *state;
    char cookie[COOKIE_SIZE];
    take_cookie(&scene->client, scene->analyst, cookie);
    const struct key_header bearer = key_header(scene->operator);
    const struct reply *reply =
        ask(&scene->client, "GET", "/v1/session", HEADERS(cookie, bearer.text), NULL);
    assert_string_equal(reply_text(reply, "name"), "ops");
    assert_string_equal(reply_text(reply, "via"), "bearer");
    assert_true(json_is_null(reply_at(reply, "expire_time")));
    /* A request that carries a key of its own cannot come from another site's page. */
    assert_problem(ask(&scene->client, "POST", "/v1/jobs/job_x:cancel",
                       HEADERS(cookie, bearer.text), NULL),
                   404, "not_found");
    assert_problem(ask(&scene->client, "GET", "/v1/jobs",
                       HEADERS(cookie, "Authorization: Bearer dpk_x"), NULL),
                   401, "key_malformed");
}

static void it_ends_when_it_is_ended(void **state)
{
    struct scene *scene = *state;
    struct client *client = &scene->client;
    char cookie[COOKIE_SIZE], set[256];
    take_cookie(client, scene->analyst, cookie);
    const struct reply *reply = assert_status(
        ask(client, "DELETE", "/v1/session", HEADERS(cookie, scene->origin), NULL),
        204);
    assert_true(reply_header(reply, "Set-Cookie", set));
    assert_memory_equal(set, "epsilond=; Path=/; Max-Age=0;", 29);
    assert_problem(client_get_with(client, "/v1/jobs", cookie), 401, "session_ended");
    reply = assert_status(client_get_with(client, "/v1/session", cookie), 200);
    assert_true(json_is_false(reply_at(reply, "authenticated")));
    assert_status(client_get_with(client, "/ui/", cookie), 200);
    assert_status(client_delete(client, "/v1/session"), 204);
    cookie[strlen(cookie) - 1] ^= 1;
    assert_problem(client_get_with(client, "/v1/jobs", cookie), 401, "session_ended");
    assert_problem(client_get_with(client, "/v1/jobs", "Cookie: epsilond=x"), 401,
                   "session_ended");
}

static void it_ends_with_its_key(void **state)
{
    struct scene *scene = *state;
    struct client *client = &scene->client;
    const struct key_header bearer = key_header(scene->operator);
    char key[KEY_SIZE], cookie[COOKIE_SIZE], path[64];
    const struct key_header maker = key_header(scene->owner);
    const struct reply *made =
        ask(client, "POST", "/v1/keys", HEADERS(JSON, maker.text),
            "{\"owner\":\"eve\",\"role\":\"analyst\",\"project\":\"fraud\"}");
    assert_status(made, 201);
    snprintf(key, sizeof key, "%s", reply_text(made, "key"));
    take_cookie(client, key, cookie);
    assert_status(client_get_with(client, "/v1/jobs", cookie), 200);
    snprintf(path, sizeof path, "/v1/keys/%s:revoke", reply_text(made, "id"));
    assert_status(ask(client, "POST", path, HEADERS(bearer.text), NULL), 200);
    assert_problem(client_get_with(client, "/v1/jobs", cookie), 401, "key_revoked");
    assert_problem(client_get_with(client, "/v1/jobs", cookie), 401, "session_ended");
    assert_problem(log_in(client, key), 401, "key_revoked");
}

/* A stream of events is an answer that never ends by itself. */
static void a_stream_ends_with_the_session(void **state)
{
    struct scene *scene = *state;
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)scene->daemon.port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const struct timeval patience = {.tv_sec = 60};
    char cookie[COOKIE_SIZE], bytes[4096];
    take_cookie(&scene->client, scene->analyst, cookie);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    int size =
        snprintf(bytes, sizeof bytes,
                 "GET /v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\n%s\r\n\r\n", cookie);
    assert_int_equal(send(fd, bytes, (size_t)size, MSG_NOSIGNAL), size);
    assert_true(recv(fd, bytes, sizeof bytes, 0) > 12);
    assert_memory_equal(bytes, "HTTP/1.1 200", 12);
    assert_status(ask(&scene->client, "DELETE", "/v1/session",
                      HEADERS(cookie, scene->origin), NULL),
                  204);
    ssize_t got = 1;
    while (got > 0)
        got = recv(fd, bytes, sizeof bytes, 0);
    assert_int_equal(got, 0); /* closed by the daemon, not timed out */
    close(fd);
}

static void a_thousand_logins_leave_the_newest(void **state)
{
    struct scene *scene = *state;
    char first[COOKIE_SIZE], other[COOKIE_SIZE], last[COOKIE_SIZE];
    take_cookie(&scene->client, scene->operator, other);
    take_cookie(&scene->client, scene->analyst, first);
    for (int i = 0; i < 1000; i++)
        take_cookie(&scene->client, scene->analyst, last);
    assert_problem(client_get_with(&scene->client, "/v1/jobs", first), 401,
                   "session_ended");
    assert_status(client_get_with(&scene->client, "/v1/jobs", last), 200);
    assert_status(client_get_with(&scene->client, "/v1/jobs", other), 200);
}

/* Returns whether any file of the data directory holds the text. */
static bool is_on_disk(const struct daemon *daemon, const char *text)
{
    char command[256];
    snprintf(command, sizeof command, "grep -rqF -- %s %s", text, daemon->data_dir);
    return system(command) == 0;
}

/* The daemon is killed, so that everything that is only in memory is lost; and no file
 * contains the cookie. */
static void a_restart_ends_those_alone_that_were_ended(void **state)
{
    struct scene *scene = *state;
    char kept[COOKIE_SIZE], ended[COOKIE_SIZE];
    take_cookie(&scene->client, scene->analyst, kept);
    take_cookie(&scene->client, scene->analyst, ended);
    assert_status(ask(&scene->client, "DELETE", "/v1/session",
                      HEADERS(ended, scene->origin), NULL),
                  204);
    assert_int_equal(daemon_stop(&scene->daemon, SIGKILL), 128 + SIGKILL);
    assert_false(daemon_logged(&scene->daemon, kept + strlen("Cookie: epsilond=")));
    assert_false(is_on_disk(&scene->daemon, kept + strlen("Cookie: epsilond=")));
    daemon_start(&scene->daemon, NULL);
    snprintf(scene->origin, sizeof scene->origin, "Origin: %s", scene->daemon.base);
    assert_status(client_get_with(&scene->client, "/v1/jobs", kept), 200);
    assert_problem(client_get_with(&scene->client, "/v1/jobs", ended), 401,
                   "session_ended");
}

static void under_tls_the_cookie_is_the_hosts_alone(void **state)
{
    struct scene *scene = *state;
    struct identity identity;
    char set[256], cookie[COOKIE_SIZE];
    assert_int_equal(daemon_stop(&scene->daemon, SIGTERM), 0);
    identity_make(&identity, scene->daemon.directory, "daemon");
    daemon_start(&scene->daemon,
                 (const char *const[]){"--tls-cert", identity.certificate, "--tls-key",
                                       identity.key, NULL});
    const struct reply *reply =
        assert_status(log_in(&scene->client, scene->analyst), 201);
    assert_true(reply_header(reply, "Set-Cookie", set));
    assert_memory_equal(set, "__Host-epsilond=", 16);
    assert_non_null(strstr(set, "; HttpOnly; Secure; SameSite=Strict"));
    set[strcspn(set, ";")] = '\0';
    snprintf(cookie, sizeof cookie, "Cookie: %.*s", COOKIE_SIZE - 9, set);
    assert_status(client_get_with(&scene->client, "/v1/jobs", cookie), 200);
    /* A plain connection could set a cookie of this name, so it is not accepted. */
    snprintf(cookie, sizeof cookie, "Cookie: epsilond=%.*s", COOKIE_SIZE - 18,
             set + 16);
    assert_problem(client_get_with(&scene->client, "/v1/jobs", cookie), 401,
                   "key_missing");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_is_exchanged_for_a_cookie),
        cmocka_unit_test(without_one_there_is_nobody),
        cmocka_unit_test(what_is_no_key_gets_none),
        cmocka_unit_test(a_cookie_changes_nothing_from_elsewhere),
        cmocka_unit_test(an_upload_needs_our_origin_alone),
        cmocka_unit_test(a_bearer_wins_over_a_cookie),
        cmocka_unit_test(it_ends_when_it_is_ended),
        cmocka_unit_test(it_ends_with_its_key),
        cmocka_unit_test(a_stream_ends_with_the_session),
        cmocka_unit_test(a_thousand_logins_leave_the_newest),
        cmocka_unit_test(a_restart_ends_those_alone_that_were_ended),
        cmocka_unit_test(under_tls_the_cookie_is_the_hosts_alone),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
