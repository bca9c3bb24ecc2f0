/* Goal: RFC 4180 is read as declared; the first error is reported with line and cell,
 * never with its text. */
#include "tests/expect.h"
#include "tests/engine/data/readers/ingest_fixture.h"
#include "engine/data/readers/lines.h"
#include "engine/data/readers/reader_registry.h"

static char n_age[] = "age", n_job[] = "job", n_note[] = "note", n_pay[] = "pay";
static char v_clerk[] = "clerk", v_cook[] = "cook, chief", v_none[] = "?";
static char v_low[] = "<=50K", v_high[] = ">50K";
static char v_default[] = "33.25";
static char *jobs[] = {v_clerk, v_cook, v_none}, *pays[] = {v_low, v_high};
static struct column columns[] = {
    {.name = n_age, .kind = COLUMN_NUMERIC, .low = 0, .high = 100},
    {.name = n_job, .kind = COLUMN_CATEGORICAL, .value_count = 3, .values = jobs},
    {.name = n_note, .kind = COLUMN_IGNORED},
    {.name = n_pay, .kind = COLUMN_LABEL, .value_count = 2, .values = pays},
};
static const struct schema people = {.reader = &csv_reader,
                                     .task = TASK_CLASSIFICATION,
                                     .classes = 2,
                                     .column_count = 4,
                                     .columns = columns};

static void assert_row(const struct matrix *matrix, size_t record, float age, int job,
                       uint32_t pay)
{
    const float *row = (const float *)matrix->rows + record * 4;
    assert_true(row[0] == age);
    for (int i = 0; i < 3; i++)
        assert_true(row[1 + i] == (i == job ? 1 : 0));
    assert_int_equal(matrix->targets[record], pay);
}

static void rows_are_encoded_in_column_order(void **state)
{
    (void)state;
    struct ingest ingest;
    ingest_init(&ingest);
    ingest_text(&ingest, &people,
                "25,clerk,x,<=50K\n"
                " 75 ,\t?,,>50K\r\n"
                "\"100\",\"cook, chief\",\"a \"\"b\"\"\nc\", \">50K\" \n"
                "\n \t\n"
                "1e9,clerk,\xff\x01,<=50K");
    assert_int_equal(ingest.status, ST_OK);
    assert_int_equal(ingest.matrix.records, 4);
    assert_int_equal(ingest.matrix.element, ELEMENT_F32);
    assert_row(&ingest.matrix, 0, -0.5F, 0, 0);
    assert_row(&ingest.matrix, 1, 0.5F, 2, 1);
    assert_row(&ingest.matrix, 2, 1, 1, 1);
    assert_row(&ingest.matrix, 3, 1, 0, 0);
    ingest_fini(&ingest);
}

/* Cells of a row in declared order, or the label first; each in quotes or all plain. */
static size_t write_row(char *text, const char *const cells[4], bool label_first,
                        bool quoted)
{
    static const size_t orders[2][4] = {{0, 1, 2, 3}, {3, 0, 1, 2}};
    size_t size = 0;
    for (size_t i = 0; i < 4; i++)
        size += (size_t)sprintf(text + size, quoted ? "%s\"%s\"" : "%s%s",
                                i > 0 ? "," : "", cells[orders[label_first][i]]);
    text[size++] = '\n';
    text[size] = '\0';
    return size;
}

/* A record with quotes takes another code path than one without (csv_plain.h). */
static void quotes_around_all_cells_change_nothing(void **state)
{
    (void)state;
    static const char *const rows[][4] = {
        {"25", "clerk", "x", "<=50K"},
        {" 0.12345678901234567\t", "?", "", " >50K"},
        {"", "clerk", "  ", "<=50K"},
        {"\t", "clerk ", "a b", ">50K"},
        {"+7.e1", "?", "5", "<=50K"},
        {"123456789012345678901234567890e-28", "clerk", ";", "<=50K"},
        {"100000000", "?", "", ">50K"},
        {"-.5", " clerk", "\xff", " <=50K "}};
    struct column with_default[4];
    memcpy(with_default, columns, sizeof with_default);
    with_default[0].fallback = v_default;
    struct schema schema = people;
    schema.columns = with_default;
    struct ingest ingest;
    ingest_init(&ingest);
    for (int label_first = 0; label_first < 2; label_first++) {
        uint8_t sha256[2][SHA256_SIZE];
        schema.header = label_first == 1;
        for (int quoted = 0; quoted < 2; quoted++) {
            char text[2048];
            size_t size =
                (size_t)sprintf(text, "%s", label_first ? "pay,age,job,note\n" : "");
            for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
                size += write_row(text + size, rows[r], label_first == 1, quoted == 1);
            ingest_text(&ingest, &schema, text);
            assert_int_equal(ingest.status, ST_OK);
            memcpy(sha256[quoted], ingest.result.sha256, SHA256_SIZE);
        }
        assert_memory_equal(sha256[0], sha256[1], SHA256_SIZE);
    }
    ingest_fini(&ingest);
}

static void a_header_names_the_columns_in_any_order(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "\xef\xbb\xbf\"age\", job ,note,pay\r\n25,clerk,a,>50K\r\n75,?,,<=50K\n",
        "pay,note,job,age\n>50K,a,clerk,25\n<=50K,,?,75\n",
        "note,age,pay,job\na,25,>50K,clerk\n,75,<=50K,?\n",
        "note, \"age\" ,pay,job\t\n\n\"a\nb\",25,>50K,clerk\n,75,<=50K,?",
    };
    uint8_t sha256[SHA256_SIZE];
    struct ingest ingest;
    struct schema schema = people;
    schema.header = true;
    ingest_init(&ingest);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        ingest_text(&ingest, &schema, texts[i]);
        assert_int_equal(ingest.status, ST_OK);
        assert_row(&ingest.matrix, 0, -0.5F, 0, 1);
        assert_row(&ingest.matrix, 1, 0.5F, 2, 0);
        if (i == 0)
            memcpy(sha256, ingest.result.sha256, SHA256_SIZE);
        assert_memory_equal(ingest.result.sha256, sha256, SHA256_SIZE);
    }
    /* An error names the cell's place in the file. */
    ingest_text(&ingest, &schema, "pay,note,job,age\n>50K,a,clerk,x\n");
    assert_refused(&ingest, "data", 2, 4, "column \"age\"");
    ingest_fini(&ingest);
}

static void a_header_that_does_not_fit_is_told_by_name(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t line, column;
        const char *reason;
    } cases[] = {
        {"age,job,note\n", 1, 0, "the header lacks the declared column \"pay\""},
        {"age,wages,note,pay\n", 1, 2,
         "the header names \"wages\", which is not declared, and lacks the declared "
         "column \"job\""},
        {"age,job,extra,note,pay\n", 1, 3,
         "the header names \"extra\", which is not declared"},
        {"a,b,c,d,e,age,job,note,pay\n", 1, 1,
         "the header names \"a\", which is not declared"},
        {"age,job,note,pay,age\n", 1, 5, "the header names the column \"age\" twice"},
        {"age,age,note,pay\n", 1, 2, "the header names the column \"age\" twice"},
        {"Age,job,note,pay\n", 1, 1,
         "the header names \"Age\", which is not declared, and lacks the declared "
         "column \"age\""},
        {"age,job,note,\n", 1, 4,
         "the header names \"\", which is not declared, and lacks the declared column "
         "\"pay\""},
        {"age,job,note,\"pay\n25,clerk,,>50K\n", 1, 4, "never closed"},
        {"25,clerk,,>50K\n", 1, 0, "names none of the declared columns"},
        {"25,clerk,,>50K,7\n", 1, 0, "more than 4 cells, 4 columns"},
        {"age;job;note;pay\n25;clerk;;>50K\n", 1, 0, "separated by semicolons"},
        {"age,job,note,pay\n", 0, 0, "no records"},
    };
    struct ingest ingest;
    struct schema schema = people;
    schema.header = true;
    ingest_init(&ingest);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ingest_text(&ingest, &schema, cases[i].text);
        assert_refused(&ingest, "data", cases[i].line, cases[i].column,
                       cases[i].reason);
        assert_null(strstr(ingest.failure.text, "clerk")); /* a record is not quoted */
    }
    ingest_fini(&ingest);
}

static void other_separators_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *text, *reason;
        uint64_t line;
    } cases[] = {
        {"25;clerk;x;<=50K\n", "separated by semicolons", 1},
        {"2,5;clerk;x;<=50K\n", "separated by semicolons", 1},
        {"2,5;clerk;x,y;<=5,0K\n", "separated by semicolons", 1},
        {"25\tclerk\tx\t<=50K\n", "separated by tabs", 1},
        {"25|clerk|x|<=50K\n", "separated by bars", 1},
        {"25,clerk,x,<=50K\n25;clerk;x;<=50K\n", "separated by semicolons", 2},
        {"25;clerk\n", "1 cells, 4 columns", 1},
        /* After a good line a bad cell is reported as such, for any content of other
         * cells. */
        {"25,clerk,x,<=50K\nx,clerk,;;;,<=50K\n", "number", 2},
    };
    struct ingest ingest;
    ingest_init(&ingest);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ingest_text(&ingest, &people, cases[i].text);
        assert_int_equal(ingest.status, ST_IMPORT_FAILED);
        assert_refused(&ingest, "data", cases[i].line, ingest.failure.column,
                       cases[i].reason);
    }
    ingest_fini(&ingest);
}

/* Each row says the same two records in another dialect. */
static void a_file_is_read_in_the_declared_dialect(void **state)
{
    (void)state;
    static const struct {
        struct dialect dialect;
        const char *text;
    } cases[] = {
        {{0}, "age,job,note,pay\n25.5,\"cook, chief\",a;b,<=50K\n75.25,?,,>50K\n"},
        {{DELIMITER_SEMICOLON, false},
         "pay;age;note;job\n<=50K; 25.5 ;a,b|c;cook, chief\n>50K;75.25;;?\n"},
        {{DELIMITER_SEMICOLON, true},
         "age;job;note;pay\n25,5;cook, chief;;<=50K\n\"+75,25\";?;\"a;b\";>50K\n"},
        {{DELIMITER_TAB, true},
         "age\tjob\tnote\tpay\n 25,5 \tcook, chief\t\t<=50K\n\t\n7525e-2\t?\t\t>50K"},
        {{DELIMITER_PIPE, false},
         "age|job|note|pay\r\n25.5|cook, chief|\t|<=50K\r\n\t75.25|\"?\"|,|>50K\r\n"},
        {{DELIMITER_PIPE, true},
         "age|job|note|pay\r25,5|\"cook, chief\"|\"a\rb\"|"
         "<=50K\r\r75,25|?||>50K\r"},
    };
    struct ingest ingest;
    struct schema schema = people;
    uint8_t sha256[SHA256_SIZE];
    schema.header = true;
    ingest_init(&ingest);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        schema.dialect = cases[i].dialect;
        ingest_text(&ingest, &schema, cases[i].text);
        if (i == 3) { /* a line of tabs is a record of empty cells */
            assert_refused(&ingest, "data", 3, 0, "2 cells, 4 columns");
            continue;
        }
        if (ingest.status != ST_OK)
            fail_msg("dialect %zu: %s", i, ingest.failure.text);
        assert_row(&ingest.matrix, 0, -0.49F, 1, 0);
        assert_row(&ingest.matrix, 1, 0.505F, 2, 1);
        if (i == 0)
            memcpy(sha256, ingest.result.sha256, SHA256_SIZE);
        assert_memory_equal(ingest.result.sha256, sha256, SHA256_SIZE);
    }
    ingest_fini(&ingest);
}

static void what_is_not_in_the_dialect_is_refused(void **state)
{
    (void)state;
    static const struct dialect german = {DELIMITER_SEMICOLON, true};
    static const struct dialect tabs = {DELIMITER_TAB, false};
    static const struct {
        struct dialect dialect;
        const char *text, *reason;
        uint64_t line, column;
    } cases[] = {
        {german, "25,clerk,x,<=50K\n", "separated by commas, not by semicolons", 1, 0},
        {german, "25.5;clerk;x;<=50K\n", "with a decimal comma", 1, 1},
        {german, "1.025,5;clerk;x;<=50K\n", "with a decimal comma", 1, 1},
        {german, "\"25.5\";clerk;x;<=50K\n", "with a decimal comma", 1, 1},
        {german, "25 clerk x <=50K\n", "it contains no semicolons", 1, 0},
        {tabs, "25 clerk x <=50K\n", "it contains no tabs", 1, 0},
        {tabs, "25\t\tx\t<=50K\n", "the cell is empty", 1, 2},
        {tabs, "25,5\tclerk\tx\t<=50K\n", "number", 1, 1},
        {german, "25;clerk;\"a\rb\r\nc\";<=50K\r25;clerk;x;?\r", "none of", 4, 4},
        {german, "25;clerk;\"x\",<=50K;\n", "closing quote", 1, 3},
    };
    struct ingest ingest;
    struct schema schema = people;
    ingest_init(&ingest);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        schema.dialect = cases[i].dialect;
        ingest_text(&ingest, &schema, cases[i].text);
        assert_refused(&ingest, "data", cases[i].line, cases[i].column,
                       cases[i].reason);
    }
    ingest_fini(&ingest);
}

/* A default is declared in JSON, so it has a point in each dialect. */
static void a_default_has_a_point_in_each_dialect(void **state)
{
    (void)state;
    struct ingest ingest;
    struct column with[4];
    struct schema schema = people;
    memcpy(with, columns, sizeof with);
    with[0].fallback = v_default;
    schema.columns = with;
    schema.dialect = (struct dialect){DELIMITER_SEMICOLON, true};
    ingest_init(&ingest);
    ingest_text(&ingest, &schema, ";clerk;;<=50K\n33,25;clerk;;<=50K\n");
    assert_int_equal(ingest.status, ST_OK);
    assert_row(&ingest.matrix, 0, -0.335F, 0, 0);
    assert_row(&ingest.matrix, 1, -0.335F, 0, 0);
    ingest_fini(&ingest);
}

static void defaults_stand_for_empty_cells(void **state)
{
    (void)state;
    struct ingest ingest;
    struct schema schema = people;
    struct column with[4];
    char fifty[] = "50";
    memcpy(with, columns, sizeof with);
    with[0].fallback = fifty;
    with[1].fallback = v_none;
    with[3].fallback = v_low;
    schema.columns = with;
    ingest_init(&ingest);
    ingest_text(&ingest, &schema, ",,,\n\"\",\" \",, \n");
    assert_int_equal(ingest.status, ST_OK);
    assert_row(&ingest.matrix, 0, 0, 2, 0);
    assert_row(&ingest.matrix, 1, 0, 2, 0);
    ingest_text(&ingest, &people, "25,clerk,,>50K\n25,,,>50K\n");
    assert_refused(&ingest, "data", 2, 2, "empty");
    ingest_text(&ingest, &people, "25,clerk,,\n");
    assert_refused(&ingest, "data", 1, 4, "empty");
    ingest_fini(&ingest);
}

static void targets_of_a_regression_are_mapped(void **state)
{
    (void)state;
    struct ingest ingest;
    struct schema schema = people;
    struct column with[4];
    memcpy(with, columns, sizeof with);
    with[3] =
        (struct column){.name = n_pay, .kind = COLUMN_LABEL, .low = -100, .high = 300};
    schema.columns = with;
    schema.task = TASK_REGRESSION;
    schema.classes = 0;
    ingest_init(&ingest);
    ingest_text(&ingest, &schema, "25,clerk,,250\n25,clerk,,-1e5\n");
    assert_int_equal(ingest.status, ST_OK);
    assert_null(ingest.matrix.targets);
    assert_true(ingest.matrix.values[0] == 0.75F && ingest.matrix.values[1] == -1);
    ingest_text(&ingest, &schema, "25,clerk,,nan\n");
    assert_refused(&ingest, "data", 1, 4, "number");
    ingest_fini(&ingest);
}

static void the_first_bad_cell_is_named_and_not_quoted(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t line, column;
        const char *reason, *secret;
    } cases[] = {
        {"25,clerk,,>50K\n25,smith,,>50K\n", 2, 2, "none of the values", "smith"},
        {"twelve,clerk,,>50K\n", 1, 1, "number", "twelve"},
        {"nan,clerk,,>50K\n", 1, 1, "number", "nan"},
        {"1e999,clerk,,>50K\n", 1, 1, "number", "999"},
        {"2\r5,clerk,,>50K\n", 1, 0, "1 cells, 4 columns", "\r"},
        {"25,clerk,,50K\n", 1, 4, "none of the values", "50K"},
        {"25,clerk,\"a\nb\n\",\"5\n\"\nx,clerk,,>50K\n", 3, 4, "none", "5"},
        {"25,clerk,\"a\n\n\",>50K\n\nx,clerk,,>50K\n", 5, 1, "number", "x,"},
        {"25,\"a\nb\",\"c\",>50K\n", 1, 2, "none", "a"},
        {"25,clerk,>50K\n", 1, 0, "3 cells, 4 columns", "clerk"},
        {"25,clerk,,>50K\n25\n", 2, 0, "1 cells, 4 columns", "25"},
        {"25,clerk,,>50K,\n", 1, 0, "more than 4 cells, 4 columns", "clerk"},
        {"25,clerk,,>50K,\"x\n", 1, 0, "more than 4 cells, 4 columns", "clerk"},
        {"25,cl\"erk,,>50K\n25,clerk,,>50K\n", 1, 2, "a quote", "erk"},
        {"25,\"clerk\"s,,>50K\n", 1, 2, "closing quote", "clerk"},
        {"25,clerk,,>50K\n25,\"clerk,,>50K\n25,clerk,,>50K\n", 2, 2, "never closed",
         "clerk"},
        {"25,clerk,\"\n\",\"x", 2, 4, "never closed", "x"},
    };
    struct ingest ingest;
    ingest_init(&ingest);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ingest_text(&ingest, &people, cases[i].text);
        assert_refused(&ingest, "data", cases[i].line, cases[i].column,
                       cases[i].reason);
        assert_true(strstr(ingest.failure.text, cases[i].secret) == NULL ||
                    strstr(cases[i].reason, cases[i].secret) != NULL ||
                    strlen(cases[i].secret) == 1);
    }
    ingest_fini(&ingest);
}

static void a_file_without_records_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {"", "\n", "\r\n \n\t\n", "\xef\xbb\xbf"};
    struct ingest ingest;
    ingest_init(&ingest);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        ingest_text(&ingest, &people, texts[i]);
        assert_refused(&ingest, "data", 0, 0, "no records");
    }
    ingest.files.paths[0] = NULL;
    ingest_run(&ingest, &people);
    assert_refused(&ingest, "data", 0, 0, "not uploaded");
    ingest_fini(&ingest);
}

static void the_limit_of_a_line_is_met_exactly(void **state)
{
    (void)state;
    struct ingest ingest;
    char *text = malloc(LINE_SIZE_MAX + 64);
    assert_non_null(text);
    ingest_init(&ingest);
    for (size_t size = LINE_SIZE_MAX; size < LINE_SIZE_MAX + 2; size++) {
        memset(text, 'z', size);
        memcpy(text, "25,clerk,", 9);
        memcpy(text + size - 6, ",>50K\n", 7);
        size_t line = size - 1;
        ingest_text(&ingest, &people, text);
        assert_int_equal(ingest.status, ST_OK);
        assert_true(line <= LINE_SIZE_MAX);
    }
    memset(text, 'z', LINE_SIZE_MAX + 1);
    memcpy(text, "25,clerk,", 9);
    memcpy(text + LINE_SIZE_MAX + 1 - 5, ",>50K\n", 7);
    ingest_text(&ingest, &people, text);
    assert_refused(&ingest, "data", 1, 0, "longer than 1048576 bytes");
    /* A quote that never closes ends at the limit too. */
    memset(text, '\n', LINE_SIZE_MAX + 32);
    memcpy(text, "25,clerk,\"", 10);
    text[LINE_SIZE_MAX + 32] = '\0';
    ingest_text(&ingest, &people, text);
    assert_refused(&ingest, "data", 1, 3, "never closed");
    free(text);
    ingest_fini(&ingest);
}

static void gzip_and_plain_give_the_same_matrix(void **state)
{
    (void)state;
    enum { ROWS = 50000 };
    struct ingest ingest;
    size_t size = 0;
    char *text = malloc((size_t)ROWS * 40);
    assert_non_null(text);
    for (int i = 0; i < ROWS; i++)
        size += (size_t)sprintf(text + size, "%d.%d,%s,\"%d\n\",%s\n", i % 90, i % 7,
                                jobs[i % 3 == 1 ? 0 : i % 3], i, pays[i % 2]);
    ingest_init(&ingest);
    ingest_text(&ingest, &people, text);
    assert_int_equal(ingest.status, ST_OK);
    assert_int_equal(ingest.result.records, ROWS);
    struct import_result plain = ingest.result;
    unlink(ingest.data);
    write_gzip(ingest.data, text, size / 2);
    write_gzip(ingest.data, text + size / 2, size - size / 2);
    ingest_run(&ingest, &people);
    assert_int_equal(ingest.status, ST_OK);
    assert_memory_equal(plain.sha256, ingest.result.sha256, SHA256_SIZE);
    assert_int_equal(plain.size, ingest.result.size);
    free(text);
    ingest_fini(&ingest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_encoded_in_column_order),
        cmocka_unit_test(quotes_around_all_cells_change_nothing),
        cmocka_unit_test(a_header_names_the_columns_in_any_order),
        cmocka_unit_test(a_header_that_does_not_fit_is_told_by_name),
        cmocka_unit_test(other_separators_are_named),
        cmocka_unit_test(a_file_is_read_in_the_declared_dialect),
        cmocka_unit_test(what_is_not_in_the_dialect_is_refused),
        cmocka_unit_test(a_default_has_a_point_in_each_dialect),
        cmocka_unit_test(defaults_stand_for_empty_cells),
        cmocka_unit_test(targets_of_a_regression_are_mapped),
        cmocka_unit_test(the_first_bad_cell_is_named_and_not_quoted),
        cmocka_unit_test(a_file_without_records_is_refused),
        cmocka_unit_test(the_limit_of_a_line_is_met_exactly),
        cmocka_unit_test(gzip_and_plain_give_the_same_matrix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
