/* Goal: intervals keep their promise: at least 95 % of them contain the records' own
 * value. Method: the released numbers of known records are simulated many times, with a
 * Gaussian of the test's own; the bound on the share of misses follows from the number
 * of trials. */
#include "engine/statistics/interval.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/expect.h"
#include "tests/engine/statistics/records_fixture.h"

enum { TRIALS = 4000, PEOPLE = 3000 };

/* splitmix64, and Box and Muller: no code of the engine. */
static uint64_t state_of_draws = 2385;

static double uniform(void)
{
    uint64_t z = (state_of_draws += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return ((double)((z ^ (z >> 31)) >> 11) + 0.5) * 0x1p-53;
}

static double gaussian(void)
{
    return sqrt(-2 * log(uniform())) * cos(2 * 3.14159265358979323846 * uniform());
}

/* At most 5 % miss, within 5 deviations of the count of misses. */
static void expect_covered(unsigned misses)
{
    double most = 0.05 * TRIALS + 5 * sqrt(0.05 * 0.95 * TRIALS);
    if (misses > most)
        fail_msg("%u of %d intervals miss, at most %.0f may", misses, TRIALS, most);
}

static double ages[PEOPLE];

/* Makes ages with a skewed law; most have few values if power is large. */
static void make_ages(double power)
{
    for (unsigned i = 0; i < PEOPLE; i++)
        ages[i] = floor(100 * pow(uniform(), power));
}

static struct measurement measurement_of(double deviation, size_t slots)
{
    return (struct measurement){.slots = slots,
                                .units = PEOPLE,
                                .scale = 0x1p36 / deviation,
                                .deviation = deviation};
}

static void resolve(struct statistics *list)
{
    assert_int_equal(statistics_resolve(list, &record_schema, NULL), ST_OK);
}

static bool holds(struct interval interval, double value)
{
    assert_true(interval.low <= interval.value && interval.value <= interval.high);
    return interval.low <= value && value <= interval.high;
}

static void counts_are_covered_and_no_more(void **state)
{
    (void)state;
    unsigned misses = 0;
    const struct measurement measurement = measurement_of(7.25, 1);
    for (unsigned i = 0; i < TRIALS; i++)
        misses += !holds(interval_of_count(&measurement, 12 + 7.25 * gaussian()), 12);
    expect_covered(misses);
    assert_true(misses > 0.05 * TRIALS - 5 * sqrt(0.05 * 0.95 * TRIALS));
}

/* Returns the true value, from the ages themselves, clipped to [low, high]. */
static double value_of(enum statistic_kind kind, double low, double high)
{
    double sum = 0, squares = 0;
    for (unsigned i = 0; i < PEOPLE; i++) {
        double age = fmin(high, fmax(low, ages[i]));
        sum += age;
        squares += age * age;
    }
    double mean = sum / PEOPLE;
    return kind == STATISTIC_SUM    ? sum
           : kind == STATISTIC_MEAN ? mean
                                    : squares / PEOPLE - mean * mean;
}

static void cover_number(enum statistic_kind kind, double deviation, bool tight)
{
    unsigned misses = 0;
    const double ends[] = {10, 90};
    double t = 0, u = 0;
    struct statistics list = asked(1);
    ask_edges(&list.items[0], kind, "age", ends, 2);
    resolve(&list);
    const struct measurement measurement = measurement_of(deviation, 2);
    for (unsigned i = 0; i < PEOPLE; i++) {
        double at = (fmin(90, fmax(10, ages[i])) - 50) / 40;
        t += at;
        u += 2 * at * at - 1;
    }
    double wanted = value_of(kind, 10, 90);
    for (unsigned i = 0; i < TRIALS; i++) {
        const double released[] = {t + deviation * gaussian(),
                                   u + deviation * gaussian()};
        misses +=
            !holds(interval_of_number(&measurement, &list.items[0], released), wanted);
    }
    expect_covered(misses);
    if (tight)
        assert_true(misses > 0.05 * TRIALS - 5 * sqrt(0.05 * 0.95 * TRIALS));
    statistics_fini(&list);
}

static void sums_means_and_variances_are_covered(void **state)
{
    (void)state;
    for (double power = 1; power <= 4; power++) {
        make_ages(power);
        cover_number(STATISTIC_SUM, 12.5, true);
        cover_number(STATISTIC_MEAN, 40, true);
        cover_number(STATISTIC_VARIANCE, 12.5, false);
        cover_number(STATISTIC_VARIANCE, 400, false);
    }
}

/* If the ages hardly vary, a noisy variance could be negative: it is not, nor is it
 * above what the range allows. */
static void a_variance_stays_in_its_bounds(void **state)
{
    (void)state;
    struct statistics list = asked(1);
    ask(&list.items[0], STATISTIC_VARIANCE, "age", 0);
    resolve(&list);
    const struct measurement measurement = measurement_of(1000, 2);
    for (unsigned i = 0; i < 100; i++) {
        const double released[] = {1000 * gaussian(), 3000 * gaussian()};
        struct interval interval =
            interval_of_number(&measurement, &list.items[0], released);
        assert_true(interval.low >= 0 && interval.high <= 2500);
        assert_true(holds(interval, interval.value));
    }
    statistics_fini(&list);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void cover_quantiles(size_t bins, double deviation)
{
    static const double probabilities[] = {0.01, 0.25, 0.5, 0.9, 0.99};
    enum { QUANTILES = 5, BINS_MAX = 200 };
    struct interval intervals[QUANTILES];
    double counts[BINS_MAX] = {0}, released[BINS_MAX];
    unsigned misses[QUANTILES] = {0};
    struct statistics list = asked(1);
    ask_quantiles(&list.items[0], "age", bins, probabilities, QUANTILES);
    resolve(&list);
    const struct measurement measurement = measurement_of(deviation, bins);
    for (unsigned i = 0; i < PEOPLE; i++)
        counts[(size_t)(ages[i] * (double)bins / 100)]++;
    qsort(ages, PEOPLE, sizeof *ages, compare);
    for (unsigned i = 0; i < TRIALS; i++) {
        for (size_t j = 0; j < bins; j++)
            released[j] = counts[j] + deviation * gaussian();
        interval_of_quantiles(&measurement, &list.items[0], released, intervals);
        for (size_t k = 0; k < QUANTILES; k++) {
            size_t rank = (size_t)ceil(probabilities[k] * PEOPLE);
            misses[k] += !holds(intervals[k], ages[rank - 1]);
        }
    }
    for (size_t k = 0; k < QUANTILES; k++)
        expect_covered(misses[k]);
    statistics_fini(&list);
}

static void quantiles_are_covered(void **state)
{
    (void)state;
    for (double power = 1; power <= 3; power++) {
        make_ages(power);
        cover_quantiles(100, 3.5);
        cover_quantiles(100, 60);
        cover_quantiles(20, 20);
    }
}

/* By hand: 40, 30, 20 and 10 of 100 records in [0, 25), [25, 50), ...: the median lies a
 * third into the second bin. With next to no noise its interval is that bin. */
static void a_quantile_is_found_between_the_edges(void **state)
{
    (void)state;
    const double probabilities[] = {0.5}, released[] = {40, 30, 20, 10};
    struct interval interval;
    struct statistics list = asked(1);
    ask_quantiles(&list.items[0], "age", 4, probabilities, 1);
    resolve(&list);
    struct measurement measurement = measurement_of(1e-6, 4);
    measurement.units = 100;
    interval_of_quantiles(&measurement, &list.items[0], released, &interval);
    assert_close(interval.value, 25 + 25.0 / 3, 1e-9);
    assert_true(interval.low == 25 && interval.high == 50);
    statistics_fini(&list);
}

static void margins_are_what_counts_have(void **state)
{
    (void)state;
    const struct measurement measurement = measurement_of(10, 1);
    assert_close(interval_margin(&measurement), 19.599639845400545, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_covered_and_no_more),
        cmocka_unit_test(sums_means_and_variances_are_covered),
        cmocka_unit_test(a_variance_stays_in_its_bounds),
        cmocka_unit_test(quantiles_are_covered),
        cmocka_unit_test(a_quantile_is_found_between_the_edges),
        cmocka_unit_test(margins_are_what_counts_have),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
