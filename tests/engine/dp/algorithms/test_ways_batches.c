/* Goal: in every way of running a private row the batch of each step is exactly the one
 * that its charge assumes: complete, newly drawn, and drawn by a key that the noise
 * does not use. Method: compares the records that each step reads with the batch that
 * the proven scheme draws from one of the step's new keys; and counts how often each
 * record is read. */
#include "tests/expect.h"

#include "engine/sampling/partition.h"
#include "engine/sampling/poisson.h"
#include "engine/sampling/fixed_size_subset.h"
#include "engine/dp/algorithms/diff2_shards.h"
#include "tests/engine/dp/noise_law_oracle.h"
#include "tests/engine/dp/points_fixture.h"
#include "tests/engine/dp/trace_fixture.h"

enum scheme { SCHEME_ALL, SCHEME_POISSON, SCHEME_PARTITION, SCHEME_SUBSET };

/* The sampling scheme that the mechanism's proof assumes for a step. A new kind of
 * mechanism breaks the build until its scheme is added here. */
static enum scheme scheme_of(const struct way *way, size_t step)
{
    const struct mechanism *m = &way->mechanism;
    double rate = way_run(way, step).sampling_rate;
    switch (m->kind) {
    case MECHANISM_SAMPLED_GAUSSIAN:
    case MECHANISM_FILTERED_GAUSSIAN: return rate < 1 ? SCHEME_POISSON : SCHEME_ALL;
    case MECHANISM_FIXED_SUBSET: return rate < 1 ? SCHEME_SUBSET : SCHEME_ALL;
    case MECHANISM_ERROR_FEEDBACK:
        /* m1 of period 1 bounds any batches, and draws them at the rate. */
        return m->error_feedback.period > 1 ? SCHEME_PARTITION : SCHEME_POISSON;
    case MECHANISM_GAUSSIAN:
    case MECHANISM_JOINT_RELEASE:
    case MECHANISM_DISCOVERY:
    case MECHANISM_LAPLACE:
    case MECHANISM_ZCDP:
    case MECHANISM_PURE:
    case MECHANISM_SEQUENCE: break;
    }
    return SCHEME_ALL;
}

struct draws { /* state of the schemes */
    struct poisson *poisson;
    struct partition partition;
    struct fixed_size_subset subset;
    uint32_t *indices;
    uint8_t *uses; /* (records) uses in the expected batch */
    size_t records;
};

static void draws_open(struct draws *draws, size_t records)
{
    *draws = (struct draws){.poisson = poisson_create(), .records = records};
    draws->indices = calloc(records, sizeof *draws->indices);
    draws->uses = calloc(records, sizeof *draws->uses);
    assert_true(draws->indices != NULL && draws->uses != NULL);
    assert_int_equal(partition_init(&draws->partition, records, NULL), ST_OK);
    assert_int_equal(fixed_size_subset_init(&draws->subset, records, NULL), ST_OK);
}

static void draws_close(struct draws *draws)
{
    poisson_destroy(draws->poisson);
    partition_fini(&draws->partition);
    fixed_size_subset_fini(&draws->subset);
    free(draws->indices);
    free(draws->uses);
}

static bool same_batch(struct draws *draws, size_t count, const struct trace_step *step)
{
    memset(draws->uses, 0, draws->records);
    for (size_t k = 0; k < count; k++)
        draws->uses[draws->indices[k]]++;
    return memcmp(draws->uses, step->uses, draws->records) == 0;
}

/* The rate of the charge if the charge is for a drawn batch; else the rate of the
 * job. */
static double rate_of(const struct way *way, size_t step)
{
    double rate = way_run(way, step).sampling_rate;
    const struct kit_setup *setup = &way->setup;
    return rate < 1 ? rate : (double)setup->batch_size / (double)setup->data->records;
}

static bool is_poisson(struct draws *draws, double rate, const struct trace_step *step,
                       const struct noise_key *key)
{
    size_t count = poisson_draw(draws->poisson, draws->indices,
                                (uint32_t)draws->records, rate, key);
    return same_batch(draws, count, step);
}

/* The key is that of the step in which the period began. */
static bool is_dealt(struct draws *draws, const struct way *way,
                     const struct trace *trace, size_t k, size_t source)
{
    size_t period = (size_t)way->mechanism.error_feedback.period, place = k % period;
    partition_deal(&draws->partition, period, &trace->steps[k - place].keys[source]);
    size_t count = partition_take(&draws->partition, draws->indices, place);
    return same_batch(draws, count, &trace->steps[k]);
}

/* Returns which of the groups that take turns has a local step: one turn per run of
 * subsets. */
static size_t turn_of(const struct way *way, size_t step)
{
    const struct mechanism *m = &way->mechanism;
    size_t turn = 0;
    for (size_t k = 0; k < m->run_count && step >= m->runs[k].steps; k++) {
        step -= m->runs[k].steps;
        turn += m->runs[k].sampling_rate < 1;
    }
    return turn;
}

static bool is_subset(struct draws *draws, const struct way *way, size_t k,
                      const struct trace_step *step, const struct noise_key *key)
{
    uint64_t groups = way->mechanism.turns > 0 ? way->mechanism.turns : 1;
    struct diff2_shards shards = {.records = draws->records, .clients = groups};
    /* The second client has the first round's turn (diff2_rounds.h). */
    struct index_range range =
        diff2_shards_range(&shards, (turn_of(way, k) + 1) % groups);
    double rate = way_run(way, k).sampling_rate;
    size_t size = (size_t)llrint(rate * (double)diff2_shards_least(&shards));
    fixed_size_subset_draw(&draws->subset, draws->indices, range, size, key);
    return same_batch(draws, size, step);
}

static bool is_all(const struct draws *draws, const struct trace_step *step)
{
    for (size_t i = 0; i < draws->records; i++)
        if (step->uses[i] != 1)
            return false;
    return true;
}

static bool fits(struct draws *draws, const struct way *way, const struct trace *trace,
                 size_t k, size_t source)
{
    const struct trace_step *step = &trace->steps[k];
    const struct noise_key *key = &step->keys[source];
    switch (scheme_of(way, k)) {
    case SCHEME_ALL: break;
    case SCHEME_POISSON: return is_poisson(draws, rate_of(way, k), step, key);
    case SCHEME_PARTITION: return is_dealt(draws, way, trace, k, source);
    case SCHEME_SUBSET: return is_subset(draws, way, k, step, key);
    }
    return is_all(draws, step);
}

/* Returns the first step (from 1) whose batch this source's keys do not draw; 0 if
 * there is none. */
static size_t first_unfit(struct draws *draws, const struct way *way,
                          const struct trace *trace, size_t source)
{
    for (size_t k = 0; k < trace->step_count; k++)
        if (!fits(draws, way, trace, k, source))
            return k + 1;
    return 0;
}

static bool makes_noise(const struct trace *trace, size_t source)
{
    for (size_t k = 0; k < trace->step_count; k++)
        for (size_t r = 0; r < trace->steps[k].release_count; r++)
            if (memcmp(&trace->steps[k].releases[r].key, &trace->steps[k].keys[source],
                       sizeof(struct noise_key)) == 0)
                return true;
    return false;
}

/* One source of keys draws every batch, and it is not the source of the noise. */
static void assert_drawn(const struct way *way, const struct trace *trace)
{
    struct draws draws;
    size_t furthest = 1;
    bool drawn = false;
    draws_open(&draws, trace->records);
    for (size_t source = 0; source < trace->steps[0].key_count && !drawn; source++) {
        size_t unfit = first_unfit(&draws, way, trace, source);
        furthest = unfit > furthest ? unfit : furthest;
        drawn = unfit == 0 && !makes_noise(trace, source);
    }
    if (!drawn)
        fail_msg("%s: the batch of step %zu is not what a fresh key of its own draws",
                 way->name, furthest);
    draws_close(&draws);
}

static void the_batch_is_drawn(const struct way *way)
{
    const struct trace_setup setup = {.way = way, .salt = 4};
    struct trace *trace = trace_take(&setup);
    assert_drawn(way, trace);
    trace_free(trace);
}

struct job {
    size_t records;
    uint64_t batch_size, steps;
    unsigned threads;
};

static void batches_of_each(struct job job)
{
    struct points points;
    points_create(&points, job.records, 2, 0);
    struct kit_setup setup = points_setup(&points, job.batch_size, job.steps);
    setup.threads = job.threads;
    assert_int_equal(ways_each(&setup, the_batch_is_drawn), 0);
    points_destroy(&points);
}

static void batches_of_one_record_are_as_drawn(void **state)
{
    (void)state;
    batches_of_each((struct job){24, 1, 60, 1});
}

static void batches_of_some_records_are_as_drawn(void **state)
{
    (void)state;
    batches_of_each((struct job){24, 7, 60, 1});
}

/* Two threads draw, there are many cells, and a micro-batch holds few of them. */
static void batches_of_many_records_are_as_drawn(void **state)
{
    (void)state;
    batches_of_each((struct job){POISSON_PART + 3000, 3000, 12, 2});
}

/* This is about one record in step_count steps at this rate: chi-square over the
 * records. */
static void assert_binomial(const struct way *way, const double *uses, size_t records,
                            double steps, double rate)
{
    double squares = 0, variance = steps * rate * (1 - rate);
    for (size_t i = 0; i < records; i++)
        squares += pow(uses[i] - steps * rate, 2) / variance;
    /* Between both bounds of the chi-square law. */
    double a = 2 / (9 * (double)records);
    double least = (double)records * pow(1 - a - law_one_sided * sqrt(a), 3);
    if (squares > law_chi_square_bound((double)records) || squares < least)
        fail_msg("%s: squares of %g about the mean, of %zu records", way->name, squares,
                 records);
}

/* Two successive steps share a record as often as independent steps do: not never, as
 * if records took turns, and not always, as if a batch were repeated. */
static void assert_fresh(const struct way *way, const struct trace *trace, double rate)
{
    double shared = 0, pairs = (double)((trace->step_count - 1) * trace->records);
    for (size_t k = 1; k < trace->step_count; k++)
        for (size_t i = 0; i < trace->records; i++)
            shared += trace->steps[k - 1].uses[i] * trace->steps[k].uses[i];
    /* Successive pairs of steps share one step and so are dependent. */
    double both = rate * rate;
    double variance = pairs * (both * (1 - both) + 2 * (rate * both - both * both));
    if (fabs(shared - pairs * both) > law_two_sided * sqrt(variance))
        fail_msg("%s: %g records shared with the step before, %g expected", way->name,
                 shared, pairs * both);
}

static void assert_uses(const struct way *way, const struct trace *trace)
{
    double *uses = calloc(trace->records, sizeof *uses);
    double rate = rate_of(way, 0);
    size_t period = (size_t)way->mechanism.error_feedback.period;
    enum scheme scheme = scheme_of(way, 0);
    assert_non_null(uses);
    for (size_t k = 0; k < trace->step_count; k++)
        for (size_t i = 0; i < trace->records; i++) {
            uses[i] += trace->steps[k].uses[i];
            if (trace->steps[k].uses[i] > 1)
                fail_msg("%s, step %zu: record %zu is read twice", way->name, k + 1, i);
            if (scheme == SCHEME_PARTITION && (k + 1) % period == 0 &&
                uses[i] != (double)((k + 1) / period))
                fail_msg("%s, step %zu: record %zu was in %g batches of %zu epochs",
                         way->name, k + 1, i, uses[i], (k + 1) / period);
        }
    if (scheme == SCHEME_POISSON) {
        assert_binomial(way, uses, trace->records, (double)trace->step_count, rate);
        assert_fresh(way, trace, rate);
    }
    free(uses);
}

static void records_are_used_as_charged(const struct way *way)
{
    const struct trace_setup setup = {.way = way, .salt = 5};
    struct trace *trace = trace_take(&setup);
    assert_uses(way, trace);
    trace_free(trace);
}

static void uses_of_each_record_are_those_of_the_charge(void **state)
{
    (void)state;
    struct points points;
    points_create(&points, 200, 2, 0);
    struct kit_setup setup = points_setup(&points, 40, 60);
    assert_int_equal(ways_each(&setup, records_are_used_as_charged), 0);
    points_destroy(&points);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches_of_one_record_are_as_drawn),
        cmocka_unit_test(batches_of_some_records_are_as_drawn),
        cmocka_unit_test(batches_of_many_records_are_as_drawn),
        cmocka_unit_test(uses_of_each_record_are_those_of_the_charge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
