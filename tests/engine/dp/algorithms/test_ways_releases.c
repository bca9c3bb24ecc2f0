/* Goal: in every way of running a private row, only sums leave a step, with the planned
 * noise, over a public divisor, however many records the batch holds, even none;
 * nothing else that a step does depends on the records. Method: compares each release
 * with its own sum, noise and divisor; and pairs of jobs on other records and other
 * batches that receive the same releases. */
#include "tests/expect.h"

#include "tests/engine/dp/noise_law_oracle.h"
#include "tests/engine/dp/points_fixture.h"
#include "tests/engine/dp/trace_fixture.h"

/* With FEATURES a sum has more coordinates than a chunk of noise. */
enum { RECORDS = 24, FEATURES = 350, STEPS = 60 };

/* The smallest and the largest batch that the jobs of one batch size drew. */
static size_t smallest, largest;

static void note_batch(const struct way *way, const struct trace_step *step)
{
    if (way->spec.algorithm->full_batch)
        return;
    smallest = step->batch < smallest ? step->batch : smallest;
    largest = step->batch > largest ? step->batch : largest;
}

/* Checks out = (sum + X + 1/2) / (G divisor) at every coordinate, where X is the noise
 * of the release's own key and query. */
static void assert_is_noisy_sum(const struct way *way, size_t step,
                                const struct trace_release *release,
                                struct noise *noise)
{
    int64_t drawn[NOISE_CHUNK];
    const struct noise_address address = {&release->key, release->query};
    double unit = 1 / (release->scale * release->divisor);
    for (size_t j = 0; j < release->count; j++) {
        if (j % NOISE_CHUNK == 0)
            noise_draw(noise, drawn, &address, j / NOISE_CHUNK, 1);
        int64_t noisy =
            (int64_t)((uint64_t)release->sum[j] + (uint64_t)drawn[j % NOISE_CHUNK]);
        double whole = ((double)noisy + 0.5) * unit;
        double expected = release->of_counts ? whole : (double)(float)whole;
        if (release->out[j] != expected)
            fail_msg("%s, step %zu, release %llu, coordinate %zu: %.9g, not %.9g",
                     way->name, step + 1, (unsigned long long)release->query, j,
                     release->out[j], expected);
    }
}

/* The added noise has the deviation of the grid, 2^36 steps, over any stretch: squares
 * within the bounds of chi-square. */
static void assert_deviation(const struct way *way, size_t k,
                             const struct trace_step *step,
                             const struct trace_release *release)
{
    enum { STRETCH = 256 };
    for (size_t first = 0; first + STRETCH <= release->count; first += STRETCH) {
        double squares = 0, a = 2 / (9 * (double)STRETCH);
        for (size_t j = first; j < first + STRETCH; j++) {
            double noisy = release->out[j] * release->scale * release->divisor;
            squares += pow((noisy - (double)release->sum[j]) / GRID_NOISE_STDDEV, 2);
        }
        double least = STRETCH * pow(1 - a - law_two_sided * sqrt(a), 3);
        double most = STRETCH * pow(1 - a + law_two_sided * sqrt(a), 3);
        if (squares < least || squares > most)
            fail_msg("%s, step %zu, from coordinate %zu: noise of deviation %.3f, "
                     "batch of %zu",
                     way->name, k + 1, first, sqrt(squares / STRETCH), step->batch);
    }
}

static bool is_zero(const struct trace_release *release)
{
    for (size_t j = 0; j < release->count; j++)
        if (release->sum[j] != 0)
            return false;
    return true;
}

static void noise_is_as_planned(const struct way *way)
{
    const struct trace_setup setup = {.way = way, .salt = 6};
    struct trace *trace = trace_take(&setup);
    struct noise *noise = noise_create();
    for (size_t k = 0; k < trace->step_count; k++) {
        const struct trace_step *step = &trace->steps[k];
        note_batch(way, step);
        if (step->release_count == 0)
            fail_msg("%s, step %zu: nothing is released", way->name, k + 1);
        for (size_t r = 0; r < step->release_count; r++) {
            assert_is_noisy_sum(way, k, &step->releases[r], noise);
            assert_deviation(way, k, step, &step->releases[r]);
            /* The kept error may be fed back without a record. */
            if (step->batch == 0 && !way->spec.algorithm->uses_error_memory)
                assert_true(is_zero(&step->releases[r]));
        }
    }
    noise_destroy(noise);
    trace_free(trace);
}

static void check_noise(uint64_t batch_size, uint64_t steps, unsigned threads)
{
    struct points points;
    points_create(&points, RECORDS, FEATURES, 0);
    struct kit_setup setup = points_setup(&points, batch_size, steps);
    setup.threads = threads;
    smallest = SIZE_MAX;
    largest = 0;
    assert_int_equal(ways_each(&setup, noise_is_as_planned), 0);
    points_destroy(&points);
}

/* One record is expected: batches of none, and of four and more, occur. */
static void noise_is_as_planned_for_empty_and_crowded_batches(void **state)
{
    (void)state;
    check_noise(1, STEPS, 1);
    assert_true(smallest == 0 && largest >= 4);
}

static void noise_is_as_planned_by_two_threads(void **state)
{
    (void)state;
    check_noise(8, 24, 2);
    assert_true(smallest < 6 && largest > 10);
}

/* Two jobs that received the same releases agree in all that an outside person sees,
 * and in the divisors. */
static void assert_same_release(const struct way *way, size_t step,
                                const struct trace_step *a, const struct trace_step *b)
{
    if (a->release_count != b->release_count)
        fail_msg("%s, step %zu: %zu releases from a batch of %zu, %zu from one of %zu",
                 way->name, step + 1, a->release_count, a->batch, b->release_count,
                 b->batch);
    for (size_t r = 0; r < a->release_count; r++) {
        const struct trace_release *one = &a->releases[r], *two = &b->releases[r];
        assert_true(one->query == two->query && one->count == two->count);
        if (one->divisor != two->divisor || one->scale != two->scale)
            fail_msg("%s, step %zu: a sum over %.17g by a batch of %zu, over %.17g by "
                     "one of %zu",
                     way->name, step + 1, one->divisor * one->scale, a->batch,
                     two->divisor * two->scale, b->batch);
    }
}

static void assert_same_step(const struct way *way, size_t step,
                             const struct trace *one, const struct trace *two)
{
    const struct trace_step *a = &one->steps[step], *b = &two->steps[step];
    assert_same_release(way, step, a, b);
    if (memcmp(a->parameters, b->parameters, one->dim * sizeof *a->parameters) != 0)
        fail_msg("%s, step %zu: parameters moved by more than the releases", way->name,
                 step + 1);
    if (a->shown_count != b->shown_count ||
        memcmp(a->shown, b->shown, a->shown_count * sizeof *a->shown) != 0)
        fail_msg("%s, step %zu: shown is more than was released", way->name, step + 1);
    if (a->noise_multiplier != b->noise_multiplier ||
        a->plan.clip_norm != b->plan.clip_norm ||
        a->plan.grid.scale != b->plan.grid.scale ||
        a->plan.grid.multiplier != b->plan.grid.multiplier)
        fail_msg("%s, step %zu: plans follow more than the releases", way->name,
                 step + 1);
}

static bool sums_differ(const struct trace_release *a, const struct trace_release *b)
{
    return memcmp(a->sum, b->sum, a->count * sizeof *a->sum) != 0;
}

/* All records differ, the batches differ, and the releases are the same. */
static void releases_alone_steer(const struct way *way)
{
    struct points others;
    struct trace_setup setup = {.way = way, .salt = 7, .steered = true};
    struct trace *one = trace_take(&setup);
    bool differ = false;
    points_create(&others, RECORDS, way->setup.data->features, 1.1);
    setup.data = &others.data;
    setup.salt = 8;
    struct trace *two = trace_take(&setup);
    for (size_t k = 0; k < one->step_count; k++) {
        note_batch(way, &one->steps[k]);
        note_batch(way, &two->steps[k]);
        assert_same_step(way, k, one, two);
        differ |= sums_differ(one->steps[k].releases, two->steps[k].releases);
    }
    assert_true(differ);
    trace_free(one);
    trace_free(two);
    points_destroy(&others);
}

static void a_step_reads_records_through_its_releases_alone(void **state)
{
    (void)state;
    static const uint64_t batch_sizes[] = {1, 8};
    for (size_t k = 0; k < 2; k++) {
        struct points points;
        points_create(&points, RECORDS, 3, 0);
        struct kit_setup setup = points_setup(&points, batch_sizes[k], STEPS);
        smallest = SIZE_MAX;
        largest = 0;
        assert_int_equal(ways_each(&setup, releases_alone_steer), 0);
        assert_true(smallest < batch_sizes[k] && largest > batch_sizes[k]);
        points_destroy(&points);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(noise_is_as_planned_for_empty_and_crowded_batches),
        cmocka_unit_test(noise_is_as_planned_by_two_threads),
        cmocka_unit_test(a_step_reads_records_through_its_releases_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
