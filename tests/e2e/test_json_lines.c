/* Goal: the same records as csv and as JSON Lines are the same data and the same model;
 * a line with a fault is shown to its uploader; a model of lines predicts rows of csv. */
#include <string.h>

#include "tests/expect.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"

static int begin(void **state)
{
    return stage_begin(state);
}

static struct client *client_of(void **state)
{
    return &((struct stage *)*state)->client;
}

static void declare(struct client *client, const char *id, const char *format)
{
    assert_status(
        client_create(client, "/v1/datasets",
                      "{'id':'%s','format':%s,'task':'classification','missing':['NA'],"
                      "'columns':[{'name':'age','kind':'numeric','range':[0,100]},"
                      "{'name':'work','kind':'categorical','values':['cook','clerk'],"
                      "'other':true,'if_missing':'category'},"
                      "{'name':'smoker','kind':'boolean','default':false},"
                      "{'name':'seen','kind':'date','format':'%%Y-%%m-%%d',"
                      "'range':['2000-01-01','2020-01-01'],'if_missing':'indicator'},"
                      "{'name':'ill','kind':'label','values':['no','yes']}],"
                      "'privacy':'public'}",
                      id, format),
        201);
}

static const struct reply *import(struct client *client, const char *id,
                                  const char *text)
{
    char path[96];
    snprintf(path, sizeof path, "/v1/datasets/%s/files/data", id);
    assert_status(client_put(client, path, text, strlen(text)), 204);
    return client_act(client, "/v1/datasets/%s:import", id);
}

static const char cells[] = "seen,ill,age,smoker,work\n2001-02-03,no,1.5,true,cook\n"
                            ",yes,70,,\"clerk, or baker\"\n2019-12-31,yes,33,no,NA\n";
static const char objects[] =
    "{\"age\":1.5,\"work\":\"cook\",\"smoker\":true,\"seen\":\"2001-02-03\",\"ill\":"
    "\"no\"}\n{\"work\":\"clerk, or baker\",\"ill\":\"yes\",\"age\":70}\n\n"
    "{\"seen\":\"2019-12-31\",\"smoker\":\"no\",\"work\":null,\"age\":33,\"ill\":"
    "\"yes\"}\n";

static void import_both(struct client *client)
{
    declare(client, "cells", "'csv','header':true");
    declare(client, "objects", "'jsonl'");
    assert_status(import(client, "cells", cells), 200);
    assert_status(import(client, "objects", objects), 200);
}

/* Trains on all records at once, from zeros, measured on the other dataset, and predicts
 * rows. Returns the answer as text. */
static char *predictions(struct client *client, const char *dataset, const char *other)
{
    char path[96];
    const struct reply *job =
        train(client,
              "{'dataset':'%s','evaluation':'%s','model':{'preset':'linear'},"
              "'algorithm':{'name':'sgd'},'batch_size':3,'steps':20}",
              dataset, other);
    assert_true(reply_number(job, "metrics.evaluation.accuracy") == 1);
    snprintf(path, sizeof path, "/v1/models/%s/predict", reply_text(job, "model"));
    const struct reply *predicted = client_post(
        client, path, NULL,
        "{'inputs':[[20,'cook',null,'2010-01-01'],{'age':50,'work':'x','smoker':true,"
        "'seen':null}]}");
    assert_status(predicted, 200);
    char *text = json_dumps(json_object_get(predicted->json, "outputs"), 0);
    assert_non_null(text);
    return text;
}

static void both_formats_are_the_same_data_and_the_same_model(void **state)
{
    struct client *client = client_of(state);
    char sha256[80];
    import_both(client);
    const struct reply *ready = client_get(client, "/v1/datasets/cells");
    snprintf(sha256, sizeof sha256, "%s", reply_text(ready, "sha256"));
    ready = client_get(client, "/v1/datasets/objects");
    assert_string_equal(reply_text(ready, "sha256"), sha256);
    assert_string_equal(reply_text(ready, "format"), "jsonl");
    assert_null(json_object_get(ready->json, "header"));
    char *of_cells = predictions(client, "cells", "objects");
    char *of_objects = predictions(client, "objects", "cells");
    assert_string_equal(of_cells, of_objects);
    free(of_cells);
    free(of_objects);
}

static void a_faulty_line_is_shown_to_its_uploader_only(void **state)
{
    struct client *client = client_of(state);
    declare(client, "faulty", "'jsonl'");
    const struct reply *refused =
        import(client, "faulty",
               "{\"age\":1,\"ill\":\"no\"}\n{\"age\":2,\"hight\":3,\"ill\":\"no\"}\n"
               "{\"age\":[1],\"ill\":\"no\"}\n{\"age\":2,\"ill\":\"maybe\"}\n");
    assert_problem(refused, 422, "import_failed");
    assert_int_equal((int)reply_number(refused, "line"), 2);
    assert_int_equal((int)reply_number(refused, "column"), 10);
    assert_null(strstr(reply_text(refused, "detail"), "hight"));
    assert_int_equal((int)reply_number(refused, "report.faults"), 3);
    assert_string_equal(reply_text(refused, "report.lines.0.cell"), "hight");
    assert_int_equal((int)reply_number(refused, "report.lines.1.column"), 8);
    assert_string_equal(reply_text(refused, "report.columns.0.words.0"), "maybe");
    const struct reply *later = client_get(client, "/v1/datasets/faulty/import");
    assert_null(strstr(later->body, "hight"));
}

static void a_model_of_lines_predicts_a_file_of_cells(void **state)
{
    struct client *client = client_of(state);
    static const char rows[] = "work,age,ill\ncook,20,no\n,40,\n";
    char path[96];
    import_both(client);
    const struct reply *job =
        train(client, "{'dataset':'objects','model':{'preset':'linear'},"
                      "'algorithm':{'name':'sgd'},'batch_size':3,'steps':20}");
    snprintf(path, sizeof path, "/v1/models/%s:predict-file", reply_text(job, "model"));
    const struct request request = {.method = "POST",
                                    .path = path,
                                    .headers = {"Content-Type: text/csv"},
                                    .body = rows,
                                    .size = strlen(rows)};
    assert_problem(client_send(client, &request), 400, "invalid_argument");
    const char whole[] = "work,seen,age,smoker\ncook,,20,\n,2001-01-01,40,yes\n";
    struct request again = request;
    again.body = whole;
    again.size = strlen(whole);
    const struct reply *predicted = client_send(client, &again);
    assert_status(predicted, 200);
    assert_memory_equal(predicted->body, "class,probability_no,probability_yes\n", 37);
}

static void a_query_is_written_as_csv(void **state)
{
    struct client *client = client_of(state);
    declare(client, "rows", "'jsonl'");
    assert_invalid_at(
        client_post(client, "/v1/datasets/rows:import", NULL,
                    "{'postgresql':{'host':'127.0.0.1','database':'d','user':'u',"
                    "'password':'p','query':'SELECT 1'}}"),
        "/postgresql");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            both_formats_are_the_same_data_and_the_same_model, begin, stage_end),
        cmocka_unit_test_setup_teardown(a_faulty_line_is_shown_to_its_uploader_only,
                                        begin, stage_end),
        cmocka_unit_test_setup_teardown(a_model_of_lines_predicts_a_file_of_cells,
                                        begin, stage_end),
        cmocka_unit_test_setup_teardown(a_query_is_written_as_csv, begin, stage_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
