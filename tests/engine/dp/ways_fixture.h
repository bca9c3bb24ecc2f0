/*
 * ways_fixture.h - every way in which a private row of the algorithm table can be run.
 * A test written for all ways covers a new row, or a new parameter of an old row,
 * without naming it.
 *
 * A way of a row is one combination of its choices and flags with all numbers at their
 * defaults; or the same with one number changed: to 0 if that is allowed, as 0 often
 * switches a part off, and a count to one more than its default, as 1 often hides a
 * loop. A combination that plan or start refuses is not a way. Rows whose sums may have
 * cells of one unit (cell_size.h) are run with such cells too.
 */
#ifndef TESTS_ENGINE_DP_WAYS_FIXTURE_H
#define TESTS_ENGINE_DP_WAYS_FIXTURE_H

#include "engine/dp/algorithms/registry.h"
#include "tests/engine/dp/algorithm_fixture.h"
#include "tests/engine/dp/single_cells_fixture.h"

struct way {
    struct algorithm_spec spec;
    struct mechanism mechanism; /* as planned */
    struct kit_setup setup;     /* the request, plus what the row decides */
    char name[256]; /* row and differences from its defaults, for messages */
};

/* A check that is called for each way. It borrows way. */
typedef void way_check(const struct way *way);

struct ways { /* the ways of one row */
    const struct kit_setup *like;
    way_check *check;
    size_t count; /* accepted ways */
};

static inline void way_describe(struct way *way)
{
    const struct algorithm *row = way->spec.algorithm;
    size_t end = (size_t)snprintf(way->name, sizeof way->name, "%s%s", row->name,
                                  single_cells ? " in single cells" : "");
    for (size_t k = 0; k < row->parameter_count && end < sizeof way->name; k++) {
        const struct algorithm_parameter *p = &row->parameters[k];
        double value = way->spec.values[k];
        if (isnan(value) || value == p->fallback)
            continue;
        if (p->kind == PARAMETER_CHOICE)
            end += (size_t)snprintf(way->name + end, sizeof way->name - end, " %s=%s",
                                    p->name, p->choices[(size_t)value]);
        else
            end += (size_t)snprintf(way->name + end, sizeof way->name - end, " %s=%g",
                                    p->name, value);
    }
}

/* A row that has only full batches gets them, its own model, and its own rate. */
static inline void way_settle(struct way *way)
{
    const struct algorithm *row = way->spec.algorithm;
    struct optimizer_spec *optimizer = &way->setup.optimizer;
    struct kit kit = {.spec = way->spec};
    kit_choose_model(&way->setup, row);
    if (row->full_batch)
        way->setup.batch_size = way->setup.data->records;
    if (row->learning_rate == NULL)
        return;
    kit_compile(&kit, &way->setup);
    struct algorithm_model model = kit_model(&kit);
    optimizer->learning_rate =
        row->learning_rate(&kit.inputs, &model, optimizer->learning_rate);
    optimizer->learning_rate_final = optimizer->learning_rate;
    kit_close(&kit);
}

/* Returns whether plan and start accept the way; if so, the caller owns mechanism. */
static inline bool way_accepted(struct way *way)
{
    struct kit kit = {.spec = way->spec};
    enum status status = kit_start(&kit, &way->setup, NULL);
    if (status == ST_OK && single_cells)
        assert_true(
            grid_is_single(&algorithm_noise(way->spec.algorithm, kit.state)->grid));
    if (status == ST_OK)
        status = way->spec.algorithm->plan(&way->mechanism, &kit.inputs, NULL);
    kit_close(&kit);
    return status == ST_OK;
}

static inline void ways_offer(struct ways *ways, const struct algorithm_spec *spec)
{
    struct way way = {.spec = *spec, .setup = *ways->like};
    way_settle(&way);
    if (!way_accepted(&way))
        return;
    way_describe(&way);
    ways->count++;
    ways->check(&way);
    mechanism_fini(&way.mechanism);
}

static inline void ways_vary_numbers(struct ways *ways,
                                     const struct algorithm_spec *spec)
{
    for (size_t k = 0; k < spec->algorithm->parameter_count; k++) {
        const struct algorithm_parameter *p = &spec->algorithm->parameters[k];
        struct algorithm_spec varied = *spec;
        bool is_number = p->kind == PARAMETER_REAL || p->kind == PARAMETER_COUNT;
        if (!is_number || isnan(spec->values[k]) || !algorithm_applies(spec, p))
            continue;
        varied.values[k] = 0;
        if (p->low == 0 && !p->low_open && p->fallback != 0)
            ways_offer(ways, &varied);
        varied.values[k] = p->fallback + 1;
        if (p->kind == PARAMETER_COUNT && varied.values[k] <= p->high)
            ways_offer(ways, &varied);
    }
}

/* Returns whether parameters without meaning for spec's other values have their
 * defaults. */
static inline bool ways_sensible(const struct algorithm_spec *spec)
{
    for (size_t k = 0; k < spec->algorithm->parameter_count; k++) {
        const struct algorithm_parameter *p = &spec->algorithm->parameters[k];
        if (!p->optional && spec->values[k] != p->fallback &&
            !algorithm_applies(spec, p))
            return false;
    }
    return true;
}

/* Tries all combinations of the choices and flags from parameter k on. */
static inline void ways_choose(struct ways *ways, struct algorithm_spec *spec, size_t k)
{
    if (k == spec->algorithm->parameter_count) {
        if (!ways_sensible(spec))
            return;
        ways_offer(ways, spec);
        ways_vary_numbers(ways, spec);
        return;
    }
    const struct algorithm_parameter *p = &spec->algorithm->parameters[k];
    double usual = spec->values[k];
    size_t count = p->kind == PARAMETER_FLAG ? 2 : 0;
    while (p->kind == PARAMETER_CHOICE && p->choices[count] != NULL)
        count++;
    for (size_t value = 0; value < count; value++) {
        spec->values[k] = (double)value;
        ways_choose(ways, spec, k + 1);
    }
    spec->values[k] = usual;
    if (count == 0)
        ways_choose(ways, spec, k + 1);
}

/* Returns the number of ways of a row. */
static inline size_t ways_of(const struct algorithm *row, const struct kit_setup *like,
                             way_check *check)
{
    struct algorithm_spec spec;
    struct ways ways = {.like = like, .check = check};
    algorithm_spec_init(&spec, row);
    ways_choose(&ways, &spec, 0);
    return ways.count;
}

/* Calls check on every way of every private row under a setup like this one, and
 * returns how many rows have no way. Keys come from random_bytes. */
static inline size_t ways_each(const struct kit_setup *like, way_check *check)
{
    struct kit_setup setup = *like;
    size_t rows = 0, refused = 0;
    setup.from_kernel = true;
    for (size_t k = 0; algorithms[k] != NULL; k++) {
        if (!algorithms[k]->is_private)
            continue;
        size_t count = ways_of(algorithms[k], &setup, check);
        refused += count == 0;
        rows++;
        if (RACES_SOUGHT || !algorithm_takes_single_cells(algorithms[k]))
            continue; /* threads behave the same with cells of any size */
        single_cells = true;
        assert_int_equal(ways_of(algorithms[k], &setup, check), count);
        single_cells = false;
    }
    assert_true(rows > refused);
    return refused;
}

/* Returns the run of way's mechanism that contains step. */
static inline struct mechanism_run way_run(const struct way *way, uint64_t step)
{
    const struct mechanism *m = &way->mechanism;
    size_t k = 0;
    for (; k + 1 < m->run_count && step >= m->runs[k].steps; k++)
        step -= m->runs[k].steps;
    return m->runs[k];
}

#endif
