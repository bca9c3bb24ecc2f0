/* Goal: sparse lines become full rows; the first error is reported with its line and
 * byte. */
#include "tests/expect.h"
#include "tests/engine/data/readers/ingest_fixture.h"
#include "engine/data/readers/lines.h"
#include "engine/data/readers/reader_registry.h"

static const struct schema sparse = {.reader = &libsvm_reader,
                                     .task = TASK_CLASSIFICATION,
                                     .classes = 3,
                                     .feature_count = 5};

static void assert_row(const struct matrix *matrix, size_t record,
                       const float *expected)
{
    const float *row = (const float *)matrix->rows + record * matrix->features;
    for (uint32_t i = 0; i < matrix->features; i++)
        assert_true(row[i] == expected[i]);
}

static void absent_indices_are_zero(void **state)
{
    (void)state;
    struct ingest ingest;
    ingest_init(&ingest);
    ingest_text(&ingest, &sparse,
                "2 1:0.5 3:-2e1 5:7\n"
                "# a comment of its own\n"
                "\n"
                "\t1.0\t 2:.25 \t # 3:9\r\n"
                "0#\n"
                "+2 0005:1");
    assert_int_equal(ingest.status, ST_OK);
    assert_int_equal(ingest.matrix.records, 4);
    assert_row(&ingest.matrix, 0, (const float[]){0.5F, 0, -20, 0, 7});
    assert_row(&ingest.matrix, 1, (const float[]){0, 0.25F, 0, 0, 0});
    assert_row(&ingest.matrix, 2, (const float[]){0, 0, 0, 0, 0});
    assert_row(&ingest.matrix, 3, (const float[]){0, 0, 0, 0, 1});
    static const uint32_t classes[] = {2, 1, 0, 2};
    assert_memory_equal(ingest.matrix.targets, classes, sizeof classes);
    ingest_fini(&ingest);
}

static void declared_labels_are_matched_as_numbers(void **state)
{
    (void)state;
    struct ingest ingest;
    struct schema schema = sparse;
    double labels[] = {1, -1, 0.5};
    schema.labels = labels;
    ingest_init(&ingest);
    ingest_text(&ingest, &schema, "+1 1:1\n-1.0 1:1\n5e-1 1:1\n");
    assert_int_equal(ingest.status, ST_OK);
    static const uint32_t classes[] = {0, 1, 2};
    assert_memory_equal(ingest.matrix.targets, classes, sizeof classes);
    ingest_text(&ingest, &schema, "1 1:1\n 0 1:1\n");
    assert_refused(&ingest, "data", 2, 2, "none of the classes");
    ingest_fini(&ingest);
}

static void a_range_clips_and_maps_absent_ones_too(void **state)
{
    (void)state;
    struct ingest ingest;
    struct schema schema = sparse;
    schema.has_range = true;
    schema.low = -1;
    schema.high = 3;
    ingest_init(&ingest);
    ingest_text(&ingest, &schema, "0 1:3 2:2 4:1e300\n");
    assert_int_equal(ingest.status, ST_OK);
    assert_row(&ingest.matrix, 0, (const float[]){1, 0.5F, -0.5F, 1, -0.5F});
    ingest_fini(&ingest);
}

static void targets_of_a_regression_are_mapped(void **state)
{
    (void)state;
    struct ingest ingest;
    struct schema schema = sparse;
    schema.task = TASK_REGRESSION;
    schema.classes = 0;
    schema.has_target_range = true;
    schema.target_low = -1;
    schema.target_high = 1;
    ingest_init(&ingest);
    ingest_text(&ingest, &schema, "0.25 1:1\n-3 1:1\n");
    assert_int_equal(ingest.status, ST_OK);
    assert_true(ingest.matrix.values[0] == 0.25F && ingest.matrix.values[1] == -1);
    schema.has_target_range = false;
    ingest_run(&ingest, &schema);
    assert_refused(&ingest, "data", 0, 0, "range");
    ingest_fini(&ingest);
}

static void the_first_bad_place_is_named_and_not_quoted(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t line, column;
        const char *reason;
    } cases[] = {
        {"0 1:1\n3 1:1\n", 2, 1, "none of the classes"},
        {"-1 1:1\n", 1, 1, "none of the classes"},
        {"0.5 1:1\n", 1, 1, "none of the classes"},
        {"1e300 1:1\n", 1, 1, "none of the classes"},
        {"yes 1:1\n", 1, 1, "label is not a finite"},
        {"nan 1:1\n", 1, 1, "label is not a finite"},
        {"1,2 1:1\n", 1, 1, "label is not a finite"},
        {"1:1 2:1\n", 1, 1, "label is not a finite"},
        {"1e999 1:1\n", 1, 1, "label is not a finite"},
        {"0 0:1\n", 1, 3, "begin at 1"},
        {"0 1:1 6:1\n", 1, 7, "beyond"},
        {"0 4294967297:1\n", 1, 3, "beyond"},
        {"0 99999999999999999999999999:1\n", 1, 3, "beyond"},
        {"0 18446744073709551617:1\n", 1, 3, "beyond"},
        {"0 2:1 2:1\n", 1, 7, "ascend"},
        {"0 3:1  2:1\n", 1, 8, "ascend"},
        {"0 -1:1\n", 1, 3, "index:value"},
        {"0 1.0:1\n", 1, 3, "index:value"},
        {"0 qid:3 1:1\n", 1, 3, "index:value"},
        {"0 1\n", 1, 3, "index:value"},
        {"0 1 :2\n", 1, 3, "index:value"},
        {"0 1:\n", 1, 5, "not a finite"},
        {"0 1:# 3\n", 1, 5, "not a finite"},
        {"0 1:x\n", 1, 5, "not a finite"},
        {"0 1: 2\n", 1, 5, "not a finite"},
        {"0 1:inf\n", 1, 5, "not a finite"},
        {"0 1:1e999\n", 1, 5, "not a finite"},
        {"0 1:2,5\n", 1, 5, "not a finite"},
        {"0 1:2:3\n", 1, 5, "not a finite"},
        {"0 1:1 2:1e39\n", 1, 9, "float32"},
        {"", 0, 0, "no records"},
        {"# nothing\n\n", 0, 0, "no records"},
    };
    struct ingest ingest;
    ingest_init(&ingest);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ingest_text(&ingest, &sparse, cases[i].text);
        assert_refused(&ingest, "data", cases[i].line, cases[i].column,
                       cases[i].reason);
    }
    ingest_fini(&ingest);
}

static void a_line_or_a_matrix_beyond_its_limit_is_refused(void **state)
{
    (void)state;
    struct ingest ingest;
    struct schema wide = sparse;
    char *text = malloc(LINE_SIZE_MAX + 16);
    assert_non_null(text);
    memset(text, ' ', LINE_SIZE_MAX + 9);
    memcpy(text, "0 1:1\n1", 7);
    strcpy(text + LINE_SIZE_MAX + 7, "\n");
    ingest_init(&ingest);
    ingest_text(&ingest, &sparse, text);
    assert_refused(&ingest, "data", 2, 0, "longer than 1048576 bytes");
    free(text);
    wide.feature_count = 1 << 20;
    ingest.limits.unpacked_size_max = (16 << 20) + 128;
    ingest_text(&ingest, &wide, "0\n1\n0\n1\n0\n");
    assert_refused(&ingest, "data", 4, 0, "exceed 16777344 bytes");
    ingest.limits.unpacked_size_max = 3;
    ingest_run(&ingest, &sparse);
    assert_refused(&ingest, "data", 0, 0, "exceeds 3 bytes");
    ingest_fini(&ingest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(absent_indices_are_zero),
        cmocka_unit_test(declared_labels_are_matched_as_numbers),
        cmocka_unit_test(a_range_clips_and_maps_absent_ones_too),
        cmocka_unit_test(targets_of_a_regression_are_mapped),
        cmocka_unit_test(the_first_bad_place_is_named_and_not_quoted),
        cmocka_unit_test(a_line_or_a_matrix_beyond_its_limit_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
