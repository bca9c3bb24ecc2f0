/*
 * bench_ranks - a step of dpsgd by two ranks of one thread next to one of a process
 * with two threads, in turns: both take the machine's two processors. The program runs
 * itself under mpirun. While the process has its turn the other rank sleeps on a
 * semaphore.
 *
 *   ratio     two threads' time over two ranks', a median of the ratios within a turn
 *             (target .9 for 784-1024-1024-10 at 4096)
 *   together  what ranks do and threads do not: adding up sums, gathering parameters,
 *             and two votes
 */
#include <fcntl.h>
#include <semaphore.h>
#include <unistd.h>

#include "mpi/mpi_group.h"
#include "engine/nn/network.h"
#include "engine/rounding/blas.h"
#include "tests/bench/workload_fixture.h"

enum { RECORDS = 60000, TURNS = 25, WARM_UP = 2 };

static const uint64_t batches[] = {256, 1024, 4096};

/* The additional work of a step over ranks. */
struct together {
    const struct group *group;
    size_t dim;
    int64_t *sum;
    float *parameters;
};

static void be_together(void *context)
{
    struct together *together = context;
    const struct group *group = together->group;
    CHECK(group_all(group, true));
    group_meet(group, together->sum, together->dim);
    CHECK(group_all(group, true));
    group_gather(group, together->parameters, together->dim);
}

/* Returns the seconds of one run, measured over a tenth of a second. All ranks do the
 * same number of runs. */
static double time_of(const struct group *group, void (*run)(void *context),
                      void *context, uint32_t *repeats)
{
    if (*repeats == 0) {
        double start = now(false);
        run(context);
        *repeats = 1 + (uint32_t)(0.1 / (now(false) - start));
        group_tell(group, repeats, sizeof *repeats);
    }
    double start = now(false);
    for (uint32_t k = 0; k < *repeats; k++)
        run(context);
    return (now(false) - start) / *repeats;
}

static void bench_one(const struct group *group, sem_t *turn, const struct matrix *data,
                      const struct shape *shape, uint64_t batch)
{
    enum { RANKS, THREADS, TOGETHER, KINDS };
    struct measurement m[KINDS] = {0};
    uint32_t repeats[KINDS] = {0};
    struct trainer *ranks =
        trainer_in("dpsgd", shape, data, batch, (struct company){1, group});
    struct trainer *threads =
        group->rank == 0 ? trainer_of("dpsgd", shape, data, batch, 2) : NULL;
    struct together together = {.group = group};
    struct trainer_cost cost;
    struct train_spec spec = spec_of("dpsgd", shape, data->records, batch);
    CHECK(train_spec_compile(&spec, (struct data_shape){FEATURES, CLASSES}, NULL) ==
              ST_OK &&
          trainer_cost(&cost, &spec, 1, NULL) == ST_OK);
    train_spec_fini(&spec);
    together.dim = (size_t)cost.parameters;
    together.sum = calloc(together.dim, sizeof *together.sum);
    together.parameters = calloc(together.dim, sizeof *together.parameters);
    CHECK(together.sum != NULL && together.parameters != NULL);
    for (int k = 0; k < TURNS + WARM_UP; k++) {
        int at = k < WARM_UP ? 0 : k - WARM_UP;
        CHECK(group_all(group, true));
        m[RANKS].turns[at] = time_of(group, step, ranks, &repeats[RANKS]);
        m[TOGETHER].turns[at] =
            time_of(group, be_together, &together, &repeats[TOGETHER]);
        if (group->rank > 0) {
            CHECK(sem_wait(turn) == 0);
            continue;
        }
        m[THREADS].turns[at] = time_of(&group_alone, step, threads, &repeats[THREADS]);
        CHECK(sem_post(turn) == 0);
    }
    if (group->rank == 0)
        printf("%-17s%6d%12.3f%12.3f%10.2f%12.3f\n", shape->name, (int)batch,
               quantile(m[THREADS].turns, TURNS, 0.5) * 1e3,
               quantile(m[RANKS].turns, TURNS, 0.5) * 1e3,
               ratio(&m[THREADS], &m[RANKS], TURNS),
               quantile(m[TOGETHER].turns, TURNS, 0.5) * 1e3);
    fflush(stdout);
    free(together.sum);
    free(together.parameters);
    trainer_destroy(ranks);
    trainer_destroy(threads);
}

static int be_rank(const char *semaphore)
{
    struct group group;
    struct error error = {0};
    if (mpi_group_open(&group, &error) != ST_OK) {
        printf("%s\n", error.text);
        return 0;
    }
    sem_t *turn = sem_open(semaphore, O_CREAT, 0600, 0);
    CHECK(turn != SEM_FAILED);
    blas_use_one_thread();
    struct matrix data = made_up_records(RECORDS);
    if (group.rank == 0)
        printf("%-17s%6s%12s%12s%10s%12s\n", "milliseconds", "batch", "two threads",
               "two ranks", "ratio", "together");
    for (size_t s = 1; s < 3; s++)
        for (size_t b = 0; b < sizeof batches / sizeof *batches; b++)
            bench_one(&group, turn, &data, &shapes[s], batches[b]);
    free((void *)(uintptr_t)data.rows);
    free((void *)(uintptr_t)data.targets);
    sem_close(turn);
    mpi_group_close(&group);
    return 0;
}

int main(int argc, char **argv)
{
    char command[1024], semaphore[64];
    if (argc == 3 && strcmp(argv[1], "--rank") == 0)
        return be_rank(argv[2]);
    if (system("mpirun --version >/dev/null 2>&1") != 0) {
        printf("two ranks: there is no mpirun here\n");
        return 0;
    }
    snprintf(semaphore, sizeof semaphore, "/epsilond-bench-%d", (int)getpid());
    snprintf(command, sizeof command,
             "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "
             "mpirun --oversubscribe --bind-to none -n 2 --mca btl self,vader "
             "--mca oob_tcp_if_include lo --mca mpi_yield_when_idle 1 %s --rank %s",
             argv[0], semaphore);
    int status = system(command);
    sem_unlink(semaphore);
    return status == 0 ? 0 : 1;
}
