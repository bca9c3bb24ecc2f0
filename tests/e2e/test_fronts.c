/* Goal: through the fronts that deploy/ has, everything works that works without one, the
 * dashboard's own requests among it, and another site's are refused. Method: nginx and
 * Caddy in front of the daemon, and requests as a browser sends them. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/expect.h"
#include "tests/e2e/front_fixture.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"

/* A client of the front in the place of one of the daemon. */
static void client_of_front(struct client *client, struct daemon *seen,
                            const struct front *front, const struct daemon *daemon)
{
    *seen = *daemon;
    seen->port = front->port;
    snprintf(seen->base, sizeof seen->base, "http://127.0.0.1:%u", front->port);
    client_init(client, seen);
    client->keys = 1000u * front->kind; /* its own are not another front's */
}

static const struct reply *post_from(struct client *client, const char *origin)
{
    char header[128];
    snprintf(header, sizeof header, "Origin: %s", origin);
    static const char body[] = "{\"dataset\":\"points\"}";
    return client_send(client,
                       &(struct request){.method = "POST",
                                         .path = "/v1/jobs:estimate",
                                         .headers = {header, "Content-Type: "
                                                             "application/json"},
                                         .body = body,
                                         .size = strlen(body)});
}

static void check_front(const struct stage *stage, enum front_kind kind, const char *id)
{
    struct front front;
    struct daemon seen;
    struct client client;
    enum { SIZE = 3 << 20 };
    char path[96];
    if (!front_start(&front, kind, &stage->daemon))
        skip();
    client_of_front(&client, &seen, &front, &stage->daemon);
    assert_status(client_get(&client, "/v1/datasets"), 200);
    assert_status(client_get(&client, "/ui/"), 200);
    assert_status(declare_points(&client, id, SAMPLE_PUBLIC), 201);
    char *body = malloc(SIZE);
    assert_non_null(body);
    memset(body, 'x', SIZE);
    snprintf(path, sizeof path, "/v1/datasets/%s/files/data", id);
    assert_status(client_put(&client, path, body, SIZE), 204);
    free(body);

    assert_status(post_from(&client, seen.base), 400); /* it came to the handler */
    assert_non_null(client.replies->json);
    assert_int_equal(post_from(&client, "https://evil.example")->status, 403);
    assert_int_equal(post_from(&client, "null")->status, 403);
    client_fini(&client);
    front_stop(&front);
}

static void behind_nginx_our_own_origin_alone_is_taken(void **state)
{
    check_front(*state, FRONT_NGINX, "by-nginx");
}

static void behind_caddy_our_own_origin_alone_is_taken(void **state)
{
    check_front(*state, FRONT_CADDY, "by-caddy");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(behind_nginx_our_own_origin_alone_is_taken),
        cmocka_unit_test(behind_caddy_our_own_origin_alone_is_taken),
    };
    return cmocka_run_group_tests(tests, stage_begin, stage_end);
}
