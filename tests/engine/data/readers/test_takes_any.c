/* Goal: an import that takes any record never fails by content, and each row of its
 * matrix is a function of its own line and of the declaration (privacy.md P7). Method:
 * tables of bad records, with the row that the declared map gives; random lines, of which
 * each gives the same row by itself as among others; twelve declarations that search for a
 * maximum. */
#include <math.h>

#include "tests/expect.h"
#include "tests/engine/data/readers/ingest_fixture.h"
#include "engine/data/calendar.h"
#include "engine/data/readers/lines.h"
#include "engine/data/readers/reader_registry.h"

static char n_age[] = "age", n_job[] = "job", n_day[] = "day", n_ill[] = "ill";
static char v_clerk[] = "clerk", v_cook[] = "cook", v_no[] = "no";
static char v_yes[] = "yes", v_ten[] = "10", v_day[] = "2000-01-31";
static char f_day[] = CALENDAR_ISO;
static char *jobs[] = {v_clerk, v_cook}, *ills[] = {v_no, v_yes};

enum { AGE, JOB, DAY, ILL, COLUMNS };
static struct column columns[COLUMNS] = {
    {.name = n_age, .kind = COLUMN_NUMERIC, .low = 0, .high = 100},
    {.name = n_job,
     .kind = COLUMN_CATEGORICAL,
     .value_count = 2,
     .values = jobs,
     .other = true},
    {.name = n_day, .kind = COLUMN_DATE, .low = 0, .high = 20000, .format = f_day},
    {.name = n_ill,
     .kind = COLUMN_LABEL,
     .value_count = 2,
     .values = ills,
     .fallback = v_no},
};
static struct schema table = {.reader = &csv_reader,
                              .task = TASK_CLASSIFICATION,
                              .classes = 2,
                              .column_count = COLUMNS,
                              .columns = columns};

static void take(struct ingest *ingest, const struct schema *schema)
{
    matrix_close(&ingest->matrix);
    struct import import = ingest_import(ingest, schema);
    import.takes_any = true;
    ingest->status = import_run(&import, &ingest->result, &ingest->failure);
    if (ingest->status == ST_OK)
        assert_int_equal(matrix_open(&ingest->matrix, ingest->out, NULL), ST_OK);
}

static void take_text(struct ingest *ingest, const struct schema *schema,
                      const void *text, size_t size)
{
    write_file(ingest->data, text, size);
    ingest->files = (struct import_files){{ingest->data}};
    take(ingest, schema);
}

/* --- csv --- */

static void each_bad_cell_has_a_declared_place(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        float age;
        int job;      /* 2: other */
        bool is_edge; /* the day is the first of the range */
        uint32_t ill;
    } rows[] = {
        {"50,cook,2024-01-01,yes\n", 0, 1, false, 1},
        {"1e9,cook,2024-01-01,yes\n", 1, 1, false, 1},  /* above the range */
        {"-1,cook,2024-01-01,yes\n", -1, 1, false, 1},  /* below it */
        {"old,cook,2024-01-01,yes\n", -1, 1, false, 1}, /* no number */
        {"nan,cook,2024-01-01,yes\n", -1, 1, false, 1}, /* not finite */
        {"1e999,cook,2024-01-01,yes\n", -1, 1, false, 1},
        {",cook,2024-01-01,yes\n", -1, 1, false, 1},       /* missing */
        {"50,baker,2024-01-01,yes\n", 0, 2, false, 1},     /* undeclared */
        {"50,,2024-01-01,yes\n", 0, 2, false, 1},          /* missing */
        {"50,\xff\xfe,2024-01-01,yes\n", 0, 2, false, 1},  /* no UTF-8 */
        {"50,cook,01.02.2024,yes\n", 0, 1, true, 1},       /* no date */
        {"50,cook,2024-01-01,maybe\n", 0, 1, false, 0},    /* no label */
        {"50,cook\n", 0, 1, true, 0},                      /* too few cells */
        {"50,cook,2024-01-01,yes,a,b\n", 0, 1, false, 1},  /* too many */
        {"50,\"cook,2024-01-01,yes\n", 0, 2, true, 0},     /* never closed */
        {"50,\"cook\"x,2024-01-01,yes\n", 0, 1, false, 1}, /* text behind a quote */
        {"50,c\"k,2024-01-01,yes\n", 0, 2, false, 1},      /* a quote inside */
        {";;;\n", -1, 2, true, 0},                         /* another delimiter */
    };
    struct ingest ingest;
    char text[2048] = "";
    ingest_init(&ingest);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        strcat(text, rows[i].line);
    take_text(&ingest, &table, text, strlen(text));
    assert_int_equal(ingest.status, ST_OK);
    assert_int_equal(ingest.matrix.records, sizeof rows / sizeof *rows);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const float *row =
            (const float *)ingest.matrix.rows + i * ingest.matrix.features;
        if (row[0] != rows[i].age || row[1 + rows[i].job] != 1 ||
            (row[4] == -1) != rows[i].is_edge ||
            ingest.matrix.targets[i] != rows[i].ill)
            fail_msg("%s", rows[i].line);
        assert_true(row[1] + row[2] + row[3] == 1);
    }
    ingest_fini(&ingest);
}

/* --- jsonl --- */

static const struct schema objects = {.reader = &jsonl_reader,
                                      .task = TASK_CLASSIFICATION,
                                      .classes = 2,
                                      .header = true,
                                      .column_count = COLUMNS,
                                      .columns = columns};

static void a_line_that_is_no_object_has_only_missing_cells(void **state)
{
    (void)state;
    static const char *const nothing[] = {"{}\n",
                                          "x\n",
                                          " \n",
                                          "{\"age\":50,\n",
                                          "{\"age\":50,\"job\":[]}\n",
                                          "{\"age\":50,\"age\":50}\n",
                                          "{\"age\":50,\"job\":\"\xff\"}\n",
                                          "{\"unknown\":50}\n"};
    static const char *const something[] = {
        "{\"age\":75,\"x\":1,\"ill\":\"yes\"}\n",
        "{\"job\":\"baker\",\"day\":true,\"ill\":\"yes\",\"age\":75}\n"};
    struct ingest ingest;
    char text[1024] = "";
    ingest_init(&ingest);
    const size_t bad = sizeof nothing / sizeof *nothing;
    for (size_t i = 0; i < bad; i++)
        strcat(text, nothing[i]);
    for (size_t i = 0; i < sizeof something / sizeof *something; i++)
        strcat(text, something[i]);
    take_text(&ingest, &objects, text, strlen(text));
    assert_int_equal(ingest.status, ST_OK);
    assert_int_equal(ingest.matrix.records, bad + 2);
    const float *rows = ingest.matrix.rows;
    const size_t size = ingest.matrix.features;
    for (size_t i = 0; i < bad; i++) {
        assert_memory_equal(rows + i * size, rows, size * sizeof *rows);
        assert_int_equal(ingest.matrix.targets[i], 0);
    }
    for (size_t i = bad; i < bad + 2; i++) {
        assert_true(rows[i * size] == 0.5F);
        assert_memory_equal(rows + i * size + 1, rows + 1, (size - 1) * sizeof *rows);
        assert_int_equal(ingest.matrix.targets[i], 1);
    }
    ingest_fini(&ingest);
}

static void a_header_decides_nothing(void **state)
{
    (void)state;
    static const char *const headers[] = {"age,job,day,ill\n", "ill,day,job,age\n",
                                          "50,cook,2024-01-01,yes\n", "x\n"};
    struct ingest ingest;
    ingest_init(&ingest);
    table.header = true;
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        char text[128];
        snprintf(text, sizeof text, "%s75,cook,2024-01-01,yes\n", headers[i]);
        take_text(&ingest, &table, text, strlen(text));
        assert_int_equal(ingest.status, ST_OK);
        assert_int_equal(ingest.matrix.records, 1);
        assert_true(feature_at(&ingest.matrix, 0, 0) == 0.5F);
        assert_int_equal(ingest.matrix.targets[0], 1);
    }
    table.header = false;
    ingest_fini(&ingest);
}

/* A line of bytes that matter to a reader of tables. Not blank: a blank line is no
 * record. */
static size_t make_line(char *line, unsigned *random)
{
    static const char alphabet[] = "0159.e-,;\"x \t#:\xff\xc3";
    size_t size = 1;
    line[0] = '5';
    *random = *random * 1103515245U + 12345U;
    const unsigned count = *random >> 16 & 31;
    for (; size <= count; size++) {
        *random = *random * 1103515245U + 12345U;
        line[size] = alphabet[(*random >> 16) % (sizeof alphabet - 1)];
    }
    line[size++] = '\n';
    return size;
}

static void assert_rows_are_of_their_lines(const struct schema *schema)
{
    enum { LINES = 400 };
    struct ingest all, one;
    char *text = calloc(LINES, 64);
    size_t starts[LINES + 1] = {0};
    unsigned random = 27;
    assert_non_null(text);
    for (size_t i = 0; i < LINES; i++)
        starts[i + 1] = starts[i] + make_line(text + starts[i], &random);
    ingest_init(&all);
    ingest_init(&one);
    take_text(&all, schema, text, starts[LINES]);
    assert_int_equal(all.status, ST_OK);
    assert_int_equal(all.matrix.records, LINES);
    const size_t size = all.matrix.features * sizeof(float);
    for (size_t i = 0; i < LINES; i++) {
        take_text(&one, schema, text + starts[i], starts[i + 1] - starts[i]);
        assert_int_equal(one.status, ST_OK);
        assert_int_equal(one.matrix.records, 1);
        assert_memory_equal(one.matrix.rows, (const char *)all.matrix.rows + i * size,
                            size);
        assert_int_equal(one.matrix.targets[0], all.matrix.targets[i]);
    }
    free(text);
    ingest_fini(&all);
    ingest_fini(&one);
}

static const struct schema sparse = {.reader = &libsvm_reader,
                                     .task = TASK_CLASSIFICATION,
                                     .classes = 3,
                                     .feature_count = 9};

static void a_row_is_a_function_of_its_own_line(void **state)
{
    (void)state;
    assert_rows_are_of_their_lines(&table);
    assert_rows_are_of_their_lines(&objects);
    assert_rows_are_of_their_lines(&sparse);
}

static void a_line_of_any_length_is_one_record(void **state)
{
    (void)state;
    static const size_t sizes[] = {LINE_SIZE_MAX - 1, LINE_SIZE_MAX, LINE_SIZE_MAX + 1,
                                   5 * LINE_SIZE_MAX + 7};
    struct ingest ingest;
    ingest_init(&ingest);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char *text = malloc(sizes[i] + 64);
        assert_non_null(text);
        size_t size = (size_t)sprintf(text, "50,cook,2024-01-01,yes,");
        memset(text + size, 'x', sizes[i] - size);
        size = sizes[i];
        size += (size_t)sprintf(text + size, "\n75,clerk,2024-01-01,no\n");
        take_text(&ingest, &table, text, size);
        assert_int_equal(ingest.status, ST_OK);
        assert_int_equal(ingest.matrix.records, 2);
        assert_true(feature_at(&ingest.matrix, 0, 0) == 0);
        assert_int_equal(ingest.matrix.targets[0], 1);
        assert_true(feature_at(&ingest.matrix, 1, 0) == 0.5F);
        free(text);
    }
    ingest_fini(&ingest);
}

/* --- what a declaration can ask of a file --- */

static void twelve_declarations_find_no_maximum(void **state)
{
    (void)state;
    static const char text[] = "17,cook,2024-01-01,yes\n42.5,cook,2024-01-01,no\n"
                               "3,clerk,1999-01-01,yes\n";
    struct ingest ingest;
    double low = 0, high = 4096;
    ingest_init(&ingest);
    for (int i = 0; i < 12; i++) {
        columns[AGE].high = low / 2 + high / 2;
        take_text(&ingest, &table, text, sizeof text - 1);
        assert_int_equal(ingest.status, ST_OK);
        assert_int_equal(ingest.result.records, 3);
        high = columns[AGE].high; /* a refusal would send the search the other way */
    }
    columns[AGE].high = 100;
    ingest_fini(&ingest);
}

/* --- other formats --- */

static void each_bad_pair_of_libsvm_is_dropped(void **state)
{
    (void)state;
    static const char text[] = "1 1:2 10:7 2:3\n" /* an index beyond the features */
                               "7 3:x 4:1\n"      /* no label, no number */
                               "x 0:1 5:1e999 5:4\n"
                               "2 6:1 2:9 7:5 junk # comment\n";
    static const float rows[4][9] = {{2, 3}, {0, 0, 0, 1}, {0}, {0, 0, 0, 0, 0, 1, 5}};
    static const uint32_t targets[] = {1, 0, 0, 2};
    struct ingest ingest;
    ingest_init(&ingest);
    take_text(&ingest, &sparse, text, sizeof text - 1);
    assert_int_equal(ingest.status, ST_OK);
    assert_int_equal(ingest.matrix.records, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_memory_equal((const float *)ingest.matrix.rows + i * 9, rows[i],
                            sizeof rows[i]);
        assert_int_equal(ingest.matrix.targets[i], targets[i]);
    }
    ingest_fini(&ingest);
}

/* A file of npy of this type, shape and values. */
static void write_npy(const char *path, const char *type, const char *shape,
                      const void *values, size_t size)
{
    char file[1024];
    int text =
        snprintf(file + 10, 118,
                 "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", type, shape);
    memcpy(file, "\x93NUMPY\x01\x00\x76\x00", 10);
    memset(file + 10 + text, ' ', (size_t)(118 - text));
    file[127] = '\n';
    memcpy(file + 128, values, size);
    write_file(path, file, 128 + size);
}

static void bad_values_of_arrays_have_a_place(void **state)
{
    (void)state;
    static const double features[] = {1, 1e300, NAN, -INFINITY};
    static const int64_t labels[] = {-4, 9};
    static const struct schema arrays = {.reader = &npy_reader,
                                         .task = TASK_CLASSIFICATION,
                                         .classes = 3,
                                         .shape_count = 1,
                                         .shape = {2},
                                         .scale = 1};
    struct ingest ingest;
    ingest_init(&ingest);
    write_npy(ingest.features, "<f8", "(2, 2)", features, sizeof features);
    write_npy(ingest.labels, "<i8", "(2,)", labels, sizeof labels);
    ingest.files = (struct import_files){{ingest.features, ingest.labels}};
    take(&ingest, &arrays);
    if (ingest.status != ST_OK)
        fail_msg("%s", ingest.failure.text);
    static const float rows[] = {1, 0, 0, 0};
    assert_memory_equal(ingest.matrix.rows, rows, sizeof rows);
    assert_int_equal(ingest.matrix.targets[0], 0);
    assert_int_equal(ingest.matrix.targets[1], 2);
    ingest_fini(&ingest);
}

static void a_label_byte_of_cifar_is_the_nearest_class(void **state)
{
    (void)state;
    static const struct schema images = {.reader = &cifar10_reader,
                                         .task = TASK_CLASSIFICATION,
                                         .classes = 10,
                                         .shape_count = 3,
                                         .shape = {3, 32, 32},
                                         .scale = 255};
    static unsigned char bytes[2 * 3073];
    struct ingest ingest;
    bytes[0] = 4;
    bytes[3073] = 200;
    ingest_init(&ingest);
    take_text(&ingest, &images, bytes, sizeof bytes);
    assert_int_equal(ingest.status, ST_OK);
    assert_int_equal(ingest.matrix.targets[0], 4);
    assert_int_equal(ingest.matrix.targets[1], 9);
    ingest_fini(&ingest);
}

/* --- the number of records --- */

/* The difference of two counts would be a number about the file that was not charged. */
static void the_number_of_records_does_not_depend_on_the_declaration(void **state)
{
    static const char text[] = "\t\t\n \n\n#1 2:3\n,;\n";
    struct schema other = table;
    struct ingest ingest;
    (void)state;
    ingest_init(&ingest);
    for (int i = 0; i < DELIMITER_COUNT; i++) {
        other.dialect.delimiter = (enum delimiter)i;
        take_text(&ingest, &other, text, sizeof text - 1);
        assert_int_equal(ingest.status, ST_OK);
        assert_int_equal(ingest.matrix.records, 4);
    }
    take_text(&ingest, &objects, text, sizeof text - 1);
    assert_int_equal(ingest.status, ST_OK);
    assert_int_equal(ingest.matrix.records, 4);
    take_text(&ingest, &sparse, text, sizeof text - 1);
    assert_int_equal(ingest.status, ST_OK);
    assert_int_equal(ingest.matrix.records, 4);
    ingest_fini(&ingest);
}

/* --- what is still refused --- */

static void a_file_is_refused_only_as_a_whole(void **state)
{
    (void)state;
    struct ingest ingest;
    ingest_init(&ingest);
    take_text(&ingest, &table, "\n\n", 2);
    assert_int_equal(ingest.status, ST_IMPORT_FAILED); /* n is 0 */
    take_text(&ingest, &table, "\x1f\x8b\x08 broken", 10);
    assert_int_equal(ingest.status, ST_IMPORT_FAILED);
    ingest_fini(&ingest);
}

static void each_column_of_words_needs_a_place_for_other_words(void **state)
{
    (void)state;
    size_t column;
    assert_true(schema_takes_any(&table, &column));
    columns[JOB].other = false;
    assert_false(schema_takes_any(&table, &column));
    assert_int_equal(column, JOB);
    columns[JOB].missing_feature = true;
    assert_true(schema_takes_any(&table, &column));
    columns[JOB].missing_feature = false;
    columns[JOB].other = true;
    columns[ILL].fallback = NULL;
    assert_false(schema_takes_any(&table, &column));
    assert_int_equal(column, ILL);
    columns[ILL].fallback = v_no;
    assert_true(schema_takes_any(&sparse, &column));
}

static void defaults_and_categories_come_before_the_edge(void **state)
{
    (void)state;
    struct ingest ingest;
    ingest_init(&ingest);
    columns[AGE].fallback = v_ten;
    columns[JOB].other = false;
    columns[JOB].fallback = v_cook;
    columns[DAY].fallback = v_day;
    take_text(&ingest, &table, "x,baker,x,yes\n", 14);
    assert_int_equal(ingest.status, ST_OK);
    const float *row = (const float *)ingest.matrix.rows;
    assert_true(row[0] == -0.8F);
    assert_true(row[1] == 0 && row[2] == 1);
    assert_true(row[3] > 0);
    columns[JOB].fallback = NULL;
    columns[JOB].missing_feature = true;
    take_text(&ingest, &table, "x,baker,x,yes\n", 14);
    row = (const float *)ingest.matrix.rows;
    assert_true(row[1] == 0 && row[2] == 0 && row[3] == 1);
    columns[AGE].fallback = columns[DAY].fallback = NULL;
    columns[JOB].missing_feature = false;
    columns[JOB].other = true;
    ingest_fini(&ingest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_bad_cell_has_a_declared_place),
        cmocka_unit_test(a_line_that_is_no_object_has_only_missing_cells),
        cmocka_unit_test(a_header_decides_nothing),
        cmocka_unit_test(a_row_is_a_function_of_its_own_line),
        cmocka_unit_test(a_line_of_any_length_is_one_record),
        cmocka_unit_test(twelve_declarations_find_no_maximum),
        cmocka_unit_test(each_bad_pair_of_libsvm_is_dropped),
        cmocka_unit_test(bad_values_of_arrays_have_a_place),
        cmocka_unit_test(a_label_byte_of_cifar_is_the_nearest_class),
        cmocka_unit_test(the_number_of_records_does_not_depend_on_the_declaration),
        cmocka_unit_test(a_file_is_refused_only_as_a_whole),
        cmocka_unit_test(each_column_of_words_needs_a_place_for_other_words),
        cmocka_unit_test(defaults_and_categories_come_before_the_edge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
