/* Goal: a refused import tells the key that sent the file all that is wrong with it, in
 * one answer, and shows it to no other key; after the declaration was corrected the file is
 * imported without being sent again. Method: a table with markers in its bad cells;
 * every other answer, the log and the database are searched for them. */
#include <signal.h>
#include <string.h>

#include "tests/expect.h"
#include "tests/e2e/access_fixture.h"
#include "tests/e2e/sample_fixture.h"

#define FILE_TEXT                                                                      \
    "age,job,ill\n20,clerk,no\nZEBRA-age,ZEBRA-smith,no\n40,ZEBRA-baker,yes\n"         \
    "50,ZEBRA-smith,ZEBRA-maybe\n60,clerk\n70,clerk,no\n80,clerk,yes\n"

/* Declares the table; words are further values of its column job. */
#define TABLE(words, more)                                                             \
    "{'id':'clinic','format':'csv','task':'classification','header':true,'columns':["  \
    "{'name':'age','kind':'numeric','range':[0,100]" more "},"                         \
    "{'name':'job','kind':'categorical','values':['clerk'" words "]},"                 \
    "{'name':'ill','kind':'label','values':['no','yes']}],"                            \
    "'privacy':" SAMPLE_BUDGET(1) "}"

static const char marker[] = "ZEBRA";

static void put_file(const char *text)
{
    assert_status(client_put(access_client(), "/v1/datasets/clinic/files/data", text,
                             strlen(text)),
                  204);
}

static const struct reply *import(void)
{
    return client_act(access_client(), "/v1/datasets/clinic:import");
}

static const struct reply *declare_anew(const char *body)
{
    char json[1024];
    snprintf(json, sizeof json, "%s", body);
    for (char *c = json; *c != '\0'; c++)
        *c = *c == '\'' ? '"' : *c;
    return client_send(access_client(),
                       &(struct request){.method = "PUT",
                                         .path = "/v1/datasets/clinic",
                                         .headers = {"Content-Type: application/json"},
                                         .body = json,
                                         .size = strlen(json)});
}

/* --- what the sender reads --- */

static void the_sender_reads_every_fault_in_one_answer(void **state)
{
    (void)state;
    access_show(access_scene.own.owner);
    assert_status(client_create(access_client(), "/v1/datasets", TABLE("", "")), 201);
    put_file(FILE_TEXT);
    const struct reply *refused = import();
    assert_problem(refused, 422, "import_failed");
    assert_int_equal((int)reply_number(refused, "line"), 3);
    assert_int_equal((int)reply_number(refused, "report.faults"), 6);
    assert_string_equal(reply_text(refused, "report.columns.0.name"), "age");
    assert_string_equal(reply_text(refused, "report.columns.0.cells.0.cell"),
                        "ZEBRA-age");
    assert_int_equal((int)reply_number(refused, "report.columns.0.cells.0.line"), 3);
    assert_string_equal(reply_text(refused, "report.columns.1.words.0"), "ZEBRA-baker");
    assert_string_equal(reply_text(refused, "report.columns.1.words.1"), "ZEBRA-smith");
    assert_string_equal(reply_text(refused, "report.columns.2.words.0"), "ZEBRA-maybe");
    assert_int_equal((int)reply_number(refused, "report.lines.0.line"), 6);
}

/* --- what other keys read --- */

static void assert_unmarked(const struct reply *reply)
{
    if (reply->body != NULL && strstr(reply->body, marker) != NULL)
        fail_msg("a cell is shown: %s", reply->body);
}

static void nobody_else_reads_a_cell(void **state)
{
    (void)state;
    static const char *const paths[] = {
        "/v1/datasets/clinic",
        "/v1/datasets/clinic/import",
        "/v1/datasets",
        "/v1/datasets/clinic/files/data",
        "/v1/datasets/clinic/budget",
        "/v1/status",
        "/v1/audit",
        "/v1/webhooks",
    };
    char second[KEY_SIZE];
    struct client *client = access_client();
    access_make_key(second, "owner-of-fraud", "data_owner", access_scene.own.name);
    const char *const keys[] = {
        access_scene.own.owner,           second,
        access_scene.keys[ROLE_AUDITOR],  access_scene.keys[ROLE_PRIVACY_OFFICER],
        access_scene.keys[ROLE_OPERATOR], access_scene.own.analyst,
        access_scene.foreign.owner};
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        access_show(keys[k]);
        for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
            assert_unmarked(client_get(client, "%s", paths[i]));
    }
    assert_false(daemon_logged(&access_scene.stage->daemon, marker));
}

static void another_key_of_the_owner_gets_the_first_fault_only(void **state)
{
    (void)state;
    char second[KEY_SIZE];
    const struct request again = {.method = "POST",
                                  .path = "/v1/datasets/clinic:import",
                                  .headers = {"Idempotency-Key: the-same"}};
    access_make_key(second, "owner-of-fraud", "data_owner", access_scene.own.name);
    access_show(access_scene.own.owner);
    const struct reply *refused = client_send(access_client(), &again);
    assert_problem(refused, 422, "import_failed");
    assert_non_null(strstr(refused->body, marker));
    access_show(second);
    for (int i = 0; i < 2; i++) {
        refused = client_send(access_client(), &again);
        assert_problem(refused, 422, "import_failed");
        assert_int_equal((int)reply_number(refused, "line"), 3);
        assert_unmarked(refused);
        assert_null(json_object_get(refused->json, "report"));
    }
    /* The other key's file is the other key's: the first one is shown none of it. */
    put_file(FILE_TEXT);
    access_show(access_scene.own.owner);
    assert_unmarked(import());
    access_show(second);
    assert_non_null(strstr(import()->body, marker));
}

static void a_restarted_daemon_does_not_know_who_sent_the_file(void **state)
{
    (void)state;
    access_show(access_scene.own.owner);
    put_file(FILE_TEXT);
    assert_non_null(strstr(import()->body, marker));
    assert_int_equal(daemon_stop(&access_scene.stage->daemon, SIGTERM), 0);
    daemon_start(&access_scene.stage->daemon, NULL);
    const struct reply *refused = import();
    assert_problem(refused, 422, "import_failed");
    assert_unmarked(refused);
}

/* --- the file is not sent again --- */

static void a_corrected_declaration_imports_the_file_that_is_there(void **state)
{
    (void)state;
    access_show(access_scene.own.owner);
    put_file("age,job,ill\n20,clerk,no\n30,ZEBRA-smith,no\n,clerk,yes\n");
    const struct reply *refused = import();
    assert_string_equal(reply_text(refused, "report.columns.1.words.0"), "ZEBRA-smith");
    assert_status(declare_anew(TABLE(",'ZEBRA-smith'", "")), 200);
    refused = import(); /* half of it is corrected: the other half is still reported */
    assert_problem(refused, 422, "import_failed");
    assert_int_equal((int)reply_number(refused, "report.faults"), 1);
    assert_string_equal(reply_text(refused, "report.columns.0.name"), "age");
    assert_status(declare_anew(TABLE(",'ZEBRA-smith'", ",'default':50")), 200);
    const struct reply *ready = import();
    assert_status(ready, 200);
    assert_int_equal((int)reply_number(ready, "records"), 3);
    assert_problem(client_get(access_client(), "/v1/datasets/clinic/files/data"), 409,
                   "dataset_immutable");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sender_reads_every_fault_in_one_answer),
        cmocka_unit_test(nobody_else_reads_a_cell),
        cmocka_unit_test(another_key_of_the_owner_gets_the_first_fault_only),
        cmocka_unit_test(a_restarted_daemon_does_not_know_who_sent_the_file),
        cmocka_unit_test(a_corrected_declaration_imports_the_file_that_is_there),
    };
    return cmocka_run_group_tests(tests, access_begin_keys, stage_end);
}
