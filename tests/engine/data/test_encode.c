/* Goal: a cell becomes the declared features, or is refused without being quoted.
 * Values are worked out by hand from schema.h's table. */
#include "tests/expect.h"

#include <string.h>

#include "engine/data/calendar.h"
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
    struct encoder encoder;
    assert_int_equal(encoder_init(&encoder, column, NULL), ST_OK);
    enum status status =
        encoder_features(&encoder, out, (struct cell){text, strlen(text)}, error);
    encoder_fini(&encoder);
    return status;
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

/* ---- missing cells, other words, and the kinds besides numeric and categorical ---- */

enum { FEATURES_MAX = 24 };
static char nine[] = "-9", mark[] = "?", na[] = "NA", nothing[] = "", yes[] = "true",
            german[] = "%d.%m.%Y %H:%M", named[] = "%Y%b%d", day_text[] = "1970-01-02";
static char *markers[] = {nine, mark, na, nothing};
#define MISSING .missing_count = 4, .missing = markers

/* Each feature follows from one cell and the declaration. */
static const struct kind_case {
    struct column column;
    const char *text;
    float features[FEATURES_MAX];
    const char *fault; /* NULL: the cell has the features */
} kind_cases[] = {
#define NUMBER .name = name_text, .kind = COLUMN_NUMERIC, .low = -2, .high = 6
    {{NUMBER, MISSING}, "?", {0}, "declared as missing"},
    {{NUMBER, MISSING}, " -9.0 ", {0}, "declared as missing"},
    {{NUMBER, MISSING}, "n/a", {0}, "number"},
    {{NUMBER, MISSING, .fallback = seven}, "NA", {1}, NULL},
    {{NUMBER, MISSING, .fallback = seven}, "-9e0", {1}, NULL},
    {{NUMBER, MISSING, .missing_feature = true}, "-9", {0, 1}, NULL},
    {{NUMBER, MISSING, .missing_feature = true}, "", {0, 1}, NULL},
    {{NUMBER, MISSING, .missing_feature = true}, "6", {1, 0}, NULL},
    {{NUMBER, .missing_feature = true, .fallback = seven}, "", {1, 1}, NULL},
    {{NUMBER, .missing_feature = true}, "NA", {0}, "number"},
#define COLOUR                                                                         \
    .name = name_text, .kind = COLUMN_CATEGORICAL, .value_count = 3, .values = colours
    {{COLOUR, MISSING}, "?", {0}, "declared as missing"},
    {{COLOUR, MISSING, .fallback = blue}, "NA", {0, 0, 1}, NULL},
    {{COLOUR, MISSING, .missing_feature = true}, "?", {0, 0, 0, 1}, NULL},
    {{COLOUR, MISSING, .missing_feature = true}, "red", {1, 0, 0, 0}, NULL},
    {{COLOUR, MISSING, .missing_feature = true}, "grey", {0}, "none of the values"},
    {{COLOUR, .other = true}, "grey", {0, 0, 0, 1}, NULL},
    {{COLOUR, .other = true}, "", {0}, "empty"},
    {{COLOUR, .other = true, .fallback = red}, "", {1, 0, 0, 0}, NULL},
    {{COLOUR, MISSING, .other = true, .missing_feature = true},
     "grey",
     {0, 0, 0, 1, 0},
     NULL},
    {{COLOUR, MISSING, .other = true, .missing_feature = true},
     "NA",
     {0, 0, 0, 0, 1},
     NULL},
#define FLAG .name = name_text, .kind = COLUMN_BOOLEAN, .high = 1
    {{FLAG}, " Yes\t", {1}, NULL},
    {{FLAG}, "0", {-1}, NULL},
    {{FLAG}, "maybe", {0}, "none of true"},
    {{FLAG}, "", {0}, "empty"},
    {{FLAG, MISSING, .fallback = yes}, "?", {1}, NULL},
    {{FLAG, MISSING, .missing_feature = true}, "?", {0, 1}, NULL},
    {{FLAG, .missing_feature = true}, "off", {-1, 0}, NULL},
#define DATE .name = name_text, .kind = COLUMN_DATE, .low = -4, .high = 12
    {{DATE, .format = german}, "5.1.1970 23:59", {0}, NULL},
    {{DATE, .format = german}, "05.01.1970 7:00", {0}, NULL},
    {{DATE, .format = named}, "1970JAN09", {0.5F}, NULL},
    {{DATE, .format = named}, "9999dec31", {1}, NULL},
    {{DATE, .format = german}, "1970-01-05", {0}, "no date"},
    {{DATE, .format = german}, "13/05/1970", {0}, "no date"},
    {{DATE, .format = named}, "1971feb29", {0}, "no date"},
    {{DATE, .format = named, .fallback = day_text, .missing_feature = true},
     "",
     {-0.375F, 1},
     NULL},
    {{DATE, .format = named, .parts = 1U << CALENDAR_QUARTER | 1U << CALENDAR_WEEKDAY},
     "1970jan05",
     {0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0},
     NULL},
    {{DATE, .format = named, .parts = 1U << CALENDAR_QUARTER},
     "1969jan05", /* the first day of the range is 28 December */
     {-1, 0, 0, 0, 1},
     NULL},
    {{DATE, .format = named, .parts = 1U << CALENDAR_MONTH, .missing_feature = true},
     "",
     {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1},
     NULL},
/* Buckets computed by Python's hashlib. */
#define CODE .name = name_text, .kind = COLUMN_HASHED, .buckets = 5, .seed = 2385
    {{CODE}, " E1 7AA ", {0, 0, 1, 0, 0}, NULL},
    {{CODE}, "N1 9GU", {0, 0, 0, 1, 0}, NULL},
    {{CODE}, "", {0}, "empty"},
    {{CODE, .fallback = red}, "", {0, 0, 0, 0, 1}, NULL},
    {{CODE, .missing_feature = true}, "", {0, 0, 0, 0, 0, 1}, NULL},
};

static void each_kind_is_encoded_as_declared(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof kind_cases / sizeof *kind_cases; i++) {
        const struct kind_case *one = &kind_cases[i];
        float out[FEATURES_MAX + 1];
        struct error error = {0};
        const uint32_t count = schema_column_features(&one->column);
        assert_true(count <= FEATURES_MAX);
        for (size_t k = 0; k <= FEATURES_MAX; k++)
            out[k] = 9;
        enum status status = encode(out, &one->column, one->text, &error);
        if (status != (one->fault != NULL ? ST_INVALID : ST_OK))
            fail_msg("case %zu, \"%s\": %s", i, one->text, error.text);
        if (one->fault != NULL && strstr(error.text, one->fault) == NULL)
            fail_msg("case %zu: \"%s\" does not say \"%s\"", i, error.text, one->fault);
        for (size_t k = 0; one->fault == NULL && k < count; k++)
            if (out[k] != one->features[k])
                fail_msg("case %zu, \"%s\": feature %zu is %g", i, one->text, k,
                         (double)out[k]);
        assert_true(out[count] == 9 && (one->fault == NULL || out[0] == 9));
    }
}

static void the_features_of_words_have_names(void **state)
{
    (void)state;
    static const struct column all = {COLOUR, .other = true, .missing_feature = true};
    static const struct column code = {CODE, .missing_feature = true};
    static const struct {
        const struct column *column;
        uint32_t word;
        const char *name;
    } names[] = {{&all, 1, "deep green"},
                 {&all, 3, "other"},
                 {&all, 4, "missing"},
                 {&code, 4, "4"},
                 {&code, 5, "missing"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char text[32];
        schema_word_name(names[i].column, names[i].word, text, sizeof text);
        assert_string_equal(text, names[i].name);
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
        cmocka_unit_test(each_kind_is_encoded_as_declared),
        cmocka_unit_test(the_features_of_words_have_names),
        cmocka_unit_test(an_index_of_values_changes_nothing),
        cmocka_unit_test(a_number_must_fill_its_text),
        cmocka_unit_test(values_of_idx_and_libsvm_follow_their_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
