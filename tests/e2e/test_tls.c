/* Goal: with --tls-cert and --tls-key the daemon answers only HTTPS, takes renewed
 * files without losing a connection, and does not start on files that it should not
 * use. Method: certificates made by openssl, libcurl as a client that checks them, and
 * bytes that are not TLS. (test_smuggling.c sends requests that could be read in two
 * ways over TLS.) */
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <curl/curl.h>

#include "tests/expect.h"
#include "tests/e2e/client_fixture.h"
#include "tests/e2e/identity_fixture.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/wire_fixture.h"

enum { CLOSE_MS = 8000, LOG_TIMEOUT_MS = 120000 };

struct scene {
    struct daemon daemon;
    struct client client;
    struct identity first, second;
};

static int begin(void **state)
{
    struct scene *scene = calloc(1, sizeof *scene);
    assert_non_null(scene);
    *state = scene;
    curl_global_init(CURL_GLOBAL_DEFAULT);
    daemon_init(&scene->daemon);
    client_init(&scene->client, &scene->daemon);
    identity_make(&scene->first, scene->daemon.directory, "first");
    identity_make(&scene->second, scene->daemon.directory, "second");
    daemon_start(&scene->daemon,
                 (const char *const[]){"--tls-cert", scene->first.certificate,
                                       "--tls-key", scene->first.key, NULL});
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

static void await_logged(const struct daemon *daemon, const char *text)
{
    for (int waited = 0; !daemon_logged(daemon, text); waited += 10) {
        if (waited > LOG_TIMEOUT_MS)
            fail_msg("the daemon never says: %s", text);
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
}

static void copy(const char *from, const char *to)
{
    char command[256];
    snprintf(command, sizeof command, "cp '%s' '%s'", from, to);
    assert_int_equal(system(command), 0);
}

static void small_and_large_bodies_go_both_ways(void **state)
{
    struct scene *scene = *state;
    enum { SIZE = 5 << 20 };
    char *body = malloc(SIZE);
    assert_non_null(body);
    memset(body, 'x', SIZE);
    assert_status(client_get(&scene->client, "/v1/datasets"), 200);
    const struct reply *contract = client_get(&scene->client, "/openapi.yaml");
    assert_status(contract, 200);
    assert_true(contract->size > 100000);
    assert_memory_equal(contract->headers, "HTTP/1.1 200", 12);
    assert_status(declare_points(&scene->client, "points", SAMPLE_PUBLIC), 201);
    assert_status(
        client_put(&scene->client, "/v1/datasets/points/files/data", body, SIZE), 204);
    const struct request chunked = {.method = "PUT",
                                    .path = "/v1/datasets/points/files/data",
                                    .body = body,
                                    .size = SIZE,
                                    .chunked = true};
    assert_status(client_send(&scene->client, &chunked), 204);
    free(body);
}

static void our_origin_is_https(void **state)
{
    struct scene *scene = *state;
    char origin[80];
    snprintf(origin, sizeof origin, "Origin: https://127.0.0.1:%u", scene->daemon.port);
    assert_status(client_get_with(&scene->client, "/v1/datasets", origin), 200);
    snprintf(origin, sizeof origin, "Origin: http://127.0.0.1:%u", scene->daemon.port);
    assert_problem(client_get_with(&scene->client, "/v1/datasets", origin), 403,
                   "forbidden_origin");
}

static void a_client_of_another_authority_refuses(void **state)
{
    struct scene *scene = *state;
    struct daemon taken_for = scene->daemon;
    struct client client;
    taken_for.certificate = scene->second.certificate;
    client_init(&client, &taken_for);
    client.lossy = true;
    assert_int_equal(client_get(&client, "/v1/datasets")->status, 0);
    client_fini(&client);
}

static void plain_http_is_not_answered(void **state)
{
    struct scene *scene = *state;
    const char bytes[] = "GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
    struct exchange *exchange = malloc(sizeof *exchange);
    assert_non_null(exchange);
    wire_exchange(exchange, scene->daemon.port, bytes, strlen(bytes), CLOSE_MS);
    assert_true(exchange->closed);
    assert_int_equal(exchange->answers, 0);
    assert_null(strstr(exchange->received, "HTTP/1.1"));
    free(exchange);
    assert_status(client_get(&scene->client, "/livez"), 200);
}

static void old_versions_of_tls_are_refused(void **state)
{
    struct scene *scene = *state;
    CURL *curl = curl_easy_init();
    assert_non_null(curl);
    curl_easy_setopt(curl, CURLOPT_URL, scene->daemon.base);
    curl_easy_setopt(curl, CURLOPT_CONNECT_ONLY, 1L);
    curl_easy_setopt(curl, CURLOPT_PROXY, "");
    curl_easy_setopt(curl, CURLOPT_CAINFO, scene->first.certificate);
    curl_easy_setopt(curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_MAX_TLSv1_2);
    assert_int_equal(curl_easy_perform(curl), CURLE_OK);
    curl_easy_setopt(curl, CURLOPT_FRESH_CONNECT, 1L);
    curl_easy_setopt(curl, CURLOPT_SSL_CIPHER_LIST, "ALL:@SECLEVEL=0");
    curl_easy_setopt(curl, CURLOPT_SSLVERSION,
                     (long)CURL_SSLVERSION_TLSv1_0 | (long)CURL_SSLVERSION_MAX_TLSv1_1);
    assert_int_equal(curl_easy_perform(curl), CURLE_SSL_CONNECT_ERROR);
    curl_easy_cleanup(curl);
}

/* The handshake counts as part of the headers, which may take ten seconds. */
static void a_handshake_that_dribbles_is_cut_off(void **state)
{
    struct scene *scene = *state;
    const char record[] = "\x16\x03\x01\x01"; /* a record of 256 bytes or more */
    assert_true(wire_dribble(scene->daemon.port, record, 30));
}

/* Sends another request on the connection that libcurl keeps open. */
static long get_again(CURL *curl, long *connections)
{
    long status = 0;
    assert_int_equal(curl_easy_perform(curl), CURLE_OK);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(curl, CURLINFO_NUM_CONNECTS, connections);
    return status;
}

static void renewed_files_are_taken_and_no_connection_is_lost(void **state)
{
    struct scene *scene = *state;
    struct daemon renewed = scene->daemon;
    struct client client;
    char url[80], old[128];
    long connections = 0;
    CURL *curl = curl_easy_init();
    assert_non_null(curl);
    snprintf(url, sizeof url, "%s/livez", scene->daemon.base);
    snprintf(old, sizeof old, "%s.old", scene->first.certificate);
    copy(scene->first.certificate, old);
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_PROXY, "");
    curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
    curl_easy_setopt(curl, CURLOPT_CAINFO, old);
    assert_int_equal(get_again(curl, &connections), 200);
    assert_int_equal(connections, 1);

    copy(scene->second.certificate, scene->first.certificate);
    assert_int_equal(kill(scene->daemon.pid, SIGHUP), 0);
    await_logged(&scene->daemon, "\"not_reloaded\"");
    assert_true(daemon_logged(&scene->daemon, "is not that of"));
    renewed.certificate = old;
    client_init(&client, &renewed);
    assert_status(client_get(&client, "/livez"), 200);

    copy(scene->second.key, scene->first.key);
    assert_int_equal(kill(scene->daemon.pid, SIGHUP), 0);
    await_logged(&scene->daemon, "\"reloaded\"");
    client.lossy = true;
    assert_int_equal(client_get(&client, "/livez")->status, 0);
    assert_status(client_get(&scene->client, "/livez"), 200);
    assert_int_equal(get_again(curl, &connections), 200);
    assert_int_equal(connections, 0);
    client_fini(&client);
    curl_easy_cleanup(curl);
}

static void assert_not_started(struct daemon *daemon, const char *certificate,
                               const char *key, int code, const char *why)
{
    assert_int_equal(
        daemon_run(daemon,
                   (const char *const[]){"--data-dir", daemon->data_dir, "--listen",
                                         "127.0.0.1:0", "--tls-cert", certificate,
                                         "--tls-key", key, NULL}),
        code);
    if (!daemon_logged(daemon, why)) {
        daemon_show_log(daemon);
        fail_msg("not said: %s", why);
    }
}

static void files_that_cannot_be_used_are_said_at_the_start(void **state)
{
    struct daemon daemon;
    struct identity one, two;
    (void)state;
    daemon_init(&daemon);
    identity_make(&one, daemon.directory, "one");
    identity_make(&two, daemon.directory, "two");
    assert_not_started(&daemon, "/nowhere.pem", one.key, 75, "No such file");
    assert_not_started(&daemon, one.certificate, two.key, 78, "is not that of");
    assert_not_started(&daemon, one.key, one.key, 78, one.key);
    assert_not_started(&daemon, daemon.directory, one.key, 78, "not a file");
    assert_int_equal(chmod(one.key, 0644), 0);
    assert_not_started(&daemon, one.certificate, one.key, 78,
                       "others can read this key");
    assert_int_equal(
        daemon_run(&daemon, (const char *const[]){"--data-dir", daemon.data_dir,
                                                  "--tls-key", one.key, NULL}),
        64);
    assert_true(daemon_logged(&daemon, "go together"));
    daemon_fini(&daemon);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_and_large_bodies_go_both_ways),
        cmocka_unit_test(our_origin_is_https),
        cmocka_unit_test(a_client_of_another_authority_refuses),
        cmocka_unit_test(plain_http_is_not_answered),
        cmocka_unit_test(old_versions_of_tls_are_refused),
        cmocka_unit_test(a_handshake_that_dribbles_is_cut_off),
        cmocka_unit_test(renewed_files_are_taken_and_no_connection_is_lost),
        cmocka_unit_test(files_that_cannot_be_used_are_said_at_the_start),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
