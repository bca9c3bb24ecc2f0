/* Goal: ranks that are MPI processes make the same model as one process, bit for bit;
 * sums wrap and are placed where they should be; and a rank that differs, is killed or
 * is stopped ends the run. Method: this program runs itself under mpirun, as 1 to 4
 * processes that communicate through memory on this machine, or as one on each of two
 * hosts that ssh reaches, over TCP. The processes answer by their exit status. Without
 * MPI or sshd, and under sanitizers, which do not know the library's threads, it prints
 * that it is skipped; engine/test_trainer_ranks tests what the engine does between
 * ranks. */
#include "tests/expect.h"

#include <signal.h>
#include <sys/wait.h>

#include "mpi/mpi_group.h"
#include "mpi/rank_run.h"
#include "tests/engine/ranks_fixture.h"
#include "tests/ssh_fixture.h"

enum {
    LEAST_NS = 100000000,
    FATAL_STEP = 3,
    DIM = 300001,
    EXIT_FINISHED = 0,
    EXIT_ABSENT = 77
};

/* --- in an MPI process --- */

static bool is_like_alone(const struct group *group, const struct ranks_run *run)
{
    uint8_t ours[SHA256_SIZE], alone[SHA256_SIZE];
    struct world *world = ranks_world(run);
    ranks_digest(world, group, 1, ours);
    if (group->rank == 0)
        ranks_digest(world, NULL, 1, alone);
    group_tell(group, alone, sizeof alone);
    world_destroy(world);
    bool alike = group_all(group, memcmp(ours, alone, sizeof alone) == 0);
    if (!alike && group->rank == 0)
        print_error("%s, %s: another model at %u ranks\n", run->algorithm, run->about,
                    group->size);
    return alike;
}

static bool makes_models_of_one_process(const struct group *group)
{
    bool alike = true;
    for (size_t k = 0; k < RANKS_RUNS; k++)
        alike = is_like_alone(group, &ranks_runs[k]) && alike;
    return alike;
}

/* Returns a word of the rank's part. The sum of the parts wraps. */
static uint64_t word_of(unsigned rank, size_t j)
{
    return (j + 1) * UINT64_C(0x9e3779b97f4a7c15) ^ rank * UINT64_C(0xbf58476d1ce4e5b9);
}

static bool meets_in_slices(const struct group *group)
{
    int64_t *sum = calloc(DIM, sizeof *sum);
    struct span own = group_slice(group, group->rank, DIM);
    bool right = true;
    for (size_t j = 0; j < DIM; j++)
        sum[j] = (int64_t)word_of(group->rank, j);
    group_meet(group, sum, DIM);
    for (size_t j = 0; j < DIM; j++) {
        uint64_t total = 0;
        for (unsigned k = 0; k < group->size; k++)
            total += word_of(k, j);
        bool is_own = j >= own.first && j < own.first + own.count;
        right = right && (uint64_t)sum[j] == (is_own ? total : 0);
    }
    free(sum);
    return right;
}

static bool collects_at_the_first(const struct group *group)
{
    int64_t numbers[] = {INT64_MAX, (int64_t)group->rank};
    uint64_t wrapped = (uint64_t)INT64_MAX * group->size;
    int64_t ranks = group->size * (group->size - 1) / 2;
    bool is_first = group->rank == 0;
    group_collect(group, numbers, 2);
    return (uint64_t)numbers[0] == (is_first ? wrapped : 0) &&
           numbers[1] == (is_first ? ranks : 0);
}

static bool asks_everybody(const struct group *group)
{
    bool last_refuses = group_all(group, group->rank + 1 < group->size);
    return group_all(group, true) && !last_refuses;
}

static bool joins_ranks(const struct group *group)
{
    bool right =
        group->size == 1 || (meets_in_slices(group) && collects_at_the_first(group));
    right = asks_everybody(group) && right;
    return group_all(group, right) && makes_models_of_one_process(group);
}

struct fate {
    const struct group *group;
    int signal; /* sent to the last rank before FATAL_STEP; 0: none */
    unsigned asked;
};

static enum status authorise(void *context, uint64_t step, bool *is_over,
                             struct error *error)
{
    struct fate *fate = context;
    (void)error;
    fate->asked++;
    *is_over = step == RANKS_STEPS;
    return ST_OK;
}

/* Runs with a signal to the last rank at the third step. */
static enum status run_to_the_end(struct fate *fate, struct start_facts *facts)
{
    const struct ranks_run *run = &ranks_runs[0];
    struct world *world = ranks_world(run);
    const struct start_digests digests = {{1}, {2}};
    struct trainer_options options = options_of(world, 1);
    struct trainer *trainer;
    options.group = fate->group;
    options.evaluation = NULL;
    CHECK(trainer_create(&trainer, &options, NULL) == ST_OK);
    start_facts_init(facts, options.spec, trainer, &digests);
    if (fate->signal == 0 && fate->group->rank + 1 == fate->group->size)
        facts->of[FACT_PRODUCT_KERNEL][0] ^= 1;
    for (int k = 0; k < FATAL_STEP && fate->signal != 0; k++)
        CHECK(trainer_step(trainer, NULL) == ST_OK);
    if (fate->signal != 0 && fate->group->rank + 1 == fate->group->size)
        raise(fate->signal);
    const struct rank_run all = {.group = fate->group,
                                 .trainer = trainer,
                                 .facts = facts,
                                 .authorise = authorise,
                                 .context = fate,
                                 .least_ns = fate->signal == SIGSTOP ? LEAST_NS : 0};
    enum status status = rank_run(&all, NULL);
    trainer_destroy(trainer);
    world_destroy(world);
    return status;
}

static bool refuses_a_rank_that_differs(const struct group *group)
{
    struct fate fate = {.group = group};
    struct start_facts facts;
    return run_to_the_end(&fate, &facts) == ST_INVALID && fate.asked == 0;
}

static bool loses_a_rank(const struct group *group, int signal)
{
    struct fate fate = {.group = group, .signal = signal};
    struct start_facts facts;
    return run_to_the_end(&fate, &facts) == ST_OK; /* never */
}

static int be_rank(const char *what)
{
    struct group group;
    bool right = false;
    if (mpi_group_open(&group, NULL) != ST_OK)
        return EXIT_ABSENT;
    if (strcmp(what, "joined") == 0)
        right = joins_ranks(&group);
    else if (strcmp(what, "differing") == 0)
        right = refuses_a_rank_that_differs(&group);
    else
        right = loses_a_rank(&group, strcmp(what, "killed") == 0 ? SIGKILL : SIGSTOP);
    mpi_group_close(&group);
    return right ? EXIT_FINISHED : EXIT_FAILURE;
}

/* --- in the test --- */

/* Returns the exit status of the processes that mpirun starts with the task `what`. A
 * run that hangs is killed after two minutes, longer than any run here takes, and
 * fails. */
static int status_under(const char *mpirun, const char *what)
{
    char command[2048], self[512];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    assert_true(length > 0);
    self[length] = '\0';
    snprintf(command, sizeof command, "timeout 120 %s %s --rank %s </dev/null >&2",
             mpirun, self, what);
    int status = system(command);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == EXIT_ABSENT)
        skip_because("this was built without MPI");
    return WEXITSTATUS(status);
}

static int status_of(unsigned ranks, const char *what)
{
    char mpirun[512];
    snprintf(mpirun, sizeof mpirun,
             "mpirun --allow-run-as-root --oversubscribe --bind-to none -n %u "
             "--mca btl self,vader --mca btl_vader_single_copy_mechanism none "
             "--mca oob_tcp_if_include lo --mca mpi_yield_when_idle 1",
             ranks);
    return status_under(mpirun, what);
}

static void need_mpi(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip_because("a sanitizer and MPI");
#endif
    if (system("mpirun --version >/dev/null 2>&1") != 0)
        skip_because("there is no mpirun");
}

static void processes_make_the_models_of_one(void **state)
{
    (void)state;
    need_mpi();
    for (unsigned ranks = 1; ranks <= 4; ranks++)
        assert_int_equal(status_of(ranks, "joined"), EXIT_FINISHED);
}

static void a_rank_that_differs_ends_the_run_before_it_began(void **state)
{
    (void)state;
    need_mpi();
    assert_int_equal(status_of(2, "differing"), EXIT_FINISHED);
}

static void a_rank_that_is_killed_ends_the_run(void **state)
{
    (void)state;
    need_mpi();
    assert_int_equal(status_of(3, "killed"), 128 + SIGKILL);
}

static void a_rank_that_is_stopped_ends_the_run(void **state)
{
    (void)state;
    need_mpi();
    assert_int_equal(status_of(3, "stopped"), 75);
}

static void processes_on_two_hosts_make_the_models_of_one(void **state)
{
    char mpirun[1024];
    struct ssh_hosts hosts;
    (void)state;
    if (!ssh_can_start(SANITIZED))
        skip_because("no mpirun, no sshd, or a sanitizer");
    ssh_hosts_begin(&hosts);
    ssh_mpirun(&hosts, "2", mpirun, sizeof mpirun);
    int joined = status_under(mpirun, "joined");
    ssh_hosts_end(&hosts);
    assert_int_equal(joined, EXIT_FINISHED);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(processes_make_the_models_of_one),
        cmocka_unit_test(processes_on_two_hosts_make_the_models_of_one),
        cmocka_unit_test(a_rank_that_differs_ends_the_run_before_it_began),
        cmocka_unit_test(a_rank_that_is_killed_ends_the_run),
        cmocka_unit_test(a_rank_that_is_stopped_ends_the_run),
    };
    if (argc == 3 && strcmp(argv[1], "--rank") == 0)
        return be_rank(argv[2]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
