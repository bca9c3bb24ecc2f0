/* Goal: a column is found where the import put it, its bins are the requested ones, to
 * the edge, and a request that does not suit it is refused at its place in the body. */
#include "engine/statistics/statistic.h"

#include <string.h>

#include "tests/expect.h"
#include "tests/engine/statistics/records_fixture.h"

static struct records records;

static void expect_bin(const struct axis *axis, struct record record, size_t bin)
{
    records_init(&records, 1);
    records_set(&records, 0, record);
    assert_int_equal(axis_bin(axis, &records.matrix, 0), bin);
}

static void every_number_is_in_the_bin_between_its_edges(void **state)
{
    (void)state;
    struct statistics list = asked(1);
    const double edges[] = {10, 17.5, 30, 90};
    ask_edges(&list.items[0], STATISTIC_HISTOGRAM, "age", edges, 4);
    assert_int_equal(statistics_resolve(&list, &record_schema, NULL), ST_OK);
    const struct axis *axis = &list.items[0].axes[0];
    assert_int_equal(axis->bins, 3);
    expect_bin(axis, (struct record){.age = 0}, 0); /* beyond the first edge */
    expect_bin(axis, (struct record){.age = 17.4999}, 0);
    expect_bin(axis, (struct record){.age = 17.5}, 1);
    expect_bin(axis, (struct record){.age = 29}, 1);
    expect_bin(axis, (struct record){.age = 30}, 2);
    expect_bin(axis, (struct record){.age = 90}, 2);
    expect_bin(axis, (struct record){.age = 100}, 2);
    statistics_fini(&list);
}

static void every_whole_number_is_in_its_own_bin_of_equal_ones(void **state)
{
    (void)state;
    struct statistics list = asked(1);
    ask(&list.items[0], STATISTIC_HISTOGRAM, "age", 100);
    assert_int_equal(statistics_resolve(&list, &record_schema, NULL), ST_OK);
    for (unsigned age = 0; age <= 100; age++)
        expect_bin(&list.items[0].axes[0], (struct record){.age = age},
                   age < 100 ? age : 99);
    /* A resolved list may be resolved again. */
    assert_int_equal(statistics_resolve(&list, &record_schema, NULL), ST_OK);
    expect_bin(&list.items[0].axes[0], (struct record){.age = 37}, 37);
    statistics_fini(&list);
}

static void declared_values_and_classes_are_bins(void **state)
{
    (void)state;
    struct statistics list = asked(2);
    ask(&list.items[0], STATISTIC_HISTOGRAM, "colour", 0);
    ask(&list.items[1], STATISTIC_TABLE, "class", 0);
    ask(&list.items[1], STATISTIC_TABLE, "colour", 0);
    assert_int_equal(statistics_resolve(&list, &record_schema, NULL), ST_OK);
    assert_int_equal(statistic_slots(&list.items[0]), 3);
    assert_int_equal(statistic_slots(&list.items[1]), 6);
    assert_int_equal(statistics_slots(&list), 9);
    for (unsigned k = 0; k < 3; k++)
        expect_bin(&list.items[0].axes[0], (struct record){.colour = k}, k);
    expect_bin(&list.items[1].axes[0], (struct record){.class = 1}, 1);
    statistics_fini(&list);
}

static void labels_of_other_formats_are_a_column(void **state)
{
    (void)state;
    const struct reader arrays = {.name = "arrays", .form = FORM_SHAPED};
    const struct reader lines = {.name = "lines", .form = FORM_INDEXED};
    const struct schema digits = {.reader = &arrays,
                                  .task = TASK_CLASSIFICATION,
                                  .classes = 2,
                                  .shape_count = 1,
                                  .shape = {4},
                                  .scale = 255};
    const struct schema wages = {.reader = &lines,
                                 .task = TASK_REGRESSION,
                                 .feature_count = 4,
                                 .has_target_range = true,
                                 .target_low = -5,
                                 .target_high = 5};
    const float values[] = {0.5F};
    const struct matrix targets = {.records = 1, .features = 4, .values = values};
    struct stored_column stored;
    assert_int_equal(stored_column_find(&stored, &digits, "label", NULL), ST_OK);
    records_init(&records, 1);
    records_set(&records, 0, (struct record){.class = 1});
    assert_int_equal(stored_column_value(&stored, &records.matrix, 0), 1);
    assert_int_equal(stored_column_find(&stored, &digits, "pixel", NULL), ST_INVALID);
    assert_int_equal(stored_column_find(&stored, &wages, "label", NULL), ST_OK);
    assert_true(stored_column_is_number(&stored));
    assert_true(stored_column_number(&stored, &targets, 0) == 0.5F);
    assert_true(stored_column_map(&stored, 2.5) == 0.5F);
}

/* Resolves one statistic, and expects a refusal at pointer. */
static void expect_refused(struct statistics *list, const char *pointer)
{
    struct error error = {0};
    assert_int_equal(statistics_resolve(list, &record_schema, &error), ST_INVALID);
    assert_string_equal(error.pointer, pointer);
    statistics_fini(list);
}

static void what_cannot_be_asked_is_refused_at_its_place(void **state)
{
    (void)state;
    const double beyond[] = {0, 50, 101}, near[] = {10, 10.000000001, 20};
    struct statistics list = asked(1);
    ask(&list.items[0], STATISTIC_HISTOGRAM, "hair", 0);
    expect_refused(&list, "/statistics/0/column");
    list = asked(1);
    ask(&list.items[0], STATISTIC_HISTOGRAM, "wage", 3);
    expect_refused(&list, "/statistics/0/column");
    list = asked(1);
    ask(&list.items[0], STATISTIC_HISTOGRAM, "who", 0);
    expect_refused(&list, "/statistics/0/column");
    list = asked(1);
    ask(&list.items[0], STATISTIC_QUANTILES, "colour", 0);
    expect_refused(&list, "/statistics/0/column");
    list = asked(1);
    ask(&list.items[0], STATISTIC_MEAN, "class", 0);
    expect_refused(&list, "/statistics/0/column");
    list = asked(1);
    ask(&list.items[0], STATISTIC_HISTOGRAM, "age", 0);
    expect_refused(&list, "/statistics/0/bins");
    list = asked(1);
    ask(&list.items[0], STATISTIC_HISTOGRAM, "colour", 4);
    expect_refused(&list, "/statistics/0/bins");
    list = asked(1);
    ask_edges(&list.items[0], STATISTIC_HISTOGRAM, "age", beyond, 3);
    expect_refused(&list, "/statistics/0/bins");
    list = asked(1);
    ask_edges(&list.items[0], STATISTIC_HISTOGRAM, "age", near, 3);
    expect_refused(&list, "/statistics/0/bins");
    list = asked(1);
    ask_edges(&list.items[0], STATISTIC_SUM, "age", beyond + 1, 2);
    expect_refused(&list, "/statistics/0/range");
    list = asked(1);
    ask(&list.items[0], STATISTIC_TABLE, "colour", 0);
    ask(&list.items[0], STATISTIC_TABLE, "hair", 0);
    expect_refused(&list, "/statistics/0/columns/1/column");
    list = asked(2);
    ask(&list.items[0], STATISTIC_HISTOGRAM, "age", 9000);
    ask(&list.items[1], STATISTIC_HISTOGRAM, "age", 9000);
    expect_refused(&list, "/statistics");
}

static void kinds_have_names(void **state)
{
    (void)state;
    enum statistic_kind kind = STATISTIC_SUM;
    for (int i = 0; i < STATISTIC_KINDS; i++) {
        assert_true(
            statistic_kind_parse(&kind, statistic_kind_name((enum statistic_kind)i)));
        assert_int_equal(kind, i);
    }
    assert_false(statistic_kind_parse(&kind, "mode"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_number_is_in_the_bin_between_its_edges),
        cmocka_unit_test(every_whole_number_is_in_its_own_bin_of_equal_ones),
        cmocka_unit_test(declared_values_and_classes_are_bins),
        cmocka_unit_test(labels_of_other_formats_are_a_column),
        cmocka_unit_test(what_cannot_be_asked_is_refused_at_its_place),
        cmocka_unit_test(kinds_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
