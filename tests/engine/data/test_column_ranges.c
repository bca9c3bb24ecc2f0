/* Goal: a stored number mapped to a narrower range equals the number that an import
 * over that range would store, up to the precision of float32. Nothing else in a record
 * changes, and invalid ranges are refused. Method: random ranges and numbers, encoded
 * both ways. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/expect.h"
#include "engine/data/column_ranges.h"
#include "engine/data/encode.h"
#include "engine/data/matrix.h"

static char name_id[] = "id", name_age[] = "age", name_sex[] = "sex",
            name_hours[] = "hours", name_label[] = "rich", yes[] = "yes", no[] = "no";
static char *words[] = {yes, no};

static const struct reader table = {.form = FORM_COLUMNS};

/* Features: age 0, sex 1 and 2, hours 3. */
static struct column columns[] = {
    {.name = name_id, .kind = COLUMN_IGNORED},
    {.name = name_age, .kind = COLUMN_NUMERIC, .low = -50, .high = 950},
    {.name = name_sex, .kind = COLUMN_CATEGORICAL, .value_count = 2, .values = words},
    {.name = name_hours, .kind = COLUMN_NUMERIC, .low = 0, .high = 7},
    {.name = name_label, .kind = COLUMN_LABEL, .low = 0, .high = 1},
};
static const struct schema people = {
    .reader = &table, .task = TASK_REGRESSION, .column_count = 5, .columns = columns};

/* xorshift64 (Marsaglia 2003). */
static uint64_t draw_state = 88172645463325252u;
static double draw(double low, double high)
{
    draw_state ^= draw_state << 13;
    draw_state ^= draw_state >> 7;
    draw_state ^= draw_state << 17;
    return low + (high - low) * (double)(draw_state >> 11) * 0x1p-53;
}

static struct column_ranges of(const char *column, double low, double high)
{
    struct column_ranges ranges = {0};
    column_ranges_add(&ranges, column, low, high);
    return ranges;
}

static void a_number_is_what_an_import_over_the_range_stores(void **state)
{
    enum { RANGES = 200, NUMBERS = 50 };
    const struct column *age = &columns[1];
    (void)state;
    for (unsigned i = 0; i < RANGES; i++) {
        double low = draw(age->low, age->high - 1);
        double high = fmin(age->high, low + draw(0.1, i % 2 == 0 ? 5 : 900));
        struct column_ranges ranges = of("age", low, high);
        struct schema narrowed;
        struct rescaling rescaling;
        assert_int_equal(column_ranges_check(&ranges, &people, NULL), ST_OK);
        column_ranges_narrow(&narrowed, &ranges, &people);
        column_ranges_rescale(&rescaling, &ranges, &people);
        double gain = (age->high - age->low) / (high - low);
        for (unsigned k = 0; k < NUMBERS; k++) {
            double value = draw(low - (high - low) / 4, high + (high - low) / 4);
            float row[] = {encode_column_value(age, value), 1, 0, 0.25f};
            rescaling_apply(&rescaling, row);
            float direct = encode_column_value(&narrowed.columns[1], value);
            assert_true(fabs((double)row[0] - (double)direct) <= 0x1p-22 * gain);
            assert_true(row[0] >= -1 && row[0] <= 1);
            assert_true(row[1] == 1 && row[2] == 0 && row[3] == 0.25f);
        }
        rescaling_fini(&rescaling);
        column_ranges_release(&narrowed, &people);
        column_ranges_fini(&ranges);
    }
}

static void every_column_has_its_own_line(void **state)
{
    (void)state;
    struct rescaling rescaling;
    struct column_ranges ranges = of("hours", 2, 3);
    column_ranges_add(&ranges, "age", 17, 90);
    column_ranges_rescale(&rescaling, &ranges, &people);
    float row[] = {encode_column_value(&columns[1], 53.5), 0, 1,
                   encode_column_value(&columns[3], 2.75)};
    rescaling_apply(&rescaling, row);
    assert_true(fabsf(row[0]) < 1e-5f);
    assert_true(row[1] == 0 && row[2] == 1);
    assert_true(fabsf(row[3] - 0.5f) < 1e-5f);
    rescaling_fini(&rescaling);
    column_ranges_fini(&ranges);
}

static void without_ranges_all_is_as_declared(void **state)
{
    (void)state;
    const struct column_ranges none = {0};
    struct rescaling rescaling;
    struct schema narrowed;
    column_ranges_rescale(&rescaling, &none, &people);
    assert_null(rescaling.gain);
    column_ranges_narrow(&narrowed, &none, &people);
    assert_ptr_equal(narrowed.columns, people.columns);
    column_ranges_release(&narrowed, &people);
    rescaling_fini(&rescaling);
}

static void what_was_declared_stays_declared(void **state)
{
    (void)state;
    struct schema narrowed;
    struct column_ranges ranges = of("age", 17, 90);
    column_ranges_narrow(&narrowed, &ranges, &people);
    assert_true(narrowed.columns[1].low == 17 && narrowed.columns[1].high == 90);
    assert_true(narrowed.columns[3].low == 0 && narrowed.columns[3].high == 7);
    assert_int_equal(narrowed.columns[4].kind, COLUMN_LABEL);
    assert_true(columns[1].low == -50 && columns[1].high == 950);
    assert_false(schema_agrees(&narrowed, &people));
    column_ranges_release(&narrowed, &people);
    column_ranges_fini(&ranges);
}

/* Stored records do not change, and each gathered record is mapped, in any row of the
 * output. */
static void what_is_gathered_is_mapped(void **state)
{
    (void)state;
    enum { STRIDE = 6 };
    static const float stored[] = {-1, 1, 0, -1, 1, 0, 1, 1, 0, 0, 0, 0};
    static const uint32_t indices[] = {2, 0};
    float out[2 * STRIDE] = {0};
    struct rescaling rescaling;
    struct column_ranges ranges = of("age", 450, 950);
    column_ranges_rescale(&rescaling, &ranges, &people);
    struct matrix matrix = {.records = 3,
                            .features = 4,
                            .element = ELEMENT_F32,
                            .rows = stored,
                            .rescaling = &rescaling};
    out[4] = 9;
    matrix_gather(&matrix, out, STRIDE, indices, 2);
    assert_true(out[0] == -1 && out[1] == 0 && out[3] == 0 && out[4] == 9);
    assert_true(out[STRIDE] == -1 && out[STRIDE + 1] == 1 && out[STRIDE + 3] == -1);
    matrix.rescaling = NULL;
    matrix_gather(&matrix, out, STRIDE, indices, 1);
    assert_true(out[0] == 0);
    rescaling_fini(&rescaling);
    column_ranges_fini(&ranges);
}

static void what_is_no_range_of_the_schema_is_refused(void **state)
{
    static const struct {
        const char *column;
        double low, high;
        const char *why;
    } bad[] = {
        {"weight", 0, 1, "no numeric column"},   {"sex", 0, 1, "no numeric column"},
        {"rich", 0, 1, "no numeric column"},     {"id", 0, 1, "no numeric column"},
        {"age", 17, 17, "is no range"},          {"age", 90, 17, "is no range"},
        {"age", (double)NAN, 90, "is no range"}, {"age", -51, 90, "is no range"},
        {"age", 17, 951, "is no range"},         {"age", 17, 17.015, "not told apart"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct error error = {0};
        struct column_ranges ranges = of(bad[i].column, bad[i].low, bad[i].high);
        assert_int_equal(column_ranges_check(&ranges, &people, &error), ST_INVALID);
        assert_non_null(strstr(error.text, bad[i].why));
        column_ranges_fini(&ranges);
    }
    struct error error = {0};
    struct column_ranges twice = of("age", 17, 90);
    column_ranges_add(&twice, "age", 18, 90);
    assert_int_equal(column_ranges_check(&twice, &people, &error), ST_INVALID);
    assert_non_null(strstr(error.text, "two ranges"));
    column_ranges_fini(&twice);
    struct column_ranges narrow = of("age", 17, 17.016);
    assert_int_equal(column_ranges_check(&narrow, &people, NULL), ST_OK);
    column_ranges_fini(&narrow);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_number_is_what_an_import_over_the_range_stores),
        cmocka_unit_test(every_column_has_its_own_line),
        cmocka_unit_test(without_ranges_all_is_as_declared),
        cmocka_unit_test(what_was_declared_stays_declared),
        cmocka_unit_test(what_is_gathered_is_mapped),
        cmocka_unit_test(what_is_no_range_of_the_schema_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
