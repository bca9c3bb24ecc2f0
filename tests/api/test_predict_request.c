/* Goal: a row of predict becomes the features that import would have made of it, or the
 * cell at fault is named. Method: encodings worked by hand from schema.h. */
#include "tests/expect.h"

#include <jansson.h>
#include <string.h>

#include "api/dataset_request.h"
#include "api/limits.h"
#include "api/predict_request.h"
#include "tests/api/verdict.h"

static const struct schema images = {.format = FORMAT_IDX,
                                     .task = TASK_CLASSIFICATION,
                                     .classes = 3,
                                     .shape_count = 2,
                                     .shape = {1, 2},
                                     .scale = 4};
static const struct schema sparse = {.format = FORMAT_LIBSVM,
                                     .task = TASK_REGRESSION,
                                     .feature_count = 2,
                                     .has_target_range = true,
                                     .target_low = 10,
                                     .target_high = 30};

static void open_table(struct dataset_spec *spec)
{
    static const char body[] =
        "{\"id\":\"t\",\"format\":\"csv\",\"task\":\"classification\",\"columns\":["
        "{\"name\":\"id\",\"kind\":\"ignored\"},"
        "{\"name\":\"age\",\"kind\":\"numeric\",\"range\":[20,60],\"default\":50},"
        "{\"name\":\"y\",\"kind\":\"label\",\"values\":[\"no\",\"y\\\"es\"]},"
        "{\"name\":\"job\",\"kind\":\"categorical\",\"values\":[\"a,]b\",\"c\"]}],"
        "\"privacy\":\"public\"}";
    assert_int_equal(dataset_spec_parse(spec, body, sizeof body - 1, NULL), ST_OK);
}

static void expect_features(const struct schema *schema, const char *body, size_t rows,
                            const float *features)
{
    struct predict_request request;
    struct error error = {0};
    assert_taken(predict_request_parse(&request, body, strlen(body), schema, &error),
                 body, &error);
    assert_int_equal(request.rows, rows);
    size_t count = rows * schema_features(schema);
    for (size_t i = 0; i < count; i++)
        assert_close((double)request.features[i], (double)features[i], 1e-7);
    predict_request_fini(&request);
}

static void expect_refusal(const struct schema *schema, const char *body,
                           const char *pointer)
{
    struct predict_request request;
    struct error error = {0};
    enum status status =
        predict_request_parse(&request, body, strlen(body), schema, &error);
    assert_refused_at(status, body, &error, pointer);
}

static void rows_are_encoded_as_at_import(void **state)
{
    (void)state;
    expect_features(&images, "{\"inputs\":[[2,4],[0,-1.5]]}", 2,
                    (const float[]){0.5f, 1, 0, -0.375f});
    expect_features(&images, " { \"inputs\" : [ [ 2 , 4 ] ] } \n", 1,
                    (const float[]){0.5f, 1});
    expect_features(&sparse, "{\"inputs\":[[1e3,-7]]}", 1, (const float[]){1000, -7});
    struct dataset_spec table;
    open_table(&table);
    expect_features(&table.schema,
                    "{\"inputs\":[[30,\"c\"],[99,\"a,]b\"],[null,\"c\"]]}", 3,
                    (const float[]){-0.5f, 0, 1, 1, 1, 0, 0.5f, 0, 1});
    dataset_spec_fini(&table);
}

static void only_the_one_shape_is_read(void **state)
{
    (void)state;
    static const struct {
        const char *body, *pointer;
    } frames[] = {
        {"", ""},
        {"{}", "/inputs"},
        {"[]", ""},
        {"[[1,2]]", ""},
        {"{\"inputs\":[[1,2]]", "/inputs/0"},
        {"{\"inputs\":[[1,2]]}x", ""},
        {"{\"inputs\":[[1,2]],\"n\":1}", "/n"},
        {"{\"n\":1,\"inputs\":[[1,2]]}", "/n"},
        {"{\"inputs\":7}", "/inputs"},
        {"{\"inputs\":[[1,2]],\"inputs\":[[1,2]]}", "/inputs"},
        {"{\"inputs\":[[1,2]] ]}", "/inputs"},
        {"{\"inputs\":null}", "/inputs"},
        {"{inputs:[[1,2]]}", ""},
    };
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++)
        expect_refusal(&images, frames[i].body, frames[i].pointer);
    static const struct {
        const char *body, *pointer;
    } rows[] = {
        {"{\"inputs\":[]}", "/inputs/0"},
        {"{\"inputs\":[1,2]}", "/inputs/0"},
        {"{\"inputs\":[[1,2],]}", "/inputs/1"},
        {"{\"inputs\":[[1,2],{}]}", "/inputs/1"},
        {"{\"inputs\":[[1,2],[1]]}", "/inputs/1"},
        {"{\"inputs\":[[1,2],[]]}", "/inputs/1"},
        {"{\"inputs\":[[1,2,3]]}", "/inputs/0"},
        {"{\"inputs\":[[1,[2]]]}", "/inputs/0"},
        {"{\"inputs\":[[1,{}]]}", "/inputs/0"},
        {"{\"inputs\":[[1,2", "/inputs/0"},
        {"{\"inputs\":[[1,\"2", "/inputs/0"},
        {"{\"inputs\":[[1,\"2\\", "/inputs/0"},
        {"{\"inputs\":[[1,]]}", "/inputs/0/1"},
        {"{\"inputs\":[[1,NaN]]}", "/inputs/0/1"},
        {"{\"inputs\":[[1,1e999]]}", "/inputs/0/1"},
        {"{\"inputs\":[[1,\"2\"]]}", "/inputs/0/1"},
        {"{\"inputs\":[[1,null]]}", "/inputs/0/1"},
        {"{\"inputs\":[[true,1]]}", "/inputs/0/0"},
        {"{\"inputs\":[[1e300,1]]}", "/inputs/0/0"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        expect_refusal(&images, rows[i].body, rows[i].pointer);
}

static void cells_of_columns_keep_their_type(void **state)
{
    (void)state;
    static const struct {
        const char *body, *pointer;
    } rows[] = {
        {"{\"inputs\":[[\"30\",\"c\"]]}", "/inputs/0/0"},
        {"{\"inputs\":[[30,1]]}", "/inputs/0/1"},
        {"{\"inputs\":[[30,\"d\"]]}", "/inputs/0/1"},
        {"{\"inputs\":[[30,\"\"]]}", "/inputs/0/1"},
        {"{\"inputs\":[[30,null]]}", "/inputs/0/1"},
        {"{\"inputs\":[[30,\"c\",\"no\"]]}", "/inputs/0"},
    };
    struct dataset_spec table;
    open_table(&table);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        expect_refusal(&table.schema, rows[i].body, rows[i].pointer);
    dataset_spec_fini(&table);
}

/* A body of that many rows. */
static char *many_rows(size_t rows, const char *row)
{
    size_t size = strlen(row) + 1, at;
    char *body = malloc(rows * size + 20);
    assert_non_null(body);
    at = (size_t)sprintf(body, "{\"inputs\":[");
    for (size_t i = 0; i < rows; i++)
        at += (size_t)sprintf(body + at, "%s%s", row, i + 1 < rows ? "," : "]}");
    return body;
}

static void rows_are_limited(void **state)
{
    (void)state;
    struct predict_request request;
    char *body = many_rows(LIMIT_PREDICT_ROWS, "[1,2]");
    assert_int_equal(predict_request_parse(&request, body, strlen(body), &images, NULL),
                     ST_OK);
    assert_int_equal(request.rows, LIMIT_PREDICT_ROWS);
    predict_request_fini(&request);
    free(body);
    body = many_rows(LIMIT_PREDICT_ROWS + 1, "[1,2]");
    expect_refusal(&images, body, "/inputs");
    free(body);
}

/* A small body must not make a large table. */
static void values_are_limited(void **state)
{
    (void)state;
    struct schema wide = {.format = FORMAT_LIBSVM,
                          .task = TASK_CLASSIFICATION,
                          .classes = LIMIT_CLASSES,
                          .feature_count = 1};
    struct predict_request request;
    size_t most = LIMIT_PREDICT_VALUES / LIMIT_CLASSES;
    char *body = many_rows(most, "[1]");
    assert_int_equal(predict_request_parse(&request, body, strlen(body), &wide, NULL),
                     ST_OK);
    predict_request_fini(&request);
    free(body);
    body = many_rows(most + 1, "[1]");
    expect_refusal(&wide, body, "/inputs");
    free(body);
}

static void outputs_are_named_as_declared(void **state)
{
    (void)state;
    static const double shares[] = {0.25, 0.625, 0.125};
    char *text = predict_render(&images, shares, 1);
    assert_string_equal(text, "{\"outputs\":[{\"class\":1,"
                              "\"probabilities\":[0.25,0.625,0.125]}]}");
    free(text);
    text = predict_render(&sparse, (const double[]){0.5, -1}, 2);
    assert_string_equal(text, "{\"outputs\":[{\"value\":25.0},{\"value\":10.0}]}");
    free(text);
    struct dataset_spec table;
    open_table(&table);
    text = predict_render(&table.schema, (const double[]){0.25, 0.75}, 1);
    assert_string_equal(text, "{\"outputs\":[{\"class\":\"y\\\"es\","
                              "\"probabilities\":[0.25,0.75]}]}");
    free(text);
    dataset_spec_fini(&table);
    double labels[] = {-1, 1};
    struct schema signs = {.format = FORMAT_LIBSVM,
                           .task = TASK_CLASSIFICATION,
                           .classes = 2,
                           .feature_count = 1,
                           .labels = labels};
    text = predict_render(&signs, (const double[]){0.75, 0.25}, 1);
    assert_string_equal(text,
                        "{\"outputs\":[{\"class\":-1,\"probabilities\":[0.75,0.25]}]}");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_encoded_as_at_import),
        cmocka_unit_test(only_the_one_shape_is_read),
        cmocka_unit_test(cells_of_columns_keep_their_type),
        cmocka_unit_test(rows_are_limited),
        cmocka_unit_test(values_are_limited),
        cmocka_unit_test(outputs_are_named_as_declared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
