/*
 * worst_estimates_fixture.h - the requests that take longest to price, and what an
 * estimate computes for each: the noise for its target, the figure at that noise, and
 * the charge.
 */
#ifndef TESTS_ACCOUNTANT_WORST_ESTIMATES_FIXTURE_H
#define TESTS_ACCOUNTANT_WORST_ESTIMATES_FIXTURE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/pricing/figures.h"
#include "accountant/pricing/filter.h"
#include "accountant/mechanisms/error_feedback.h"
#include "base/check.h"

enum { WORST_LEVELS = 4096 };

struct worst_estimate {
    const char *name;
    enum mechanism_kind kind;
    enum relation relation;
    size_t levels;
    uint64_t steps; /* in all */
    double rate;
    bool by_losses;
    double epsilon; /* the target; 0: the noise is given */
    double delta, noise;
};

static const struct worst_estimate worst_estimates[] = {
    {"adp, 100 levels, target", MECHANISM_SAMPLED_GAUSSIAN, RELATION_ZERO_OUT, 100,
     10000000, 1e-3, false, 2, 1e-5, 1},
    {"adp, 100 levels, rate .5, target", MECHANISM_SAMPLED_GAUSSIAN, RELATION_ZERO_OUT,
     100, 10000000, .5, false, 2, 1e-5, 1},
    {"adp, 100 levels, rate .999, target", MECHANISM_SAMPLED_GAUSSIAN,
     RELATION_ZERO_OUT, 100, 10000000, .999, false, 2, 1e-5, 1},
    {"adp, 100 levels, rate 1e-8, target", MECHANISM_SAMPLED_GAUSSIAN,
     RELATION_ZERO_OUT, 100, 10000000, 1e-8, false, .01, 1e-9, 1},
    {"adp, 100 levels, small noise, target", MECHANISM_SAMPLED_GAUSSIAN,
     RELATION_ZERO_OUT, 100, 10000, 1e-6, false, 900, 1e-5, 1},
    {"adp, 100 levels, replace one, target", MECHANISM_SAMPLED_GAUSSIAN,
     RELATION_REPLACE_ONE, 100, 10000000, 1e-3, false, 2, 1e-5, 1},
    {"adp, 100 levels, noise given", MECHANISM_SAMPLED_GAUSSIAN, RELATION_ZERO_OUT, 100,
     10000000, 1e-3, false, 0, 1e-5, 60},
    {"adp, 100 levels, least noise, given", MECHANISM_SAMPLED_GAUSSIAN,
     RELATION_ZERO_OUT, 100, 10000000, 1e-6, false, 0, 1e-5, 3.6},
    {"adp, 2 levels, least noise, given", MECHANISM_SAMPLED_GAUSSIAN, RELATION_ZERO_OUT,
     2, 10000000, 1e-6, false, 0, 1e-5, .0513},
    {"adp, 100 levels, pld, target", MECHANISM_SAMPLED_GAUSSIAN, RELATION_ZERO_OUT, 100,
     10000000, 1e-3, true, 2, 1e-5, 1},
    {"adp, 100 levels, pld, noise given", MECHANISM_SAMPLED_GAUSSIAN, RELATION_ZERO_OUT,
     100, 10000000, 1e-3, true, 0, 1e-5, 60},
    {"dpsgd, 1e7 steps, target", MECHANISM_SAMPLED_GAUSSIAN, RELATION_ZERO_OUT, 1,
     10000000, 1e-3, false, 2, 1e-5, 1},
    {"dpsgd, 1e7 steps, pld, target", MECHANISM_SAMPLED_GAUSSIAN, RELATION_ZERO_OUT, 1,
     10000000, 1e-3, true, 2, 1e-5, 1},
    {"dpsgd, 1e5 steps, pld, target", MECHANISM_SAMPLED_GAUSSIAN, RELATION_ZERO_OUT, 1,
     100000, 1e-3, true, 2, 1e-5, 1},
    {"dpsgd, 1e5 steps, rate 1e-4, pld, target", MECHANISM_SAMPLED_GAUSSIAN,
     RELATION_ZERO_OUT, 1, 100000, 1e-4, true, 2, 1e-5, 1},
    {"dpsgd, 1e5 steps, rate 1e-5, pld, target", MECHANISM_SAMPLED_GAUSSIAN,
     RELATION_ZERO_OUT, 1, 100000, 1e-5, true, 1, 1e-5, 1},
    {"adp, 8 levels, pld, target", MECHANISM_SAMPLED_GAUSSIAN, RELATION_ZERO_OUT, 8,
     100000, 1e-3, true, 2, 1e-5, 1},
    {"dpsgd, 1e3 steps, pld, target", MECHANISM_SAMPLED_GAUSSIAN, RELATION_ZERO_OUT, 1,
     1000, 1e-2, true, 2, 1e-5, 1},
    {"dicesgd, m3, most steps, target", MECHANISM_ERROR_FEEDBACK, RELATION_ZERO_OUT, 1,
     ERROR_FEEDBACK_SAMPLED_STEPS_MAX, 1e-2, false, 2, 1e-5, 1},
    {"dicesgd, m3, most steps, rate .5, target", MECHANISM_ERROR_FEEDBACK,
     RELATION_ZERO_OUT, 1, ERROR_FEEDBACK_SAMPLED_STEPS_MAX, .5, false, 2, 1e-5, 1},
    {"joint release, 1e7 steps, target", MECHANISM_JOINT_RELEASE, RELATION_ZERO_OUT, 1,
     10000000, 1, false, 2, 1e-5, 1},
    {"fixed subset, 1e7 steps, target", MECHANISM_FIXED_SUBSET, RELATION_REPLACE_ONE, 1,
     10000000, 1e-3, false, 2, 1e-5, 1},
    {"fixed subset, 4096 runs in turns, target", MECHANISM_FIXED_SUBSET,
     RELATION_ZERO_OUT, 4096, 10000000, 1e-3, false, 2, 1e-5, 1},
    {"gaussian, 4096 runs, target", MECHANISM_GAUSSIAN, RELATION_ZERO_OUT, 4096,
     10000000, 1, false, 2, 1e-5, 1},
    {"filtered, 1e7 steps, target", MECHANISM_FILTERED_GAUSSIAN, RELATION_ZERO_OUT, 1,
     10000000, 1e-3, false, 2, 1e-5, 1},
};
static const size_t worst_estimate_count =
    sizeof worst_estimates / sizeof *worst_estimates;

/* Noise levels fall; a subset is released in turns with a sum over all records. */
static inline struct mechanism_run worst_estimate_run(const struct worst_estimate *w,
                                                      size_t i, double noise)
{
    bool in_turns = w->kind == MECHANISM_FIXED_SUBSET && w->levels > 1;
    return (struct mechanism_run){
        .sampling_rate = in_turns && i % 2 == 0 ? 1 : w->rate,
        .noise_multiplier = noise * exp(in_turns ? -(double)(i % 2)
                                                 : -(double)i / 40 * 100 /
                                                       fmax(100, (double)w->levels)),
        .steps = w->steps / w->levels};
}

static inline double worst_estimate_answer(const struct worst_estimate *w)
{
    static struct mechanism_run runs[WORST_LEVELS];
    struct error error = {0};
    struct mechanism m = {.kind = w->kind,
                          .relation = w->relation,
                          .prefixes_priced = w->kind != MECHANISM_FILTERED_GAUSSIAN,
                          .run_count = w->levels,
                          .runs = runs};
    if (w->kind == MECHANISM_ERROR_FEEDBACK) {
        m.error_feedback.bound = ERROR_FEEDBACK_M3;
        m.prefixes_priced = false;
        m.error_feedback.rest = .5;
        m.error_feedback.error_clip = 1;
    }
    if (w->kind == MECHANISM_FILTERED_GAUSSIAN) {
        m.filter.noise_share = .5;
        m.filter.order_max = 32;
    }
    for (size_t i = 0; i < w->levels; i++)
        runs[i] = worst_estimate_run(w, i, w->noise);
    double noise = w->noise;
    enum status status = ST_OK;
    if (w->epsilon > 0)
        status = (w->by_losses ? figure_noise_pld : figure_noise)(
            &noise, &m, w->epsilon, w->delta, &error);
    if (status != ST_OK) {
        printf("%s: refused: %s\n", w->name, error.text);
        return 0;
    }
    for (size_t i = 0; i < w->levels; i++)
        runs[i] = worst_estimate_run(w, i, noise);
    struct figure figure;
    struct curve charge;
    status = figure_affords(&m, &error);
    if (status == ST_OK)
        status = (w->by_losses ? figure_epsilon_pld : figure_epsilon)(
            &figure, &m, mechanism_steps(&m), w->delta, &error);
    if (status == ST_OK)
        status = filter_charge(&charge, &m, mechanism_steps(&m), &error);
    if (status != ST_OK) {
        printf("%s: refused: %s\n", w->name, error.text);
        return 0;
    }
    CHECK(w->epsilon == 0 || figure.epsilon <= w->epsilon);
    return noise;
}

#endif
