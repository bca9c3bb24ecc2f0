/*
 * bench_train - a step of dpsgd next to a step of sgd by the same engine, and next to
 * the floor, all in turns in one process, once for each family of BLAS kernels that the
 * processor has. Numbers are medians of the turns, ratios medians of the ratios within
 * a turn: the machine is not equally fast in every second. The argument "rates" is for
 * peers.py.
 *
 *   floor     products + noise (floor_fixture.h)
 *   -noise    without the measured noise
 *   model     the cost model of engine/README.md: products at the rate of one large
 *             product, bytes at that of a copy of a micro-batch, and noise
 *
 * One thread is measured by its processor time, which other work on the machine affects
 * least; two in wall time, next to what they gain in products by themselves. For two
 * threads there are two more numbers: "on cores", the gain in those turns in which
 * products gained at least 1.8, and the number of those turns; and the gain by the rows
 * that the busier thread is given, which no load affects. First: peak resident set
 * beyond the data of 784-1024-1024-10 at batch 4096 on two threads (target 6).
 */
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/dp/batch.h"
#include "engine/sampling/poisson.h"
#include "engine/rounding/blas.h"
#include "tests/bench/floor_fixture.h"
#include "tests/engine/kernels_fixture.h"

enum { RECORDS = 60000, PEAK = 1024 };

static const uint64_t batches[] = {64, 256, 1024, 4096};

/* ---- one thread ---- */

enum { DP, SGD, DICE, PRODUCTS, NOISE, KINDS };

static double peak_flops(void)
{
    enum { ROUNDS = 5 };
    float *a = floats(PEAK * PEAK), *b = floats(PEAK * PEAK), *c = floats(PEAK * PEAK);
    double best = 0;
    for (int k = 0; k < ROUNDS; k++) {
        double start = now(true);
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, PEAK, PEAK, PEAK, 1, a,
                    PEAK, b, PEAK, 0, c, PEAK);
        double rate = 2.0 * PEAK * PEAK * PEAK / (now(true) - start);
        best = rate > best ? rate : best;
    }
    free(a);
    free(b);
    free(c);
    return best;
}

static double copy_rate(void)
{
    enum { FLOATS = 512 * FEATURES, ROUNDS = 50 };
    float *from = floats(FLOATS), *to = floats(FLOATS);
    double best = 0;
    for (int k = 0; k < ROUNDS; k++) {
        double start = now(true);
        memcpy(to, from, FLOATS * sizeof *to);
        double rate = 2.0 * FLOATS * sizeof *to / (now(true) - start);
        best = rate > best ? rate : best;
    }
    free(from);
    free(to);
    return best;
}

struct rates {
    double flops, bytes; /* per second, of one thread */
};

static void print_row(const struct shape *shape, const struct bench_floor *f,
                      const struct measurement *m, size_t turns, struct rates rates)
{
    struct measurement bare = added(&m[DP], -1, &m[NOISE]);
    struct measurement bare_dice = added(&m[DICE], -1, &m[NOISE]);
    struct measurement floor = added(&m[PRODUCTS], 1, &m[NOISE]);
    double dp = m[DP].seconds, noise = m[NOISE].seconds, batch = (double)f->batch;
    double model =
        batch * floor_flops(f) / rates.flops + floor_bytes(f) / rates.bytes + noise;
    printf("%-17s%6d%9.3f%9.3f%9.3f%9.3f%8.3f%8.2f%7.2f%7.2f%7.2f%7.2f%7.2f%7.2f%9.0f"
           "\n",
           shape->name, (int)f->batch, dp * 1e3, m[SGD].seconds * 1e3,
           m[DICE].seconds * 1e3, m[PRODUCTS].seconds * 1e3, noise * 1e3,
           ratio(&bare, &m[SGD], turns), ratio(&m[DP], &m[SGD], turns),
           1.15 + ratio(&m[NOISE], &m[SGD], turns), ratio(&m[DP], &floor, turns),
           ratio(&bare_dice, &m[SGD], turns), ratio(&m[NOISE], &m[DP], turns),
           dp / model, batch / dp);
}

static void bench_one(const struct matrix *data, const struct shape *shape,
                      uint64_t batch, struct rates rates)
{
    static const char *const names[] = {"dpsgd", "sgd", "dicesgd"};
    struct measure_plan plan = {.seconds = 3, .turn_seconds = 0.02, .share = 0.5};
    struct measurement m[KINDS] = {0};
    struct bench_floor floor = floor_of(shape, batch, 1);
    for (size_t k = 0; k <= DICE; k++)
        m[k] =
            (struct measurement){.run = step,
                                 .context = trainer_of(names[k], shape, data, batch, 1),
                                 .alone = true};
    m[PRODUCTS] =
        (struct measurement){.run = run_products, .context = &floor, .alone = true};
    m[NOISE] = (struct measurement){.run = run_noise, .context = &floor, .alone = true};
    size_t turns = measure_all(m, KINDS, &plan);
    print_row(shape, &floor, m, turns, rates);
    for (size_t k = 0; k <= DICE; k++)
        trainer_destroy(m[k].context);
    floor_free(&floor);
}

/* ---- two threads ---- */

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
    team_run(pair->team, &(struct team_work){.run = pair_member,
                                             .context = pair,
                                             .shares = 2,
                                             .flops = TEAM_FLOPS_MIN});
}

/* Returns the rows that the busiest of the threads is given. Each share has whole
 * blocks of 16 and goes to the thread with the fewest rows so far, as stepper.c
 * distributes them. */
static double busiest_rows(const struct batch *batch, unsigned threads)
{
    enum { BLOCK = 16, AT_ONCE = 4 };
    size_t most = 0, rows[THREADS_MAX] = {0};
    size_t rounds = (batch->piece_count + AT_ONCE * threads - 1) / (AT_ONCE * threads);
    unsigned shares = threads * (unsigned)rounds;
    for (unsigned k = 0; k < shares; k++) {
        size_t records = 0, least = 0;
        for (size_t p = batch_share(batch, k, shares);
             p < batch_share(batch, k + 1, shares); p++)
            records += batch->pieces[p].count;
        for (unsigned t = 1; t < threads; t++)
            least = rows[t] < rows[least] ? t : least;
        rows[least] += (records + BLOCK - 1) / BLOCK * BLOCK;
    }
    for (unsigned t = 0; t < threads; t++)
        most = rows[t] > most ? rows[t] : most;
    return (double)most;
}

static double balance(uint64_t batch_size)
{
    enum { DRAWS = 200 };
    struct grid grid = {.records = RECORDS, .cells = (batch_size + 127) / 128};
    struct poisson *poisson = poisson_create();
    struct batch batch;
    double one = 0, two = 0;
    CHECK(batch_init(&batch, RECORDS, (size_t)grid.cells, NULL) == ST_OK);
    for (uint8_t k = 0; k < DRAWS; k++) {
        struct noise_key key = {{9, k}};
        batch_drawn(&batch, poisson_draw(poisson, batch.indices, RECORDS,
                                         (double)batch_size / RECORDS, &key));
        batch_cut_cells(&batch, &grid);
        one += busiest_rows(&batch, 1);
        two += busiest_rows(&batch, 2);
    }
    batch_fini(&batch);
    poisson_destroy(poisson);
    return one / two;
}

enum { PRODUCTS_ONE, PRODUCTS_TWO, ONE, TWO, PAIR, PAIR_KINDS };

/* Returns what two threads gain in the turns in which they gain CORES_GAIN in products
 * by themselves: the machine may provide two halves of one core. 0: there was no such
 * turn. */
static double gain_on_cores(const struct measurement *m, size_t turns, size_t *found)
{
    static const double CORES_GAIN = 1.8;
    double gains[ROUNDS_MAX];
    *found = 0;
    for (size_t k = 0; k < turns; k++)
        if (m[PRODUCTS_ONE].turns[k] >= CORES_GAIN * m[PRODUCTS_TWO].turns[k])
            gains[(*found)++] = m[ONE].turns[k] / m[TWO].turns[k];
    return *found > 0 ? quantile(gains, *found, 0.5) : 0;
}

static void bench_two(const struct matrix *data, const struct shape *shape,
                      uint64_t batch)
{
    struct measure_plan plan = {.seconds = 5, .turn_seconds = 0.03, .share = 0.5};
    struct pair pair = {0};
    struct trainer *trainers[2];
    struct bench_floor floors[2];
    for (unsigned t = 0; t < 2; t++) {
        floors[t] = floor_of(shape, batch, t + 1);
        trainers[t] = trainer_of("dpsgd", shape, data, batch, t + 1);
        pair.jobs[t] = trainer_of("dpsgd", shape, data, batch, 1);
    }
    CHECK(team_create(&pair.team, 2, NULL) == ST_OK);
    struct measurement m[PAIR_KINDS] = {
        [PRODUCTS_ONE] = {.run = run_products, .context = &floors[0]},
        [PRODUCTS_TWO] = {.run = run_products, .context = &floors[1]},
        [ONE] = {.run = step, .context = trainers[0]},
        [TWO] = {.run = step, .context = trainers[1]},
        [PAIR] = {.run = run_pair, .context = &pair}};
    size_t found, turns = measure_all(m, PAIR_KINDS, &plan);
    double gain = gain_on_cores(m, turns, &found);
    printf("%-17s%6d%10.3f%10.3f%10.2f%10.2f%10.2f%6zu/%3zu%10.2f%16.2f\n", shape->name,
           (int)batch, m[ONE].seconds * 1e3, m[TWO].seconds * 1e3,
           ratio(&m[ONE], &m[TWO], turns),
           ratio(&m[PRODUCTS_ONE], &m[PRODUCTS_TWO], turns), gain, found, turns,
           balance(batch), 2 * ratio(&m[TWO], &m[PAIR], turns));
    team_destroy(pair.team);
    for (unsigned t = 0; t < 2; t++) {
        floor_free(&floors[t]);
        trainer_destroy(trainers[t]);
        trainer_destroy(pair.jobs[t]);
    }
}

static void print_noise_rate(void)
{
    static const struct shape million = {"", 2, {1024, 1024}, false};
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

/* Runs in a process of its own, before any other has threads; its data are resident. */
static void print_memory(uint64_t records)
{
    struct matrix data = made_up_records(records);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        FILE *file = fopen("/proc/self/clear_refs", "w"); /* 5: the peak starts again */
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

static void bench_all(const struct matrix *data)
{
    struct rates rates = {.flops = peak_flops(), .bytes = copy_rate()};
    printf(
        "one thread: %.0f GFLOP/s in a product of 1024 x 1024 x 1024, %.0f GB/s in a "
        "copy of 1.6 MB\n\n",
        rates.flops * 1e-9, rates.bytes * 1e-9);
    printf("one thread, processor time\n%-17s%6s%9s%9s%9s%9s%8s%8s%7s%7s%7s%7s%7s%7s%9s"
           "\n",
           "model", "batch", "dpsgd", "sgd", "dicesgd", "products", "noise", "-noise",
           "dp", "target", "dp", "dice", "noise", "dp", "records");
    printf("%67s%8s%7s%7s%7s%7s%7s%7s%9s\n", "", "/sgd", "/sgd", "1", "/floor", "/sgd",
           "/dp", "/model", "/s");
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (size_t b = 0; b < sizeof batches / sizeof *batches; b++)
            bench_one(data, &shapes[s], batches[b], rates);
    printf("\n");
    printf("dpsgd on two threads\n%-17s%6s%10s%10s%10s%10s%10s%10s%10s%16s\n", "model",
           "batch", "one", "two", "one/two", "products", "on cores", "turns", "by rows",
           "two jobs / one");
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (size_t b = 1; b < sizeof batches / sizeof *batches; b++)
            bench_two(data, &shapes[s], batches[b]);
}

/* Prints lines of model,batch,threads,dpsgd,sgd in records a second, the best of
 * several turns, for peers.py: one thread by its processor time, two by wall time. */
static void print_rates(const struct matrix *data)
{
    static const uint64_t sizes[] = {256, 1024};
    static const char *const names[] = {"dpsgd", "sgd"};
    struct measure_plan plan = {.seconds = 1, .turn_seconds = 0.02, .share = 0};
    for (unsigned threads = 1; threads <= 2; threads++)
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
            for (size_t b = 0; b < 2; b++) {
                struct measurement m[2] = {0};
                for (size_t k = 0; k < 2; k++)
                    m[k] = (struct measurement){
                        .run = step,
                        .context =
                            trainer_of(names[k], &shapes[s], data, sizes[b], threads),
                        .alone = threads == 1};
                measure_all(m, 2, &plan);
                printf("%s,%d,%u,%.0f,%.0f\n", shapes[s].name, (int)sizes[b], threads,
                       (double)sizes[b] / m[0].seconds,
                       (double)sizes[b] / m[1].seconds);
                trainer_destroy(m[0].context);
                trainer_destroy(m[1].context);
            }
}

int main(int argc, char **argv)
{
    int result = 0;
    if (!kernels_chosen(argv, &result))
        return result;
    blas_use_one_thread();
    struct matrix data = made_up_records(RECORDS);
    if (argc > 1 && strcmp(argv[1], "rates") == 0) {
        print_rates(&data);
        return 0;
    }
    printf("kernels %s, milliseconds a step\n", blas_kernel());
    print_memory(RECORDS / 10);
    print_memory(RECORDS);
    print_noise_rate();
    bench_all(&data);
    free((void *)(uintptr_t)data.rows);
    free((void *)(uintptr_t)data.targets);
    return 0;
}
