/* Goal: a scaling is parsed as requested and as stored; the answers of statistics
 * become ranges, or are refused with the reason. Method: texts of both. */
#include "api/requests/scaling_request.h"

#include <stdlib.h>
#include <string.h>

#include "api/requests/job_request.h"
#include "api/json/json_writer.h"
#include "tests/expect.h"
#include "engine/data/readers/reader_registry.h"

#define ID   "sta_01JJZ0000000000000000000AB"
#define HASH "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define KEPT                                                                           \
    "{\"statistics\":\"" ID "\",\"reserve\":{\"seq\":17,\"hash\":\"" HASH              \
    "\"},\"ranges\":[{\"column\":\"age\",\"range\":[18.5,77.25]},{\"column\":"         \
    "\"hours\",\"range\":[0.0,60.125]}]}"
#define JOB(scaling)                                                                   \
    "{\"dataset\":\"a\",\"model\":{\"preset\":\"linear\"},\"algorithm\":{\"name\":"    \
    "\"dpsgd\"},\"privacy\":{\"epsilon\":1},\"scaling\":" scaling "}"

static char name_age[] = "age", name_hours[] = "hours", name_label[] = "rich";
static struct column columns[] = {
    {.name = name_age, .kind = COLUMN_NUMERIC, .low = 0, .high = 100},
    {.name = name_hours, .kind = COLUMN_NUMERIC, .low = 1.0 / 3, .high = 1000.0 / 3},
    {.name = name_label, .kind = COLUMN_LABEL, .low = 0, .high = 1},
};
static const struct schema people = {.reader = &csv_reader,
                                     .task = TASK_REGRESSION,
                                     .column_count = 3,
                                     .columns = columns};

static void what_is_kept_reads_back_to_itself(void **state)
{
    (void)state;
    struct job_request request;
    static const char body[] = JOB(KEPT);
    assert_int_equal(job_request_restore(&request, body, NULL), ST_OK);
    assert_string_equal(request.scaling.statistics.text, ID);
    assert_int_equal(request.scaling.reserve_seq, 17);
    assert_string_equal(request.scaling.reserve_hash, HASH);
    assert_int_equal(request.scaling.ranges.count, 2);
    assert_string_equal(request.scaling.ranges.items[1].column, "hours");
    assert_true(request.scaling.ranges.items[1].high == 60.125);
    struct json_writer writer;
    json_writer_open(&writer, JSON_EXACT);
    json_write_object(&writer, NULL);
    scaling_request_write(&writer, "scaling", &request.scaling);
    json_write_object_end(&writer);
    char *text = json_writer_close(&writer);
    assert_string_equal(text, "{\"scaling\":" KEPT "}");
    free(text);
    job_request_fini(&request);
}

/* Ranges come only from the statistics. */
static void what_is_asked_for_is_an_id_alone(void **state)
{
    static const struct {
        const char *body, *pointer;
    } bad[] = {
        {JOB(KEPT), "/scaling/reserve"},
        {JOB("{\"statistics\":\"" ID "\",\"ranges\":[]}"), "/scaling/ranges"},
        {JOB("{}"), "/scaling/statistics"},
        {JOB("{\"statistics\":\"job_01JJZ0000000000000000000AB\"}"),
         "/scaling/statistics"},
        {JOB("{\"statistics\":7}"), "/scaling/statistics"},
        {JOB("\"" ID "\""), "/scaling"},
        {JOB("null"), "/scaling"},
    };
    struct job_request request;
    static const char good[] = JOB("{\"statistics\":\"" ID "\"}");
    (void)state;
    assert_int_equal(job_request_parse(&request, json_text_of(good), NULL), ST_OK);
    assert_string_equal(request.scaling.statistics.text, ID);
    assert_int_equal(request.scaling.ranges.count, 0);
    job_request_fini(&request);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct error error = {0};
        assert_int_equal(job_request_parse(&request, json_text_of(bad[i].body), &error),
                         ST_INVALID);
        assert_string_equal(error.pointer, bad[i].pointer);
    }
}

static enum status resolve(struct scaling_request *scaling, const char *answers,
                           struct error *error)
{
    const struct statistics_row row = {.id = {ID},
                                       .answers = answers,
                                       .guarantee =
                                           "{\"epsilon\":1.0,\"reserve\":{\"seq\":"
                                           "17,\"hash\":\"" HASH "\"}}"};
    *scaling = (struct scaling_request){.statistics = row.id};
    return scaling_request_resolve(scaling, &row, &people, error);
}

#define QUANTILE(p, value)                                                             \
    "{\"probability\":" p ",\"value\":" value ",\"interval\":[0.0,100.0]}"
#define QUANTILES(column, list)                                                        \
    "{\"kind\":\"quantiles\",\"column\":\"" column "\",\"range\":[0.0,100.0],\"bins\"" \
    ":64,\"quantiles\":[" list "]}"

/* The quantiles may be in any order; the first entry with quantiles of a column
 * counts. */
static void the_outer_quantiles_are_a_columns_range(void **state)
{
    (void)state;
    struct scaling_request scaling;
    assert_int_equal(
        resolve(
            &scaling,
            "[{\"kind\":\"mean\",\"column\":\"age\",\"value\":3.0}," QUANTILES(
                "age",
                QUANTILE("0.5", "40.0") "," QUANTILE("0.99", "77.25") "," QUANTILE(
                    "0.01",
                    "18.5")) "," QUANTILES("age",
                                           QUANTILE("0.1", "1.0") "," QUANTILE(
                                               "0.9",
                                               "2.0")) "," QUANTILES("rich",
                                                                     QUANTILE(
                                                                         "0.1",
                                                                         "0"
                                                                         "."
                                                                         "0") "," QUANTILE("0.9",
                                                                                           "1.0")) "," QUANTILES("hours",
                                                                                                                 QUANTILE("0.0001", "0.333333333333333") "," QUANTILE(
                                                                                                                     "0.9",
                                                                                                                     "60.0")) "]",
            NULL),
        ST_OK);
    assert_int_equal(scaling.ranges.count, 2);
    assert_string_equal(scaling.ranges.items[0].column, "age");
    assert_true(scaling.ranges.items[0].low == 18.5 &&
                scaling.ranges.items[0].high == 77.25);
    /* The answer has a digit less than the declared end, at which the column begins. */
    assert_true(scaling.ranges.items[1].low == 1.0 / 3 &&
                scaling.ranges.items[1].high == 60);
    assert_int_equal(scaling.reserve_seq, 17);
    assert_string_equal(scaling.reserve_hash, HASH);
    scaling_request_fini(&scaling);
}

static void answers_without_a_range_are_refused(void **state)
{
    static const struct {
        const char *answers, *why;
    } bad[] = {
        {"[{\"kind\":\"mean\",\"column\":\"age\",\"value\":3.0}]", "no quantiles"},
        {"[" QUANTILES("age", QUANTILE("0.5", "40.0")) "]", "no quantiles"},
        {"[" QUANTILES("rich", QUANTILE("0.1", "0.0") "," QUANTILE("0.9", "1.0")) "]",
         "no quantiles"},
        {"[" QUANTILES("weight", QUANTILE("0.1", "0.0") "," QUANTILE("0.9", "1.0")) "]",
         "no quantiles"},
        {"[" QUANTILES("age", QUANTILE("0.1", "40.0") "," QUANTILE("0.9", "40.0")) "]",
         "is no range"},
        {"[" QUANTILES("age",
                       QUANTILE("0.1", "40.0") "," QUANTILE("0.9", "40.001")) "]",
         "not told apart"},
        {"[" QUANTILES("age",
                       QUANTILE("0.1", "400.0") "," QUANTILE("0.9", "500.0")) "]",
         "is no range"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct scaling_request scaling;
        struct error error = {0};
        assert_int_equal(resolve(&scaling, bad[i].answers, &error), ST_INVALID);
        assert_string_equal(error.pointer, "/scaling/statistics");
        assert_non_null(strstr(error.text, bad[i].why));
        scaling_request_fini(&scaling);
    }
    struct scaling_request scaling;
    assert_int_equal(resolve(&scaling, "[{\"kind\":\"quantiles\"}]", NULL), ST_CORRUPT);
    scaling_request_fini(&scaling);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_kept_reads_back_to_itself),
        cmocka_unit_test(what_is_asked_for_is_an_id_alone),
        cmocka_unit_test(the_outer_quantiles_are_a_columns_range),
        cmocka_unit_test(answers_without_a_range_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
