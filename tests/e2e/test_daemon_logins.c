/* Goal: a browser that logs in at one daemon is logged in at every other that shares
 * the database, from its very next request on. When it logs out at any of them, or its
 * key is revoked there, it is logged in at none. A key that was revoked at one can
 * change nothing at any. Method: two processes on a real PostgreSQL server. */
#include <string.h>

#include "tests/expect.h"
#include "tests/e2e/daemons_fixture.h"
#include "tests/e2e/stream_fixture.h"

enum { ONE, OTHER };

static char first_operator[96]; /* the first key that was made */

static int begin(void **state)
{
    static const char *const roles[] = {"api", "api", NULL};
    return daemons_begin(state, roles);
}

static const struct reply *ask_with(struct client *client, const char *method,
                                    const char *path, const char *cookie)
{
    char origin[96];
    snprintf(origin, sizeof origin, "Origin: %s", client->daemon->base);
    return client_send(
        client,
        &(struct request){.method = method, .path = path, .headers = {cookie, origin}});
}

static long listed_with(struct client *client, const char *cookie)
{
    return ask_with(client, "GET", "/v1/jobs", cookie)->status;
}

static const struct reply *ask_for_key(struct client *client, const char *role,
                                       const char *bearer)
{
    char body[128];
    snprintf(body, sizeof body,
             "{\"owner\":\"ana\",\"project\":\"default\",\"role\":\"%s\"}", role);
    return client_send(
        client, &(struct request){.method = "POST",
                                  .path = "/v1/keys",
                                  .headers = {"Content-Type: application/json", bearer},
                                  .body = body,
                                  .size = strlen(body)});
}

static void make_key(struct client *client, const char *role, const char *bearer,
                     char key[96], char id[32])
{
    const struct reply *made = ask_for_key(client, role, bearer);
    assert_status(made, 201);
    snprintf(key, 96, "%s", reply_text(made, "key"));
    snprintf(id, 32, "%s", reply_text(made, "id"));
}

static void log_in(struct client *client, const char *key, char cookie[128])
{
    char set[256];
    const struct reply *reply =
        client_post(client, "/v1/session", NULL, "{'key':'%s'}", key);
    assert_status(reply, 201);
    assert_true(reply_header(reply, "Set-Cookie", set));
    snprintf(cookie, 128, "Cookie: %.*s", (int)strcspn(set, ";"), set);
}

/* A thief of a key would use it to make a second key, which would outlive the first.
 * Requests follow each other as fast as they can, so that some arrive before the other
 * daemon has polled the database by itself. */
static void a_key_that_was_revoked_at_one_makes_no_other_at_any(void **state)
{
    enum { TIMES = 10 };
    struct daemons *daemons = *state;
    struct client *one = &daemons->clients[ONE], *other = &daemons->clients[OTHER];
    char stolen[96], bearer[128], header[128], id[32], path[64];
    snprintf(bearer, sizeof bearer, "Authorization: Bearer %s", first_operator);
    for (int i = 0; i < TIMES; i++) {
        make_key(other, "operator", bearer, stolen, id);
        snprintf(header, sizeof header, "Authorization: Bearer %s", stolen);
        assert_status(ask_for_key(other, "operator", header), 201);
        snprintf(path, sizeof path, "/v1/keys/%s:revoke", id);
        assert_status(ask_with(one, "POST", path, bearer), 200);
        assert_problem(ask_for_key(other, "operator", header), 401, "key_revoked");
    }
}

/* The very next request, to either daemon, already sees the change. */
static void a_browser_is_logged_in_and_out_at_all_at_once(void **state)
{
    struct daemons *daemons = *state;
    struct client *one = &daemons->clients[ONE], *other = &daemons->clients[OTHER];
    char second[96], bearer[128], id[32], path[64], cookie[128];
    make_key(one, "operator", NULL, first_operator, id);
    snprintf(bearer, sizeof bearer, "Authorization: Bearer %s", first_operator);
    make_key(other, "operator", bearer, second, id);
    for (int i = 0; i < 5; i++) {
        log_in(one, second, cookie);
        assert_true(json_is_true(
            reply_at(ask_with(other, "GET", "/v1/session", cookie), "authenticated")));
        assert_int_equal(listed_with(other, cookie), 200);
        assert_status(ask_with(other, "DELETE", "/v1/session", cookie), 204);
        assert_int_equal(listed_with(one, cookie), 401);
        assert_int_equal(listed_with(other, cookie), 401);
    }
    log_in(one, second, cookie);
    assert_int_equal(listed_with(other, cookie), 200);
    snprintf(path, sizeof path, "/v1/keys/%s:revoke", id);
    assert_status(ask_with(one, "POST", path, bearer), 200);
    assert_int_equal(listed_with(other, cookie), 401);
    assert_int_equal(listed_with(one, cookie), 401);
}

/* Once by logging out at one daemon, and once by revoking the key there. */
static void a_stream_ends_when_its_session_does_at_another(void **state)
{
    struct daemons *daemons = *state;
    struct client *one = &daemons->clients[ONE], *other = &daemons->clients[OTHER];
    char key[96], bearer[128], id[32], path[64], cookie[128];
    snprintf(bearer, sizeof bearer, "Authorization: Bearer %s", first_operator);
    for (int revokes = 0; revokes < 2; revokes++) {
        struct event_stream stream;
        struct event event;
        make_key(one, "operator", bearer, key, id);
        log_in(one, key, cookie);
        stream_open_with(&stream, other->daemon, "/v1/events", cookie);
        assert_int_equal(stream.status, 200);
        snprintf(path, sizeof path, "/v1/keys/%s:revoke", id);
        if (revokes)
            assert_status(ask_with(one, "POST", path, bearer), 200);
        else
            assert_status(ask_with(one, "DELETE", "/v1/session", cookie), 204);
        while (stream_next(&stream, &event))
            event_fini(&event);
        event_fini(&event);
        stream_close(&stream);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_browser_is_logged_in_and_out_at_all_at_once),
        cmocka_unit_test(a_key_that_was_revoked_at_one_makes_no_other_at_any),
        cmocka_unit_test(a_stream_ends_when_its_session_does_at_another),
    };
    return daemons_can_start() ? cmocka_run_group_tests(tests, begin, daemons_end) : 0;
}
