/*
 * bench_subnormals - a step of dpsgd over records of subnormal numbers next to one over
 * ordinary records and one over zeros, one thread, all in turns in one process.
 * Processor time; ratios are medians of those within a turn. A ratio above 1 is what
 * the time of a job reveals about a record of such numbers (privacy.md P6).
 */
#include "engine/rounding/blas.h"
#include "tests/bench/workload_fixture.h"
#include "tests/engine/kernels_fixture.h"

enum { RECORDS = 4096, BATCH = 256 };
enum { ORDINARY, SUBNORMAL, SMALL, ZERO, KINDS };

/* Makes float32 records, each number of which is an ordinary one times factor. */
static struct matrix records_of(const struct matrix *bytes, float factor)
{
    struct matrix data = *bytes;
    const uint8_t *from = bytes->rows;
    float *rows = calloc((size_t)RECORDS * FEATURES, sizeof *rows);
    CHECK(rows != NULL);
    for (size_t j = 0; j < (size_t)RECORDS * FEATURES; j++)
        rows[j] = (float)(from[j] + 1) / 256 * factor;
    data.element = ELEMENT_F32;
    data.rows = rows;
    return data;
}

static void measure(const struct matrix *data, const struct shape *shape)
{
    const struct measure_plan plan = {5, 0.02, 0.5};
    struct measurement all[KINDS];
    for (size_t k = 0; k < KINDS; k++)
        all[k] = (struct measurement){
            .run = step,
            .context = trainer_of("dpsgd", shape, &data[k], BATCH, 1),
            .alone = true};
    size_t turns = measure_all(all, KINDS, &plan);
    printf("%-17s%12.3f%12.2f%12.2f%12.2f\n", shape->name, all[ORDINARY].seconds * 1e3,
           ratio(&all[SUBNORMAL], &all[ORDINARY], turns),
           ratio(&all[SMALL], &all[ORDINARY], turns),
           ratio(&all[ZERO], &all[ORDINARY], turns));
    for (size_t k = 0; k < KINDS; k++)
        trainer_destroy(all[k].context);
}

int main(int argc, char **argv)
{
    static const float factors[KINDS] = {
        [ORDINARY] = 1, [SUBNORMAL] = 1e-40F, [SMALL] = 2e-38F, [ZERO] = 0};
    int result;
    (void)argc;
    if (!kernels_chosen(argv, &result))
        return result;
    blas_use_one_thread();
    struct matrix bytes = made_up_records(RECORDS), data[KINDS];
    for (size_t k = 0; k < KINDS; k++)
        data[k] = records_of(&bytes, factors[k]);
    printf("%-17s%12s%12s%12s%12s   %s, milliseconds a step of %d records\n", "model",
           "ordinary", "1e-40 / it", "2e-38 / it", "0 / it", blas_kernel(), BATCH);
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        measure(data, &shapes[s]);
    return 0;
}
