/* Goal: a cell becomes the declared features, or is refused without being quoted.
 * Values are worked out by hand from schema.h's table. */
#include "tests/expect.h"

#include <string.h>

#include "engine/data/encode.h"

static char red[] = "red", green[] = "deep green", blue[] = "blue";
static char *colours[] = {red, green, blue};
static char name_text[] = "tint", seven[] = " 7 ";

static const struct reader lines = {.form = FORM_INDEXED};
static const struct reader arrays = {.form = FORM_SHAPED};

static const struct column number = {
    .name = name_text, .kind = COLUMN_NUMERIC, .low = -2, .high = 6};
static const struct column colour = {
    .name = name_text, .kind = COLUMN_CATEGORICAL, .value_count = 3, .values = colours};

static enum status encode(float *out, const struct column *column, const char *text,
                          struct error *error)
{
    return encode_cell(out, column, text, strlen(text), error);
}

static void numbers_are_clipped_and_mapped(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        float feature;
    } cases[] = {{"-2", -1},       {"6", 1},          {"2", 0},
                 {" 4.0\t", 0.5F}, {"-2.000001", -1}, {"1e300", 1},
                 {"-1e300", -1},   {"+1", -0.25F},    {"5.9", 0.975F}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        float out = NAN;
        assert_int_equal(encode(&out, &number, cases[i].text, NULL), ST_OK);
        assert_close((double)out, (double)cases[i].feature, 1e-7);
    }
}

static void ranges_of_any_width_map_into_the_unit_interval(void **state)
{
    (void)state;
    static const double edges[][2] = {{-1e308, 1.5e308},
                                      {0, 5e-324},
                                      {1, 1.0000000000000002},
                                      {-3e-310, 7e-309},
                                      {123456789.25, 123456789.5}};
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
        struct column column = number;
        column.low = edges[i][0];
        column.high = edges[i][1];
        for (int share = 0; share <= 64; share++) {
            char text[64];
            float out = NAN;
            double at = column.low * (1 - share / 64.0) + column.high * (share / 64.0);
            snprintf(text, sizeof text, "%.17g", at);
            assert_int_equal(encode(&out, &column, text, NULL), ST_OK);
            assert_true(out >= -1 && out <= 1);
        }
    }
}

static void a_category_is_one_hot(void **state)
{
    (void)state;
    float out[3] = {9, 9, 9};
    assert_int_equal(schema_column_features(&number), 1);
    assert_int_equal(schema_column_features(&colour), 3);
    assert_int_equal(encode(out, &colour, "\t deep green ", NULL), ST_OK);
    assert_true(out[0] == 0 && out[1] == 1 && out[2] == 0);
}

static void an_empty_cell_takes_the_default_or_is_refused(void **state)
{
    (void)state;
    struct error error = {0};
    float out[3] = {9, 9, 9};
    struct column with = number;
    with.fallback = seven;
    assert_int_equal(encode(out, &with, " \t", &error), ST_OK);
    assert_true(out[0] == 1);
    with = colour;
    with.fallback = blue;
    assert_int_equal(encode(out, &with, "", &error), ST_OK);
    assert_true(out[2] == 1);
    out[0] = 9;
    assert_int_equal(encode(out, &number, "  ", &error), ST_INVALID);
    assert_non_null(strstr(error.text, "empty"));
    assert_non_null(strstr(error.text, "tint"));
    assert_true(out[0] == 9);
}

static void what_is_not_a_number_is_refused_unquoted(void **state)
{
    (void)state;
    static const char *const texts[] = {"nan",  "inf", "0x10", "1,5", "1e999", "1 2",
                                        "--31", "31x", "½",    "1e",  "(31)"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct error error = {0};
        float out = 9;
        assert_int_equal(encode(&out, &number, texts[i], &error), ST_INVALID);
        assert_true(out == 9);
        assert_non_null(strstr(error.text, "number"));
        assert_null(strstr(error.text, texts[i]));
    }
}

static void a_value_not_declared_is_refused_unquoted(void **state)
{
    (void)state;
    static const char *const texts[] = {"Red", "blu", "deep  green", "redd", "1"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct error error = {0};
        float out[3] = {9, 9, 9};
        assert_int_equal(encode(out, &colour, texts[i], &error), ST_INVALID);
        assert_true(out[0] == 9);
        assert_null(strstr(error.text, texts[i]));
    }
}

static void an_index_of_values_changes_nothing(void **state)
{
    (void)state;
    struct encoder encoder;
    uint32_t place;
    float out[3], target;
    assert_int_equal(encoder_init(&encoder, &colour, NULL), ST_OK);
    for (uint32_t i = 0; i < 3; i++) {
        struct cell cell = {colours[i], strlen(colours[i])};
        assert_int_equal(encoder_class(&encoder, &place, cell, NULL), ST_OK);
        assert_int_equal(place, i);
        assert_int_equal(encoder_features(&encoder, out, cell, NULL), ST_OK);
        assert_true(out[i] == 1 && out[0] + out[1] + out[2] == 1);
    }
    struct cell absent = {"grey", 4};
    assert_int_equal(encoder_class(&encoder, &place, absent, NULL), ST_INVALID);
    encoder_fini(&encoder);
    assert_int_equal(encoder_init(&encoder, &number, NULL), ST_OK);
    assert_int_equal(encoder_target(&encoder, &target, (struct cell){"0", 1}, NULL),
                     ST_OK);
    assert_true(target == -0.5F);
    assert_int_equal(encoder_target(&encoder, &target, absent, NULL), ST_INVALID);
    encoder_fini(&encoder);
}

static void a_number_must_fill_its_text(void **state)
{
    (void)state;
    double value = 9;
    assert_int_equal(encode_number(&value, " 2.385\t", 7), ST_OK);
    assert_true(value == 2.385);
    assert_int_equal(encode_number(&value, "2.385\n", 6), ST_INVALID);
    assert_int_equal(encode_number(&value, "2\0", 2), ST_INVALID);
    assert_int_equal(encode_number(&value, "1e309", 5), ST_INVALID);
    assert_int_equal(encode_number(&value, "", 0), ST_INVALID);
    assert_true(value == 2.385);
}

static void values_of_idx_and_libsvm_follow_their_table(void **state)
{
    (void)state;
    struct schema schema = {.reader = &arrays, .scale = 255};
    assert_true(encode_value(&schema, 51) == 0.2F);
    schema = (struct schema){.reader = &lines};
    assert_true(encode_value(&schema, -3.5) == -3.5F);
    assert_true(isinf(encode_value(&schema, 1e39)));
    schema.has_range = true;
    schema.low = -1;
    schema.high = 3;
    assert_true(encode_value(&schema, 0) == -0.5F);
    assert_true(encode_value(&schema, 1e39) == 1);
    schema.has_target_range = true;
    schema.target_low = 10;
    schema.target_high = 20;
    assert_true(encode_target(&schema, 12.5) == -0.5F);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_clipped_and_mapped),
        cmocka_unit_test(ranges_of_any_width_map_into_the_unit_interval),
        cmocka_unit_test(a_category_is_one_hot),
        cmocka_unit_test(an_empty_cell_takes_the_default_or_is_refused),
        cmocka_unit_test(what_is_not_a_number_is_refused_unquoted),
        cmocka_unit_test(a_value_not_declared_is_refused_unquoted),
        cmocka_unit_test(an_index_of_values_changes_nothing),
        cmocka_unit_test(a_number_must_fill_its_text),
        cmocka_unit_test(values_of_idx_and_libsvm_follow_their_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
