/* Goal: measures how small full-batch methods make the gradient of a two-layer network,
 * which the API must not show for private data. Method: the daemon's own trainer on
 * public records; every iterate near the end is saved, read back, and its gradient
 * computed in double.
 *
 *   descent ALGORITHM NOISE STEPS RATE [NAME=VALUE ...]  < lines of: target feature ...
 *
 * Prints, for the mean loss over all records, the squared norm of the gradient and the
 * loss: at the last twentieth of the iterates (averaged), and at the mean of the last
 * quarter of the iterates. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/dp/algorithms/registry.h"
#include "engine/nn/layers/preset.h"
#include "engine/nn/layers/registry.h"
#include "base/check.h"
#include "engine/trainer.h"

enum {
    FEATURES = 8,
    HIDDEN = 10,
    RECORDS_MAX = 1 << 16,
    /* Offsets in the file, whose tensors are sorted by name: each bias first. */
    FIRST = HIDDEN,
    CONSTANT = FIRST + HIDDEN * FEATURES,
    SECOND = CONSTANT + 1,
    DIM = SECOND + HIDDEN
};

struct network_point {
    double values[DIM];
};

struct slope {
    double gradient_square, loss;
};

static float rows[RECORDS_MAX * FEATURES], targets[RECORDS_MAX];

static uint64_t read_records(void)
{
    uint64_t records = 0;
    while (records < RECORDS_MAX && scanf("%f", &targets[records]) == 1) {
        for (size_t j = 0; j < FEATURES; j++)
            CHECK(scanf("%f", &rows[records * FEATURES + j]) == 1);
        records++;
    }
    return records;
}

/* The gradient of the trained loss: (output - target)^2 / 2, averaged. */
static struct slope slope_at(const struct network_point *point, uint64_t records)
{
    const double *w = point->values;
    double gradient[DIM] = {0}, loss = 0, square = 0;
    for (uint64_t i = 0; i < records; i++) {
        const float *x = rows + i * FEATURES;
        double hidden[HIDDEN], rise[HIDDEN], error = w[CONSTANT] - (double)targets[i];
        for (size_t k = 0; k < HIDDEN; k++) {
            double z = w[k];
            for (size_t j = 0; j < FEATURES; j++)
                z += w[FIRST + k * FEATURES + j] * (double)x[j];
            hidden[k] = fmax(z, 0) + log1p(exp(-fabs(z)));
            rise[k] = 1 / (1 + exp(-z));
            error += w[SECOND + k] * hidden[k];
        }
        loss += error * error / 2;
        for (size_t k = 0; k < HIDDEN; k++) {
            double back = error * w[SECOND + k] * rise[k];
            for (size_t j = 0; j < FEATURES; j++)
                gradient[FIRST + k * FEATURES + j] += back * (double)x[j];
            gradient[k] += back;
            gradient[SECOND + k] += error * hidden[k];
        }
        gradient[CONSTANT] += error;
    }
    for (size_t k = 0; k < DIM; k++)
        square += pow(gradient[k] / (double)records, 2);
    return (struct slope){square, loss / (double)records};
}

static void read_point(struct network_point *point, struct trainer *trainer,
                       const char *path)
{
    struct file_checksum seal;
    struct safetensors *file;
    float values[DIM];
    size_t done = 0;
    CHECK(trainer_save(trainer, path, (struct metadata_list){0}, &seal, NULL) == ST_OK);
    CHECK(safetensors_open(&file, path, NULL) == ST_OK);
    for (size_t k = 0; k < safetensors_tensor_count(file); k++) {
        const struct tensor *tensor = safetensors_tensor(file, k);
        CHECK(safetensors_read(file, tensor, values, NULL) == ST_OK);
        for (size_t j = 0; j < tensor->count; j++)
            point->values[done++] = (double)values[j];
    }
    CHECK(done == DIM);
    safetensors_close(file);
}

static void set(struct algorithm_spec *spec, char *word)
{
    char *value = strchr(word, '=');
    CHECK(value != NULL);
    *value++ = 0;
    for (size_t k = 0; k < spec->algorithm->parameter_count; k++)
        if (strcmp(spec->algorithm->parameters[k].name, word) == 0)
            spec->values[k] = strtod(value, NULL);
}

/* Checks that the layout above is the file's: the trainer finds the same loss. */
static void check_loss(struct trainer *trainer, double loss)
{
    struct evaluation evaluation;
    CHECK(trainer_evaluate(trainer, &evaluation, NULL) == ST_OK);
    CHECK(fabs(evaluation.loss - loss) <= 1e-4 * loss);
}

/* Prints the slope averaged over the last twentieth of the iterates, and the slope at
 * the mean of the last quarter. */
static void descend(struct trainer *trainer, uint64_t steps, uint64_t records)
{
    char path[] = "/tmp/epsilond-descent-XXXXXX";
    struct network_point point = {{0}}, mean = {{0}};
    struct slope end = {0, 0}, now;
    uint64_t tail = steps / 4, last = steps / 20;
    CHECK(mkstemp(path) >= 0);
    for (uint64_t t = 1; t <= steps; t++) {
        if (trainer_step(trainer, NULL) != ST_OK) {
            printf("nan nan nan nan\n");
            remove(path);
            exit(0);
        }
        if (t <= steps - tail)
            continue;
        read_point(&point, trainer, path);
        for (size_t k = 0; k < DIM; k++)
            mean.values[k] += point.values[k] / (double)tail;
        if (t > steps - last && t % 10 == 0) {
            now = slope_at(&point, records);
            end.gradient_square += now.gradient_square * 10 / (double)last;
            end.loss += now.loss * 10 / (double)last;
        }
    }
    check_loss(trainer, slope_at(&point, records).loss);
    now = slope_at(&mean, records);
    printf("%.6g %.6g %.6g %.6g\n", end.gradient_square, end.loss, now.gradient_square,
           now.loss);
    remove(path);
}

int main(int argc, char **argv)
{
    CHECK(argc >= 5);
    uint64_t records = read_records();
    struct matrix data = {.records = records,
                          .features = FEATURES,
                          .element = ELEMENT_F32,
                          .scale = 1,
                          .rows = rows,
                          .values = targets};
    struct train_spec spec = {
        .model = {.preset = PRESET_MLP,
                  .hidden_count = 1,
                  .hidden = {HIDDEN},
                  .activation = &layer_softplus,
                  .bias = true,
                  .loss = LOSS_SQUARED},
        .optimizer = {.kind = OPTIMIZER_SGD, .learning_rate = strtod(argv[4], NULL)},
        .relation = RELATION_REPLACE_ONE,
        .records = records,
        .batch_size = records,
        .steps = strtoull(argv[3], NULL, 10),
        .noise_multiplier = strtod(argv[2], NULL)};
    struct trainer_options options = {
        .spec = &spec, .data = &data, .evaluation = &data, .threads = 1};
    struct trainer *trainer;
    spec.optimizer.learning_rate_final = spec.optimizer.learning_rate;
    preset_expand(&spec.model, 1);
    algorithm_spec_init(&spec.algorithm, algorithm_find(argv[1]));
    for (int k = 5; k < argc; k++)
        set(&spec.algorithm, argv[k]);
    CHECK(train_spec_compile(&spec, (struct data_shape){.features = FEATURES}, NULL) ==
          ST_OK);
    CHECK(trainer_create(&trainer, &options, NULL) == ST_OK);
    descend(trainer, spec.steps, records);
    trainer_destroy(trainer);
    train_spec_fini(&spec);
    return 0;
}
