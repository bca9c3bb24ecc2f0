/* Goal: all errors of a request are reported at once, in the order of its text. Method:
 * bodies and queries with several errors are sent to a running daemon, and its lists of
 * errors are compared. */
#include <string.h>

#include "tests/expect.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"

static int begin(void **state)
{
    stage_begin(state);
    struct client *client = &((struct stage *)*state)->client;
    ready_points(client, "points", 500, 1, SAMPLE_BUDGET(8));
    return 0;
}

/* expected: one error a line, "pointer code" or "?parameter code". */
static void expect_faults(const struct reply *reply, const char *expected)
{
    char text[4000] = "";
    size_t index;
    json_t *fault;
    assert_problem(reply, 400, "invalid_argument");
    const json_t *errors = reply_at(reply, "errors");
    json_array_foreach(errors, index, fault)
    {
        const char *parameter = json_string_value(json_object_get(fault, "parameter"));
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s%s %s\n",
                 json_string_value(json_object_get(fault, "pointer")),
                 parameter != NULL ? "?" : "", parameter != NULL ? parameter : "",
                 json_string_value(json_object_get(fault, "code")));
    }
    if (strcmp(text, expected) != 0)
        fail_msg("expected\n%sgot\n%s%s", expected, text, reply->body);
    assert_string_equal(reply_text(reply, "detail"),
                        reply_text(reply, "errors.0.detail"));
}

static void all_faults_of_a_dataset_are_told_at_once(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    expect_faults(
        client_create(client, "/v1/datasets",
                      "{'id':'Faulty','format':'csv','task':'classification',"
                      "'colums':[],'columns':[{'name':'x','kind':'numeric',"
                      "'range':[0,'1']},{'name':'y','kind':'label','values':['a']}],"
                      "'privacy':{'epsilon':0,'relation':'zero'}}"),
        "/id invalid\n/colums unknown\n/columns/0/range/1 wrong_type\n"
        "/columns/1/values out_of_range\n/privacy/epsilon out_of_range\n"
        "/privacy/relation invalid\n/privacy/delta missing\n");
}

static void all_faults_of_a_job_are_told_at_once(void **state)
{
    static const char body[] =
        "{'dataset':'points','model':{'layers':[{'type':'dense','out':2.5},"
        "{'type':'residual','body':[{'type':'dropout','rate':1}]}]},"
        "'algorithm':{'name':'dpsgd','cliping':'flat'},'epochs':0,"
        "'privacy':{'epsilon':2,'noise_multiplier':1}}";
    static const char faults[] =
        "/model/layers/0/out wrong_type\n/model/layers/1/body/0/rate out_of_range\n"
        "/algorithm/cliping unknown\n/epochs out_of_range\n"
        "/privacy/noise_multiplier invalid\n";
    struct client *client = &((struct stage *)*state)->client;
    expect_faults(client_create(client, "/v1/jobs", body), faults);
    expect_faults(client_post(client, "/v1/jobs:estimate", NULL, body), faults);
}

static void all_faults_of_rows_are_told_at_once(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    const char *id = submit(client, SAMPLE_JOB, "points", 2, 100.0);
    await_end(client, id);
    char path[80];
    snprintf(path, sizeof path, "/v1/models/%s/predict",
             reply_text(client_get(client, "/v1/jobs/%s", id), "model"));
    expect_faults(client_post(client, path, NULL,
                              "{'inputs':[[0,1],[0],['0',true],[0,[1]],{}],'rows':5}"),
                  "/inputs/1 out_of_range\n/inputs/2/0 wrong_type\n"
                  "/inputs/2/1 wrong_type\n/inputs/3 wrong_type\n"
                  "/inputs/4/x missing\n/inputs/4/y missing\n/rows unknown\n");
}

static void all_faults_of_a_query_are_told_at_once(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    expect_faults(client_get(client, "/v1/jobs?sate=FAILED&page_size=1&page_size=2&x"),
                  "?sate unknown\n?page_size repeated\n?x unknown\n");
    expect_faults(client_get(client, "/v1/jobs?state=DONE&dataset=Points"),
                  "?state invalid\n?dataset invalid\n");
    expect_faults(client_get(client, "/v1/models?page_token=7&page_size=1001"),
                  "?page_size out_of_range\n?page_token invalid\n");
}

static void text_that_is_not_json_is_one_fault(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    expect_faults(
        client_create(client, "/v1/jobs", "{'seed':1,'privacy':{'epsilon':}}"),
        "/privacy/epsilon malformed\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_faults_of_a_dataset_are_told_at_once),
        cmocka_unit_test(all_faults_of_a_job_are_told_at_once),
        cmocka_unit_test(all_faults_of_rows_are_told_at_once),
        cmocka_unit_test(all_faults_of_a_query_are_told_at_once),
        cmocka_unit_test(text_that_is_not_json_is_one_fault),
    };
    return cmocka_run_group_tests(tests, begin, stage_end);
}
