/*
 * bench_text - steps of jobs on texts of 32 tokens, with an encoder of the size of
 * MiniLM-L6 and made-up weights, in turns within one process, one thread. Ratios are
 * medians of the ratios within a turn.
 *
 *   cached    dpsgd on the head, on cached features, against dpsgd of a linear model on
 *             a matrix of as many floats a record (an npy file): at most 1.1
 *   bias      dpsgd on the biases and the head against sgd on the same: at most 1.15
 *   lora      the same with adapters of rank 8 at the layers query and value
 */
#include "tests/bench/workload_fixture.h"

enum { RECORDS = 2048, TOKENS = 32, WIDTH = 384, VOCABULARY = 30522 };

struct job {
    const char *algorithm;
    struct train_spec spec; /* lives as long as its trainer */
    struct matrix data;
    struct trainer *trainer;
};

static float *token_rows(void)
{
    float *rows = aligned_alloc(64, RECORDS * TOKENS * sizeof *rows);
    CHECK(rows != NULL);
    for (size_t k = 0; k < RECORDS * TOKENS; k++)
        rows[k] = (float)(k * 2654435761U % VOCABULARY);
    return rows;
}

static float *vector_rows(void)
{
    float *rows = aligned_alloc(64, RECORDS * WIDTH * sizeof *rows);
    CHECK(rows != NULL);
    for (size_t k = 0; k < RECORDS * WIDTH; k++)
        rows[k] = (float)(k * 2654435761U % 1000) * 0.002F - 1;
    return rows;
}

static struct matrix matrix_of(const float *rows, uint32_t features)
{
    uint32_t *targets = calloc(RECORDS, sizeof *targets);
    CHECK(targets != NULL);
    for (size_t k = 0; k < RECORDS; k++)
        targets[k] = k % 2;
    return (struct matrix){.records = RECORDS,
                           .features = features,
                           .classes = 2,
                           .element = ELEMENT_F32,
                           .rows = rows,
                           .targets = targets};
}

static char targets[2][TENSOR_NAME_SIZE] = {"*.query", "*.value"};

static struct model_spec encoder(enum trainable_kind trainable)
{
    return (struct model_spec){
        .preset = PRESET_BERT,
        .loss = LOSS_LOGISTIC,
        .text_encoder = {.blocks = 6,
                         .width = WIDTH,
                         .heads = 12,
                         .intermediate = 1536,
                         .vocabulary = VOCABULARY,
                         .positions = 512,
                         .separator = 102,
                         .mean = true},
        .start = {
            .trainable = trainable, .rank = 8, .alpha = 16, .named = {2, targets}}};
}

static void start(struct job *job, struct model_spec model, uint64_t batch)
{
    struct error error = {0};
    const struct trainer_options options = {.spec = &job->spec,
                                            .data = &job->data,
                                            .threads = 1,
                                            .features = {.folder = "/tmp"}};
    job->spec = (struct train_spec){.model = model,
                                    .optimizer = {.kind = OPTIMIZER_SGD,
                                                  .learning_rate = 0.01,
                                                  .learning_rate_final = 0.01},
                                    .records = job->data.records,
                                    .batch_size = batch,
                                    .steps = UINT32_MAX,
                                    .noise_multiplier = 1};
    algorithm_spec_init(&job->spec.algorithm, algorithm_find(job->algorithm));
    preset_expand(&job->spec.model, 1);
    if (train_spec_compile(&job->spec, (struct data_shape){job->data.features, 2},
                           &error) != ST_OK ||
        trainer_choose_rate(&job->spec, &error) != ST_OK ||
        trainer_create(&job->trainer, &options, &error) != ST_OK) {
        fprintf(stderr, "%s: %s\n", job->algorithm, error.text);
        exit(1);
    }
}

static void compare(const char *name, const struct job jobs[2], double seconds)
{
    struct measure_plan plan = {.seconds = seconds, .turn_seconds = 0.02, .share = 0.5};
    struct measurement m[2];
    for (size_t k = 0; k < 2; k++)
        m[k] = (struct measurement){
            .run = step, .context = jobs[k].trainer, .alone = true};
    size_t turns = measure_all(m, 2, &plan);
    printf("%-8s %9.3f ms a step against %9.3f: %.2f times (%zu turns)\n", name,
           m[0].seconds * 1e3, m[1].seconds * 1e3, ratio(&m[0], &m[1], turns), turns);
    fflush(stdout);
}

/* A step of dpsgd against one of sgd that trains the same. */
static void compare_private(const char *name, const float *tokens,
                            enum trainable_kind trainable)
{
    enum { BATCH = 64 };
    struct job jobs[2] = {{.algorithm = "dpsgd", .data = matrix_of(tokens, TOKENS)},
                          {.algorithm = "sgd", .data = matrix_of(tokens, TOKENS)}};
    for (size_t k = 0; k < 2; k++)
        start(&jobs[k], encoder(trainable), BATCH);
    compare(name, jobs, 20);
    for (size_t k = 0; k < 2; k++)
        trainer_destroy(jobs[k].trainer);
}

static void compare_with_vectors(const float *tokens)
{
    enum { BATCH = 1024 };
    const struct model_spec linear = {
        .preset = PRESET_LINEAR, .bias = true, .loss = LOSS_LOGISTIC};
    struct job jobs[2] = {
        {.algorithm = "dpsgd", .data = matrix_of(tokens, TOKENS)},
        {.algorithm = "dpsgd", .data = matrix_of(vector_rows(), WIDTH)}};
    start(&jobs[0], encoder(TRAINABLE_HEAD), BATCH);
    start(&jobs[1], linear, BATCH);
    CHECK(trainer_has_features(jobs[0].trainer));
    compare("cached", jobs, 3);
    for (size_t k = 0; k < 2; k++)
        trainer_destroy(jobs[k].trainer);
}

int main(void)
{
    float *tokens = token_rows();

    compare_with_vectors(tokens);
    compare_private("bias", tokens, TRAINABLE_BIAS);
    compare_private("lora", tokens, TRAINABLE_LORA);
    return 0;
}
