/* Goal: an import with a report finds every fault of a table, by column and with the
 * cells, within its named limits; without one it is refused as before. */
#include "tests/expect.h"
#include "tests/engine/data/readers/ingest_fixture.h"
#include "engine/data/readers/import_report.h"
#include "engine/data/readers/reader_registry.h"

static char n_age[] = "age", n_job[] = "job", n_pay[] = "pay";
static char v_clerk[] = "clerk", v_cook[] = "cook", v_low[] = "low", v_high[] = "high";
static char *jobs[] = {v_clerk, v_cook}, *pays[] = {v_low, v_high};
static struct column columns[] = {
    {.name = n_age, .kind = COLUMN_NUMERIC, .low = 0, .high = 100},
    {.name = n_job, .kind = COLUMN_CATEGORICAL, .value_count = 2, .values = jobs},
    {.name = n_pay, .kind = COLUMN_LABEL, .value_count = 2, .values = pays},
};
static const struct schema people = {.reader = &csv_reader,
                                     .task = TASK_CLASSIFICATION,
                                     .classes = 2,
                                     .column_count = 3,
                                     .columns = columns};

struct reported {
    struct ingest ingest;
    struct import_report *report;
};

/* Imports the text with a report. */
static void report_open(struct reported *reported, const char *text, size_t size)
{
    struct ingest *ingest = &reported->ingest;
    ingest_init(ingest);
    reported->report = import_report_create(&people);
    assert_non_null(reported->report);
    write_file(ingest->data, text, size);
    ingest->files = (struct import_files){{ingest->data}};
    struct import import = ingest_import(ingest, &people);
    import.report = reported->report;
    ingest->status = import_run(&import, &ingest->result, &ingest->failure);
}

static void report_close(struct reported *reported)
{
    import_report_destroy(reported->report);
    ingest_fini(&reported->ingest);
}

static void assert_cell(const struct column_report *column, size_t at, uint64_t line,
                        uint64_t place, const char *text, const char *reason)
{
    assert_in_range(at, 0, column->cell_count - 1);
    assert_int_equal(column->cells[at].line, line);
    assert_int_equal(column->cells[at].column, place);
    assert_string_equal(column->cells[at].text, text);
    assert_non_null(strstr(column->cells[at].reason, reason));
}

static void every_fault_of_a_table_is_reported_by_column(void **state)
{
    (void)state;
    struct reported reported;
    static const char text[] = "25,clerk,low\n"
                               "old,smith,low\n"
                               "30,cook\n"
                               ",baker,mid\n"
                               "40,\"bak\"er,low\n"
                               " young ,\" smith \",high\n"
                               "50,,high\n";
    report_open(&reported, text, sizeof text - 1);
    const struct import_report *report = reported.report;
    assert_refused(&reported.ingest, "data", 2, 1, "not a finite decimal number");
    assert_int_equal(report->faults, 10);
    assert_int_equal(report->columns[0].faults, 3);
    assert_cell(&report->columns[0], 0, 2, 1, "old", "not a finite decimal number");
    assert_cell(&report->columns[0], 1, 4, 1, "", "empty and no default");
    assert_cell(&report->columns[0], 2, 6, 1, "young", "not a finite decimal number");
    assert_int_equal(report->columns[0].word_count, 0);
    assert_int_equal(report->columns[1].faults, 4);
    assert_cell(&report->columns[1], 3, 7, 2, "", "empty and no default");
    assert_int_equal(report->columns[1].word_count, 2);
    assert_string_equal(report->columns[1].words[0], "baker");
    assert_string_equal(report->columns[1].words[1], "smith");
    assert_false(report->columns[1].words_left);
    assert_int_equal(report->columns[2].faults, 1);
    assert_string_equal(report->columns[2].words[0], "mid");
    assert_int_equal(report->faulty_lines, 2);
    assert_int_equal(report->lines[0].line, 3);
    assert_non_null(strstr(report->lines[0].reason, "2 cells"));
    assert_int_equal(report->lines[1].line, 5);
    assert_non_null(strstr(report->lines[1].reason, "closing quote"));
    report_close(&reported);
}

static void a_table_without_faults_has_an_empty_report(void **state)
{
    (void)state;
    struct reported reported;
    static const char text[] = "25,clerk,low\n\"75\",cook,high\n";
    report_open(&reported, text, sizeof text - 1);
    assert_int_equal(reported.ingest.status, ST_OK);
    assert_int_equal(reported.ingest.result.records, 2);
    assert_int_equal(import_report_faults(reported.report), 0);
    report_close(&reported);
}

static void faults_of_a_whole_file_are_reported_once(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "25;clerk;low\n26;cook;high\n", /* another delimiter */
        "PAR1\x15,x\n1,2,3\n",          /* another kind of file */
        "",                             /* no records */
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct reported reported;
        report_open(&reported, texts[i], strlen(texts[i]));
        assert_int_equal(reported.ingest.status, ST_IMPORT_FAILED);
        assert_int_equal(import_report_faults(reported.report), 0);
        report_close(&reported);
    }
}

static void words_that_cannot_be_declared_are_not_offered(void **state)
{
    (void)state;
    struct reported reported;
    static char text[1024];
    size_t size = (size_t)sprintf(text, "1,\xff\xfe,low\n2,");
    memset(text + size, 'x', REPORT_CELL_SIZE + 1);
    size += REPORT_CELL_SIZE + 1;
    memcpy(text + size, ",low\n3,a\0b,low\n4,good,low\n", 26);
    size += 26;
    report_open(&reported, text, size);
    const struct column_report *column = &reported.report->columns[1];
    assert_int_equal(column->faults, 4);
    assert_int_equal(column->word_count, 1);
    assert_string_equal(column->words[0], "good");
    assert_true(column->words_left);
    assert_int_equal(strlen(column->cells[1].text), REPORT_CELL_SIZE);
    assert_string_equal(column->cells[2].text, "a\xff"
                                               "b");
    report_close(&reported);
}

static void a_report_has_limits_whatever_the_file_holds(void **state)
{
    (void)state;
    struct reported reported;
    enum { ROWS = 30000 };
    char *text = calloc(ROWS, 300);
    assert_non_null(text);
    size_t size = 0;
    for (int i = 0; i < ROWS; i++)
        size += (size_t)sprintf(text + size,
                                i % 3 == 0 ? "x,%0200d\n" : "x,%0200d,low\n", i);
    report_open(&reported, text, size);
    const struct import_report *report = reported.report;
    assert_int_equal(report->columns[0].faults, ROWS - ROWS / 3);
    assert_int_equal(report->columns[0].cell_count, REPORT_CELLS_MAX);
    assert_int_equal(report->columns[1].word_count, REPORT_WORDS_MAX);
    assert_true(report->columns[1].words_left);
    assert_int_equal(report->faulty_lines, ROWS / 3);
    assert_int_equal(report->line_count, REPORT_LINES_MAX);
    assert_true(report->size <= REPORT_SIZE_MAX);
    free(text);
    report_close(&reported);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_fault_of_a_table_is_reported_by_column),
        cmocka_unit_test(a_table_without_faults_has_an_empty_report),
        cmocka_unit_test(faults_of_a_whole_file_are_reported_once),
        cmocka_unit_test(words_that_cannot_be_declared_are_not_offered),
        cmocka_unit_test(a_report_has_limits_whatever_the_file_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
