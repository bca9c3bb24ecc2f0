/* Goal: the memory that a job is said to take is what it takes, within 5 %, for each preset.
 * Method: each row of a table runs in a process of its own, which trains one step, evaluates
 * and saves the model. Its peak of resident memory, over what was resident before the
 * trainer was created, is compared with trainer_cost. */
#include "tests/expect.h"

#include <sys/wait.h>

#include "tests/engine/trainer_fixture.h"

enum { BATCH = 8, LARGE_BATCH = 1300, LABELS = 10, TOKENS = 32, BYTES = 256 };
enum { COLUMNS = 64, ROUNDS = 2 * COLUMNS + 1 }; /* of histograms */
enum { ENCODER_VOCABULARY = 30522, ENCODER_POSITIONS = 514 };

struct row {
    enum preset preset;
    const char *what; /* is trained, if that is not the usual; else NULL */
    enum trainable_kind trainable;
    uint32_t side, channels; /* of images */
    uint32_t features;       /* of vectors */
    const char *algorithm;   /* NULL: dpsgd */
    enum optimizer_kind optimizer;
    unsigned threads; /* 0: one; more take LARGE_BATCH records, so that all have work */
};

/* Each preset, what an encoder trains, and each algorithm. Sizes are small, so that a step
 * takes little time; the encoders are of the size of MiniLM-L6. */
static const struct row table[] = {
    {.preset = PRESET_LINEAR, .features = 40000},
    {.preset = PRESET_LINEAR, .features = 40000, .optimizer = OPTIMIZER_ADAM},
    {.preset = PRESET_MLP, .features = 6000},
    {.preset = PRESET_MLP, .features = 6000, .threads = 2},
    {.preset = PRESET_MLP, .features = 784},
    {.preset = PRESET_CNN_MNIST, .side = 28, .channels = 1, .threads = 2},
    {.preset = PRESET_CHAR_LSTM, .threads = 2},
    {.preset = PRESET_MLP, .features = 6000, .algorithm = "dpgd"},
    {.preset = PRESET_MLP, .features = 6000, .algorithm = "dcsgd_p"},
    {.preset = PRESET_MLP, .features = 6000, .algorithm = "dcsgd_e"},
    {.preset = PRESET_MLP, .features = 6000, .algorithm = "quantile_clip"},
    {.preset = PRESET_MLP, .features = 6000, .algorithm = "adp"},
    {.preset = PRESET_MLP, .features = 6000, .algorithm = "dicesgd"},
    {.preset = PRESET_MLP, .features = 6000, .algorithm = "value_clip"},
    {.preset = PRESET_MLP, .features = 6000, .algorithm = "diff2_gd"},
    {.preset = PRESET_MLP, .features = 6000, .algorithm = "sgd"},
    {.preset = PRESET_CNN_MNIST, .side = 28, .channels = 1},
    {.preset = PRESET_CNN_CIFAR, .side = 32, .channels = 3},
    {.preset = PRESET_RESNET18_GN, .side = 32, .channels = 3},
    {.preset = PRESET_RESNET34_GN, .side = 32, .channels = 3},
    {.preset = PRESET_SCATTER, .side = 32, .channels = 3},
    {.preset = PRESET_BERT},
    {.preset = PRESET_BERT, .what = "bias", .trainable = TRAINABLE_BIAS},
    {.preset = PRESET_BERT, .what = "last", .trainable = TRAINABLE_LAST},
    {.preset = PRESET_BERT, .what = "lora", .trainable = TRAINABLE_LORA},
    {.preset = PRESET_BERT, .what = "all", .trainable = TRAINABLE_ALL},
    {.preset = PRESET_ROBERTA},
    {.preset = PRESET_DISTILBERT},
    {.preset = PRESET_CHAR_LSTM},
    {.preset = PRESET_HISTOGRAMS,
     .features = 160000,
     .algorithm = "boosted_histograms"},
};
enum { TABLE = sizeof table / sizeof *table };

static double megabytes(const char *name)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    double kilobytes = -1;
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, name, strlen(name)) == 0)
            kilobytes = strtod(line + strlen(name), NULL);
    fclose(file);
    return kilobytes / 1024;
}

/* Reads a byte of each page of the files that are mapped, so that code which the job is
 * the first to run is not counted as its memory. */
static void touch_files(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[4096], path[4096];
    unsigned long first, end;
    volatile char sum = 0;
    assert_non_null(maps);
    while (fgets(line, sizeof line, maps) != NULL)
        if (sscanf(line, "%lx-%lx r%*s %*s %*s %*s %4095s", &first, &end, path) == 3 &&
            path[0] == '/')
            for (unsigned long at = first; at < end; at += 4096)
                sum = (char)(sum + *(const char *)at);
    fclose(maps);
}

static char adapted[1][TENSOR_NAME_SIZE] = {"*.query"}; /* of adapters */

static struct model_spec model_of(const struct row *row)
{
    struct model_spec model = {
        .preset = row->preset,
        .hidden_count = 2,
        .hidden = {1024, 1024},
        .activation = &layer_relu,
        .bias = true,
        .groups = 32,
        .input = {row->side, row->side, row->channels},
        .text_encoder = {.blocks = 6,
                         .width = 384,
                         .heads = 12,
                         .intermediate = 1536,
                         .vocabulary = ENCODER_VOCABULARY,
                         .positions = ENCODER_POSITIONS,
                         .separator = 102,
                         .mean = true},
        .start = {.trainable = row->what != NULL ? row->trainable
                                                 : preset_trainable(row->preset),
                  .last = 1,
                  .rank = 8,
                  .alpha = 16,
                  .named = {1, adapted}}};
    if (row->preset == PRESET_HISTOGRAMS) {
        model.columns.count = COLUMNS;
        for (size_t k = 0; k < COLUMNS; k++)
            model.columns.widths[k] = row->features / COLUMNS;
    }
    preset_expand(&model, LABELS);
    return model;
}

static uint32_t features_of(const struct row *row)
{
    if (preset_reads_ids(row->preset))
        return TOKENS;
    if (row->preset == PRESET_HISTOGRAMS)
        return row->features / COLUMNS * COLUMNS;
    return row->side > 0 ? row->side * row->side * row->channels : row->features;
}

static float number(const struct row *row, size_t k)
{
    if (preset_reads_ids(row->preset))
        return (float)(k * 2654435761U % BYTES);
    if (row->preset == PRESET_HISTOGRAMS)
        return 0;
    return (float)(k * 2654435761U % 1000) * 0.001F;
}

static uint32_t batch_of(const struct row *row)
{
    return row->threads > 0 ? LARGE_BATCH : BATCH;
}

static struct matrix records_of(const struct row *row)
{
    uint32_t features = features_of(row);
    float *x = malloc(batch_of(row) * features * sizeof *x);
    uint32_t *targets = calloc(batch_of(row), sizeof *targets);
    for (size_t k = 0; k < batch_of(row) * features; k++)
        x[k] = number(row, k);
    for (size_t i = 0; i < batch_of(row); i++)
        targets[i] = (uint32_t)(i % LABELS);
    return (struct matrix){.records = batch_of(row),
                           .features = features,
                           .classes = LABELS,
                           .element = ELEMENT_F32,
                           .rows = x,
                           .targets = targets};
}

/* Steps until the algorithm has used all of its memory. */
static uint64_t steps_of(const struct row *row)
{
    if (row->preset == PRESET_HISTOGRAMS)
        return ROUNDS;
    return row->algorithm != NULL && row->algorithm[1] == 'i' ? 2 : 1; /* diff2 */
}

static struct train_spec spec_of(const struct row *row)
{
    struct train_spec spec = {.relation = RELATION_ZERO_OUT,
                              .records = batch_of(row),
                              .batch_size = batch_of(row),
                              .steps = steps_of(row),
                              .noise_multiplier = 20,
                              .features = FEATURES_STREAMED,
                              .model = model_of(row)};
    optimizer_spec_init(&spec.optimizer, row->optimizer);
    spec.optimizer.learning_rate = spec.optimizer.learning_rate_final = 1e-4;
    algorithm_spec_init(
        &spec.algorithm,
        algorithm_find(row->algorithm != NULL ? row->algorithm : "dpsgd"));
    return spec;
}

struct figures {
    double said, taken; /* megabytes */
};

static struct figures train(const struct row *row)
{
    struct matrix data = records_of(row);
    struct train_spec spec = spec_of(row);
    struct trainer_cost cost;
    struct evaluation evaluation;
    unsigned threads = row->threads > 0 ? row->threads : 1;
    uint8_t digest[SHA256_SIZE];
    struct error error = {0};
    if (train_spec_compile(&spec, (struct data_shape){data.features, LABELS}, &error) !=
            ST_OK ||
        trainer_cost(&cost, &spec, threads, &error) != ST_OK)
        fail_msg("%s", error.text);
    struct trainer_options options = {.spec = &spec,
                                      .data = &data,
                                      .evaluation = &data,
                                      .threads = threads,
                                      .test_key = key};
    touch_files();
    double before = megabytes("VmRSS:");
    struct trainer *trainer = trainer_of(&options);
    run_steps(trainer, spec.steps);
    assert_int_equal(trainer_evaluate(trainer, &evaluation, NULL), ST_OK);
    digest_of(trainer, digest);
    return (struct figures){(double)cost.memory / 0x1p20, megabytes("VmHWM:") - before};
}

static struct figures in_a_process(const struct row *row)
{
    struct figures figures;
    int ends[2], status;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        figures = train(row);
        _exit(write(ends[1], &figures, sizeof figures) == sizeof figures ? 0 : 1);
    }
    close(ends[1]);
    ssize_t count = read(ends[0], &figures, sizeof figures);
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(count, sizeof figures);
    return figures;
}

static void a_job_takes_the_memory_that_it_is_said_to_take(void **state)
{
    (void)state;
    bool seen[PRESETS] = {[PRESET_NONE] = true};
    int wrong = 0;
    if (SANITIZED)
        skip_because("a sanitizer has memory of its own");
    for (size_t k = 0; k < TABLE; k++) {
        const struct row *row = &table[k];
        struct figures figures = in_a_process(row);
        double ratio = figures.said / figures.taken;
        print_message("%-12s %-5s %-10s %8.1f MiB said, %8.1f taken, %.3f\n",
                      preset_names[row->preset], row->what != NULL ? row->what : "",
                      row->algorithm != NULL ? row->algorithm : "", figures.said,
                      figures.taken, ratio);
        wrong += !(ratio >= 0.95 && ratio <= 1.05);
        seen[row->preset] = true;
    }
    assert_int_equal(wrong, 0);
    for (size_t p = 0; p < PRESETS; p++)
        if (!seen[p])
            fail_msg("%s is not in the table", preset_names[p]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_takes_the_memory_that_it_is_said_to_take),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
