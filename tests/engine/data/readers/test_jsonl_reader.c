/* Goal: a file of JSON Lines is the matrix that the csv file of the same records is; the
 * first error is reported with line and byte, never with a text of the line; all errors
 * and their texts are in the report only. */
#include "tests/expect.h"
#include "tests/engine/data/readers/ingest_fixture.h"
#include "engine/data/calendar.h"
#include "engine/data/readers/import_report.h"
#include "engine/data/readers/lines.h"
#include "engine/data/readers/reader_registry.h"

static char n_age[] = "age", n_job[] = "job", n_ok[] = "ok", n_day[] = "day";
static char n_code[] = "code", n_note[] = "a \"note\"", n_pay[] = "pay", n_id[] = "id";
static char v_clerk[] = "clerk", v_cook[] = "cook, chief", v_low[] = "<=50K";
static char v_high[] = ">50K", v_na[] = "NA", v_ten[] = "10", v_no[] = "no";
static char f_day[] = CALENDAR_ISO;
static char *jobs[] = {v_clerk, v_cook}, *pays[] = {v_low, v_high}, *missing[] = {v_na};

enum { AGE, JOB, OK, DAY, CODE, NOTE, PAY, COLUMNS };
static struct column columns[COLUMNS] = {
    {.name = n_age,
     .kind = COLUMN_NUMERIC,
     .low = 0,
     .high = 100,
     .fallback = v_ten,
     .missing = missing,
     .missing_count = 1},
    {.name = n_job,
     .kind = COLUMN_CATEGORICAL,
     .value_count = 2,
     .values = jobs,
     .other = true,
     .missing_feature = true},
    {.name = n_ok, .kind = COLUMN_BOOLEAN, .low = 0, .high = 1, .fallback = v_no},
    {.name = n_day,
     .kind = COLUMN_DATE,
     .low = 0,
     .high = 20000,
     .format = f_day,
     .missing_feature = true},
    {.name = n_code,
     .kind = COLUMN_HASHED,
     .buckets = 64,
     .seed = 7,
     .has_seed = true,
     .text_bytes = 12,
     .missing_feature = true},
    {.name = n_note, .kind = COLUMN_IGNORED},
    {.name = n_pay, .kind = COLUMN_LABEL, .value_count = 2, .values = pays},
};
static const struct schema table = {.reader = &jsonl_reader,
                                    .task = TASK_CLASSIFICATION,
                                    .classes = 2,
                                    .header = true,
                                    .column_count = COLUMNS,
                                    .columns = columns};

/* Imports the two texts, of csv and of JSON Lines, under one declaration, and checks
 * that both are accepted and give the same file. */
static void assert_same(const struct schema *schema, const char *csv, const char *jsonl)
{
    uint8_t sha256[SHA256_SIZE];
    struct ingest ingest;
    struct schema other = *schema;
    other.reader = &csv_reader;
    ingest_init(&ingest);
    ingest_text(&ingest, &other, csv);
    if (ingest.status != ST_OK)
        fail_msg("csv: %s", ingest.failure.text);
    memcpy(sha256, ingest.result.sha256, SHA256_SIZE);
    ingest_text(&ingest, schema, jsonl);
    if (ingest.status != ST_OK)
        fail_msg("%s, line %d", ingest.failure.text, (int)ingest.failure.line);
    assert_memory_equal(ingest.result.sha256, sha256, SHA256_SIZE);
    ingest_fini(&ingest);
}

static void each_kind_of_column_is_read_as_from_csv(void **state)
{
    (void)state;
    assert_same(
        &table,
        "age,job,ok,day,code,\"a \"\"note\"\"\",pay\n"
        "25.50,clerk,true,2020-02-29,A-1,x,<=50K\n"
        "1e1,\"cook, chief\",no,,0.10,,>50K\n"
        "NA,baker,false,2021-01-01,12345678901234567890123,1,>50K\n"
        ",,,,,,<=50K\n"
        ",,,,,,<=50K\n"
        "3, clerk ,1,1970-01-02,\"caf\xc3\xa9 \"\"a\"\"\",true,<=50K\n",
        "\xef\xbb\xbf{\"age\":25.50,\"job\":\"clerk\",\"ok\":true,\"day\":"
        "\"2020-02-29\",\"code\":\"A-1\",\"a \\\"note\\\"\":\"x\",\"pay\":"
        "\"<=50K\"}\r\n"
        "{\"pay\":\">50K\",\"code\":0.10,\"ok\":\"no\",\"job\":\"cook, "
        "chief\",\"age\":1e1}\n"
        "\n \t \n"
        "{\"age\":\"NA\",\"job\":\"baker\",\"ok\":false,\"day\":\"2021-01-01\","
        "\"code\":12345678901234567890123,\"a \\\"note\\\"\":1,\"pay\":\">50K\"}"
        "\n"
        "{\"pay\":\"<=50K\"}\r"
        "{\"age\":null,\"job\":null,\"ok\":null,\"day\":null,\"code\":null,"
        "\"a \\u0022note\\u0022\":null,\"pay\":\"<=50K\"}\n"
        "{\"age\":\"3\",\"job\":\" clerk \",\"ok\":1,\"day\":\"1970-01-02\","
        "\"code\":\"caf\\u00e9 \\\"a\\\"\",\"a \\\"note\\\"\":true,\"pay\":"
        "\"<=50K\"}");
}

static void persons_and_a_regression_are_read_as_from_csv(void **state)
{
    (void)state;
    struct column visits[] = {
        {.name = n_age, .kind = COLUMN_NUMERIC, .low = 0, .high = 100},
        {.name = n_id, .kind = COLUMN_PRIVACY_ID},
        {.name = n_pay, .kind = COLUMN_LABEL, .low = 0, .high = 10},
    };
    static const char *const texts[] = {
        "age,id,pay\n10,7,1\n20,b,2.5\n30,7,3\n40,b,4\n50,7,5\n",
        "{\"age\":10,\"id\":7,\"pay\":1}\n{\"age\":20,\"id\":\"b\",\"pay\":2.5}\n"
        "{\"age\":30,\"id\":\"7\",\"pay\":3}\n{\"id\":\"b\",\"pay\":4,\"age\":40}\n"
        "{\"age\":50,\"id\":7,\"pay\":5}\n"};
    struct schema schema = {
        .task = TASK_REGRESSION, .header = true, .column_count = 3, .columns = visits};
    uint8_t rows[2][SHA256_SIZE];
    struct ingest ingest;
    ingest_init(&ingest);
    for (int i = 0; i < 2; i++) {
        schema.reader = i == 0 ? &csv_reader : &jsonl_reader;
        ingest_text(&ingest, &schema, texts[i]);
        assert_int_equal(ingest.status, ST_OK);
        assert_int_equal(ingest.result.records, 2);
        memcpy(rows[i], ingest.result.rows_sha256, SHA256_SIZE);
    }
    assert_memory_equal(rows[0], rows[1], SHA256_SIZE); /* their order is secret */
    ingest_fini(&ingest);
}

static void a_faulty_line_is_refused_at_its_place(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        uint64_t place;
        const char *words;
    } cases[] = {
        {"{\"age\":1,\"pay\":\"<=50K\",\"agee\":1}", 24, "is not declared"},
        {"{\"Age\":1,\"pay\":\"<=50K\"}", 2, "is not declared"},
        {"{\"age\\u0000\":1,\"pay\":\"<=50K\"}", 2, "is not declared"},
        {"{\"age\":1,\"age\":1,\"pay\":\"<=50K\"}", 10, "\"age\" twice"},
        {"{\"age\":null,\"\\u0061ge\":1,\"pay\":\"<=50K\"}", 13, "\"age\" twice"},
        {"{\"age\":\"old\",\"pay\":\"<=50K\"}", 8, "not a finite decimal number"},
        {"{\"age\":1e999,\"pay\":\"<=50K\"}", 8, "not a finite decimal number"},
        {"{\"age\":true,\"pay\":\"<=50K\"}", 8, "not a finite decimal number"},
        {"{\"ok\":2,\"pay\":\"<=50K\"}", 7, "none of true, yes"},
        {"{\"day\":\"29.02.2020\",\"pay\":\"<=50K\"}", 8, "no date"},
        {"{\"age\": 1,\"pay\": \"50K\"}", 18, "none of the values"},
        {"{\"age\":1}", 0, "the cell is empty"},
        {"{}", 0, "the cell is empty"},
        {"{\"age\":[1],\"pay\":\"<=50K\"}", 8, "an array or an object"},
        {"{\"age\":1,\"pay\":\"<=50K\"", 23, "ends inside the object"},
        {"1,clerk", 1, "begin with {"},
        {"[", 1, "begin with {"},
    };
    struct ingest ingest;
    ingest_init(&ingest);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[256];
        snprintf(text, sizeof text, "{\"pay\":\">50K\"}\n\n%s\n{\"pay\":\">50K\"}\n",
                 cases[i].line);
        ingest_text(&ingest, &table, text);
        assert_refused(&ingest, "data", 3, cases[i].place, cases[i].words);
        for (const char *const *shown =
                 (const char *const[]){"old", "agee", "50K", "29.02", NULL};
             *shown != NULL; shown++)
            assert_null(strstr(ingest.failure.text, *shown));
    }
    ingest_text(&ingest, &table, "\n \n");
    assert_refused(&ingest, "data", 0, 0, "holds no records");
    ingest_fini(&ingest);
}

static void a_line_has_the_greatest_length_of_csv(void **state)
{
    (void)state;
    struct ingest ingest;
    char *text = malloc(LINE_SIZE_MAX + 64);
    assert_non_null(text);
    ingest_init(&ingest);
    for (int over = 0; over < 2; over++) {
        const size_t size = LINE_SIZE_MAX + (size_t)over;
        memset(text, ' ', size);
        memcpy(text, "{\"pay\":\">50K\"}", 14);
        strcpy(text + size, "\n{\"pay\":\">50K\"}\n");
        ingest_text(&ingest, &table, text);
        if (over)
            assert_refused(&ingest, "data", 1, 0, "longer than");
        else
            assert_int_equal(ingest.status, ST_OK);
    }
    free(text);
    ingest_fini(&ingest);
}

static void a_report_has_all_faults_with_their_texts(void **state)
{
    (void)state;
    static const char text[] = "{\"age\":\"old\",\"ok\":\"maybe\",\"pay\":\"mid\"}\n"
                               "{\"pay\":\"<=50K\",\"heigth\":170}\n"
                               "{\"age\":1,\n"
                               "{\"age\":2}\n"
                               "{\"pay\":\"<=50K\"}\n";
    struct ingest ingest;
    ingest_init(&ingest);
    struct import_report *report = import_report_create(&table);
    assert_non_null(report);
    write_file(ingest.data, text, sizeof text - 1);
    ingest.files = (struct import_files){{ingest.data}};
    struct import import = ingest_import(&ingest, &table);
    import.report = report;
    ingest.status = import_run(&import, &ingest.result, &ingest.failure);
    assert_refused(&ingest, "data", 1, 8, "not a finite decimal number");
    assert_int_equal(report->faults, 6);
    assert_string_equal(report->columns[AGE].cells[0].text, "old");
    assert_string_equal(report->columns[OK].cells[0].text, "maybe");
    assert_int_equal(report->columns[PAY].faults, 2);
    assert_string_equal(report->columns[PAY].words[0], "mid");
    assert_int_equal(report->columns[PAY].cells[1].line, 4);
    assert_int_equal(report->columns[PAY].cells[1].column, 0);
    assert_int_equal(report->faulty_lines, 2);
    assert_int_equal(report->lines[0].line, 2);
    assert_int_equal(report->lines[0].column, 16);
    assert_string_equal(report->lines[0].text, "heigth");
    assert_int_equal(report->lines[1].line, 3);
    assert_null(report->lines[1].text);
    import_report_destroy(report);
    ingest_fini(&ingest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_of_column_is_read_as_from_csv),
        cmocka_unit_test(persons_and_a_regression_are_read_as_from_csv),
        cmocka_unit_test(a_faulty_line_is_refused_at_its_place),
        cmocka_unit_test(a_line_has_the_greatest_length_of_csv),
        cmocka_unit_test(a_report_has_all_faults_with_their_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
