/* Goal: checking a declaration gives the same answer or refusal as making it, and
 * declares nothing. Method: each body is sent to both routes. */
#include <string.h>

#include "tests/expect.h"
#include "tests/e2e/declaration_fixture.h"
#include "tests/e2e/stage_fixture.h"

static void a_check_answers_the_declaration_and_declares_nothing(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    const struct reply *head = client_get(client, "/v1/ledger/head");
    const struct reply *list = client_get(client, "/v1/datasets");
    const struct reply *checked = client_post(
        client, "/v1/datasets:check", NULL, TABLE("checked", RIGHT, SAMPLE_BUDGET(1)));
    assert_status(checked, 200);
    assert_string_equal(reply_text(checked, "privacy.relation"), "zero_out");
    assert_true(json_is_false(reply_at(checked, "header")));
    assert_string_equal(client_get(client, "/v1/ledger/head")->body, head->body);
    assert_string_equal(client_get(client, "/v1/datasets")->body, list->body);
    assert_problem(client_get(client, "/v1/datasets/checked"), 404, "not_found");

    /* The answer to a check is a body that can be sent as the declaration. */
    struct request request = {.method = "POST",
                              .path = "/v1/datasets",
                              .headers = {"Content-Type: application/json",
                                          "Idempotency-Key: checked-and-sent"},
                              .body = checked->body,
                              .size = checked->size};
    const struct reply *declared = client_send(client, &request);
    assert_status(declared, 201);
    const char *name;
    json_t *value;
    json_object_foreach(checked->json, name, value)
        assert_true(json_equal(value, json_object_get(declared->json, name)));
    assert_exists_at(client_post(client, "/v1/datasets:check", NULL,
                                 TABLE("checked", RIGHT, SAMPLE_BUDGET(1))),
                     "/id");
}

static void a_check_is_refused_as_the_declaration_is(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    static const char *const bodies[] = {
        "{'id':'Bad Id','format':'csv','task':'classification','columns':[],"
        "'privacy':{'epsilon':-1,'delta':2},'extra':1}",
        "{'id':'faulty','format':'idx','task':'classification','classes':1,"
        "'features':{'shape':[0],'scale':0},'privacy':'secret'}",
        "{}",
        "{'id':",
        TABLE("judged", RIGHT, SAMPLE_PUBLIC),
        TABLE("judged", WRONG, SAMPLE_BUDGET(1)),
        TABLE("judged", WRONG, "{'epsilon':1e-9,'delta':1e-10}"),
        TABLE("used", WRONG, SAMPLE_BUDGET(1)),
    };
    assert_status(
        client_create(client, "/v1/datasets", TABLE("judged", WRONG, SAMPLE_BUDGET(1))),
        201);
    ready_points(client, "used", 300, 9, SAMPLE_BUDGET(1));
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        const struct reply *refused =
            client_create(client, "/v1/datasets", "%s", bodies[i]);
        const struct reply *checked =
            client_post(client, "/v1/datasets:check", NULL, "%s", bodies[i]);
        assert_true(refused->status >= 400);
        assert_int_equal(checked->status, refused->status);
        assert_string_equal(reply_text(checked, "code"), reply_text(refused, "code"));
        assert_true(
            json_equal(reply_at(checked, "errors"), reply_at(refused, "errors")));
    }
    /* The schema that matches the file could be declared. */
    assert_status(client_post(client, "/v1/datasets:check", NULL,
                              TABLE("judged", RIGHT, SAMPLE_BUDGET(1))),
                  200);
    assert_string_equal(
        reply_text(client_get(client, "/v1/datasets/judged"), "columns.2.values.1"),
        "perhaps");
    struct request request = {.method = "POST",
                              .path = "/v1/datasets:check",
                              .headers = {"Content-Type: text/plain"},
                              .body = "{}",
                              .size = 2};
    assert_problem(client_send(client, &request), 415, "unsupported_media_type");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_check_answers_the_declaration_and_declares_nothing),
        cmocka_unit_test(a_check_is_refused_as_the_declaration_is),
    };
    return cmocka_run_group_tests(tests, stage_begin, stage_end);
}
