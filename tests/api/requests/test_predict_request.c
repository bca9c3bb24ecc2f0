/* Goal: a row of predict becomes the features that an import would make of it, or the
 * cell at fault is named. Method: encodings worked out by hand from schema.h. */
#include "tests/expect.h"

#include <jansson.h>
#include <string.h>

#include "api/requests/dataset_request.h"
#include "api/limits.h"
#include "api/views/predict_answer.h"
#include "api/requests/predict_request.h"
#include "tests/api/verdict_fixture.h"
#include "engine/data/readers/reader_registry.h"

static const struct schema images = {.reader = &idx_reader,
                                     .task = TASK_CLASSIFICATION,
                                     .classes = 3,
                                     .shape_count = 2,
                                     .shape = {1, 2},
                                     .scale = 4};
static const struct schema sparse = {.reader = &libsvm_reader,
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
    assert_int_equal(
        dataset_spec_parse(spec, json_text_sized(body, sizeof body - 1), NULL), ST_OK);
}

/* All rows of a body, read a fixed number at a time. */
struct table {
    size_t rows;
    float *features; /* (rows, schema_features), owned */
};

static enum status read_table(struct table *table, const struct predict_body *body,
                              size_t at_a_time, struct error *error)
{
    struct predict_request *request = NULL;
    size_t features = schema_features(body->schema), stride = features + 3;
    float *room = calloc(at_a_time * stride, sizeof *room);
    struct predict_block block = {room, stride, at_a_time, 0};
    assert_non_null(room);
    *table = (struct table){0};
    enum status status = predict_request_open(&request, body, error);
    while (status == ST_OK &&
           (status = predict_request_next(request, &block, error)) == ST_OK &&
           block.rows > 0) {
        size_t rows = table->rows + block.rows;
        table->features = reallocarray(table->features, rows * features, sizeof *room);
        for (size_t i = 0; i < block.rows; i++)
            memcpy(table->features + (table->rows + i) * features, room + i * stride,
                   features * sizeof *room);
        table->rows = rows;
    }
    predict_request_close(request);
    free(room);
    if (status != ST_OK) {
        free(table->features);
        *table = (struct table){0};
    }
    return status;
}

static struct predict_body body_of(const char *text, const struct schema *schema)
{
    return (struct predict_body){text, strlen(text), schema, NULL, 2};
}

static void expect_features(const struct schema *schema, const char *body, size_t rows,
                            const float *features)
{
    const struct predict_body whole = body_of(body, schema);
    for (size_t at_a_time = 1; at_a_time < 5; at_a_time++) {
        struct table table;
        struct error error = {0};
        assert_taken(read_table(&table, &whole, at_a_time, &error), body, &error);
        assert_int_equal(table.rows, rows);
        size_t count = rows * schema_features(schema);
        for (size_t i = 0; i < count; i++)
            assert_close((double)table.features[i], (double)features[i], 1e-7);
        free(table.features);
    }
}

static void expect_refusal(const struct schema *schema, const char *body,
                           const char *pointer)
{
    const struct predict_body whole = body_of(body, schema);
    struct table table;
    struct error error = {0};
    assert_refused_at(read_table(&table, &whole, 2, &error), body, &error, pointer);
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

/* The cells of a row with names may be in any order, next to cells of columns that are
 * not read. The features are those of the row without names, bit by bit. */
static void rows_with_names_are_those_without(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"{\"age\":30,\"job\":\"c\"}", "[30,\"c\"]"},
        {" { \"job\" : \"a,]b\" , \"age\" : 1e2 } ", "[100,\"a,]b\"]"},
        {"{\"y\":\"no\",\"job\":\"c\",\"id\":7,\"age\":null}", "[null,\"c\"]"},
        {"{\"id\":\"}{\",\"job\":\"\\u0063\",\"a\\u0067e\":33.3}", "[33.3,\"c\"]"},
    };
    struct dataset_spec spec;
    open_table(&spec);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char named[256], plain[256];
        snprintf(named, sizeof named, "{\"inputs\":[[20,\"c\"],%s]}", pairs[i][0]);
        snprintf(plain, sizeof plain, "{\"inputs\":[[20,\"c\"],%s]}", pairs[i][1]);
        const struct predict_body a = body_of(named, &spec.schema),
                                  b = body_of(plain, &spec.schema);
        struct table x, y;
        struct error error = {0};
        assert_taken(read_table(&x, &a, 2, &error), named, &error);
        assert_taken(read_table(&y, &b, 2, &error), plain, &error);
        assert_int_equal(x.rows, 2);
        assert_memory_equal(x.features, y.features, 6 * sizeof *x.features);
        free(x.features), free(y.features);
    }
    dataset_spec_fini(&spec);
}

static enum status read_images(const char *body, struct error *error)
{
    const struct predict_body whole = body_of(body, &images);
    struct table table;
    enum status status = read_table(&table, &whole, 3, error);
    free(table.features);
    return status;
}

static enum status read_named(const char *body, struct error *error)
{
    struct dataset_spec spec;
    struct table table;
    open_table(&spec);
    const struct predict_body whole = body_of(body, &spec.schema);
    enum status status = read_table(&table, &whole, 2, error);
    dataset_spec_fini(&spec);
    return status;
}

static void faults_of_rows_with_names_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *rows, *faults;
    } cases[] = {
        {"{\"age\":30}", "/inputs/0/job missing\n"},
        {"{}", "/inputs/0/age missing\n/inputs/0/job missing\n"},
        {"{\"age\":30,\"jobs\":\"c\",\"job\":\"c\",\"a/ge\":1}",
         "/inputs/0/jobs unknown\n/inputs/0/a~1ge unknown\n"},
        {"{\"age\":\"30\",\"job\":\"d\"},{\"age\":30,\"job\":null}",
         "/inputs/0/age wrong_type\n/inputs/0/job invalid\n/inputs/1/job invalid\n"},
        {"{\"age\":30,\"age\":31,\"job\":\"c\"}", "/inputs/0/age malformed\n"},
        {"{\"age\":30,\"job\":\"c\",\"y\":[1]}", "/inputs/0 wrong_type\n"},
        {"{\"age\":30,\"job\"}", "/inputs/0/job malformed\n"},
        {"[30,\"c\"],{\"age\":30,}", "/inputs/1 malformed\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char body[256];
        snprintf(body, sizeof body, "{\"inputs\":[%s]}", cases[i].rows);
        assert_faults(read_named, body, cases[i].faults);
    }
    assert_faults(read_images, "{\"inputs\":[[1,2],{\"0\":1,\"1\":2}]}",
                  "/inputs/1 wrong_type\n");
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
        {"{\"inputs\":[]}", "/inputs"},
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

static void all_faults_of_the_rows_are_listed_in_their_order(void **state)
{
    (void)state;
    assert_faults(
        read_images,
        "{\"n\":{\"m\":[1,\"]\"]},\"inputs\":[[1,2],[\"x\",null],[1],[1,NaN],7,"
        "[1,[2]],{\"a\":\"]\"},[1e300,1]],\"inputs\":[[1]],\"proba\":false}",
        "/n unknown\n/inputs/1/0 wrong_type\n/inputs/1/1 wrong_type\n"
        "/inputs/2 out_of_range\n/inputs/3/1 malformed\n/inputs/4 wrong_type\n"
        "/inputs/5 wrong_type\n/inputs/6 wrong_type\n/inputs/7/0 invalid\n"
        "/inputs repeated\n/proba unknown\n");
    assert_faults(read_images, "{\"input\":[[1,2]]}",
                  "/input unknown\n/inputs missing\n");
    assert_faults(read_images, "{\"inputs\":[[1],[2]",
                  "/inputs/0 out_of_range\n/inputs/1 out_of_range\n"
                  "/inputs/1/0 malformed\n");
    assert_faults(read_images, "[[1,2]]", " wrong_type\n");
}

static void faults_of_columns_are_listed_too(void **state)
{
    (void)state;
    static const char body[] = "{\"inputs\":[[\"30\",7],[30],[30,\"d\"]]}";
    struct dataset_spec spec;
    struct table table;
    struct faults faults = {0};
    struct error error = {.faults = &faults};
    open_table(&spec);
    const struct predict_body whole = body_of(body, &spec.schema);
    assert_int_equal(read_table(&table, &whole, 1, &error), ST_INVALID);
    assert_int_equal(faults.count, 4);
    assert_string_equal(faults.list[0].pointer, "/inputs/0/0");
    assert_string_equal(faults.list[1].pointer, "/inputs/0/1");
    assert_string_equal(faults.list[2].pointer, "/inputs/1");
    assert_string_equal(faults.list[3].pointer, "/inputs/2/1");
    dataset_spec_fini(&spec);
}

/* Returns a body of that many rows. */
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

/* Expects that this many rows are read from a body for such a model; 0: a refusal at
 * "/inputs". */
static void expect_rows(const char *text, const struct schema *schema, double row_flops,
                        size_t rows)
{
    struct predict_body body = body_of(text, schema);
    struct table table;
    struct error error = {0};
    body.row_flops = row_flops;
    enum status status = read_table(&table, &body, 64, &error);
    if (rows == 0) {
        assert_refused_at(status, "too many rows", &error, "/inputs");
        return;
    }
    assert_taken(status, "rows", &error);
    assert_int_equal(table.rows, rows);
    free(table.features);
}

static void rows_are_limited(void **state)
{
    (void)state;
    char *body = many_rows(LIMIT_PREDICT_ROWS, "[1,2]");
    expect_rows(body, &images, 2, LIMIT_PREDICT_ROWS);
    free(body);
    body = many_rows(LIMIT_PREDICT_ROWS + 1, "[1,2]");
    expect_refusal(&images, body, "/inputs");
    free(body);
}

/* The body exceeds LIMIT_JSON_BODY, and has more faults than are listed. */
static void faults_of_a_large_body_are_listed_up_to_their_limit(void **state)
{
    (void)state;
    struct faults faults = {0};
    struct error error = {.faults = &faults};
    char row[160];
    memset(row, ' ', sizeof row);
    memcpy(row, "[1,", 3);
    strcpy(row + sizeof row - 6, "\"2\"]");
    char *body = many_rows(LIMIT_PREDICT_ROWS, row);
    assert_true(strlen(body) > LIMIT_JSON_BODY);
    assert_int_equal(read_images(body, &error), ST_INVALID);
    assert_int_equal(faults.count, LIMIT_FAULTS);
    assert_string_equal(faults.list[LIMIT_FAULTS - 1].pointer, "/inputs/31/1");
    free(body);
    body = many_rows(LIMIT_PREDICT_ROWS, row);
    memcpy(strstr(body, "\"2\""), " 2 ", 3);
    body[strlen(body) - 1] = 'x';
    faults.count = 0;
    error = (struct error){.faults = &faults};
    assert_int_equal(read_images(body, &error), ST_INVALID);
    assert_string_equal(error.pointer, "/inputs/1/1");
    free(body);
}

/* A small body must not make a large table. */
static void values_are_limited(void **state)
{
    (void)state;
    struct schema wide = {.reader = &libsvm_reader,
                          .task = TASK_CLASSIFICATION,
                          .classes = LIMIT_CLASSES,
                          .feature_count = 1};
    size_t most = LIMIT_PREDICT_VALUES / LIMIT_CLASSES;
    char *body = many_rows(most, "[1]");
    expect_rows(body, &wide, 2, most);
    free(body);
    body = many_rows(most + 1, "[1]");
    expect_refusal(&wide, body, "/inputs");
    free(body);
}

/* A small body must not keep a processor for minutes; one row is always answered. */
static void work_is_limited(void **state)
{
    (void)state;
    char *body = many_rows(100, "[1,2]");
    expect_rows(body, &images, LIMIT_PREDICT_FLOPS / 100, 100);
    expect_rows(body, &images, LIMIT_PREDICT_FLOPS / 99.5, 0);
    free(body);
    expect_rows("{\"inputs\":[[1,2]]}", &images, LIMIT_PREDICT_FLOPS * 7, 1);
    expect_rows("{\"inputs\":[[1,2],[3,4]]}", &images, LIMIT_PREDICT_FLOPS * 7, 0);
}

/* The fast reader takes plain rows and the strict one all others: an escape or a number
 * of many digits makes a row take the slow way. Both must give the same bits. */
static void both_readers_give_the_same_features(void **state)
{
    static const char *const numbers[] = {
        "0",
        "-0",
        "-0.0",
        "7",
        "255",
        "1e3",
        "-1.5E-7",
        "0.1",
        "123456789012345678",
        "1e-320",
        "5e-324",
        "0.30000000000000004",
        "2.2250738585072011e-308",
        "123456789012345678.5",
        "3.4028234e38",
        "9007199254740993",
        "0e5",
        "12345678901234567.890123",
    };
    (void)state;
    const struct schema line = {
        .reader = &libsvm_reader, .task = TASK_REGRESSION, .feature_count = 2};
    struct dataset_spec spec;
    open_table(&spec);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        char fast[256], slow[256];
        snprintf(fast, sizeof fast, "{\"inputs\":[[%s,1]]}", numbers[i]);
        /* 1 with more digits than the fast reader takes. */
        snprintf(slow, sizeof slow, "{\"inputs\":[[%s,1000000000000000000e-18]]}",
                 numbers[i]);
        const struct predict_body a = body_of(fast, &line), b = body_of(slow, &line);
        struct table x, y;
        assert_int_equal(read_table(&x, &a, 1, NULL), ST_OK);
        assert_int_equal(read_table(&y, &b, 1, NULL), ST_OK);
        assert_memory_equal(x.features, y.features, 2 * sizeof *x.features);
        free(x.features), free(y.features);
        snprintf(fast, sizeof fast, "{\"inputs\":[[%s,\"c\"]]}", numbers[i]);
        snprintf(slow, sizeof slow, "{\"inputs\":[[%s,\"\\u0063\"]]}", numbers[i]);
        const struct predict_body c = body_of(fast, &spec.schema),
                                  d = body_of(slow, &spec.schema);
        assert_int_equal(read_table(&x, &c, 1, NULL), ST_OK);
        assert_int_equal(read_table(&y, &d, 1, NULL), ST_OK);
        assert_memory_equal(x.features, y.features, 3 * sizeof *x.features);
        free(x.features), free(y.features);
    }
    dataset_spec_fini(&spec);
}

/* Neither reader accepts more than JSON allows. */
static void numbers_are_those_of_json(void **state)
{
    static const char *const wrong[] = {"01",  "+1",  ".5",  "1.",    "1.e5",  "1e",
                                        "1e+", "-",   "--1", "0x10",  "1_0",   "1 2",
                                        "",    "inf", "nan", "-01.5", "1e5.5", "nul"};
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char body[64];
        snprintf(body, sizeof body, "{\"inputs\":[[1,%s]]}", wrong[i]);
        expect_refusal(&images, body, "/inputs/0/1");
    }
}

static void a_row_of_another_length_is_told_what_is_counted(void **state)
{
    (void)state;
    struct dataset_spec spec;
    struct error error = {0};
    struct table table;
    open_table(&spec);
    struct predict_body body =
        body_of("{\"inputs\":[[7,30,\"no\",\"c\"]]}", &spec.schema);
    assert_int_equal(read_table(&table, &body, 1, &error), ST_INVALID);
    assert_string_equal(
        error.text, "has 4 cells, must have 2: one for each column that makes features "
                    "in the order declared, \"age\" to \"job\", and none for "
                    "the label or an ignored column");
    dataset_spec_fini(&spec);
    error = (struct error){0};
    body = body_of("{\"inputs\":[[1,2,3]]}", &images);
    assert_int_equal(read_table(&table, &body, 1, &error), ST_INVALID);
    assert_string_equal(error.text,
                        "has 3 cells, must have 2: one for each feature of a record");
}

/* The estimate of a request's work must not be below what its body can hold. */
static void no_body_has_more_rows_than_its_size_allows(void **state)
{
    (void)state;
    char *body = many_rows(500, "[1,2]");
    assert_true(predict_rows_most(strlen(body), &images) >= 500);
    assert_true(predict_rows_most(strlen(body), &images) <= 700);
    free(body);
    assert_int_equal(predict_rows_most(64 << 20, &images), LIMIT_PREDICT_ROWS);
    assert_int_equal(predict_rows_most(0, &images), 1);
}

static char *answer_of(const struct schema *schema, const double *outputs, size_t rows)
{
    struct predict_answer answer;
    predict_answer_open(&answer, schema);
    for (size_t i = 0; i < rows; i++)
        assert_int_equal(predict_answer_add(&answer,
                                            outputs + i * predict_answer_width(schema),
                                            1, NULL),
                         ST_OK);
    return predict_answer_finish(&answer);
}

static void outputs_are_named_as_declared(void **state)
{
    (void)state;
    static const double shares[] = {0.25, 0.625, 0.125};
    char *text = answer_of(&images, shares, 1);
    assert_string_equal(text, "{\"outputs\":[{\"class\":1,"
                              "\"probabilities\":[0.25,0.625,0.125]}]}");
    free(text);
    text = answer_of(&sparse, (const double[]){0.5, -1}, 2);
    assert_string_equal(text, "{\"outputs\":[{\"value\":25.0},{\"value\":10.0}]}");
    free(text);
    struct dataset_spec table;
    open_table(&table);
    text = answer_of(&table.schema, (const double[]){0.25, 0.75}, 1);
    assert_string_equal(text, "{\"outputs\":[{\"class\":\"y\\\"es\","
                              "\"probabilities\":[0.25,0.75]}]}");
    free(text);
    dataset_spec_fini(&table);
    double labels[] = {-1, 1};
    struct schema signs = {.reader = &libsvm_reader,
                           .task = TASK_CLASSIFICATION,
                           .classes = 2,
                           .feature_count = 1,
                           .labels = labels};
    text = answer_of(&signs, (const double[]){0.75, 0.25}, 1);
    assert_string_equal(text,
                        "{\"outputs\":[{\"class\":-1,\"probabilities\":[0.75,0.25]}]}");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_encoded_as_at_import),
        cmocka_unit_test(rows_with_names_are_those_without),
        cmocka_unit_test(faults_of_rows_with_names_are_named),
        cmocka_unit_test(only_the_one_shape_is_read),
        cmocka_unit_test(cells_of_columns_keep_their_type),
        cmocka_unit_test(all_faults_of_the_rows_are_listed_in_their_order),
        cmocka_unit_test(faults_of_columns_are_listed_too),
        cmocka_unit_test(rows_are_limited),
        cmocka_unit_test(faults_of_a_large_body_are_listed_up_to_their_limit),
        cmocka_unit_test(values_are_limited),
        cmocka_unit_test(work_is_limited),
        cmocka_unit_test(both_readers_give_the_same_features),
        cmocka_unit_test(numbers_are_those_of_json),
        cmocka_unit_test(a_row_of_another_length_is_told_what_is_counted),
        cmocka_unit_test(no_body_has_more_rows_than_its_size_allows),
        cmocka_unit_test(outputs_are_named_as_declared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
