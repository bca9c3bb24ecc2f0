/*
 * bench_images - a step of dpsgd next to one of sgd for the networks that read colour
 * images of 32 x 32: cnn_cifar at batch 128 and ResNet18 with group norms at batch 64.
 * One thread, its processor time; numbers are those that a tenth of the turns are
 * faster than, the ratio is the median of the ratios within a turn.
 */
#include "engine/rounding/blas.h"
#include "tests/bench/workload_fixture.h"

enum { SIDE = 32, CHANNELS = 3, PIXELS = SIDE * SIDE * CHANNELS };
enum { IMAGES = 2048, GROUPS = 32 };

static struct matrix images(void)
{
    struct matrix data =
        made_up_records(((uint64_t)IMAGES * PIXELS + FEATURES - 1) / FEATURES);
    data.records = IMAGES;
    data.features = PIXELS;
    return data;
}

static struct trainer *trainer_on(const struct matrix *data, enum preset preset,
                                  const char *algorithm, uint64_t batch)
{
    static const struct shape none = {"", 0, {0}, false};
    struct train_spec *spec = malloc(sizeof *spec); /* lives as long as the process */
    struct trainer_options options = {.spec = spec, .data = data, .threads = 1};
    struct trainer *trainer;
    struct error error = {0};
    CHECK(spec != NULL);
    *spec = spec_of(algorithm, &none, data->records, batch);
    model_spec_fini(&spec->model);
    spec->model = (struct model_spec){.preset = preset,
                                      .input = {SIDE, SIDE, CHANNELS},
                                      .groups = GROUPS,
                                      .loss = LOSS_SOFTMAX_CROSS_ENTROPY};
    preset_expand(&spec->model, CLASSES);
    if (train_spec_compile(spec, (struct data_shape){PIXELS, CLASSES}, &error) !=
            ST_OK ||
        trainer_choose_rate(spec, &error) != ST_OK ||
        trainer_create(&trainer, &options, &error) != ST_OK) {
        fprintf(stderr, "%s\n", error.text);
        exit(1);
    }
    return trainer;
}

static void print_model(const struct matrix *data, const char *name, enum preset preset,
                        uint64_t batch)
{
    static const char *const names[] = {"dpsgd", "sgd"};
    struct measure_plan plan = {.seconds = 10, .turn_seconds = 0.1, .share = 0.1};
    struct measurement m[2] = {0};
    for (size_t k = 0; k < 2; k++)
        m[k] =
            (struct measurement){.run = step,
                                 .context = trainer_on(data, preset, names[k], batch),
                                 .alone = true};
    size_t turns = measure_all(m, 2, &plan);
    printf("%-12s%6d%9.1f%9.1f%8.2f%11.0f\n", name, (int)batch, m[0].seconds * 1e3,
           m[1].seconds * 1e3, ratio(&m[0], &m[1], turns),
           (double)batch / m[0].seconds);
    for (size_t k = 0; k < 2; k++)
        trainer_destroy(m[k].context);
}

int main(void)
{
    blas_use_one_thread();
    struct matrix data = images();
    printf("milliseconds a step, one thread\n%-12s%6s%9s%9s%8s%11s\n", "model", "batch",
           "dpsgd", "sgd", "dp/sgd", "records/s");
    print_model(&data, "cnn_cifar", PRESET_CNN_CIFAR, 128);
    print_model(&data, "resnet18_gn", PRESET_RESNET18_GN, 64);
    free((void *)(uintptr_t)data.rows);
    free((void *)(uintptr_t)data.targets);
    return 0;
}
