/* Goal: when the disk is nearly full its last room is reserved for the ledger, so every
 * request is refused whose contents the daemon would keep. Method: requests without a
 * connection, on a disk that is reported as full. */
#include "service/process/disk_room.h"
#include "service/handlers/handlers.h"

#include "service/audit/audit_event.h"
#include "tests/expect.h"
#include "tests/service/service_fixture.h"

static struct scene scene;

static int begin(void **state)
{
    (void)state;
    scene_open(&scene);
    scene.config.audit_ip = false; /* there is no connection to take it from */
    disk_room_take(scene.context.disk_room, UINT64_MAX);
    return 0;
}

static int end(void **state)
{
    (void)state;
    scene_close(&scene);
    return 0;
}

static enum status refused(const struct route *route)
{
    struct request request = {.method = route->method,
                              .path = route->path,
                              .caller.principal = principal_local,
                              .match = {.route = route}};
    handler_handle(&scene.context, &request);
    enum status status = request.refused;
    request_fini(&request);
    return status;
}

/* Routes with an idempotency key look up the key first, and make the same check after
 * it. */
static void what_is_said_and_kept_is_refused(void **state)
{
    (void)state;
    size_t asked = 0;
    for (size_t i = 0; i < ROUTE_COUNT; i++) {
        const struct route *route = route_at(i);
        bool says = route->body == BODY_JSON || route->body == BODY_PATCH;
        if (!says || route->act[0] == '\0' || route->keyed)
            continue;
        asked++;
        if (refused(route) != ST_DISK_FULL)
            fail_msg("%s is done", route->name);
    }
    assert_true(asked >= 5);
}

static void an_act_by_itself_is_not_kept(void **state)
{
    (void)state;
    struct audit_event act;
    const struct request request = {
        .caller.principal = principal_local,
        .match = {.route = route_at(0)}}; /* any that has an audit event */
    audit_event_begin(&act, &scene.context, &request);
    assert_int_equal(audit_event_keep(&scene.context, &act, NULL), ST_DISK_FULL);
    disk_room_measure(scene.context.disk_room);
    assert_int_equal(audit_event_keep(&scene.context, &act, NULL), ST_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_said_and_kept_is_refused),
        cmocka_unit_test(an_act_by_itself_is_not_kept),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
