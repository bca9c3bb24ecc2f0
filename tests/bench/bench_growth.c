/*
 * bench_growth - how the time of a dpsgd step grows with the depth and width of a
 * model, with the batch and with the records: each by 10 and by 100, one thread, its
 * processor time.
 *
 *   work  multiplications of the products of a batch + 100 a parameter, for its noise,
 *         and 16 a record, for the byte that decides on it (or, at rates of at most
 *         2^-6, 160 for each that is drawn): the time that each takes
 *   time  of a step; both relative to the first row
 *
 * If time / work is above one, something grows that the mathematics does not require.
 */
#include "engine/rounding/blas.h"
#include "engine/nn/layers/registry.h"
#include "tests/bench/workload_fixture.h"

enum { INPUTS = 64, ACTUAL_CLASSES = 10 };

static struct matrix narrow_records(uint64_t records)
{
    struct matrix data = made_up_records((records * INPUTS + FEATURES - 1) / FEATURES);
    uint32_t *targets = calloc(records, sizeof *targets);
    CHECK(targets != NULL);
    for (uint64_t i = 0; i < records; i++)
        targets[i] = (uint32_t)(i % ACTUAL_CLASSES);
    free((void *)(uintptr_t)data.targets);
    data.records = records;
    data.features = INPUTS;
    data.targets = targets;
    return data;
}

struct growth {
    size_t depth, width; /* hidden layers, and outputs of each */
    uint64_t batch, records;
};

static struct train_spec *spec_with(const struct growth *g)
{
    static const struct shape linear = {"", 0, {0}, false};
    struct train_spec *spec = malloc(sizeof *spec); /* lives as long as the process */
    struct layer_spec *layers = calloc(2 * g->depth + 1, sizeof *layers);
    CHECK(spec != NULL && layers != NULL);
    *spec = spec_of("dpsgd", &linear, g->records, g->batch);
    for (size_t k = 0; k < g->depth; k++) {
        layers[2 * k] = (struct layer_spec){
            .kind = &layer_dense, .out = (uint32_t)g->width, .bias = true};
        layers[2 * k + 1] = (struct layer_spec){.kind = &layer_relu};
    }
    layers[2 * g->depth] =
        (struct layer_spec){.kind = &layer_dense, .out = ACTUAL_CLASSES, .bias = true};
    model_spec_fini(&spec->model);
    spec->model.preset = PRESET_NONE;
    spec->model.layers = layers;
    spec->model.layer_count = 2 * g->depth + 1;
    return spec;
}

static double work_of(const struct growth *g)
{
    double w = (double)g->width, inner = (double)(g->depth - 1) * w * w;
    double edge = INPUTS * w, last = w * ACTUAL_CLASSES;
    double products = (2 * edge + 3 * (inner + last)) * (double)g->batch;
    double coins =
        64 * g->batch > g->records ? 16 * (double)g->records : 160 * (double)g->batch;
    return products + (edge + inner + last) * 100 + coins;
}

static double step_seconds(const struct growth *g)
{
    struct matrix data = narrow_records(g->records);
    struct train_spec *spec = spec_with(g);
    struct trainer_options options = {.spec = spec, .data = &data, .threads = 1};
    struct measure_plan plan = {.seconds = 0.5, .turn_seconds = 0.004, .share = 0.25};
    struct trainer *trainer;
    struct error error = {0};
    const struct data_shape shape = {data.features, data.classes};
    if (train_spec_compile(spec, shape, &error) != ST_OK ||
        trainer_create(&trainer, &options, &error) != ST_OK) {
        fprintf(stderr, "%s\n", error.text);
        exit(1);
    }
    struct measurement m = {.run = step, .context = trainer, .alone = true};
    measure_all(&m, 1, &plan);
    trainer_destroy(trainer);
    free((void *)(uintptr_t)data.rows);
    free((void *)(uintptr_t)data.targets);
    return m.seconds;
}

static void print_growth(const char *what, const struct growth rows[3])
{
    double time = 0, work = 0;
    for (int k = 0; k < 3; k++) {
        double seconds = step_seconds(&rows[k]), units = work_of(&rows[k]);
        time = k == 0 ? seconds : time;
        work = k == 0 ? units : work;
        printf("%-8s%7zu%7zu%8d%9d%12.3f%13.0f%9.1f%9.1f%12.2f\n", what, rows[k].depth,
               rows[k].width, (int)rows[k].batch, (int)rows[k].records, seconds * 1e3,
               (double)rows[k].batch / seconds, seconds / time, units / work,
               seconds / time / (units / work));
    }
}

int main(void)
{
    static const struct growth depth[] = {
        {1, 64, 512, 6000}, {10, 64, 512, 6000}, {100, 64, 512, 6000}};
    static const struct growth width[] = {
        {2, 16, 512, 6000}, {2, 160, 512, 6000}, {2, 1600, 512, 6000}};
    static const struct growth batch[] = {
        {1, 64, 64, 60000}, {1, 64, 640, 60000}, {1, 64, 6400, 60000}};
    static const struct growth records[] = {
        {1, 64, 1000, 10000}, {1, 64, 1000, 1000000}, {1, 64, 1000, 10000000}};
    blas_use_one_thread();
    printf("kernels %s, one thread, 64 features\n%-8s%7s%7s%8s%9s%12s%13s%9s%9s%12s\n",
           blas_kernel(), "grows", "depth", "width", "batch", "records", "ms a step",
           "records/s", "time x", "work x", "time / work");
    print_growth("depth", depth);
    print_growth("width", width);
    print_growth("batch", batch);
    print_growth("records", records);
    return 0;
}
