/* Goal: functions of a declaration are right: widths, names of classes, units,
 * agreement. */
#include "tests/expect.h"

#include <string.h>

#include "engine/data/schema.h"

enum { COLUMNS = 4 };

/* A format of each form, and more: the functions of a declaration depend only on
 * the form. */
static const struct reader table = {.form = FORM_COLUMNS};
static const struct reader other_table = {.form = FORM_COLUMNS};
static const struct reader lines = {.form = FORM_INDEXED};
static const struct reader arrays = {.form = FORM_SHAPED};
static const struct reader other_arrays = {.form = FORM_SHAPED};

static char *copy(const char *text)
{
    char *made = strdup(text);
    assert_non_null(made);
    return made;
}

static void set_values(struct column *column, const char *first, const char *second)
{
    column->values = calloc(2, sizeof *column->values);
    assert_non_null(column->values);
    column->values[0] = copy(first);
    column->values[1] = copy(second);
    column->value_count = 2;
}

/* age numeric, id ignored, sex categorical, income label. */
static struct schema people(enum task task)
{
    static const char *const names[] = {"age", "id", "sex", "income"};
    static const enum column_kind kinds[] = {COLUMN_NUMERIC, COLUMN_IGNORED,
                                             COLUMN_CATEGORICAL, COLUMN_LABEL};
    struct schema schema = {
        .reader = &table, .task = task, .header = true, .column_count = COLUMNS};
    schema.columns = calloc(COLUMNS, sizeof *schema.columns);
    assert_non_null(schema.columns);
    for (size_t i = 0; i < COLUMNS; i++) {
        schema.columns[i].name = copy(names[i]);
        schema.columns[i].kind = kinds[i];
    }
    schema.columns[0].low = 17;
    schema.columns[0].high = 90;
    schema.columns[0].fallback = copy("40");
    set_values(&schema.columns[2], "F", "M");
    if (task == TASK_CLASSIFICATION) {
        set_values(&schema.columns[3], "<=50K", ">50K");
        schema.classes = 2;
    } else {
        schema.columns[3].low = 100;
        schema.columns[3].high = 300;
    }
    return schema;
}

static struct schema sparse(void)
{
    return (struct schema){.reader = &lines, .classes = 3, .feature_count = 123};
}

static struct schema image(void)
{
    return (struct schema){.reader = &arrays,
                           .classes = 10,
                           .shape_count = 3,
                           .shape = {3, 5, 7},
                           .scale = 255};
}

static void features_and_cells_are_counted(void **state)
{
    (void)state;
    struct schema schema = people(TASK_CLASSIFICATION);
    assert_int_equal(schema_features(&schema), 3);
    assert_int_equal(schema_cells(&schema), 2);
    assert_string_equal(schema_label(&schema)->name, "income");
    schema_fini(&schema);
    assert_null(schema.columns);
    schema = sparse();
    assert_int_equal(schema_features(&schema), 123);
    assert_int_equal(schema_cells(&schema), 123);
    assert_null(schema_label(&schema));
    schema = image();
    assert_int_equal(schema_features(&schema), 105);
    assert_int_equal(schema_cells(&schema), 105);
    schema_fini(&schema);
}

static void classes_are_named_as_declared(void **state)
{
    (void)state;
    char text[32];
    struct schema schema = people(TASK_CLASSIFICATION);
    schema_class_name(&schema, 1, text, sizeof text);
    assert_string_equal(text, ">50K");
    schema_class_name(&schema, 0, text, 3);
    assert_string_equal(text, "<=");
    schema_fini(&schema);
    schema = sparse();
    schema_class_name(&schema, 2, text, sizeof text);
    assert_string_equal(text, "2");
    schema.labels = calloc(3, sizeof *schema.labels);
    assert_non_null(schema.labels);
    schema.labels[0] = -1;
    schema.labels[1] = 0.25;
    schema_class_name(&schema, 0, text, sizeof text);
    assert_string_equal(text, "-1");
    schema_class_name(&schema, 1, text, sizeof text);
    assert_string_equal(text, "0.25");
    schema_fini(&schema);
    schema = image();
    schema_class_name(&schema, 9, text, sizeof text);
    assert_string_equal(text, "9");
}

static void a_mapped_target_returns_to_its_unit(void **state)
{
    (void)state;
    struct schema schema = people(TASK_REGRESSION);
    assert_true(schema_target(&schema, -1) == 100);
    assert_true(schema_target(&schema, 1) == 300);
    assert_close(schema_target(&schema, 0.385), 238.5, 1e-15);
    assert_close(schema_target(&schema, 2), 400, 1e-15);
    schema_fini(&schema);
    schema = sparse();
    schema.has_target_range = true;
    schema.target_low = -1e308;
    schema.target_high = 1e308;
    assert_close(schema_target(&schema, 0.5), 5e307, 1e-15);
    schema.has_target_range = false;
    double low, high;
    assert_false(schema_target_range(&schema, &low, &high));
}

static void
a_csv_agrees_with_itself_until_something_seen_by_a_model_differs(void **state)
{
    (void)state;
    struct schema a = people(TASK_CLASSIFICATION), b = people(TASK_CLASSIFICATION);
    b.header = false;
    b.columns[0].fallback[0] = '5';
    b.columns[1].name[0] = 'x'; /* ignored */
    assert_true(schema_agrees(&a, &b));
    b.reader = &other_table; /* the same cells, written in another way */
    assert_true(schema_agrees(&a, &b));
    b.columns[0].low = 16;
    assert_false(schema_agrees(&a, &b));
    b.columns[0].low = 17;
    b.columns[2].values[1][0] = 'X';
    assert_false(schema_agrees(&a, &b));
    b.columns[2].values[1][0] = 'M';
    b.columns[2].name[0] = 'x';
    assert_false(schema_agrees(&a, &b));
    b.columns[2].name[0] = 's';
    b.columns[3].values[1][0] = '<';
    assert_false(schema_agrees(&a, &b));
    b.columns[3].values[1][0] = '>';
    assert_true(schema_agrees(&a, &b));
    b.columns[0].kind = COLUMN_IGNORED;
    assert_false(schema_agrees(&a, &b));
    assert_false(schema_agrees(&b, &a));
    schema_fini(&b);
    b = people(TASK_REGRESSION);
    assert_false(schema_agrees(&a, &b));
    schema_fini(&a);
    a = people(TASK_REGRESSION);
    assert_true(schema_agrees(&a, &b));
    b.columns[3].high = 301;
    assert_false(schema_agrees(&a, &b));
    schema_fini(&a);
    schema_fini(&b);
}

static void idx_and_libsvm_agree_in_shape_scale_range_and_labels(void **state)
{
    (void)state;
    struct schema a = image(), b = image();
    assert_true(schema_agrees(&a, &b));
    b.shape[0] = 5;
    b.shape[1] = 3;
    assert_false(schema_agrees(&a, &b));
    b = image();
    b.scale = 256;
    assert_false(schema_agrees(&a, &b));
    b = image();
    b.classes = 11;
    assert_false(schema_agrees(&a, &b));
    a = sparse();
    b = sparse();
    double labels[] = {0, 1, 2};
    b.labels = labels;
    assert_true(schema_agrees(&a, &b)); /* the default, written out */
    labels[2] = 3;
    assert_false(schema_agrees(&a, &b));
    labels[2] = 2;
    a.has_range = b.has_range = true;
    a.high = b.high = 1;
    assert_true(schema_agrees(&a, &b));
    b.high = 2;
    assert_false(schema_agrees(&a, &b));
    b.has_range = false;
    assert_false(schema_agrees(&a, &b));
}

static void arrays_agree_in_format_shape_and_scale(void **state)
{
    (void)state;
    struct schema a = {.reader = &arrays,
                       .classes = 20,
                       .shape_count = 3,
                       .shape = {3, 32, 32},
                       .scale = 255};
    struct schema b = a;
    assert_int_equal(schema_features(&a), 3072);
    assert_int_equal(schema_cells(&a), 3072);
    assert_true(schema_agrees(&a, &b));
    b.classes = 100; /* the other label */
    assert_false(schema_agrees(&a, &b));
    b = a;
    b.scale = 256;
    assert_false(schema_agrees(&a, &b));
    b = a;
    b.reader = &other_arrays;
    assert_false(schema_agrees(&a, &b));
}

static void names_are_read_back(void **state)
{
    (void)state;
    enum task task = TASK_CLASSIFICATION;
    assert_true(task_parse(&task, task_name(TASK_REGRESSION)));
    assert_int_equal(task, TASK_REGRESSION);
    assert_false(task_parse(&task, ""));
    assert_string_equal(task_name(TASK_CLASSIFICATION), "classification");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(features_and_cells_are_counted),
        cmocka_unit_test(classes_are_named_as_declared),
        cmocka_unit_test(a_mapped_target_returns_to_its_unit),
        cmocka_unit_test(
            a_csv_agrees_with_itself_until_something_seen_by_a_model_differs),
        cmocka_unit_test(idx_and_libsvm_agree_in_shape_scale_range_and_labels),
        cmocka_unit_test(arrays_agree_in_format_shape_and_scale),
        cmocka_unit_test(names_are_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
