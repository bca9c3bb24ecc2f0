/* Goal: several ranks make, bit for bit, the model that one process makes, and this
 * comparison detects everything that group.h forbids. Method: runs under a fixed key,
 * once in one process and once by ranks that are threads; the linker's --wrap lets a
 * rank omit its noise, or cut the records between cells. */
#include "tests/expect.h"

#include "engine/dp/group.h"
#include "engine/noise/noise.h"
#include "tests/engine/dp/single_cells_fixture.h"
#include "tests/engine/dp/thread_group_fixture.h"
#include "tests/engine/ranks_fixture.h"

/* --- wrapped functions --- */

static bool cuts_cells;     /* ranks own even shares of the records, not whole cells */
static bool spares_a_slice; /* noise only on the vector's first slice */

/* While watches_keys: the last key of the vector's first slice, and of its second. They
 * belong to two ranks with one thread each. */
static bool watches_keys;
static struct noise_key seen[2];

struct index_range __real_group_records(const struct group *group,
                                        const struct grid *grid);
struct index_range __wrap_group_records(const struct group *group,
                                        const struct grid *grid);
struct index_range __wrap_group_records(const struct group *group,
                                        const struct grid *grid)
{
    if (!cuts_cells)
        return __real_group_records(group, grid);
    size_t first = grid->records * group->rank / group->size;
    size_t end = grid->records * (group->rank + 1) / group->size;
    return (struct index_range){first, end - first};
}

void __real_noise_release(struct noise *noise, float *out, const int64_t *sum,
                          struct span span, const struct noise_release *release);
void __wrap_noise_release(struct noise *noise, float *out, const int64_t *sum,
                          struct span span, const struct noise_release *release);
void __wrap_noise_release(struct noise *noise, float *out, const int64_t *sum,
                          struct span span, const struct noise_release *release)
{
    if (watches_keys)
        seen[span.first > 0] = *release->address.key;
    if (!spares_a_slice || span.first == 0) {
        __real_noise_release(noise, out, sum, span, release);
        return;
    }
    for (size_t j = 0; j < span.count; j++)
        out[j] = (float)((double)sum[j] / (release->grid->scale * release->divisor));
}

/* --- runs --- */

struct job {
    struct world *world;
    unsigned threads; /* of each rank */
    uint8_t digests[THREAD_RANKS_MAX][SHA256_SIZE];
};

static void run_rank(struct thread_rank *rank, void *context)
{
    struct job *job = context;
    ranks_digest(job->world, &rank->group, job->threads,
                 job->digests[rank->group.rank]);
}

/* Returns how many of the ranks have the model that one process makes. */
static unsigned like_alone(const struct ranks_run *run, unsigned ranks,
                           unsigned threads, enum thread_adding adding)
{
    uint8_t alone[SHA256_SIZE];
    struct job job = {.world = ranks_world(run), .threads = threads};
    unsigned alike = 0;
    ranks_digest(job.world, NULL, 1, alone);
    thread_group_run(ranks, adding, run_rank, &job);
    for (unsigned k = 0; k < ranks; k++)
        alike += memcmp(job.digests[k], alone, sizeof alone) == 0;
    world_destroy(job.world);
    return alike;
}

static void ranks_make_the_model_of_one_process(void **state)
{
    (void)state;
    for (unsigned k = 0; k < RANKS_RUNS; k++) {
        unsigned ranks = 2 + k % 3;
        if (like_alone(&ranks_runs[k], ranks, 1 + k % 2, ADD_INTEGERS) != ranks)
            fail_msg("%s, %s, %u ranks", ranks_runs[k].algorithm, ranks_runs[k].about,
                     ranks);
    }
}

/* The same with cells of one unit, for the rows that take them. Races are sought in a few
 * of the runs. */
static void ranks_make_it_of_single_cells(void **state)
{
    (void)state;
    single_cells = true;
    for (unsigned k = 0; k < RANKS_RUNS; k += RACES_SOUGHT ? 7 : 1) {
        const struct algorithm *row = algorithm_find(ranks_runs[k].algorithm);
        unsigned ranks = 2 + (k + 1) % 3;
        if (!algorithm_takes_single_cells(row))
            continue;
        if (like_alone(&ranks_runs[k], ranks, 1 + k % 2, ADD_INTEGERS) != ranks)
            fail_msg("%s, %s, %u ranks", ranks_runs[k].algorithm, ranks_runs[k].about,
                     ranks);
    }
    single_cells = false;
}

static void any_number_of_ranks_makes_it(void **state)
{
    (void)state;
    for (unsigned ranks = 2; ranks <= 5; ranks++)
        assert_int_equal(like_alone(&ranks_runs[0], ranks, 1, ADD_INTEGERS), ranks);
}

static void step_once(struct thread_rank *rank, void *context)
{
    struct trainer_options options = *(const struct trainer_options *)context;
    struct trainer *trainer;
    options.group = &rank->group;
    CHECK(trainer_create(&trainer, &options, NULL) == ST_OK);
    CHECK(trainer_step(trainer, NULL) == ST_OK);
    trainer_destroy(trainer);
}

static void each_rank_has_noise_of_its_own(void **state)
{
    (void)state;
    struct world *world = ranks_world(&ranks_runs[0]);
    struct trainer_options options = options_of(world, 1);
    watches_keys = true;
    thread_group_run(2, ADD_INTEGERS, step_once, &options);
    assert_memory_equal(&seen[0], &seen[1], sizeof *seen); /* the fixture's key */
    options.test_key = NULL;
    thread_group_run(2, ADD_INTEGERS, step_once, &options);
    assert_memory_not_equal(&seen[0], &seen[1], sizeof *seen);
    watches_keys = false;
    world_destroy(world);
}

/* --- what group.h forbids --- */

static void sums_of_floats_make_another(void **state)
{
    (void)state;
    assert_int_equal(like_alone(&ranks_runs[0], 2, 1, ADD_FLOATS), 0);
}

static void to_round_the_sum_of_each_rank_makes_another(void **state)
{
    (void)state;
    assert_int_equal(like_alone(&ranks_runs[0], 2, 1, ADD_ROUNDED), 0);
    assert_int_equal(like_alone(&ranks_runs[0], 3, 1, ADD_ROUNDED), 0);
}

/* Five cells: two ranks share the third cell, and its two sums are rounded
 * separately. */
static void to_cut_a_cell_makes_another(void **state)
{
    (void)state;
    cuts_cells = true;
    assert_int_equal(like_alone(&ranks_runs[0], 2, 1, ADD_INTEGERS), 0);
    cuts_cells = false;
}

static void a_slice_without_noise_makes_another(void **state)
{
    (void)state;
    uint8_t alone[SHA256_SIZE];
    struct job job = {.world = ranks_world(&ranks_runs[0]), .threads = 1};
    ranks_digest(job.world, NULL, 1, alone);
    spares_a_slice = true;
    thread_group_run(2, ADD_INTEGERS, run_rank, &job);
    spares_a_slice = false;
    assert_memory_not_equal(job.digests[0], alone, sizeof alone);
    assert_memory_equal(job.digests[0], job.digests[1], sizeof alone);
    world_destroy(job.world);
}

/* --- stopping a run --- */

struct stopping {
    struct world *world;
    atomic_bool cancel; /* of rank 1 */
    enum status status[THREAD_RANKS_MAX];
    uint8_t before[THREAD_RANKS_MAX][SHA256_SIZE], after[THREAD_RANKS_MAX][SHA256_SIZE];
};

static void run_until_one_stops(struct thread_rank *rank, void *context)
{
    struct stopping *stopping = context;
    unsigned k = rank->group.rank;
    struct trainer_options options = options_of(stopping->world, 1);
    struct trainer *trainer;
    options.group = &rank->group;
    options.evaluation = NULL;
    options.cancel = k == 1 ? &stopping->cancel : NULL;
    CHECK(trainer_create(&trainer, &options, NULL) == ST_OK);
    CHECK(trainer_step(trainer, NULL) == ST_OK);
    digest_of(trainer, stopping->before[k]);
    if (k == 1)
        atomic_store(&stopping->cancel, true);
    stopping->status[k] = trainer_step(trainer, NULL);
    digest_of(trainer, stopping->after[k]);
    trainer_destroy(trainer);
}

static void a_rank_that_stops_is_not_a_smaller_sum(void **state)
{
    (void)state;
    struct stopping stopping = {.world = ranks_world(&ranks_runs[0])};
    thread_group_run(3, ADD_INTEGERS, run_until_one_stops, &stopping);
    for (unsigned k = 0; k < 3; k++) {
        assert_int_equal(stopping.status[k], ST_CANCELLED);
        assert_memory_equal(stopping.after[k], stopping.before[k], SHA256_SIZE);
    }
    world_destroy(stopping.world);
}

static enum status status_of(struct world *world, unsigned ranks, struct error *error)
{
    const struct group group = {.size = ranks};
    struct trainer_options options = options_of(world, 1);
    struct trainer *trainer;
    options.group = &group;
    return trainer_create(&trainer, &options, error);
}

static void what_is_not_proved_over_ranks_is_refused(void **state)
{
    (void)state;
    static const char *const names[] = {"dicesgd", "sgd"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        struct error error = {0};
        struct world *world = world_create(names[k]);
        assert_int_equal(status_of(world, 2, &error), ST_ONE_RANK_ONLY);
        assert_string_equal(error.pointer, "/ranks");
        assert_non_null(strstr(error.text, names[k]));
        world_destroy(world);
    }
}

/* These jobs are refused before anything is reserved for them. */
static void the_cost_of_such_runs_is_refused_alike(void **state)
{
    (void)state;
    struct error error = {0};
    struct trainer_cost cost;
    struct world *world = world_create("dicesgd");
    compile_model(world);
    world->spec.ranks = 2;
    assert_int_equal(trainer_cost(&cost, &world->spec, 1, &error), ST_ONE_RANK_ONLY);
    assert_string_equal(error.pointer, "/ranks");
    world->spec.ranks = 1;
    assert_int_equal(trainer_cost(&cost, &world->spec, 1, NULL), ST_OK);
    world_destroy(world);
    world = ranks_world(&ranks_runs[0]);
    compile_model(world);
    world->spec.ranks = 6;
    error = (struct error){0};
    assert_int_equal(trainer_cost(&cost, &world->spec, 1, &error), ST_INVALID);
    assert_string_equal(error.pointer, "/ranks");
    world->spec.ranks = 5;
    assert_int_equal(trainer_cost(&cost, &world->spec, 1, NULL), ST_OK);
    world_destroy(world);
}

static void more_ranks_than_cells_are_refused(void **state)
{
    (void)state;
    struct error error = {0};
    struct world *world = ranks_world(&ranks_runs[0]);
    assert_int_equal(status_of(world, 6, &error), ST_INVALID);
    assert_string_equal(error.pointer, "/ranks");
    assert_non_null(strstr(error.text, " 5:"));
    world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_make_the_model_of_one_process),
        cmocka_unit_test(ranks_make_it_of_single_cells),
        cmocka_unit_test(any_number_of_ranks_makes_it),
        cmocka_unit_test(each_rank_has_noise_of_its_own),
        cmocka_unit_test(sums_of_floats_make_another),
        cmocka_unit_test(to_round_the_sum_of_each_rank_makes_another),
        cmocka_unit_test(to_cut_a_cell_makes_another),
        cmocka_unit_test(a_slice_without_noise_makes_another),
        cmocka_unit_test(a_rank_that_stops_is_not_a_smaller_sum),
        cmocka_unit_test(what_is_not_proved_over_ranks_is_refused),
        cmocka_unit_test(the_cost_of_such_runs_is_refused_alike),
        cmocka_unit_test(more_ranks_than_cells_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
