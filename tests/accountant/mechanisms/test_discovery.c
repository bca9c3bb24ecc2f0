/* Goal: delta_1 of a discovery bounds the chance that a text is shown which only one unit
 * has, however the unit's rows are split, and the threshold is the least that keeps it.
 * Method: an oracle that shares no code: tails by numerical integration, and every
 * partition of every number of rows; the reference values of the formula; the mechanism
 * that looks at true counts first. */
#include "accountant/mechanisms/discovery.h"

#include <math.h>
#include <string.h>

#include "accountant/pricing/cost.h"
#include "accountant/pricing/filter.h"
#include "accountant/pricing/figures.h"
#include "tests/expect.h"

static struct mechanism discovery_of(enum relation relation, double sigma, double t,
                                     unsigned rows)
{
    struct mechanism m;
    mechanism_init(&m, MECHANISM_DISCOVERY, relation,
                   (struct mechanism_run){1, sigma, 1});
    m.unit = rows > 1 ? PRIVACY_UNIT_PERSON : PRIVACY_UNIT_RECORD;
    m.discovery = (struct mechanism_discovery){t, rows};
    return m;
}

static double delta_of(enum relation relation, double sigma, double t, unsigned rows)
{
    struct mechanism m = discovery_of(relation, sigma, t, rows);
    double delta = discovery_delta(&m);
    mechanism_fini(&m);
    return delta;
}

/* P(N(0, 1) >= x) by Simpson's rule over [x, x + 12]. */
static double tail(double x)
{
    enum { STEPS = 20000 };
    double width = 12.0 / STEPS, sum = 0;
    for (int i = 0; i <= STEPS; i++) {
        double at = x + i * width, weight = i == 0 || i == STEPS ? 1 : i % 2 ? 4 : 2;
        sum += weight * exp(-at * at / 2);
    }
    return sum * width / 3 / sqrt(2 * acos(-1));
}

/* The most that a unit of `all` rows can have with `left` rows still to be given to
 * texts, each text getting at most `largest` of them. */
static double worst(const double tails[], unsigned left, unsigned largest)
{
    double most = 0;
    if (left == 0)
        return 0;
    for (unsigned k = 1; k <= left && k <= largest; k++)
        most = fmax(most, tails[k] + worst(tails, left - k, k));
    return most;
}

/* Every number of rows up to the kept ones, in every split. */
static double oracle(double s, double t, unsigned rows)
{
    double most = 0;
    for (unsigned all = 1; all <= rows; all++) {
        double tails[17] = {0};
        for (unsigned k = 1; k <= all; k++)
            tails[k] = tail((t - (double)k / all) / s);
        most = fmax(most, worst(tails, all, all));
    }
    return most;
}

static void delta_bounds_every_split_of_every_unit(void **state)
{
    (void)state;
    static const struct {
        enum relation relation;
        double sigma, t;
        unsigned rows;
    } cases[] = {{RELATION_ZERO_OUT, 10, 50, 1},  {RELATION_ZERO_OUT, 10, 50, 16},
                 {RELATION_ZERO_OUT, 8, 39, 2},   {RELATION_ZERO_OUT, 1, 1.5, 16},
                 {RELATION_ZERO_OUT, .2, 1.1, 4}, {RELATION_REPLACE_ONE, 8, 55, 1},
                 {RELATION_REPLACE_ONE, 5, 40, 8}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double distance = cases[i].relation == RELATION_REPLACE_ONE ? sqrt(2) : 1;
        double truth =
            fmin(1, oracle(cases[i].sigma * distance, cases[i].t, cases[i].rows));
        double delta =
            delta_of(cases[i].relation, cases[i].sigma, cases[i].t, cases[i].rows);
        if (!(delta >= truth * (1 - 1e-9) && delta <= truth * (1 + 1e-8)))
            fail_msg("case %zu: %.17g, and the oracle has %.17g", i, delta, truth);
    }
}

static void a_person_of_sixteen_rows_is_shown_ten_times_as_often(void **state)
{
    (void)state;
    double record = delta_of(RELATION_ZERO_OUT, 10, 50, 1);
    double person = delta_of(RELATION_ZERO_OUT, 10, 50, 16);
    assert_close(record, 4.7918327659e-7, 1e-9);
    assert_close(person / record, 9.9, 5e-3);
}

/* Sold at epsilon .5 and delta 1e-6 + 1e-6. */
static void noise_and_thresholds_are_those_of_the_reference(void **state)
{
    (void)state;
    static const struct {
        enum relation relation;
        double s, t;
    } cases[] = {{RELATION_ZERO_OUT, 8.06, 39.3}, {RELATION_REPLACE_ONE, 11.4, 55.2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct mechanism m = discovery_of(cases[i].relation, 1, 2, 1);
        double sigma;
        assert_int_equal(figure_noise(&sigma, &m, .5, 1e-6, NULL), ST_OK);
        m.runs[0].noise_multiplier = sigma;
        assert_close(discovery_deviation(&m), cases[i].s, 5e-3);
        assert_close(discovery_threshold(&m, 1e-6), cases[i].t, 2e-3);
        mechanism_fini(&m);
    }
}

static void the_threshold_is_the_least(void **state)
{
    (void)state;
    static const double deltas[] = {.4, 1e-3, 1e-6, 0x1p-53};
    for (size_t i = 0; i < sizeof deltas / sizeof *deltas; i++) {
        for (unsigned rows = 1; rows <= 16; rows *= 4) {
            struct mechanism m = discovery_of(RELATION_ZERO_OUT, 6, 2, rows);
            double t = m.discovery.threshold = discovery_threshold(&m, deltas[i]);
            assert_true(t > 1 && discovery_delta(&m) <= deltas[i]);
            m.discovery.threshold = 1 + (t - 1) * (1 - 1e-9);
            assert_true(discovery_delta(&m) > deltas[i]);
            mechanism_fini(&m);
        }
    }
    struct mechanism m = discovery_of(RELATION_ZERO_OUT, 1e12, 2, 1);
    assert_true(isinf(discovery_threshold(&m, 1e-9)));
    mechanism_fini(&m);
}

/* If only texts with t records or more got noise, a text with t records would be shown
 * one time in two, and the same text without one of them never. That is a discovery
 * whose threshold is one unit: delta is 1/2. */
static void a_look_at_true_counts_has_delta_one_half(void **state)
{
    (void)state;
    assert_close(delta_of(RELATION_ZERO_OUT, 8, 1 + 1e-12, 1), .5, 1e-9);
}

static void its_curve_is_that_of_a_joint_release(void **state)
{
    (void)state;
    for (int relation = RELATION_ZERO_OUT; relation <= RELATION_REPLACE_ONE;
         relation++) {
        struct curve charge, released;
        struct mechanism m = discovery_of((enum relation)relation, 7, 40, 1), joint;
        mechanism_init_release(&joint, (enum relation)relation, 7);
        assert_int_equal(filter_charge(&charge, &m, 1, NULL), ST_OK);
        assert_int_equal(filter_charge(&released, &joint, 1, NULL), ST_OK);
        assert_memory_equal(charge.at, released.at, sizeof charge.at);
        assert_true(released.delta == 0 && cost_delta(&joint) == 0);
        assert_true(charge.delta >= discovery_delta(&m) &&
                    charge.delta <= discovery_delta(&m) + FILTER_DELTA_UNIT);
        assert_int_equal(filter_charge(&charge, &m, 0, NULL), ST_OK);
        assert_true(charge.delta == 0);
        mechanism_fini(&m);
        mechanism_fini(&joint);
    }
}

static void other_discoveries_have_no_proof(void **state)
{
    (void)state;
    struct mechanism m = discovery_of(RELATION_ZERO_OUT, 7, 40, 1);
    assert_int_equal(cost_supports(&m, NULL), ST_OK);
    static const struct mechanism_discovery bad[] = {
        {1, 1},  {NAN, 1}, {INFINITY, 1},
        {40, 0}, {40, 2},  {40, MECHANISM_ROWS_MAX + 1}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        m.discovery = bad[i];
        assert_int_equal(cost_supports(&m, NULL), ST_INVALID);
    }
    m.discovery = (struct mechanism_discovery){40, 1};
    m.runs[0].steps = 2;
    assert_int_equal(cost_supports(&m, NULL), ST_INVALID);
    mechanism_fini(&m);
}

/* A sequence has no place for the threshold. */
static void a_sequence_has_no_discovery(void **state)
{
    (void)state;
    enum mechanism_kind kinds[] = {MECHANISM_GAUSSIAN, MECHANISM_DISCOVERY};
    struct mechanism_run runs[] = {{1, 7, 1}, {1, 8, 1}};
    const struct mechanism m = {.kind = MECHANISM_SEQUENCE,
                                .prefixes_priced = true,
                                .run_count = 2,
                                .runs = runs,
                                .run_kinds = kinds};
    assert_int_equal(cost_supports(&m, NULL), ST_INVALID);
}

static void its_text_has_the_threshold_and_the_rows(void **state)
{
    (void)state;
    struct mechanism m = discovery_of(RELATION_REPLACE_ONE, 7, 40.5, 16), read;
    char *text = mechanism_render(&m);
    assert_string_equal(text, "{\"kind\":\"discovery\",\"relation\":\"replace_one\","
                              "\"unit\":\"person\",\"runs\":[[1,7,1]],"
                              "\"texts\":[40.5,16],\"prefixes_priced\":true}");
    assert_int_equal(mechanism_parse(&read, text, NULL), ST_OK);
    assert_true(read.discovery.threshold == 40.5 && read.discovery.rows == 16);
    mechanism_fini(&read);
    free(text);
    static const char *const bad[] = {
        "{\"kind\":\"discovery\",\"relation\":\"zero_out\",\"runs\":[[1,7,1]],"
        "\"prefixes_priced\":true}",
        "{\"kind\":\"discovery\",\"relation\":\"zero_out\",\"runs\":[[1,7,1]],"
        "\"texts\":[40,2],\"prefixes_priced\":true}",
        "{\"kind\":\"discovery\",\"relation\":\"zero_out\",\"runs\":[[1,7,1]],"
        "\"texts\":[1,1],\"prefixes_priced\":true}",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(mechanism_parse(&read, bad[i], NULL), ST_INVALID);
    mechanism_fini(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(delta_bounds_every_split_of_every_unit),
        cmocka_unit_test(a_person_of_sixteen_rows_is_shown_ten_times_as_often),
        cmocka_unit_test(noise_and_thresholds_are_those_of_the_reference),
        cmocka_unit_test(the_threshold_is_the_least),
        cmocka_unit_test(a_look_at_true_counts_has_delta_one_half),
        cmocka_unit_test(its_curve_is_that_of_a_joint_release),
        cmocka_unit_test(other_discoveries_have_no_proof),
        cmocka_unit_test(a_sequence_has_no_discovery),
        cmocka_unit_test(its_text_has_the_threshold_and_the_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
