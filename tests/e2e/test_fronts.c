/* Goal: everything that works without a reverse proxy works through those in deploy/,
 * including the dashboard's own requests; requests from another site are refused, and
 * so are clients that give their identity in a header. Method: nginx and Caddy in front
 * of a daemon that requires keys, and requests as a browser sends them. */
#include <stdlib.h>
#include <string.h>
#include <curl/curl.h>

#include "tests/expect.h"
#include "tests/e2e/client_fixture.h"
#include "tests/e2e/front_fixture.h"
#include "tests/e2e/key_fixture.h"

#define JSON "Content-Type: application/json"

struct scene {
    struct daemon daemon;
    char key[KEY_SIZE];
};

static int begin(void **state)
{
    struct scene *scene = calloc(1, sizeof *scene);
    assert_non_null(scene);
    *state = scene;
    curl_global_init(CURL_GLOBAL_DEFAULT);
    daemon_init(&scene->daemon);
    key_make(&scene->daemon, "dana", "data_owner", "fraud", scene->key);
    daemon_start(&scene->daemon, (const char *const[]){"--behind-proxy", "on", NULL});
    return 0;
}

static int end(void **state)
{
    struct scene *scene = *state;
    daemon_fini(&scene->daemon);
    free(scene);
    curl_global_cleanup();
    return 0;
}

/* Makes a client of the proxy instead of the daemon. */
static void client_of_front(struct client *client, struct daemon *seen,
                            const struct front *front, const struct daemon *daemon)
{
    *seen = *daemon;
    seen->port = front->port;
    snprintf(seen->base, sizeof seen->base, "http://127.0.0.1:%u", front->port);
    client_init(client, seen);
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

static const char table[] =
    "{\"id\":\"%s\",\"format\":\"csv\",\"task\":\"classification\",\"header\":false,"
    "\"columns\":[{\"name\":\"x\",\"kind\":\"numeric\",\"range\":[0,1]},"
    "{\"name\":\"y\",\"kind\":\"label\",\"values\":[\"0\",\"1\"]}],\"privacy\":"
    "\"public\"}";

static void by_key(struct client *client, const struct front *front, const char *key)
{
    enum { SIZE = 3 << 20 };
    char path[64], declaration[512], once[64];
    const char *id = front->kind == FRONT_NGINX ? "by-nginx" : "by-caddy";
    snprintf(path, sizeof path, "/v1/datasets/%s/files/data", id);
    snprintf(declaration, sizeof declaration, table, id);
    snprintf(once, sizeof once, "Idempotency-Key: %s", id);
    const struct key_header bearer = key_header(key);
    char *body = malloc(SIZE);
    assert_non_null(body);
    memset(body, 'x', SIZE);
    assert_problem(client_get(client, "/v1/datasets"), 401, "key_missing");
    assert_status(client_get_with(client, "/v1/datasets", bearer.text), 200);
    assert_status(client_get(client, "/ui/"), 200);
    assert_status(ask(client, "POST", "/v1/datasets", HEADERS(bearer.text, JSON, once),
                      declaration),
                  201);
    const struct request upload = {.method = "PUT",
                                   .path = path,
                                   .headers = {bearer.text},
                                   .body = body,
                                   .size = SIZE};
    assert_status(client_send(client, &upload), 204);
    /* The proxy removes the headers; if it passed them on, the daemon would refuse them
     * as a spoof. */
    assert_status(ask(client, "GET", "/v1/datasets",
                      HEADERS(bearer.text, "X-Forwarded-User: root",
                              "X-Forwarded-Groups: operators"),
                      NULL),
                  200);
    free(body);
}

static void by_cookie(struct client *client, const struct front *front, const char *key)
{
    const char *path = "/v1/jobs:estimate";
    char set[256], cookie[128], origin[80];
    const struct reply *reply =
        client_post(client, "/v1/session", NULL, "{'key':'%s'}", key);
    assert_status(reply, 201);
    assert_true(reply_header(reply, "Set-Cookie", set));
    assert_memory_equal(set, "__Host-epsilond=", 16);
    assert_non_null(strstr(set, "Secure"));
    set[strcspn(set, ";")] = '\0';
    snprintf(cookie, sizeof cookie, "Cookie: %.*s", 110, set);
    assert_status(client_get_with(client, "/v1/datasets", cookie), 200);
    snprintf(origin, sizeof origin, "Origin: https://127.0.0.1:%u", front->port);
    assert_problem(ask(client, "POST", path, HEADERS(cookie, JSON, origin), "{}"), 400,
                   "invalid_argument");
    assert_problem(ask(client, "POST", path, HEADERS(cookie, JSON), "{}"), 403,
                   "forbidden_origin");
    assert_problem(ask(client, "POST", path,
                       HEADERS(cookie, JSON, "Origin: https://evil.example"), "{}"),
                   403, "forbidden_origin");
    assert_problem(
        ask(client, "POST", path, HEADERS(cookie, JSON, "Origin: null"), "{}"), 403,
        "forbidden_origin");
}

static void check_front(const struct scene *scene, enum front_kind kind)
{
    struct front front;
    struct daemon seen;
    struct client client;
    if (!front_start(&front, kind, &scene->daemon))
        skip(); /* front_start has given the reason */
    client_of_front(&client, &seen, &front, &scene->daemon);
    by_key(&client, &front, scene->key);
    by_cookie(&client, &front, scene->key);
    client_fini(&client);
    front_stop(&front);
}

static void behind_nginx_keys_and_sessions_work(void **state)
{
    check_front(*state, FRONT_NGINX);
}

static void behind_caddy_keys_and_sessions_work(void **state)
{
    check_front(*state, FRONT_CADDY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(behind_nginx_keys_and_sessions_work),
        cmocka_unit_test(behind_caddy_keys_and_sessions_work),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
