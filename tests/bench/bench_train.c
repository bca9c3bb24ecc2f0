/*
 * bench_train - a step of dpsgd beside a step of sgd by the same engine, beside the
 * floor, all in turns in one process (issue 4, targets 1 to 4), once for each family of
 * BLAS kernels that the processor has. Argument: the quantile of the turns that is taken
 * for a figure, 0.5 where there is none; a lower one on a machine with other work.
 *
 *   products  bare matrix products of the model on the expected batch, split between the
 *             threads, in a loop over micro-batches of at most PRODUCT_ROWS records
 *   noise     one coordinate of noise a parameter, split between the threads
 *   floor     products + noise
 *   dp-noise  dpsgd without the measured noise
 *
 * One thread is measured by its processor time, which other work on the machine touches
 * least; two threads and two jobs by the clock on the wall, so that their figures are
 * those of a machine that does nothing else, or not at all. First: peak resident set
 * beyond the data of 784-1024-1024-10 at batch 4096 on two threads (target 6).
 */
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cblas.h>

#include "engine/dp/noise.h"
#include "engine/dp/team.h"
#include "engine/nn/blas.h"
#include "tests/bench/workload.h"
#include "tests/engine/kernels.h"

enum {
    RECORDS = 60000,
    PRODUCT_ROWS = 512,
    THREADS_MAX = 2,
    LAYERS_MAX = 4,
    DRAWN_AT_ONCE = 64
};

static const struct shape shapes[] = {
    {"784-10", 0, {0}},
    {"784-128-10", 1, {128}},
    {"784-1024-1024-10", 2, {1024, 1024}},
};
static const uint64_t batches[] = {64, 256, 1024, 4096};

struct layer_size {
    size_t in, out;
};

struct floor_buffers { /* of one thread; a and b: rows, inputs and outputs of a layer */
    float *a, *b, *sum;
    int64_t *noise;
    struct noise *source;
};

struct bench_floor {
    struct team *team;
    struct layer_size layers[LAYERS_MAX];
    size_t layer_count, batch, parameters;
    float *weights;
    struct floor_buffers buffers[THREADS_MAX];
};

static float *floats(size_t count)
{
    float *f = aligned_alloc(64, (count * sizeof *f + 63) / 64 * 64);
    CHECK(f != NULL);
    for (size_t i = 0; i < count; i++)
        f[i] = (float)(i % 101) * 0.01F - 0.5F;
    return f;
}

static size_t widest(const struct bench_floor *f)
{
    size_t width = FEATURES;
    for (size_t l = 0; l < f->layer_count; l++)
        width = f->layers[l].out > width ? f->layers[l].out : width;
    return width;
}

static struct bench_floor floor_of(const struct shape *shape, size_t batch,
                                   unsigned threads)
{
    struct bench_floor f = {.batch = batch, .layer_count = shape->hidden_count + 1};
    size_t largest = 0;
    CHECK(team_create(&f.team, threads, NULL) == ST_OK);
    for (size_t l = 0; l < f.layer_count; l++) {
        struct layer_size size = {.in = l == 0 ? FEATURES : shape->hidden[l - 1],
                                  .out = l < shape->hidden_count ? shape->hidden[l]
                                                                 : CLASSES};
        size_t count = size.in * size.out;
        f.layers[l] = size;
        f.parameters += count + size.out;
        largest = count > largest ? count : largest;
    }
    f.weights = floats(largest);
    for (unsigned k = 0; k < threads; k++)
        f.buffers[k] = (struct floor_buffers){
            .a = floats(PRODUCT_ROWS * widest(&f)),
            .b = floats(PRODUCT_ROWS * widest(&f)),
            .sum = floats(largest),
            .noise = malloc(DRAWN_AT_ONCE * NOISE_CHUNK * sizeof(int64_t)),
            .source = noise_create(),
        };
    return f;
}

static void floor_free(struct bench_floor *f)
{
    for (unsigned k = 0; k < team_size(f->team); k++) {
        noise_destroy(f->buffers[k].source);
        free(f->buffers[k].noise);
        free(f->buffers[k].sum);
        free(f->buffers[k].b);
        free(f->buffers[k].a);
    }
    free(f->weights);
    team_destroy(f->team);
}

static size_t share(size_t total, unsigned k, unsigned n)
{
    return total * (k + 1) / n - total * k / n;
}

static void products(const struct bench_floor *f, const struct floor_buffers *to,
                     size_t records, float keep)
{
    blasint rows = (blasint)records;
    for (size_t l = 0; l < f->layer_count; l++) {
        blasint in = (blasint)f->layers[l].in, out = (blasint)f->layers[l].out;
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, out, in, 1, to->a,
                    in, f->weights, in, 0, to->b, out);
    }
    for (size_t l = f->layer_count; l-- > 0;) {
        blasint in = (blasint)f->layers[l].in, out = (blasint)f->layers[l].out;
        if (l > 0)
            cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, in, out, 1,
                        to->b, out, f->weights, in, 0, to->a, in);
        cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, out, in, rows, 1, to->b,
                    out, to->a, in, keep, to->sum, in);
    }
}

static void products_member(void *context, unsigned member)
{
    const struct bench_floor *f = context;
    size_t left = share(f->batch, member, team_size(f->team));
    for (float keep = 0; left > 0; keep = 1) {
        size_t rows = left < PRODUCT_ROWS ? left : PRODUCT_ROWS;
        products(f, &f->buffers[member], rows, keep);
        left -= rows;
    }
}

static void run_products(void *context)
{
    struct bench_floor *f = context;
    team_run(f->team, products_member, f);
}

static void noise_member(void *context, unsigned member)
{
    static const struct noise_key key = {{1}};
    const struct bench_floor *f = context;
    const struct noise_address address = {.key = &key};
    size_t chunks = (f->parameters + NOISE_CHUNK - 1) / NOISE_CHUNK;
    size_t count = share(chunks, member, team_size(f->team));
    for (size_t k = 0; k < count; k += DRAWN_AT_ONCE) /* each call wipes once */
        noise_draw(f->buffers[member].source, f->buffers[member].noise, &address, k,
                   count - k < DRAWN_AT_ONCE ? count - k : DRAWN_AT_ONCE);
}

static void run_noise(void *context)
{
    struct bench_floor *f = context;
    team_run(f->team, noise_member, f);
}

struct pair { /* two jobs at once, one thread each */
    struct team *team;
    struct trainer *jobs[2];
};

static void pair_member(void *context, unsigned member)
{
    step(((struct pair *)context)->jobs[member]);
}

static void run_pair(void *context)
{
    struct pair *pair = context;
    team_run(pair->team, pair_member, pair);
}

enum { DP, SGD, PRODUCTS, NOISE, KINDS };

static void print_row(const struct shape *shape, uint64_t batch, unsigned threads,
                      const struct measurement *m)
{
    double dp = m[DP].seconds, sgd = m[SGD].seconds, noise = m[NOISE].seconds;
    double floor = m[PRODUCTS].seconds + noise;
    printf("%-17s%6d%3u%10.3f%10.3f%10.3f%9.3f%9.2f%8.2f%8.2f%8.2f%8.2f%9.0f\n",
           shape->name, (int)batch, threads, dp * 1e3, sgd * 1e3,
           m[PRODUCTS].seconds * 1e3, noise * 1e3, (dp - noise) / sgd, dp / sgd,
           1.15 + noise / sgd, dp / floor, noise / dp, (double)batch / dp);
}

static void print_threads(const struct measurement *one, const struct measurement *two,
                          double pair)
{
    printf("%28s two threads over one: dpsgd %.2f, sgd %.2f, products %.2f, noise %.2f;"
           " two jobs over one with both threads: %.2f\n",
           "", one[DP].seconds / two[DP].seconds, one[SGD].seconds / two[SGD].seconds,
           one[PRODUCTS].seconds / two[PRODUCTS].seconds,
           one[NOISE].seconds / two[NOISE].seconds, 2 * two[DP].seconds / pair);
}

static void bench(const struct matrix *data, const struct shape *shape, uint64_t batch,
                  double quantile_share)
{
    struct measure_plan plan = {
        .seconds = 2, .turn_seconds = 0.004, .share = quantile_share};
    struct measurement all[THREADS_MAX * KINDS + 1] = {0};
    struct bench_floor floors[THREADS_MAX];
    struct pair pair = {0};
    for (unsigned t = 0; t < THREADS_MAX; t++) {
        struct measurement *m = all + t * KINDS;
        floors[t] = floor_of(shape, batch, t + 1);
        m[DP] = (struct measurement){.run = step,
                                     .context =
                                         trainer_of("dpsgd", shape, data, batch, t + 1),
                                     .alone = t == 0};
        m[SGD] = (struct measurement){.run = step,
                                      .context =
                                          trainer_of("sgd", shape, data, batch, t + 1),
                                      .alone = t == 0};
        m[PRODUCTS] = (struct measurement){
            .run = run_products, .context = &floors[t], .alone = t == 0};
        m[NOISE] = (struct measurement){
            .run = run_noise, .context = &floors[t], .alone = t == 0};
        pair.jobs[t] = trainer_of("dpsgd", shape, data, batch, 1);
    }
    CHECK(team_create(&pair.team, 2, NULL) == ST_OK);
    all[THREADS_MAX * KINDS] = (struct measurement){.run = run_pair, .context = &pair};
    measure_all(all, THREADS_MAX * KINDS + 1, &plan);
    for (unsigned t = 0; t < THREADS_MAX; t++)
        print_row(shape, batch, t + 1, all + t * KINDS);
    print_threads(all, all + KINDS, all[THREADS_MAX * KINDS].seconds);
    for (unsigned t = 0; t < THREADS_MAX; t++) {
        trainer_destroy(all[t * KINDS + DP].context);
        trainer_destroy(all[t * KINDS + SGD].context);
        trainer_destroy(pair.jobs[t]);
        floor_free(&floors[t]);
    }
    team_destroy(pair.team);
}

static void print_noise_rate(void)
{
    static const struct shape million = {"", 2, {1024, 1024}};
    struct bench_floor f = floor_of(&million, 1, 1);
    struct measurement m = {.run = run_noise, .context = &f, .alone = true};
    struct measure_plan plan = {.seconds = 1, .turn_seconds = 0.02, .share = 0.5};
    measure_all(&m, 1, &plan);
    printf("noise: %.0f million a second and core, %.2f ns each (target 200)\n\n",
           (double)f.parameters / m.seconds * 1e-6,
           m.seconds * 1e9 / (double)f.parameters);
    floor_free(&f);
}

static double status_megabytes(const char *name)
{
    char line[256];
    double kilobytes = 0;
    FILE *file = fopen("/proc/self/status", "r");
    CHECK(file != NULL);
    while (fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, name, strlen(name)) == 0)
            kilobytes = atof(line + strlen(name));
    fclose(file);
    return kilobytes / 1024;
}

/* In a process of its own, before any other has threads; its data are resident. */
static void print_memory(uint64_t records)
{
    struct matrix data = made_up_records(records);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        FILE *file = fopen("/proc/self/clear_refs", "w"); /* 5: peak = what is now */
        CHECK(file != NULL && fputs("5", file) >= 0 && fclose(file) == 0);
        double before = status_megabytes("VmRSS:");
        struct trainer *trainer = trainer_of("dpsgd", &shapes[2], &data, 4096, 2);
        for (int k = 0; k < 3; k++)
            step(trainer);
        printf(
            "784-1024-1024-10, batch 4096, 2 threads, %6d records: %.0f MB beyond the "
            "data (target 150)\n",
            (int)records, status_megabytes("VmHWM:") - before);
        fflush(stdout);
        _exit(0);
    }
    CHECK(waitpid(child, NULL, 0) == child);
    free((void *)(uintptr_t)data.rows);
    free((void *)(uintptr_t)data.targets);
}

int main(int argc, char **argv)
{
    int result = 0;
    double quantile_share = argc > 1 ? atof(argv[1]) : 0.5;
    if (!kernels_chosen(argv, &result))
        return result;
    blas_use_one_thread();
    struct matrix data = made_up_records(RECORDS);
    printf("kernels %s, milliseconds a step\n", blas_kernel());
    print_memory(RECORDS / 10);
    print_memory(RECORDS);
    print_noise_rate();
    printf("%-17s%6s%3s%10s%10s%10s%9s%9s%8s%8s%8s%8s%9s\n", "model", "batch", "t",
           "dpsgd", "sgd", "products", "noise", "dp-noise", "dp", "target", "dp",
           "noise", "records");
    printf("%64s%9s%8s%8s%8s%8s%9s\n", "", "/sgd", "/sgd", "1", "/floor", "/dp", "/s");
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (size_t b = 0; b < sizeof batches / sizeof *batches; b++)
            bench(&data, &shapes[s], batches[b], quantile_share);
    free((void *)(uintptr_t)data.rows);
    free((void *)(uintptr_t)data.targets);
    return 0;
}
