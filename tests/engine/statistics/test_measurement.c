/* Goal: one record moves the released vector by no more than is charged for; every slot
 * has noise of the stated deviation; without noise the sums are those of a naive count.
 * Method: under one key the noise of two runs is the same, so their releases differ
 * only by their records. Neighbours are tried at the corners, which differ most. */
#include "engine/statistics/measurement.h"

#include <math.h>
#include <string.h>

#include "engine/noise/grid.h"
#include "tests/expect.h"
#include "tests/engine/statistics/records_fixture.h"

static struct records records;
static const struct noise_key key = {{7, 1, 9}};
static atomic_bool never;

enum { PEOPLE = 200 };

/* Makes records: ages of 0 to 99, all colours and classes. */
static void fill(uint64_t count)
{
    records_init(&records, count);
    for (uint64_t i = 0; i < count; i++)
        records_set(&records, i,
                    (struct record){(double)(i * 37 % 100), (unsigned)(i % 3),
                                    (unsigned)(i % 7 == 0)});
}

/* Asks for every kind of statistic, some twice. */
static struct statistics ask_all(void)
{
    static const double edges[] = {0, 20, 40, 60, 100}, ends[] = {20, 70};
    static const double halves[] = {0.25, 0.5};
    struct statistics list = asked(8);
    ask(&list.items[0], STATISTIC_HISTOGRAM, "colour", 0);
    ask_edges(&list.items[1], STATISTIC_HISTOGRAM, "age", edges, 5);
    ask(&list.items[2], STATISTIC_TABLE, "class", 0);
    ask(&list.items[2], STATISTIC_TABLE, "age", 10);
    ask(&list.items[3], STATISTIC_SUM, "age", 0);
    ask_edges(&list.items[4], STATISTIC_MEAN, "age", ends, 2);
    ask(&list.items[5], STATISTIC_VARIANCE, "age", 0);
    ask_quantiles(&list.items[6], "age", 100, halves, 2);
    ask_quantiles(&list.items[7], "age", 4, halves, 1);
    assert_int_equal(statistics_resolve(&list, &record_schema, NULL), ST_OK);
    return list;
}

/* Returns the first count statistics of all. */
static struct statistics some(struct statistics all, size_t count)
{
    return (struct statistics){count, all.items};
}

static double *run(const struct statistics *list, const struct measurement_terms *terms,
                   struct measurement *measurement, const struct noise_key *seed)
{
    assert_int_equal(measurement_plan(measurement, list, terms, NULL), ST_OK);
    double *released = calloc(measurement->slots, sizeof *released);
    assert_non_null(released);
    assert_int_equal(measurement_run(measurement, list, &records.matrix, seed, &never,
                                     released, NULL),
                     ST_OK);
    return released;
}

/* The norm of the difference of two vectors, in grid steps. */
static double distance(const struct measurement *measurement, const double *a,
                       const double *b)
{
    double sum = 0;
    for (size_t j = 0; j < measurement->slots; j++) {
        double steps = (a[j] - b[j]) * measurement->scale;
        sum += steps * steps;
    }
    return sqrt(sum);
}

/* The records that can move a vector most: ends and middles of every range. */
static const struct record corners[] = {
    {0, 0, 0}, {100, 2, 1}, {20, 1, 1}, {45, 0, 1}, {50, 1, 0}, {70, 2, 0}, {99, 1, 1},
};
enum { CORNERS = sizeof corners / sizeof *corners };

/* Compares a record with no record, under zero_out: expects what the record adds. */
static void expect_added(const struct statistics *list, double noise_multiplier,
                         double *most)
{
    struct measurement measurement, smaller;
    struct measurement_terms terms = {
        RELATION_ZERO_OUT, PRIVACY_UNIT_RECORD, noise_multiplier, PEOPLE, 0, 0};
    fill(PEOPLE);
    *most = 0;
    for (size_t i = 0; i < CORNERS; i++) {
        records_set(&records, PEOPLE - 1, corners[i]);
        terms.units = PEOPLE;
        records.matrix.records = PEOPLE;
        double *with = run(list, &terms, &measurement, &key);
        terms.units = PEOPLE - 1;
        records.matrix.records = PEOPLE - 1;
        double *without = run(list, &terms, &smaller, &key);
        assert_true(smaller.scale == measurement.scale);
        double moved = distance(&measurement, with, without);
        assert_true(noise_multiplier * moved <= GRID_NOISE_STDDEV * (1 + 1e-9));
        *most = fmax(*most, moved / measurement.scale);
        free(with);
        free(without);
    }
}

/* Compares a record with any other record, under replace_one. */
static void expect_exchanged(const struct statistics *list, double noise_multiplier,
                             double *most)
{
    struct measurement measurement;
    const struct measurement_terms terms = {
        RELATION_REPLACE_ONE, PRIVACY_UNIT_RECORD, noise_multiplier, PEOPLE, 0, 0};
    fill(PEOPLE);
    *most = 0;
    for (size_t i = 0; i < CORNERS; i++)
        for (size_t k = 0; k < i; k++) {
            records_set(&records, 5, corners[i]);
            double *one = run(list, &terms, &measurement, &key);
            records_set(&records, 5, corners[k]);
            double *other = run(list, &terms, &measurement, &key);
            double moved = distance(&measurement, one, other);
            assert_true(noise_multiplier * moved <= GRID_NOISE_STDDEV * (1 + 1e-9));
            *most = fmax(*most, moved / measurement.scale);
            free(one);
            free(other);
        }
}

static void no_record_moves_the_vector_further_than_is_charged(void **state)
{
    (void)state;
    double most;
    struct statistics all = ask_all();
    for (size_t count = 1; count <= all.count; count++) {
        const struct statistics list = some(all, count);
        expect_added(&list, 2.385, &most);
        expect_exchanged(&list, 2.385, &most);
    }
    statistics_fini(&all);
}

/* m histograms have sensitivity sqrt m, and sqrt(2 m) if a record is exchanged
 * (docs/accounting.md 1.12): exactly that. */
static void histograms_are_charged_what_they_move(void **state)
{
    (void)state;
    double most;
    enum { HISTOGRAMS = 9 };
    struct statistics list = asked(HISTOGRAMS);
    for (size_t i = 0; i < HISTOGRAMS; i++)
        ask(&list.items[i], STATISTIC_HISTOGRAM, "age", 2 + i);
    assert_int_equal(statistics_resolve(&list, &record_schema, NULL), ST_OK);
    expect_added(&list, 1.5, &most);
    assert_close(most, 3, 1e-9);
    expect_exchanged(&list, 1.5, &most);
    assert_close(most, sqrt(18), 1e-9);
    statistics_fini(&list);
}

static void a_number_moves_its_sum_by_half_the_range(void **state)
{
    (void)state;
    double most;
    const double ends[] = {20, 70};
    struct statistics list = asked(1);
    ask_edges(&list.items[0], STATISTIC_SUM, "age", ends, 2);
    assert_int_equal(statistics_resolve(&list, &record_schema, NULL), ST_OK);
    expect_added(&list, 3.25, &most);
    assert_close(most, 1, 1e-9); /* of 25, half the width */
    expect_exchanged(&list, 3.25, &most);
    assert_close(most, 2, 1e-9);
    statistics_fini(&list);
}

/* --- values --- */

/* Computes the sums without noise, from the made-up records and without the engine's
 * floats. */
static void count_naively(double *slots)
{
    static const double edges[] = {20, 40, 60};
    memset(slots, 0, 136 * sizeof *slots);
    for (unsigned i = 0; i < PEOPLE; i++) {
        double age = i * 37 % 100, clipped = fmin(70, fmax(20, age));
        int bin = (age >= edges[0]) + (age >= edges[1]) + (age >= edges[2]);
        double t = age / 50 - 1;
        slots[i % 3]++;
        slots[3 + bin]++;
        slots[7 + (i % 7 == 0 ? 10 : 0) + (int)(age / 10)]++;
        slots[27] += t;
        slots[28] += (clipped - 45) / 25;
        slots[29] += t;
        slots[30] += 2 * t * t - 1;
        slots[31 + (unsigned)age]++;
        slots[131 + (unsigned)(age / 25)]++;
    }
}

static void noise_is_on_every_slot_with_the_deviation_that_is_stated(void **state)
{
    (void)state;
    enum { RUNS = 200, SLOTS = 135 };
    struct measurement measurement;
    const struct measurement_terms terms = {
        RELATION_ZERO_OUT, PRIVACY_UNIT_RECORD, 0.6, PEOPLE, 0, 0};
    struct statistics list = ask_all();
    double exact[136], sum[SLOTS] = {0}, squares[SLOTS] = {0};
    fill(PEOPLE);
    count_naively(exact);
    for (unsigned r = 0; r < RUNS; r++) {
        const struct noise_key seed = {{(uint8_t)r, 3}};
        double *released = run(&list, &terms, &measurement, &seed);
        assert_int_equal(measurement.slots, SLOTS);
        for (size_t j = 0; j < SLOTS; j++) {
            double off = (released[j] - exact[j]) / measurement.deviation;
            sum[j] += off;
            squares[j] += off * off;
        }
        free(released);
    }
    assert_true(measurement.deviation >= 0.6 * 3); /* eight statistics, energy 9 */
    assert_close(measurement.deviation, 0.6 * 3, 1e-9);
    for (size_t j = 0; j < SLOTS; j++) {
        /* 6 deviations of a mean and of a mean square of RUNS draws. */
        assert_true(fabs(sum[j]) <= 6 * sqrt(RUNS));
        assert_true(fabs(squares[j] - RUNS) <= 6 * sqrt(2 * RUNS));
    }
    statistics_fini(&list);
}

/* More slots than one chunk of noise has: no two share their noise. */
static void no_two_slots_share_their_noise(void **state)
{
    (void)state;
    enum { BINS = 5000 };
    struct measurement measurement;
    const struct measurement_terms terms = {
        RELATION_ZERO_OUT, PRIVACY_UNIT_RECORD, 1, 0, 0, 0};
    struct statistics list = asked(1);
    ask(&list.items[0], STATISTIC_HISTOGRAM, "age", BINS);
    assert_int_equal(statistics_resolve(&list, &record_schema, NULL), ST_OK);
    records_init(&records, 0);
    double *released = run(&list, &terms, &measurement, &key);
    for (size_t j = 0; j < BINS; j++)
        assert_true(released[j] != released[(j + 2048) % BINS] && released[j] != 0);
    statistics_fini(&list);
    free(released);
}

static void without_a_seed_no_two_runs_are_alike(void **state)
{
    (void)state;
    struct measurement measurement;
    const struct measurement_terms terms = {
        RELATION_ZERO_OUT, PRIVACY_UNIT_RECORD, 1, PEOPLE, 0, 0};
    struct statistics all = ask_all();
    const struct statistics list = some(all, 1);
    fill(PEOPLE);
    double *one = run(&list, &terms, &measurement, NULL);
    double *other = run(&list, &terms, &measurement, NULL);
    for (size_t j = 0; j < measurement.slots; j++)
        assert_true(one[j] != other[j]);
    free(one);
    free(other);
    statistics_fini(&all);
}

/* --- refusals --- */

static void noise_without_a_grid_is_refused(void **state)
{
    (void)state;
    struct measurement measurement;
    struct measurement_terms terms = {
        RELATION_ZERO_OUT, PRIVACY_UNIT_RECORD, 1e12, PEOPLE, 0, 0};
    struct statistics all = ask_all();
    const struct statistics list = some(all, 1);
    assert_int_equal(measurement_plan(&measurement, &list, &terms, NULL), ST_INVALID);
    terms.noise_multiplier = 1e-3;
    terms.units = INT32_MAX;
    assert_int_equal(measurement_plan(&measurement, &list, &terms, NULL), ST_INVALID);
    statistics_fini(&all);
}

static void a_stop_ends_the_pass_without_a_release(void **state)
{
    (void)state;
    struct measurement measurement;
    atomic_bool stop = true;
    double released[3] = {-1, -1, -1};
    const struct measurement_terms terms = {
        RELATION_ZERO_OUT, PRIVACY_UNIT_RECORD, 1, PEOPLE, 0, 0};
    struct statistics all = ask_all();
    const struct statistics list = some(all, 1);
    fill(PEOPLE);
    assert_int_equal(measurement_plan(&measurement, &list, &terms, NULL), ST_OK);
    assert_int_equal(measurement_run(&measurement, &list, &records.matrix, NULL, &stop,
                                     released, NULL),
                     ST_CANCELLED);
    assert_true(released[0] == -1 && released[2] == -1);
    statistics_fini(&all);
}

/* --- persons --- */

enum { PERSONS = 40 };

/* One person's rows: their number, all equal, or at the corners in turn. */
struct rows {
    unsigned count;
    bool alike;
    size_t corner;
};

static uint32_t starts[PERSONS + 1];

/* Makes persons of one to seven rows; the last person has the rows of `last`. */
static void fill_persons(uint64_t persons, struct rows last)
{
    uint64_t row = 0;
    records_init(&records, 0);
    for (uint64_t i = 0; i < persons; i++) {
        const struct rows rows =
            i + 1 < PERSONS ? (struct rows){(unsigned)(1 + i % 7), false, i} : last;
        starts[i] = (uint32_t)row;
        for (unsigned k = 0; k < rows.count; k++)
            records_set(&records, row++,
                        corners[(rows.corner + (rows.alike ? 0 : k)) % CORNERS]);
    }
    starts[persons] = (uint32_t)row;
    records.matrix.records = row;
    records.matrix.starts = starts;
    records.matrix.units = persons;
}

static double *run_persons(const struct statistics *list, enum relation relation,
                           uint64_t persons, struct rows last,
                           struct measurement *measurement)
{
    const struct measurement_terms terms = {
        relation, PRIVACY_UNIT_PERSON, 1.75, persons, 0, 0};
    fill_persons(persons, last);
    return run(list, &terms, measurement, &key);
}

static const struct rows lives[] = {
    {1, true, 0},  {1, true, 1},   {10, true, 0},
    {10, true, 1}, {11, false, 2}, {300, true, 6},
};
enum { LIVES = sizeof lives / sizeof *lives };

/* All rows of a person together weigh as one record. */
static void no_person_moves_the_vector_further_than_a_record_would(void **state)
{
    (void)state;
    struct measurement measurement, smaller;
    struct statistics list = ask_all();
    double most = 0;
    for (size_t i = 0; i < LIVES; i++) {
        double *with =
            run_persons(&list, RELATION_ZERO_OUT, PERSONS, lives[i], &measurement);
        double *without =
            run_persons(&list, RELATION_ZERO_OUT, PERSONS - 1, lives[i], &smaller);
        double moved = distance(&measurement, with, without);
        assert_true(1.75 * moved <= GRID_NOISE_STDDEV * (1 + 1e-9));
        most = fmax(most, moved / measurement.scale);
        free(with);
        free(without);
        for (size_t k = 0; k < i; k++) {
            with = run_persons(&list, RELATION_REPLACE_ONE, PERSONS, lives[i],
                               &measurement);
            without = run_persons(&list, RELATION_REPLACE_ONE, PERSONS, lives[k],
                                  &measurement);
            assert_true(1.75 * distance(&measurement, with, without) <=
                        GRID_NOISE_STDDEV * (1 + 1e-9));
            free(with);
            free(without);
        }
    }
    assert_close(most, 3, 1e-6); /* reached, by rows at an end of every range */
    statistics_fini(&list);
}

/* Counts of all bins together are the number of persons, not of rows. */
static void persons_are_counted_once(void **state)
{
    (void)state;
    struct measurement measurement;
    struct statistics all = ask_all();
    const struct statistics list = some(all, 1);
    const struct measurement_terms terms = {
        RELATION_ZERO_OUT, PRIVACY_UNIT_PERSON, 0.05, PERSONS, 0, 0};
    fill_persons(PERSONS, lives[5]);
    double *released = run(&list, &terms, &measurement, &key), sum = 0;
    for (size_t j = 0; j < measurement.slots; j++)
        sum += released[j];
    assert_true(fabs(sum - PERSONS) < 6 * 0.05 * sqrt(3));
    free(released);
    statistics_fini(&all);
}

static void what_is_run_is_one_joint_release_of_that_multiplier(void **state)
{
    (void)state;
    struct mechanism m;
    const struct measurement_terms terms = {
        RELATION_REPLACE_ONE, PRIVACY_UNIT_RECORD, 2.5, PEOPLE, 0, 0};
    measurement_mechanism(&m, &terms);
    char *text = mechanism_render(&m);
    assert_string_equal(text,
                        "{\"kind\":\"joint_release\",\"relation\":\"replace_one\","
                        "\"runs\":[[1,2.5,1]],\"prefixes_priced\":true}");
    free(text);
    mechanism_fini(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_record_moves_the_vector_further_than_is_charged),
        cmocka_unit_test(histograms_are_charged_what_they_move),
        cmocka_unit_test(a_number_moves_its_sum_by_half_the_range),
        cmocka_unit_test(noise_is_on_every_slot_with_the_deviation_that_is_stated),
        cmocka_unit_test(no_two_slots_share_their_noise),
        cmocka_unit_test(without_a_seed_no_two_runs_are_alike),
        cmocka_unit_test(noise_without_a_grid_is_refused),
        cmocka_unit_test(a_stop_ends_the_pass_without_a_release),
        cmocka_unit_test(no_person_moves_the_vector_further_than_a_record_would),
        cmocka_unit_test(persons_are_counted_once),
        cmocka_unit_test(what_is_run_is_one_joint_release_of_that_multiplier),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
