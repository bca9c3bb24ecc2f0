/*
 * bench_algorithms - a step of each private algorithm next to a step of sgd by the same
 * engine, one thread, all in turns in one process: 784-128-10, expected batches of 256
 * and 1024. Processor time; ratios are medians of those within a turn.
 *
 * A step of sgd draws no noise; noise is one coordinate for each parameter, for any
 * batch. Required: value_clip at most 1.4 and dpsgd at most 1.25 of sgd at 1024
 * (papers/valueclip.md, A17), dcsgd over dpsgd below 1.01 (papers/dcsgd.md, check 19).
 */
#include "engine/rounding/blas.h"
#include "tests/bench/workload_fixture.h"
#include "tests/engine/kernels_fixture.h"

enum { RECORDS = 60000 };

static const char *const names[] = {"sgd",     "dpsgd",   "value_clip", "dcsgd_p",
                                    "dcsgd_e", "dicesgd", "adp"};
enum { COUNT = sizeof names / sizeof *names };

static void measure(const struct matrix *data, uint64_t batch)
{
    static const struct shape shape = {"784-128-10", 1, {128}, false};
    static struct measurement all[COUNT];
    const struct measure_plan plan = {30, 0.02, 0.5};
    struct trainer *trainers[COUNT];
    for (size_t k = 0; k < COUNT; k++) {
        trainers[k] = trainer_of(names[k], &shape, data, batch, 1);
        all[k] =
            (struct measurement){.run = step, .context = trainers[k], .alone = true};
    }
    size_t turns = measure_all(all, COUNT, &plan);
    for (size_t k = 0; k < COUNT; k++) {
        printf("%-12s %6d %10.3f %8.2f %8.3f\n", names[k], (int)batch,
               all[k].seconds * 1e3, ratio(&all[k], &all[0], turns),
               ratio(&all[k], &all[1], turns));
        trainer_destroy(trainers[k]);
    }
}

int main(int argc, char **argv)
{
    int result;
    (void)argc;
    if (!kernels_chosen(argv, &result))
        return result;
    blas_use_one_thread();
    struct matrix data = made_up_records(RECORDS);
    printf("%-12s %6s %10s %8s %8s   %s, milliseconds a step\n", "784-128-10", "batch",
           "ms", "/ sgd", "/ dpsgd", blas_kernel());
    measure(&data, 256);
    measure(&data, 1024);
    return 0;
}
