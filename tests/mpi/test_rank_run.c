/* Goal: no step is authorised if ranks differ, and all ranks take the same steps and
 * end with the same status. Method: ranks that are threads, on the runs of the
 * trainer's own test. */
#include "tests/expect.h"

#include <stdatomic.h>

#include "mpi/rank_run.h"
#include "tests/engine/dp/thread_group_fixture.h"
#include "tests/engine/ranks_fixture.h"

enum { RANKS = 3 };

struct job {
    struct world *world;
    int differing;          /* the fact in which rank 2 differs, or -1 */
    enum status refusal;    /* rank 0's, at step refused */
    uint64_t refused, over; /* steps at which the run is stopped, and is over */
    atomic_uint asked;      /* calls of authorise */
    enum status status[RANKS];
    struct error errors[RANKS];
    uint64_t done[RANKS];
    uint8_t digests[RANKS][SHA256_SIZE];
};

static enum status authorise(void *context, uint64_t step, bool *is_over,
                             struct error *error)
{
    struct job *job = context;
    atomic_fetch_add(&job->asked, 1);
    *is_over = step == job->over;
    if (step == job->refused)
        return error_set(error, job->refusal, "the budget is gone");
    return ST_OK;
}

static void run_rank(struct thread_rank *rank, void *context)
{
    struct job *job = context;
    unsigned k = rank->group.rank;
    const struct start_digests digests = {{1}, {2}};
    struct trainer_options options = options_of(job->world, 1);
    struct start_facts facts;
    struct trainer *trainer;
    options.group = &rank->group;
    options.evaluation = NULL;
    CHECK(trainer_create(&trainer, &options, NULL) == ST_OK);
    start_facts_init(&facts, options.spec, trainer, &digests);
    if (k == 2 && job->differing >= 0)
        facts.of[job->differing][0] ^= 1;
    const struct rank_run run = {.group = &rank->group,
                                 .trainer = trainer,
                                 .facts = &facts,
                                 .authorise = authorise,
                                 .context = job};
    job->status[k] = rank_run(&run, &job->errors[k]);
    job->done[k] = trainer_steps_done(trainer);
    digest_of(trainer, job->digests[k]);
    trainer_destroy(trainer);
}

static struct job job_of(void)
{
    return (struct job){.world = ranks_world(&ranks_runs[0]),
                        .differing = -1,
                        .refused = UINT64_MAX,
                        .over = RANKS_STEPS};
}

static void a_run_of_ranks_is_the_run_of_one(void **state)
{
    (void)state;
    uint8_t alone[SHA256_SIZE];
    struct job job = job_of();
    ranks_digest(job.world, NULL, 1, alone);
    thread_group_run(RANKS, ADD_INTEGERS, run_rank, &job);
    assert_int_equal(atomic_load(&job.asked), RANKS_STEPS + 1);
    for (unsigned k = 0; k < RANKS; k++) {
        assert_int_equal(job.status[k], ST_OK);
        assert_int_equal(job.done[k], RANKS_STEPS);
        assert_memory_equal(job.digests[k], alone, sizeof alone);
    }
    world_destroy(job.world);
}

static void ranks_that_differ_authorise_nothing(void **state)
{
    (void)state;
    for (int fact = 0; fact < FACTS; fact++) {
        struct job job = job_of();
        job.differing = fact;
        thread_group_run(RANKS, ADD_INTEGERS, run_rank, &job);
        assert_int_equal(atomic_load(&job.asked), 0);
        for (unsigned k = 0; k < RANKS; k++) {
            assert_int_equal(job.status[k], ST_INVALID);
            assert_int_equal(job.done[k], 0);
        }
        assert_non_null(strstr(job.errors[0].text, "1 of the other ranks"));
        assert_non_null(strstr(job.errors[2].text, "this rank's"));
        world_destroy(job.world);
    }
}

static void a_step_that_is_not_authorised_is_taken_by_nobody(void **state)
{
    (void)state;
    struct job job = job_of();
    job.refused = 2;
    job.refusal = ST_BUDGET_EXHAUSTED;
    thread_group_run(RANKS, ADD_INTEGERS, run_rank, &job);
    assert_int_equal(atomic_load(&job.asked), 3);
    for (unsigned k = 0; k < RANKS; k++) {
        assert_int_equal(job.status[k], k == 0 ? ST_BUDGET_EXHAUSTED : ST_CANCELLED);
        assert_non_null(strstr(job.errors[k].text, "the budget is gone"));
        assert_int_equal(job.done[k], 2);
    }
    world_destroy(job.world);
}

static void a_run_may_be_over_before_its_steps_are(void **state)
{
    (void)state;
    struct job job = job_of();
    job.over = 4;
    thread_group_run(RANKS, ADD_INTEGERS, run_rank, &job);
    for (unsigned k = 0; k < RANKS; k++) {
        assert_int_equal(job.status[k], ST_OK);
        assert_int_equal(job.done[k], 4);
    }
    world_destroy(job.world);
}

/* Facts of a model of dense layers, for which the BLAS multiplies nothing. */
static struct start_facts facts_of(struct world *world)
{
    const struct start_digests digests = {{1}, {2}};
    const struct trainer_options options = options_of(world, 1);
    struct trainer *trainer = trainer_of(&options);
    struct start_facts facts;
    start_facts_init(&facts, &world->spec, trainer, &digests);
    trainer_destroy(trainer);
    return facts;
}

static void facts_are_those_that_matter(void **state)
{
    (void)state;
    struct world *world = ranks_world(&ranks_runs[0]);
    struct start_facts facts = facts_of(world), noisier;
    assert_string_equal(facts.of[FACT_BLAS_KERNEL], "");
    assert_int_equal(facts.of[FACT_PLAN][1], '1');
    assert_int_equal(facts.of[FACT_MATRIX][1], '2');
    world->spec.noise_multiplier = nextafter(world->spec.noise_multiplier, 2);
    noisier = facts_of(world);
    assert_string_not_equal(facts.of[FACT_GRIDS], noisier.of[FACT_GRIDS]);
    set_image_model(world);
    facts = facts_of(world);
    assert_string_not_equal(facts.of[FACT_BLAS_KERNEL], "");
    world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_of_ranks_is_the_run_of_one),
        cmocka_unit_test(ranks_that_differ_authorise_nothing),
        cmocka_unit_test(a_step_that_is_not_authorised_is_taken_by_nobody),
        cmocka_unit_test(a_run_may_be_over_before_its_steps_are),
        cmocka_unit_test(facts_are_those_that_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
