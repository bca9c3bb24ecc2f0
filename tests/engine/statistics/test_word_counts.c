/* Goal: a discovery counts every text once for each unit, adds noise to every count, and
 * shows a text exactly if its noisy count reaches the cut; what it shows is sorted by
 * text. Method: texts in matrices in memory, counted by hand; fixed keys, with bounds from
 * the number of releases; the chance of a text that only one unit has, over many keys,
 * against the delta that is charged for it. */
#include "engine/statistics/word_counts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/data/cell_text.h"
#include "tests/expect.h"

enum { BYTES = 8, FLOATS = 3, FEATURES = 2, ROWS_MAX = 6000 };

static char name_site[] = "site";
static struct column columns[] = {{.name = name_site,
                                   .kind = COLUMN_HASHED,
                                   .buckets = FEATURES,
                                   .text_bytes = BYTES}};
static const struct reader reader = {.name = "table", .form = FORM_COLUMNS};
static const struct schema schema = {
    .reader = &reader, .column_count = 1, .columns = columns};

static float rows[ROWS_MAX * (FEATURES + FLOATS)];
static uint32_t starts[ROWS_MAX + 1];

static void set_text(size_t row, const char *text)
{
    cell_text_pack(rows + row * (FEATURES + FLOATS) + FEATURES, BYTES, text,
                   strlen(text));
}

static struct matrix matrix_of(size_t count)
{
    return (struct matrix){.records = count,
                           .features = FEATURES,
                           .texts = FLOATS,
                           .element = ELEMENT_F32,
                           .rows = rows};
}

static struct statistics words_of(void)
{
    struct statistics list = {1, calloc(1, sizeof(struct statistic))};
    assert_non_null(list.items);
    list.items[0].kind = STATISTIC_WORDS;
    list.items[0].axis_count = 1;
    list.items[0].axes[0].column = strdup("site");
    assert_int_equal(statistics_resolve(&list, &schema, NULL), ST_OK);
    return list;
}

static struct noise_key key_of(uint64_t number)
{
    struct noise_key key = {{0}};
    memcpy(&key, &number, sizeof number);
    return key;
}

/* Runs a discovery under a key; word_counts_fini releases the result. */
static struct word_counts run(const struct matrix *matrix,
                              const struct measurement_terms *terms, uint64_t number)
{
    const atomic_bool never = false;
    struct word_counts words = {0};
    struct measurement measurement;
    struct statistics list = words_of();
    const struct noise_key key = key_of(number);
    assert_int_equal(measurement_plan(&measurement, &list, terms, NULL), ST_OK);
    assert_int_equal(word_counts_run(&words, &measurement, &list.items[0], matrix, &key,
                                     &never, NULL),
                     ST_OK);
    statistics_fini(&list);
    return words;
}

static void frequent_texts_are_shown_by_text_and_with_their_counts(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t count;
    } sites[] = {{"zulu", 900}, {"alpha", 500}, {"alph", 400}, {"mike\xc3\xa9", 300},
                 {"", 1000},    {"few", 20},    {"\x7f", 250}, {"alone", 1}};
    size_t count = 0, shown = 0;
    for (size_t i = 0; i < 900; i++)
        for (size_t k = 0; k < sizeof sites / sizeof *sites; k++)
            if (i < sites[k].count)
                set_text(count++, sites[k].text);
    set_text(count++, "alpha beta"); /* cut to its first 8 bytes */
    struct matrix matrix = matrix_of(count);
    const struct measurement_terms terms = {
        .noise_multiplier = 10, .units = count, .threshold = 80, .rows = 1};
    struct word_counts words = run(&matrix, &terms, 7);
    static const char *const order[] = {"alph", "alpha", "mike\xc3\xa9", "zulu",
                                        "\x7f"};
    static const double counts[] = {400, 500, 300, 900, 250};
    assert_int_equal(words.count, 5);
    for (; shown < words.count; shown++) {
        assert_string_equal(words.items[shown].text, order[shown]);
        assert_true(fabs(words.items[shown].count - counts[shown]) < 60);
        assert_true(words.items[shown].count != counts[shown]);
    }
    word_counts_fini(&words);
}

/* A person counts as one unit for any number of rows, and all rows are read. */
static void a_persons_rows_share_one_unit(void **state)
{
    (void)state;
    enum { SLOTS = 4, PERSONS = 600 };
    memset(rows, 0, sizeof rows);
    for (unsigned p = 0, row = 0; p < PERSONS; p++) {
        unsigned own = 1 + p % SLOTS; /* all of them in the same two texts */
        starts[p + 1] = starts[p] + own;
        for (unsigned k = 0; k < own; k++)
            set_text(SLOTS * (size_t)p + k, (row + k) % 2 ? "odd" : "even");
    }
    struct matrix matrix = matrix_of((size_t)SLOTS * PERSONS);
    matrix.starts = starts;
    matrix.units = PERSONS;
    matrix.slots = SLOTS;
    const struct measurement_terms terms = {.unit = PRIVACY_UNIT_PERSON,
                                            .noise_multiplier = 1,
                                            .units = PERSONS,
                                            .threshold = 20,
                                            .rows = SLOTS};
    struct word_counts words = run(&matrix, &terms, 3);
    assert_int_equal(words.count, 2);
    assert_string_equal(words.items[0].text, "even");
    /* Per four persons: 1 + 1/2 + 2/3 + 1/2 to one text, 0 + 1/2 + 1/3 + 1/2. */
    assert_true(fabs(words.items[0].count - PERSONS / 4 * (1 + .5 + 2. / 3 + .5)) < 8);
    assert_true(fabs(words.items[1].count - PERSONS / 4 * (.5 + 1. / 3 + .5)) < 8);
    word_counts_fini(&words);
}

/* P(N(0, 1) >= x) */
static double above(double x)
{
    return erfc(x / sqrt(2)) / 2;
}

/* Many texts with one record each: the share that is shown is at most delta_1, by a
 * threshold at which delta_1 is large enough to be seen, and not much less. */
static void texts_of_one_unit_are_shown_as_rarely_as_was_charged(void **state)
{
    (void)state;
    enum { RUNS = 40, UNITS = 5000 };
    size_t shown = 0;
    for (size_t i = 0; i < UNITS; i++) {
        char text[16];
        snprintf(text, sizeof text, "%08zu", i);
        set_text(i, text);
    }
    struct matrix matrix = matrix_of(UNITS);
    const struct measurement_terms terms = {
        .noise_multiplier = 3, .units = UNITS, .threshold = 7, .rows = 1};
    double delta = above((7 - 1) / 3.), n = (double)RUNS * UNITS;
    for (uint64_t run_of = 0; run_of < RUNS; run_of++) {
        struct word_counts words = run(&matrix, &terms, run_of);
        shown += words.count;
        for (size_t i = 1; i < words.count; i++)
            assert_true(strcmp(words.items[i - 1].text, words.items[i].text) < 0);
        word_counts_fini(&words);
    }
    double deviation = sqrt(n * delta * (1 - delta));
    assert_true(fabs((double)shown - n * delta) < 5 * deviation);
}

/* The worst split of a person of 4 rows: texts of one row each. */
static void persons_with_texts_of_their_own_are_shown_as_rarely(void **state)
{
    (void)state;
    enum { RUNS = 40, PERSONS = 1000, SLOTS = 4 };
    size_t shown = 0;
    memset(rows, 0, sizeof rows);
    for (size_t i = 0; i < (size_t)PERSONS * SLOTS; i++) {
        char text[16];
        snprintf(text, sizeof text, "%08zu", i);
        set_text(i, text);
        starts[i / SLOTS + 1] = (uint32_t)(i + 1);
    }
    struct matrix matrix = matrix_of((size_t)PERSONS * SLOTS);
    matrix.starts = starts;
    matrix.units = PERSONS;
    matrix.slots = SLOTS;
    const struct measurement_terms terms = {.unit = PRIVACY_UNIT_PERSON,
                                            .noise_multiplier = 3,
                                            .units = PERSONS,
                                            .threshold = 7,
                                            .rows = SLOTS};
    double delta = SLOTS * above((7 - 1. / SLOTS) / 3), n = (double)RUNS * PERSONS;
    for (uint64_t run_of = 0; run_of < RUNS; run_of++) {
        struct word_counts words = run(&matrix, &terms, run_of);
        shown += words.count; /* at least the persons that are shown */
        word_counts_fini(&words);
    }
    double deviation = sqrt(n * delta);
    assert_true((double)shown < n * delta + 5 * deviation);
    assert_true((double)shown > n * delta - 5 * deviation);
}

/* The counts are as far apart as those of a histogram. */
static void the_noise_is_that_of_the_relation(void **state)
{
    (void)state;
    for (int relation = RELATION_ZERO_OUT; relation <= RELATION_REPLACE_ONE;
         relation++) {
        struct measurement measurement;
        struct statistics list = words_of();
        const struct measurement_terms terms = {.relation = (enum relation)relation,
                                                .noise_multiplier = 8,
                                                .units = 100,
                                                .threshold = 40,
                                                .rows = 1};
        assert_int_equal(measurement_plan(&measurement, &list, &terms, NULL), ST_OK);
        double distance = relation == RELATION_REPLACE_ONE ? sqrt(2) : 1;
        assert_close(measurement.distance, distance, 1e-12);
        assert_close(measurement.deviation, 8 * distance, 1e-9);
        assert_true(measurement.cut >= 40 * measurement.scale);
        assert_close(measurement.cut, 40 * measurement.scale, 1e-8);
        statistics_fini(&list);
    }
}

static void a_run_that_is_stopped_shows_nothing(void **state)
{
    (void)state;
    const atomic_bool stopped = true;
    struct matrix matrix = matrix_of(10);
    struct word_counts words = {0};
    struct measurement measurement;
    struct statistics list = words_of();
    const struct measurement_terms terms = {
        .noise_multiplier = 1, .units = 10, .threshold = 2, .rows = 1};
    assert_int_equal(measurement_plan(&measurement, &list, &terms, NULL), ST_OK);
    assert_int_equal(word_counts_run(&words, &measurement, &list.items[0], &matrix,
                                     NULL, &stopped, NULL),
                     ST_CANCELLED);
    assert_true(words.count == 0 && words.items == NULL);
    statistics_fini(&list);
}

static void only_stored_texts_are_discovered_and_alone(void **state)
{
    (void)state;
    static const struct {
        size_t count;
        const char *column, *pointer;
    } cases[] = {{1, "town", "/statistics/0/column"},
                 {2, "site", "/statistics/0/kind"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error error = {0};
        struct statistics list = {cases[i].count,
                                  calloc(cases[i].count, sizeof(struct statistic))};
        for (size_t k = 0; k < list.count; k++) {
            list.items[k].kind = STATISTIC_WORDS;
            list.items[k].axis_count = 1;
            list.items[k].axes[0].column = strdup(cases[i].column);
        }
        assert_int_equal(statistics_resolve(&list, &schema, &error), ST_INVALID);
        assert_string_equal(error.pointer, cases[i].pointer);
        statistics_fini(&list);
    }
    columns[0].text_bytes = 0;
    struct stored_text text;
    struct error error = {0};
    assert_int_equal(stored_text_find(&text, &schema, "site", &error), ST_INVALID);
    assert_non_null(strstr(error.text, "text_bytes"));
    columns[0].text_bytes = BYTES;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frequent_texts_are_shown_by_text_and_with_their_counts),
        cmocka_unit_test(a_persons_rows_share_one_unit),
        cmocka_unit_test(texts_of_one_unit_are_shown_as_rarely_as_was_charged),
        cmocka_unit_test(persons_with_texts_of_their_own_are_shown_as_rarely),
        cmocka_unit_test(the_noise_is_that_of_the_relation),
        cmocka_unit_test(a_run_that_is_stopped_shows_nothing),
        cmocka_unit_test(only_stored_texts_are_discovered_and_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
