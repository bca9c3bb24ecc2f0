/* Goal: a job that cannot run is refused with its own code and pointer, and leaves no
 * trace. Method: every case is sent to a running daemon, and the ledger and the list of
 * jobs are compared before and after. */
#include <string.h>

#include "tests/expect.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"

#define MODEL   "'model':{'preset':'linear'}"
#define DPSGD   "'algorithm':{'name':'dpsgd'}"
#define SIZES   "'batch_size':50,'steps':10"
#define NOISE   "'privacy':{'noise_multiplier':20}"
#define INVALID 400, "invalid_argument"
#define HEAD    "{'dataset':'points'," MODEL "," DPSGD ","

struct bad_job {
    const char *what, *body;
    long status;
    const char *code;
    const char *pointer; /* of the first error; NULL: not compared */
};

static const struct bad_job bad_jobs[] = {
    {"nothing", "", INVALID, NULL},
    {"cut short", "{'dataset':", INVALID, NULL},
    {"a list", "[]", INVALID, NULL},
    {"a word", "'points'", INVALID, NULL},
    {"two texts", HEAD SIZES "," NOISE "}{}", INVALID, NULL},
    {"duplicate member", HEAD SIZES ",'steps':10," NOISE "}", INVALID, NULL},
    {"duplicate member inside", HEAD SIZES ",'privacy':{'epsilon':1,'epsilon':1}}",
     INVALID, NULL},

    {"unknown member", HEAD SIZES "," NOISE ",'seed':1}", INVALID, "/seed"},
    {"misspelt noise_multipler", HEAD SIZES ",'privacy':{'noise_multipler':20}}",
     INVALID, "/privacy/noise_multipler"},
    {"misspelt beside a target",
     HEAD SIZES ",'privacy':{'epsilon':1,'noise_multipler':20}}", INVALID,
     "/privacy/noise_multipler"},
    {"unknown member of model",
     "{'dataset':'points','model':{'preset':'linear','hiden':[3]}," DPSGD "," SIZES
     "," NOISE "}",
     INVALID, "/model/hiden"},
    {"unknown member of algorithm",
     "{'dataset':'points'," MODEL ",'algorithm':{'name':'dpsgd','clipnorm':1}," SIZES
     "," NOISE "}",
     INVALID, "/algorithm/clipnorm"},
    {"unknown member of optimizer",
     HEAD SIZES "," NOISE ",'optimizer':{'name':'sgd','rate':1}}", INVALID,
     "/optimizer/rate"},
    {"unknown member of a layer",
     "{'dataset':'points','model':{'layers':[{'type':'dense','out':2,'units':2}]}"
     "," DPSGD "," SIZES "," NOISE "}",
     INVALID, "/model/layers/0/units"},

    {"no dataset", "{" MODEL "," DPSGD "," SIZES "," NOISE "}", INVALID, "/dataset"},
    {"no model", "{'dataset':'points'," DPSGD "," SIZES "," NOISE "}", INVALID,
     "/model"},
    {"no algorithm", "{'dataset':'points'," MODEL "," SIZES "," NOISE "}", INVALID,
     "/algorithm"},
    {"no privacy", HEAD SIZES "}", INVALID, "/privacy"},
    {"no target", HEAD SIZES ",'privacy':{}}", INVALID, "/privacy"},
    {"two targets", HEAD SIZES ",'privacy':{'epsilon':1,'noise_multiplier':20}}",
     INVALID, NULL},
    {"epochs and steps", HEAD SIZES ",'epochs':3," NOISE "}", INVALID, NULL},
    {"null for a number", HEAD "'batch_size':50,'steps':null," NOISE "}", INVALID,
     "/steps"},
    {"null for an object", HEAD SIZES ",'privacy':null}", INVALID, "/privacy"},

    {"text for a number", HEAD "'batch_size':'50','steps':10," NOISE "}", INVALID,
     "/batch_size"},
    {"number for text", "{'dataset':7," MODEL "," DPSGD "," SIZES "," NOISE "}",
     INVALID, "/dataset"},
    {"a half step", HEAD "'batch_size':50,'steps':1.5," NOISE "}", INVALID, "/steps"},
    {"truth for a number", HEAD "'batch_size':true,'steps':10," NOISE "}", INVALID,
     "/batch_size"},
    {"list for an object", HEAD SIZES ",'privacy':[1]}", INVALID, "/privacy"},
    {"number for hidden",
     "{'dataset':'points','model':{'preset':'mlp','hidden':5}," DPSGD "," SIZES
     "," NOISE "}",
     INVALID, "/model/hidden"},

    {"NaN", HEAD SIZES ",'privacy':{'noise_multiplier':NaN}}", INVALID, NULL},
    {"Infinity", HEAD SIZES ",'privacy':{'noise_multiplier':Infinity}}", INVALID, NULL},
    {"1e999", HEAD SIZES ",'privacy':{'noise_multiplier':1e999}}", INVALID, NULL},
    {"-1e999", HEAD SIZES ",'privacy':{'epsilon':-1e999}}", INVALID, NULL},
    {"negative noise", HEAD SIZES ",'privacy':{'noise_multiplier':-20}}", INVALID,
     "/privacy/noise_multiplier"},
    {"zero noise", HEAD SIZES ",'privacy':{'noise_multiplier':0}}", INVALID,
     "/privacy/noise_multiplier"},
    {"noise below its limit", HEAD SIZES ",'privacy':{'noise_multiplier':0.0499}}",
     INVALID, "/privacy/noise_multiplier"},
    {"noise above its limit", HEAD SIZES ",'privacy':{'noise_multiplier':1000001}}",
     INVALID, "/privacy/noise_multiplier"},
    {"zero epsilon", HEAD SIZES ",'privacy':{'epsilon':0}}", INVALID,
     "/privacy/epsilon"},
    {"negative epsilon", HEAD SIZES ",'privacy':{'epsilon':-2}}", INVALID,
     "/privacy/epsilon"},
    {"epsilon above its limit", HEAD SIZES ",'privacy':{'epsilon':30.5}}", INVALID,
     "/privacy/epsilon"},
    {"zero share", HEAD SIZES ",'privacy':{'budget_fraction':0}}", INVALID,
     "/privacy/budget_fraction"},
    {"a share above one", HEAD SIZES ",'privacy':{'budget_fraction':1.01}}", INVALID,
     "/privacy/budget_fraction"},
    {"delta of one", HEAD SIZES ",'privacy':{'epsilon':1,'delta':1}}", INVALID,
     "/privacy/delta"},
    {"delta above one", HEAD SIZES ",'privacy':{'epsilon':1,'delta':1.5}}", INVALID,
     "/privacy/delta"},
    {"zero delta", HEAD SIZES ",'privacy':{'epsilon':1,'delta':0}}", INVALID,
     "/privacy/delta"},
    {"delta above the dataset's", HEAD SIZES ",'privacy':{'epsilon':1,'delta':1e-4}}",
     INVALID, "/privacy/delta"},
    {"no steps", HEAD "'batch_size':50,'steps':0," NOISE "}", INVALID, "/steps"},
    {"negative steps", HEAD "'batch_size':50,'steps':-3," NOISE "}", INVALID, "/steps"},
    {"steps above their limit", HEAD "'batch_size':50,'steps':10000001," NOISE "}",
     INVALID, "/steps"},
    {"2^63 steps", HEAD "'batch_size':50,'steps':9223372036854775808," NOISE "}",
     INVALID, NULL},
    {"2^64 steps", HEAD "'batch_size':50,'steps':18446744073709551616," NOISE "}",
     INVALID, NULL},
    {"2^64 + 10 as steps",
     HEAD "'batch_size':50,'steps':18446744073709551626," NOISE "}", INVALID, NULL},
    {"epochs that make too many steps",
     HEAD "'batch_size':1,'epochs':9007199254740991," NOISE "}", INVALID, NULL},
    {"no batch", HEAD "'batch_size':0,'steps':10," NOISE "}", INVALID, "/batch_size"},
    {"a batch above the records", HEAD "'batch_size':501,'steps':10," NOISE "}",
     INVALID, "/batch_size"},
    {"zero clip norm",
     "{'dataset':'points'," MODEL ",'algorithm':{'name':'dpsgd','clip_norm':0}," SIZES
     "," NOISE "}",
     INVALID, "/algorithm/clip_norm"},
    {"negative rate",
     HEAD SIZES "," NOISE ",'optimizer':{'name':'sgd','learning_rate':-1}}", INVALID,
     "/optimizer/learning_rate"},
    {"momentum of one",
     HEAD SIZES "," NOISE ",'optimizer':{'name':'sgd','learning_rate':1,'momentum':1}}",
     INVALID, "/optimizer/momentum"},
    {"a layer of no outputs",
     "{'dataset':'points','model':{'preset':'mlp','hidden':[0]}," DPSGD "," SIZES
     "," NOISE "}",
     INVALID, "/model/hidden/0"},

    {"no rank", HEAD SIZES "," NOISE ",'ranks':0}", INVALID, "/ranks"},
    {"ranks that nobody starts", HEAD SIZES "," NOISE ",'ranks':2}", INVALID, "/ranks"},
    {"more ranks than cells", HEAD SIZES "," NOISE ",'ranks':1000}", INVALID, "/ranks"},
    {"ranks of an algorithm of one process",
     "{'dataset':'points'," MODEL ",'algorithm':{'name':'dicesgd'}," SIZES "," NOISE
     ",'ranks':2}",
     400, "one_rank_only", "/ranks"},
    {"unknown algorithm",
     "{'dataset':'points'," MODEL ",'algorithm':{'name':'dpsgdx'}," SIZES "," NOISE "}",
     INVALID, "/algorithm/name"},
    {"unknown preset",
     "{'dataset':'points','model':{'preset':'huge'}," DPSGD "," SIZES "," NOISE "}",
     INVALID, "/model/preset"},
    {"unknown optimizer", HEAD SIZES "," NOISE ",'optimizer':{'name':'lion'}}", INVALID,
     "/optimizer/name"},
    {"unknown layer",
     "{'dataset':'points','model':{'layers':[{'type':'batch_norm'}]}," DPSGD "," SIZES
     "," NOISE "}",
     INVALID, "/model/layers/0/type"},
    {"a loss of another task",
     "{'dataset':'points','model':{'preset':'linear','loss':'squared'}," DPSGD "," SIZES
     "," NOISE "}",
     INVALID, "/model/loss"},

    {"unknown dataset", "{'dataset':'nowhere'," MODEL "," DPSGD "," SIZES "," NOISE "}",
     404, "not_found", "/dataset"},
    {"unknown evaluation", HEAD SIZES "," NOISE ",'evaluation':'nowhere'}", 404,
     "not_found", "/evaluation"},
    {"dataset not imported",
     "{'dataset':'empty'," MODEL "," DPSGD "," SIZES "," NOISE "}", 409,
     "dataset_not_ready", NULL},
    {"evaluation not imported", HEAD SIZES "," NOISE ",'evaluation':'open-empty'}", 409,
     "dataset_not_ready", NULL},
    {"evaluation on private data", HEAD SIZES "," NOISE ",'evaluation':'points'}", 409,
     "dataset_private", NULL},
    {"evaluation of another shape", HEAD SIZES "," NOISE ",'evaluation':'digits'}",
     INVALID, "/evaluation"},
    {"sgd on private data",
     "{'dataset':'points'," MODEL ",'algorithm':{'name':'sgd'}," SIZES "}", 409,
     "dataset_private", NULL},
    {"sgd with privacy",
     "{'dataset':'open'," MODEL ",'algorithm':{'name':'sgd'}," SIZES "," NOISE "}",
     INVALID, "/privacy"},
    {"epsilon beyond the budget", HEAD SIZES ",'privacy':{'epsilon':5}}", 409,
     "budget_exhausted", NULL},
    {"noise beyond the budget", HEAD SIZES ",'privacy':{'noise_multiplier':0.05}}", 409,
     "budget_exhausted", NULL},
    {"more than fits the memory",
     "{'dataset':'points','model':{'preset':'mlp','hidden':[10000,10000]}," DPSGD
     "," SIZES "," NOISE "}",
     400, "job_too_large", NULL},
    {"more parameters than there may be",
     "{'dataset':'points','model':{'preset':'mlp','hidden':[1000000,1000000]}," DPSGD
     "," SIZES "," NOISE "}",
     400, NULL, NULL},
};

static int begin(void **state)
{
    stage_begin_with(state,
                     (const char *const[]){"--job-memory-max", "268435456", NULL});
    struct client *client = &((struct stage *)*state)->client;
    ready_points(client, "points", 500, 1, SAMPLE_BUDGET(3));
    ready_points(client, "open", 500, 2, SAMPLE_PUBLIC);
    ready_digits(client, "digits", SAMPLE_TEST, SAMPLE_PUBLIC);
    assert_status(declare_points(client, "empty", SAMPLE_BUDGET(1)), 201);
    assert_status(declare_points(client, "open-empty", SAMPLE_PUBLIC), 201);
    return 0;
}

static const char *first_pointer(const struct reply *reply)
{
    const json_t *error = json_array_get(json_object_get(reply->json, "errors"), 0);
    return json_string_value(json_object_get(error, "pointer"));
}

static bool refused_as_it_should(struct client *client, const char *path,
                                 const struct bad_job *bad)
{
    const struct reply *reply = client_create(client, path, "%s", bad->body);
    const char *code = json_string_value(json_object_get(reply->json, "code"));
    const char *pointer = first_pointer(reply);
    bool right = reply->status == bad->status && code != NULL &&
                 (bad->code == NULL || strcmp(code, bad->code) == 0) &&
                 (bad->pointer == NULL ||
                  (pointer != NULL && strcmp(pointer, bad->pointer) == 0));
    if (!right)
        print_error("%s %s: expected %ld %s %s, got %ld: %s\n", path, bad->what,
                    bad->status, bad->code != NULL ? bad->code : "",
                    bad->pointer != NULL ? bad->pointer : "", reply->status,
                    reply->body);
    return right;
}

static void a_bad_job_is_refused_by_its_code_and_leaves_no_trace(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    const struct reply *head = client_get(client, "/v1/ledger/head");
    const struct reply *budget = client_get(client, "/v1/datasets/points/budget");
    unsigned wrong = 0;
    for (size_t i = 0; i < sizeof bad_jobs / sizeof bad_jobs[0]; i++)
        wrong += !refused_as_it_should(client, "/v1/jobs", &bad_jobs[i]);
    assert_int_equal(wrong, 0);
    assert_string_equal(client_get(client, "/v1/ledger/head")->body, head->body);
    assert_string_equal(client_get(client, "/v1/datasets/points/budget")->body,
                        budget->body);
    const struct reply *jobs = client_get(client, "/v1/jobs");
    assert_int_equal(json_array_size(reply_at(jobs, "jobs")), 0);
}

static void an_estimate_refuses_what_no_budget_would_mend(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    unsigned wrong = 0;
    for (size_t i = 0; i < sizeof bad_jobs / sizeof bad_jobs[0]; i++)
        if (bad_jobs[i].code == NULL ||
            strcmp(bad_jobs[i].code, "budget_exhausted") != 0)
            wrong += !refused_as_it_should(client, "/v1/jobs:estimate", &bad_jobs[i]);
    assert_int_equal(wrong, 0);
}

static void a_job_beyond_the_budget_is_told_the_largest_that_fits(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    const struct reply *refused =
        client_create(client, "/v1/jobs", "%s", HEAD SIZES ",'privacy':{'epsilon':5}}");
    assert_problem(refused, 409, "budget_exhausted");
    double largest = reply_number(refused, "largest_epsilon");
    assert_true(largest > 1 && largest < 3);
    assert_true(reply_number(refused, "most_steps") >= 0);
    assert_false(json_is_true(reply_at(refused, "retryable")));
    /* Slightly less than the largest fits, slightly more does not. */
    const struct reply *under =
        client_create(client, "/v1/jobs:estimate",
                      HEAD SIZES ",'privacy':{'epsilon':%.6f}}", largest * 0.999);
    assert_status(under, 200);
    assert_string_equal(reply_text(under, "fits"), "yes");
    const struct reply *over =
        client_create(client, "/v1/jobs:estimate",
                      HEAD SIZES ",'privacy':{'epsilon':%.6f}}", largest * 1.001);
    assert_status(over, 200);
    assert_string_equal(reply_text(over, "fits"), "no");
}

static void a_body_nested_deeper_than_the_limit_is_refused(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    char body[400] = "{\"dataset\":";
    memset(body + 11, '[', 150);
    memset(body + 161, ']', 150);
    strcpy(body + 311, "}");
    assert_problem(client_create(client, "/v1/jobs", "%s", body), 400,
                   "invalid_argument");
}

static void a_body_over_a_mebibyte_is_refused(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    size_t size = (1 << 20) + 1;
    char *body = malloc(size);
    assert_non_null(body);
    memset(body, ' ', size);
    for (int chunked = 0; chunked <= 1; chunked++)
        assert_problem(
            client_send(client,
                        &(struct request){.method = "POST",
                                          .path = "/v1/jobs",
                                          .headers = {"Content-Type: application/json",
                                                      "Idempotency-Key: big"},
                                          .body = body,
                                          .size = size,
                                          .chunked = chunked}),
            413, "body_too_large");
    free(body);
    assert_status(client_get(client, "/readyz"), 200);
}

static void the_daemon_serves_on_after_all_that(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    train(client, "%s", HEAD SIZES "," NOISE ",'evaluation':'open'}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bad_job_is_refused_by_its_code_and_leaves_no_trace),
        cmocka_unit_test(an_estimate_refuses_what_no_budget_would_mend),
        cmocka_unit_test(a_job_beyond_the_budget_is_told_the_largest_that_fits),
        cmocka_unit_test(a_body_nested_deeper_than_the_limit_is_refused),
        cmocka_unit_test(a_body_over_a_mebibyte_is_refused),
        cmocka_unit_test(the_daemon_serves_on_after_all_that),
    };
    return cmocka_run_group_tests(tests, begin, stage_end);
}
