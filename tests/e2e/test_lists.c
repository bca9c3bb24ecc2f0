/* Goal: lists and the status show the right jobs, datasets and models, in the right
 * order, on the right number of pages; and nothing is rendered for a client that has it
 * already. */
#include <stdlib.h>
#include <string.h>

#include "tests/expect.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"

enum { ENDED = 4, IDS_SIZE = 2000 };

/* Three ended jobs on points, of epsilon 0.5, 0.25 and 0.4, all but the last evaluated;
 * and one on open, which is not private. */
struct scene {
    struct stage *stage;
    const char *ended[ENDED];
} scene;

static struct client *client_of(void)
{
    return &scene.stage->client;
}

static int begin(void **state)
{
    static const char evaluated[] =
        "{'dataset':'points','evaluation':'open','model':{'preset':'linear'},"
        "'algorithm':{'name':'%s'},'batch_size':50,'steps':%d,"
        "'privacy':{'epsilon':%g}}";
    stage_begin_with(state,
                     (const char *const[]){"--workers", "1", "--threads", "1", NULL});
    scene.stage = *state;
    struct client *client = client_of();
    ready_points(client, "points", 500, 1, SAMPLE_BUDGET(8));
    ready_points(client, "open", 300, 2, SAMPLE_PUBLIC);
    scene.ended[0] = submit(client, evaluated, "dpsgd", 40, 0.5);
    scene.ended[1] = submit(client, evaluated, "dcsgd_p", 3, 0.25);
    scene.ended[2] =
        submit(client, "{'dataset':'points','model':{'preset':'linear'},"
                       "'algorithm':{'name':'dpsgd'},'batch_size':50,'steps':5,"
                       "'privacy':{'epsilon':0.4}}");
    scene.ended[3] = submit(client, "{'dataset':'open','evaluation':'open','model':"
                                    "{'preset':'linear'},'algorithm':{'name':'sgd'},"
                                    "'batch_size':50,'steps':3}");
    for (size_t i = 0; i < ENDED; i++)
        await_success(client, scene.ended[i]);
    return 0;
}

/* Reads the ids of all pages of a list, each followed by a blank. */
static void read_pages(const char *list, const char *query, int page_size, char *ids)
{
    char path[400], token[100] = "";
    ids[0] = '\0';
    do {
        snprintf(path, sizeof path, "/v1/%s?page_size=%d%s%s%s", list, page_size, query,
                 token[0] != '\0' ? "&page_token=" : "", token);
        const struct reply *page = client_get(client_of(), "%s", path);
        assert_status(page, 200);
        const json_t *item, *next = reply_at(page, "next_page_token");
        size_t i;
        assert_true(json_array_size(reply_at(page, list)) <= (size_t)page_size);
        json_array_foreach(reply_at(page, list), i, item)
        {
            size_t used = strlen(ids);
            snprintf(ids + used, IDS_SIZE - used, "%s ",
                     json_string_value(json_object_get(item, "id")));
        }
        snprintf(token, sizeof token, "%s",
                 json_is_null(next) ? "" : json_string_value(next));
    } while (token[0] != '\0');
}

/* Asserts that the list holds the ended jobs with these indices, "" for none, for every
 * page size. */
static void expect_jobs(const char *query, const char *places)
{
    char expected[IDS_SIZE] = "", got[IDS_SIZE];
    for (; *places != '\0'; places++) {
        size_t used = strlen(expected);
        snprintf(expected + used, sizeof expected - used, "%s ",
                 scene.ended[*places - '0']);
    }
    for (int page_size = 1; page_size <= 5; page_size += 2) {
        read_pages("jobs", query, page_size, got);
        if (strcmp(got, expected) != 0)
            fail_msg("%s by %d: expected %s, got %s", query, page_size, expected, got);
    }
}

static void jobs_are_filtered_by_all_that_is_asked(void **state)
{
    (void)state;
    char query[100];
    expect_jobs("", "3210");
    expect_jobs("&state=SUCCEEDED", "3210");
    expect_jobs("&state=QUEUED,RUNNING,CANCELLING", "");
    expect_jobs("&state=QUEUED,SUCCEEDED", "3210");
    expect_jobs("&algorithm=dpsgd", "20");
    expect_jobs("&algorithm=dpsgd&dataset=open", "");
    expect_jobs("&algorithm=sgd&dataset=open&state=SUCCEEDED,FAILED", "3");
    expect_jobs("&created_after=2126-01-31T12:00:00Z", "");
    expect_jobs("&created_after=1970-01-01T00:00:00Z", "3210");
    const struct reply *last =
        client_get(client_of(), "/v1/jobs/%s", scene.ended[ENDED - 1]);
    snprintf(query, sizeof query, "&created_after=%s", reply_text(last, "create_time"));
    expect_jobs(query, "");
}

static void jobs_are_ordered_as_asked(void **state)
{
    (void)state;
    expect_jobs("&order=desc", "3210");
    expect_jobs("&order=asc", "0123");
    expect_jobs("&order_by=create_time&order=asc&algorithm=dpsgd", "02");
    expect_jobs("&order_by=epsilon", "3120");
    expect_jobs("&order_by=epsilon&order=desc", "0213");
    expect_jobs("&order_by=epsilon&dataset=points", "120");
    char best_first[IDS_SIZE], worst_first[IDS_SIZE];
    read_pages("jobs", "&order_by=quality", 2, best_first);
    read_pages("jobs", "&order_by=quality&order=asc", 1, worst_first);
    assert_int_equal(strlen(best_first), 3 * (strlen(scene.ended[0]) + 1));
    assert_int_equal(strlen(worst_first), strlen(best_first));
    assert_null(strstr(best_first, scene.ended[2])); /* it was not evaluated */
    const struct reply *list =
        client_get(client_of(), "/v1/jobs?order_by=quality&view=summary");
    assert_true(reply_number(list, "jobs.0.metrics.evaluation.accuracy") >=
                reply_number(list, "jobs.2.metrics.evaluation.accuracy"));
}

static void a_token_goes_on_beside_other_filters_and_in_no_other_order(void **state)
{
    (void)state;
    struct client *client = client_of();
    const struct reply *page = client_get(client, "/v1/jobs?page_size=2");
    const char *token = reply_text(page, "next_page_token");
    const struct reply *next =
        client_get(client, "/v1/jobs?algorithm=dpsgd&page_token=%s", token);
    assert_int_equal(json_array_size(reply_at(next, "jobs")), 1);
    assert_string_equal(reply_text(next, "jobs.0.id"), scene.ended[0]);
    static const char *const others[] = {"order=asc", "order_by=epsilon",
                                         "order_by=quality"};
    for (size_t i = 0; i < 3; i++)
        assert_problem(
            client_get(client, "/v1/jobs?%s&page_token=%s", others[i], token), 400,
            "invalid_argument");
    page = client_get(client, "/v1/jobs?order_by=epsilon&page_size=2");
    token = reply_text(page, "next_page_token");
    next = client_get(client, "/v1/jobs?order_by=epsilon&dataset=points&page_token=%s",
                      token);
    assert_int_equal(json_array_size(reply_at(next, "jobs")), 2);
    assert_string_equal(reply_text(next, "jobs.0.id"), scene.ended[2]);
    assert_problem(client_get(client, "/v1/jobs?page_token=%s", token), 400,
                   "invalid_argument");
    /* Tokens in the old format, which named positions in one process. */
    assert_problem(client_get(client, "/v1/jobs?page_token=p1"), 400,
                   "invalid_argument");
    assert_problem(
        client_get(client, "/v1/jobs?order_by=epsilon&page_token=s1.0000000000000000"),
        400, "invalid_argument");
}

/* Members that are in all views are identical to the byte. */
static void a_summary_is_short_and_says_the_same(void **state)
{
    (void)state;
    struct client *client = client_of();
    const struct reply *full = client_get(client, "/v1/jobs?view=full&order=asc");
    const struct reply *summary = client_get(client, "/v1/jobs?view=summary&order=asc");
    assert_true(summary->size < full->size);
    json_t *job;
    size_t i;
    json_array_foreach(reply_at(full, "jobs"), i, job)
    {
        json_t *metrics = json_object_get(job, "metrics");
        assert_int_equal(json_object_del(metrics, "history"), 0);
        assert_int_equal(json_object_del(metrics, "released"), 0);
    }
    assert_true(json_equal(full->json, summary->json));
}

static void whatever_is_asked_wrongly_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *query, *parameter;
    } cases[] = {
        {"jobs?state=QUEUED,", "state"},
        {"jobs?state=queued", "state"},
        {"jobs?state=QUEUED%20RUNNING", "state"},
        {"jobs?view=short", "view"},
        {"jobs?algorithm=DPSGD", "algorithm"},
        {"jobs?algorithm=", "algorithm"},
        {"jobs?created_after=yesterday", "created_after"},
        {"jobs?created_after=2026-01-31T12:00:00", "created_after"},
        {"jobs?order=up", "order"},
        {"jobs?order_by=left", "order_by"},
        {"jobs?q=", "q"},
        {"datasets?q=", "q"},
        {"models?q=%C2%85", "q"},
        {"jobs?tag=team", "tag"},
        {"datasets?tag=Team:north", "tag"},
        {"models?tag=team:", "tag"},
        {"datasets?state=QUEUED", "state"},
        {"datasets?privacy=secret", "privacy"},
        {"datasets?order_by=epsilon", "order_by"},
        {"datasets?view=budget", "view"},
        {"models?job=job_1", "job"},
        {"models?dataset=-", "dataset"},
        {"models?order_by=id", "order_by"},
        {"status?view=full", "view"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct reply *reply = client_get(client_of(), "/v1/%s", cases[i].query);
        assert_problem(reply, 400, "invalid_argument");
        assert_string_equal(reply_text(reply, "errors.0.parameter"),
                            cases[i].parameter);
    }
}

static void datasets_are_listed_as_asked(void **state)
{
    (void)state;
    struct client *client = client_of();
    static const struct {
        const char *query, *ids;
    } cases[] = {
        {"&order=asc&q=a", "a.c ab a "},
        {"&q=a", "a ab a.c "},
        {"&q=a&order_by=id", "a a.c ab "},
        {"&q=a&order_by=id&order=desc", "ab a.c a "},
        {"&q=ab", "ab "},
        {"&q=abc", ""},
        {"&state=READY", "open points "},
        {"&state=READY,CREATED&privacy=private", "points "},
        {"&state=READY&privacy=public,private&order_by=id", "open points "},
        {"&state=READY&privacy=public", "open "},
        {"&state=CREATED&q=a.&privacy=public", "a.c "},
        {"&state=FAILED,DELETED", ""},
        {"&state=READY&order_by=left", "points open "},
        {"&state=READY&order_by=left&order=desc", "open points "},
    };
    assert_status(declare_points(client, "a.c", SAMPLE_PUBLIC), 201);
    assert_status(declare_points(client, "ab", SAMPLE_PUBLIC), 201);
    assert_status(declare_points(client, "a", SAMPLE_PUBLIC), 201);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int page_size = 1; page_size <= 3; page_size++) {
            char got[IDS_SIZE];
            read_pages("datasets", cases[i].query, page_size, got);
            assert_string_equal(got, cases[i].ids);
        }
}

/* A line of the list has the numbers of the budget itself. */
static void a_dataset_in_short_has_its_budget_and_no_schema(void **state)
{
    (void)state;
    static const char *const figures[] = {"epsilon",
                                          "delta",
                                          "frozen",
                                          "conditional",
                                          "epsilon_spent",
                                          "epsilon_held",
                                          "epsilon_remaining",
                                          "fraction_remaining",
                                          "share"};
    const struct reply *list =
        client_get(client_of(), "/v1/datasets?view=summary&state=READY&order_by=left");
    const struct reply *budget = client_get(client_of(), "/v1/datasets/points/budget");
    assert_string_equal(reply_text(list, "datasets.0.id"), "points");
    const json_t *line = reply_at(list, "datasets.0.budget");
    assert_int_equal(json_object_size(line), sizeof figures / sizeof *figures);
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        assert_true(json_equal(json_object_get(line, figures[i]),
                               reply_at(budget, figures[i])));
    assert_true(reply_number(list, "datasets.0.budget.share.left") < 1);
    assert_null(json_object_get(reply_at(list, "datasets.0"), "columns"));
    assert_true(reply_number(list, "datasets.0.records") == 500);
    assert_true(json_is_null(reply_at(list, "datasets.1.budget")));
}

/* Only public datasets that are ready and have the same schema. */
static void a_dataset_names_what_its_jobs_may_be_evaluated_on(void **state)
{
    (void)state;
    struct client *client = client_of();
    ready_points(client, "second", 40, 3, SAMPLE_PUBLIC);
    ready_points(client, "own", 40, 4, SAMPLE_BUDGET(1));
    assert_status(declare_points(client, "later", SAMPLE_PUBLIC), 201);
    ready_digits(client, "digits", SAMPLE_TEST, SAMPLE_PUBLIC);
    const struct reply *one = client_get(client, "/v1/datasets/points");
    assert_int_equal(json_array_size(reply_at(one, "evaluations")), 2);
    assert_string_equal(reply_text(one, "evaluations.0"), "second");
    assert_string_equal(reply_text(one, "evaluations.1"), "open");
    one = client_get(client, "/v1/datasets/open");
    assert_int_equal(json_array_size(reply_at(one, "evaluations")), 1);
    one = client_get(client, "/v1/datasets/digits");
    assert_int_equal(json_array_size(reply_at(one, "evaluations")), 0);
    assert_status(client_delete(client, "/v1/datasets/second"), 204);
    one = client_get(client, "/v1/datasets/points");
    assert_int_equal(json_array_size(reply_at(one, "evaluations")), 1);
}

/* What a table of models shows, without a request for each job. */
static void a_model_says_how_good_it_is_and_of_what(void **state)
{
    (void)state;
    struct client *client = client_of();
    for (size_t i = 0; i < ENDED; i++) {
        const struct reply *job = client_get(client, "/v1/jobs/%s", scene.ended[i]);
        const struct reply *model =
            client_get(client, "/v1/models/%s", reply_text(job, "model"));
        assert_true(json_equal(reply_at(model, "metrics.evaluation"),
                               reply_at(job, "metrics.evaluation")));
        assert_string_equal(reply_text(model, "dataset"), reply_text(job, "dataset"));
        assert_string_equal(reply_text(model, "algorithm"),
                            reply_text(job, "algorithm.name"));
    }
}

static void models_are_listed_by_dataset_and_job(void **state)
{
    (void)state;
    char ids[ENDED][64], query[100], got[IDS_SIZE], expected[IDS_SIZE];
    for (size_t i = 0; i < ENDED; i++)
        snprintf(ids[i], sizeof ids[i], "%s",
                 reply_text(client_get(client_of(), "/v1/jobs/%s", scene.ended[i]),
                            "model"));
    read_pages("models", "&order=asc", 3, got);
    snprintf(expected, sizeof expected, "%s %s %s %s ", ids[0], ids[1], ids[2], ids[3]);
    assert_string_equal(got, expected);
    read_pages("models", "&dataset=points", 2, got);
    snprintf(expected, sizeof expected, "%s %s %s ", ids[2], ids[1], ids[0]);
    assert_string_equal(got, expected);
    read_pages("models", "&dataset=nothing", 2, got);
    assert_string_equal(got, "");
    snprintf(query, sizeof query, "&job=%s", scene.ended[1]);
    read_pages("models", query, 2, got);
    snprintf(expected, sizeof expected, "%s ", ids[1]);
    assert_string_equal(got, expected);
}

/* Returns the status of the answer to a client that already has this tag. */
static long status_if_known(const char *path, const char *tag)
{
    char header[1400];
    snprintf(header, sizeof header, "If-None-Match: %s", tag);
    return client_get_with(client_of(), path, header)->status;
}

static void who_knows_a_list_is_told_so_until_it_changes(void **state)
{
    (void)state;
    static const char *const paths[] = {
        "/v1/jobs", "/v1/jobs?view=summary&state=SUCCEEDED&order_by=epsilon",
        "/v1/models", "/v1/status", "/v1/datasets"};
    enum { PATHS = sizeof paths / sizeof *paths };
    char tags[PATHS][256], again[256];
    for (size_t i = 0; i < PATHS; i++) {
        assert_true(
            reply_header(client_get(client_of(), "%s", paths[i]), "etag", tags[i]));
        assert_true(
            reply_header(client_get(client_of(), "%s", paths[i]), "etag", again));
        assert_string_equal(tags[i], again);
        assert_int_equal(status_if_known(paths[i], tags[i]), 304);
        assert_int_equal(status_if_known(paths[i], "\"another\""), 200);
    }
    assert_int_equal(status_if_known("/v1/jobs?order=up", tags[0]), 400);
    train(client_of(), SAMPLE_JOB, "points", 2, 1000000.0);
    for (size_t i = 0; i < PATHS; i++) /* the ledger has two more entries */
        assert_int_equal(status_if_known(paths[i], tags[i]), 200);
    for (size_t i = 0; i < PATHS; i++)
        assert_true(
            reply_header(client_get(client_of(), "%s", paths[i]), "etag", tags[i]));
    assert_status(declare_points(client_of(), "newest", SAMPLE_PUBLIC), 201);
    for (size_t i = 0; i < PATHS; i++) /* the status counts datasets */
        assert_int_equal(status_if_known(paths[i], tags[i]), i >= 3 ? 200 : 304);
}

static double status_of(const char *member)
{
    return reply_number(client_get(client_of(), "/v1/status"), member);
}

static double position_of(const char *job)
{
    return reply_number(client_get(client_of(), "/v1/jobs/%s", job),
                        "progress.queue_position");
}

static void the_queue_is_counted_and_moves_up(void **state)
{
    (void)state;
    struct client *client = client_of();
    double succeeded = status_of("jobs.SUCCEEDED"),
           cancelled = status_of("jobs.CANCELLED");
    const char *running = submit(client, SAMPLE_JOB, "points", SAMPLE_LONG, 1000000.0);
    const char *queued[3];
    for (size_t i = 0; i < 3; i++)
        queued[i] = submit(client, SAMPLE_JOB, "points", SAMPLE_ENDLESS, 1000000.0);
    for (size_t i = 0; i < 3; i++)
        assert_true(position_of(queued[i]) == (double)i + 1);
    const struct reply *status = client_get(client, "/v1/status");
    assert_true(reply_number(status, "jobs.QUEUED") == 3);
    assert_true(reply_number(status, "jobs.RUNNING") == 1);
    assert_true(reply_number(status, "jobs.SUCCEEDED") == succeeded);
    assert_true(reply_number(status, "queue.length") == 3);
    assert_true(reply_number(status, "workers") == 1);
    assert_true(json_is_true(reply_at(status, "ready")));
    assert_true(json_is_false(reply_at(status, "draining")));
    assert_string_equal(reply_text(status, "ledger.hash"),
                        reply_text(client_get(client, "/v1/ledger/head"), "hash"));
    const struct reply *list =
        client_get(client, "/v1/jobs?state=QUEUED,RUNNING&order=asc&page_size=2");
    assert_string_equal(reply_text(list, "jobs.0.id"), running);
    assert_string_equal(reply_text(list, "jobs.1.id"), queued[0]);
    list = client_get(client, "/v1/jobs?state=QUEUED,RUNNING&order=asc&page_token=%s",
                      reply_text(list, "next_page_token"));
    assert_int_equal(json_array_size(reply_at(list, "jobs")), 2);

    assert_true(
        json_is_null(reply_at(cancel(client, queued[0]), "progress.queue_position")));
    while (position_of(queued[2]) != 2)
        client_get(client, "/v1/jobs/%s?wait=1", queued[2]);
    assert_true(position_of(queued[1]) == 1);
    const struct reply *progress = await_step(client, running, SAMPLE_QUARTER);
    assert_true(json_is_null(reply_at(progress, "progress.queue_position")));
    assert_true(reply_number(progress, "progress.seconds_left") >= 1);
    for (size_t i = 3; i-- > 1;)
        cancel(client, queued[i]);
    cancel(client, running);
    const struct reply *ended = await_end(client, running);
    assert_true(json_is_null(reply_at(ended, "progress.seconds_left")));
    assert_true(status_of("jobs.CANCELLED") == cancelled + 4);
    assert_true(status_of("queue.length") == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs_are_filtered_by_all_that_is_asked),
        cmocka_unit_test(jobs_are_ordered_as_asked),
        cmocka_unit_test(a_token_goes_on_beside_other_filters_and_in_no_other_order),
        cmocka_unit_test(a_summary_is_short_and_says_the_same),
        cmocka_unit_test(whatever_is_asked_wrongly_is_named),
        cmocka_unit_test(models_are_listed_by_dataset_and_job),
        cmocka_unit_test(a_dataset_in_short_has_its_budget_and_no_schema),
        cmocka_unit_test(a_model_says_how_good_it_is_and_of_what),
        cmocka_unit_test(datasets_are_listed_as_asked),
        cmocka_unit_test(who_knows_a_list_is_told_so_until_it_changes),
        cmocka_unit_test(the_queue_is_counted_and_moves_up),
        cmocka_unit_test(a_dataset_names_what_its_jobs_may_be_evaluated_on),
    };
    return cmocka_run_group_tests(tests, begin, stage_end);
}
