/*
 * bench_full_batch - a step of dpgd and of diff2_gd, over all records, next to a step
 * of sgd over the same number, one thread, all in turns in one process. Processor time;
 * ratios are medians of those within a turn.
 *
 * Required, measured noise excluded: a step of dpgd at most 1.15 of sgd, one of
 * differences, which propagates two points, at most 2.8.
 */
#include "engine/rounding/blas.h"
#include "tests/bench/floor_fixture.h"
#include "tests/engine/kernels_fixture.h"

enum { RECORDS = 4096 };
enum { SGD, DPGD, DIFF2, NOISE, KINDS };

static void measure(const struct matrix *data, const struct shape *shape)
{
    static const char *const names[] = {"sgd", "dpgd", "diff2_gd"};
    const struct measure_plan plan = {5, 0.02, 0.5};
    struct bench_floor floor = floor_of(shape, RECORDS, 1);
    struct measurement all[KINDS] = {
        [NOISE] = {.run = run_noise, .context = &floor, .alone = true}};
    for (size_t k = 0; k < NOISE; k++)
        all[k] = (struct measurement){.run = step,
                                      .context =
                                          trainer_of(names[k], shape, data, RECORDS, 1),
                                      .alone = true};
    size_t turns = measure_all(all, KINDS, &plan);
    struct measurement dpgd = added(&all[DPGD], -1, &all[NOISE]);
    struct measurement diff2 = added(&all[DIFF2], -1, &all[NOISE]);
    printf("%-17s%9.3f%9.3f%9.3f%9.3f%12.2f%12.2f\n", shape->name,
           all[SGD].seconds * 1e3, all[DPGD].seconds * 1e3, all[DIFF2].seconds * 1e3,
           all[NOISE].seconds * 1e3, ratio(&dpgd, &all[SGD], turns),
           ratio(&diff2, &all[SGD], turns));
    for (size_t k = 0; k < NOISE; k++)
        trainer_destroy(all[k].context);
    floor_free(&floor);
}

int main(int argc, char **argv)
{
    int result;
    (void)argc;
    if (!kernels_chosen(argv, &result))
        return result;
    blas_use_one_thread();
    struct matrix data = made_up_records(RECORDS);
    printf("%-17s%9s%9s%9s%9s%12s%12s   %s, milliseconds a step of %d records\n",
           "model", "sgd", "dpgd", "diff2_gd", "noise", "dpgd / sgd", "diff2 / sgd",
           blas_kernel(), RECORDS);
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        measure(&data, &shapes[s]);
    return 0;
}
