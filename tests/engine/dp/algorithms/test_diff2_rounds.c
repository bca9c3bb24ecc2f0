/* Goal: every step's release is the paper's, the mechanism is the list of the releases,
 * and the noise multipliers split the budget as in the paper. Method: the pseudocode,
 * round by round, and Proposition 4.1's table (papers/diff2.md 1.2, 1.6, 2.3). */
#include "engine/dp/algorithms/diff2_rounds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/expect.h"

static struct diff2_rounds gd(uint64_t steps, uint64_t interval)
{
    return (struct diff2_rounds){.steps = steps,
                                 .interval = interval,
                                 .local_steps = 1,
                                 .clients = 1,
                                 .restart_share = 0.8,
                                 .difference_share = 0.2};
}

/* The ratio of sigma1 and sigma2 for 16,510 records, R = 2000, delta 1e-5, epsilon
 * 3. */
static void differences_have_the_papers_noise(void **state)
{
    (void)state;
    static const struct {
        uint64_t interval, restarts;
        double sigma1, sigma2;
    } cases[] = {{6, 334, 4.287181e-3, 1.914988e-2},
                 {20, 100, 2.345840912e-3, 2.045056698e-2},
                 {60, 34, 1.367849e-3, 2.080273e-2},
                 {200, 10, 7.418200e-4, 2.092932e-2}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct diff2_rounds rounds = gd(2000, cases[k].interval);
        assert_int_equal(diff2_rounds_restarts(&rounds), cases[k].restarts);
        assert_close(diff2_rounds_ratio(&rounds, RELEASE_DIFFERENCE),
                     cases[k].sigma2 / cases[k].sigma1, 1e-6);
        assert_true(diff2_rounds_ratio(&rounds, RELEASE_RESTART) == 1);
    }
}

/* The sum of (1 / multiplier)^2 over the releases of each kind (1 / (2 g) for subsets)
 * is that kind's share of the whole. */
static void shares_are_kept(void **state)
{
    (void)state;
    const struct diff2_rounds rounds = {.steps = 300,
                                        .interval = 10,
                                        .local_steps = 10,
                                        .clients = 3,
                                        .local_rate = 0.025,
                                        .restart_share = 0.5,
                                        .difference_share = 0.25};
    double r = diff2_rounds_ratio(&rounds, RELEASE_DIFFERENCE);
    double l = diff2_rounds_ratio(&rounds, RELEASE_LOCAL) / (2 * 0.025);
    assert_int_equal(diff2_rounds_count(&rounds), 30);
    assert_int_equal(diff2_rounds_restarts(&rounds), 3);
    double parts[] = {3, 27 / (r * r), 9 * 10 / (l * l)};
    double whole = parts[0] + parts[1] + parts[2];
    assert_close(parts[0] / whole, 0.5, 1e-12);
    assert_close(parts[1] / whole, 0.25, 1e-12);
    assert_close(parts[2] / whole, 0.25, 1e-12);
}

/* Lists the mechanism step by step. */
static void unroll(const struct mechanism *m, const struct diff2_rounds *rounds)
{
    uint64_t step = 0;
    for (size_t k = 0; k < m->run_count; k++) {
        for (uint64_t i = 0; i < m->runs[k].steps; i++, step++) {
            uint64_t round = step / rounds->local_steps + 1;
            bool first = step % rounds->local_steps == 0;
            bool restart = first && (round - 1) % rounds->interval == 0;
            enum diff2_release release = restart ? RELEASE_RESTART
                                         : first ? RELEASE_DIFFERENCE
                                                 : RELEASE_LOCAL;
            assert_int_equal(diff2_rounds_release(rounds, step), release);
            assert_true(m->runs[k].noise_multiplier ==
                        1.5 * diff2_rounds_ratio(rounds, release));
            assert_true(m->runs[k].sampling_rate ==
                        (release == RELEASE_LOCAL ? rounds->local_rate : 1));
        }
    }
    assert_int_equal(step, rounds->steps);
    assert_int_equal(mechanism_steps(m), rounds->steps);
}

static void the_mechanism_is_the_list_of_releases(void **state)
{
    (void)state;
    static const struct {
        uint64_t steps, interval, local_steps, clients;
    } cases[] = {{1, 1, 1, 1},   {7, 1, 1, 1},   {7, 3, 1, 2},  {2000, 6, 1, 1},
                 {50, 50, 1, 1}, {50, 99, 1, 1}, {1, 5, 4, 1},  {3, 5, 4, 2},
                 {80, 5, 4, 3},  {83, 5, 4, 3},  {83, 1, 4, 3}, {12, 2, 12, 1}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct mechanism m = {0};
        struct diff2_rounds rounds = {.steps = cases[k].steps,
                                      .interval = cases[k].interval,
                                      .local_steps = cases[k].local_steps,
                                      .clients = cases[k].clients,
                                      .local_rate = 0.125,
                                      .restart_share = 0.5,
                                      .difference_share = 0.25};
        assert_int_equal(
            diff2_rounds_plan(&m, &rounds, RELATION_REPLACE_ONE, 1.5, NULL), ST_OK);
        assert_int_equal(m.kind, cases[k].local_steps > 1 ? MECHANISM_FIXED_SUBSET
                                                          : MECHANISM_GAUSSIAN);
        assert_int_equal(m.relation, RELATION_REPLACE_ONE);
        assert_true(m.prefixes_priced);
        bool turns = cases[k].local_steps > 1 && cases[k].clients > 1;
        assert_int_equal(m.turns, turns ? cases[k].clients : 0);
        assert_true(mechanism_extra_valid(&m));
        unroll(&m, &rounds);
        mechanism_fini(&m);
    }
}

static void canonical_text_is_what_one_would_write(void **state)
{
    (void)state;
    struct mechanism m = {0};
    struct diff2_rounds rounds = {.steps = 9,
                                  .interval = 2,
                                  .local_steps = 3,
                                  .clients = 1,
                                  .local_rate = 0.5,
                                  .restart_share = 0.5,
                                  .difference_share = 0.25};
    assert_int_equal(diff2_rounds_plan(&m, &rounds, RELATION_ZERO_OUT, 2, NULL), ST_OK);
    char *text = mechanism_render(&m);
    /* R = 3, k = 2, L = 6: ratios sqrt(1 .5 / (2 .25)) = 1
     * and 2 .5 sqrt(6 .5 / (2 .25)). */
    assert_string_equal(text,
                        "{\"kind\":\"fixed_subset\",\"relation\":\"zero_out\",\"runs\":"
                        "[[1,2,1],[0.5,4.8989794855663558,2],[1,2,1],"
                        "[0.5,4.8989794855663558,2],[1,2,1],"
                        "[0.5,4.8989794855663558,2]],\"prefixes_priced\":true}");
    free(text);
    mechanism_fini(&m);
}

/* 1 + (r mod P) of rounds and clients from 1: 2, 3, 1, 2, 3, 1; and how often each. */
static void clients_take_turns(void **state)
{
    (void)state;
    const struct diff2_rounds rounds = {
        .steps = 28, .interval = 9, .local_steps = 4, .clients = 3};
    static const uint64_t order[] = {1, 2, 0, 1, 2, 0, 1};
    uint64_t turns[3] = {0};
    for (uint64_t step = 0; step < rounds.steps; step++)
        assert_int_equal(diff2_rounds_client(&rounds, step), order[step / 4]);
    for (uint64_t round = 0; round < 7; round++)
        turns[order[round]]++;
    /* m_p = floor(R / P) for p = 1, else floor((R - (p - 1)) / P) + 1. */
    assert_int_equal(turns[0], 7 / 3);
    assert_int_equal(turns[1], (7 - 1) / 3 + 1);
    assert_int_equal(turns[2], (7 - 2) / 3 + 1);
}

static void what_cannot_be_priced_is_refused(void **state)
{
    (void)state;
    struct mechanism m = {0};
    struct error error = {0};
    struct diff2_rounds rounds = gd(1000000, 2);
    assert_int_equal(diff2_rounds_plan(&m, &rounds, RELATION_ZERO_OUT, 1, &error),
                     ST_INVALID);
    assert_string_equal(error.pointer, "/algorithm/restart_interval");
    rounds = gd(1000000, 1000);
    assert_int_equal(diff2_rounds_plan(&m, &rounds, RELATION_ZERO_OUT, 1, NULL), ST_OK);
    mechanism_fini(&m);
    rounds = gd(1000000, 1);
    assert_int_equal(diff2_rounds_plan(&m, &rounds, RELATION_ZERO_OUT, 1, NULL), ST_OK);
    assert_int_equal(m.run_count, 1);
    mechanism_fini(&m);
    rounds.local_steps = 2;
    error = (struct error){0};
    assert_int_equal(diff2_rounds_plan(&m, &rounds, RELATION_ZERO_OUT, 1, &error),
                     ST_INVALID);
    assert_string_equal(error.pointer, "/algorithm/local_steps");
    rounds = gd(1000, 20); /* a ratio of sqrt(19 x 4) = 8.7 */
    static const double noises[] = {0, NAN, 0.049, 1.2e5, 1e6, INFINITY};
    for (size_t k = 0; k < sizeof noises / sizeof *noises; k++) {
        error = (struct error){0};
        assert_int_equal(
            diff2_rounds_plan(&m, &rounds, RELATION_ZERO_OUT, noises[k], &error),
            ST_INVALID);
        assert_non_null(strstr(
            error.text, noises[k] > 1 && noises[k] < 1e9 ? "differences" : "restarts"));
    }
    assert_int_equal(diff2_rounds_plan(&m, &rounds, RELATION_ZERO_OUT, 1.1e5, NULL),
                     ST_OK);
    mechanism_fini(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(differences_have_the_papers_noise),
        cmocka_unit_test(shares_are_kept),
        cmocka_unit_test(the_mechanism_is_the_list_of_releases),
        cmocka_unit_test(canonical_text_is_what_one_would_write),
        cmocka_unit_test(clients_take_turns),
        cmocka_unit_test(what_cannot_be_priced_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
