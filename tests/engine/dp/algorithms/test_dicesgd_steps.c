/* Goal: what dicesgd sends in each step is the clipped mean, the part of the error that
 * comes back, and noise, however the batch is cut; the error is only in its own buffer,
 * and nowhere once the job has ended. Method: gradients that stay the same, so that
 * each release can be worked out by hand; a search of the process's own memory for the
 * bytes of the error (the thread sanitizer's trace of a loop looks like them, and all
 * of this runs on one thread). Checks of papers/dicesgd.md 7: 5, 6 (with the engine's
 * noise) and 12. */
#include <fcntl.h>

#include "tests/engine/dp/line_fixture.h"

enum { M2R, M2, M1, M3 };
enum { PARTITION, POISSON };

static const double still = 1e-7; /* a rate at which no gradient changes */

/* Records with one feature, 1, and a gradient of 1.5 at parameter 0. */
static const float ones[] = {1, 1, 1, 1};
static const float targets[] = {-1.5F, -1.5F, -1.5F, -1.5F};
static const struct matrix alike = {.records = 4,
                                    .features = 1,
                                    .element = ELEMENT_F32,
                                    .scale = 1,
                                    .rows = ones,
                                    .values = targets};

static struct kit_setup usual(const struct matrix *data, uint64_t batch, uint64_t steps)
{
    struct kit_setup setup = line_setup(data, still);
    setup.batch_size = batch;
    setup.steps = steps;
    setup.noise_multiplier = 0.02;
    setup.key = 21;
    return setup;
}

static void choose(struct kit *kit, int accountant, int batches, double whole)
{
    kit_spec(kit, "dicesgd");
    kit_set(kit, "accountant", accountant);
    kit_set(kit, "batches", batches);
    kit_set(kit, "pre_clip_norm", whole);
    kit_set(kit, "error_clip_norm", 1);
}

/* Returns what a step sent: v + w. */
static double sent(struct kit *kit)
{
    double before = (double)kit->parameters[0];
    kit_step(kit);
    return (before - (double)kit->parameters[0]) / still;
}

/* Epochs of two steps, all batches of two: v = 1 + the .5 that came back in each
 * step. */
static void an_epoch_ends_with_its_error_only_under_m2r(void **state)
{
    (void)state;
    for (int accountant = M2R; accountant <= M2; accountant++) {
        struct kit kit;
        struct kit_setup setup = usual(&alike, 2, 20);
        choose(&kit, accountant, PARTITION, 2);
        kit_open(&kit, &setup);
        kit.parameters[0] = 0;
        for (int t = 0; t < 20; t++) {
            bool empty = accountant == M2R ? t % 2 == 0 : t == 0;
            assert_true(fabs(sent(&kit) - (empty ? 1 : 1.5)) < 6 * 0.02 / 2);
        }
        kit_close(&kit);
    }
}

/* Batches of none, one or more of four records: the integer part can be separated from
 * the noise, and the remainder is the part of the error. */
static void an_empty_batch_sends_noise_and_what_comes_back(void **state)
{
    (void)state;
    enum { STEPS = 400 };
    struct kit kit;
    struct kit_setup setup = usual(&alike, 1, STEPS);
    int empty = 0, full = 0;
    double error = 0;
    choose(&kit, M1, POISSON, 0);
    kit_open(&kit, &setup);
    kit.parameters[0] = 0;
    for (int t = 0; t < STEPS; t++) {
        double back = fmin(error, 1), v = sent(&kit), drawn = rint(v - back);
        assert_true(drawn >= 0 && drawn <= 4);
        assert_true(fabs(v - back - drawn) < 6 * 0.02);
        assert_true(v != back + drawn);
        empty += drawn == 0 && back > 0;
        full += drawn == 0 && back == 1;
        error += 0.5 * drawn - back;
    }
    assert_true(empty > STEPS / 20 && full > 0);
    kit_close(&kit);
}

enum { WIDE = 512, NOISY_STEPS = 400 };

struct looked_at {
    double variance, steps, coordinates; /* correlations with the next one */
};

static struct looked_at look_at(double *moved)
{
    struct looked_at seen = {0};
    size_t count = (size_t)WIDE * NOISY_STEPS;
    for (size_t k = 0; k < count; k++) {
        seen.variance += moved[k] * moved[k] / (double)count;
        seen.steps += moved[k] * moved[(k + WIDE) % count] / (double)count;
        seen.coordinates += moved[k] * moved[(k + 1) % count] / (double)count;
    }
    seen.steps /= seen.variance;
    seen.coordinates /= seen.variance;
    return seen;
}

/* Zero gradients of three records, and of 1,300 records, which make three micro-batches
 * or more. */
static void noise_does_not_know_how_a_batch_is_cut(void **state)
{
    (void)state;
    enum { MANY = 1300 };
    static float zeros[MANY * WIDE], labels[MANY];
    static double moved[WIDE * NOISY_STEPS];
    static const size_t batches[] = {3, MANY};
    for (size_t k = 0; k < 2; k++) {
        struct kit kit;
        struct matrix data = alike;
        float before[WIDE];
        data.records = batches[k];
        data.features = WIDE;
        data.rows = zeros;
        data.values = labels;
        struct kit_setup setup = usual(&data, batches[k], NOISY_STEPS);
        setup.noise_multiplier = 2.5;
        setup.optimizer.learning_rate = setup.optimizer.learning_rate_final = 1;
        choose(&kit, M2, PARTITION, 2);
        kit_open(&kit, &setup);
        for (size_t t = 0; t < NOISY_STEPS; t++) {
            memcpy(before, kit.parameters, sizeof before);
            kit_step(&kit);
            for (size_t j = 0; j < WIDE; j++)
                moved[t * WIDE + j] = (double)before[j] - (double)kit.parameters[j];
        }
        struct looked_at seen = look_at(moved);
        double draws = (double)WIDE * NOISY_STEPS, z = 2.5 / (double)batches[k];
        assert_true(fabs(seen.variance / (z * z) - 1) < 0.001 + 5 * sqrt(2 / draws));
        assert_true(fabs(seen.steps) < 5 / sqrt(draws));
        assert_true(fabs(seen.coordinates) < 5 / sqrt(draws));
        kit_close(&kit);
    }
}

/* Toy A of the specification, whose clamp at 2 is pre_clip_norm: a batch of one by
 * Poisson sampling, sigma1 = .05. */
static double toy_a_mean(const char *algorithm)
{
    enum { STEPS = 40000 };
    static const float at[] = {-1, -1, 2};
    struct matrix data = alike;
    struct kit kit;
    double sum = 0;
    data.records = 3;
    data.values = at;
    struct kit_setup setup = usual(&data, 1, STEPS);
    setup.noise_multiplier = 0.05;
    setup.optimizer.learning_rate = setup.optimizer.learning_rate_final = 0.01;
    if (strcmp(algorithm, "dicesgd") == 0)
        choose(&kit, M3, POISSON, 2);
    else
        kit_spec(&kit, algorithm);
    kit_open(&kit, &setup);
    kit.parameters[0] = 1;
    for (int t = 0; t < STEPS; t++) {
        kit_step(&kit);
        sum += t >= STEPS / 4 ? (double)kit.parameters[0] : 0;
    }
    kit_close(&kit);
    return sum / (0.75 * STEPS);
}

static void the_bias_is_gone_under_noise_and_sampling(void **state)
{
    (void)state;
    assert_true(fabs(toy_a_mean("dicesgd")) < 0.08);
    assert_true(toy_a_mean("dpsgd") < -0.42);
}

/* --- where the bytes of the error are --- */

enum { COORDINATES = 4096, TELLING = 256, REGIONS_MAX = 4096 };

struct region {
    uintptr_t first, end;
};

static size_t writable_regions(struct region *regions)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    size_t count = 0;
    char line_text[512], mode[8];
    unsigned long first, end;
    assert_non_null(maps);
    while (fgets(line_text, sizeof line_text, maps) != NULL && count < REGIONS_MAX)
        if (sscanf(line_text, "%lx-%lx %7s", &first, &end, mode) == 3 &&
            mode[0] == 'r' && mode[1] == 'w' && strstr(line_text, "[v") == NULL &&
            end - first < (1UL << 30))
            regions[count++] = (struct region){first, end};
    fclose(maps);
    return count;
}

/* Counts runs of one repeated 64-bit number: all coordinates of the error are equal
 * here, and nothing else in the process looks like that; equal floats give equal
 * halves. The kernel reads the memory, and leaves out what cannot be read; the buffer
 * that was searched is wiped, or the search would find it as a copy. */
static size_t runs_in(int memory, struct region region)
{
    static uint64_t words[8192];
    size_t runs = 0, length = 0;
    uint64_t before = 0;
    for (uintptr_t at = region.first; at < region.end; at += sizeof words) {
        size_t size = region.end - at < sizeof words ? region.end - at : sizeof words;
        ssize_t got = pread(memory, words, size, (off_t)at);
        for (size_t k = 0; got > 0 && k < (size_t)got / sizeof *words; k++) {
            bool tells = words[k] == before && (uint32_t)words[k] != words[k] >> 32;
            length = tells ? length + 1 : 0;
            runs += length == TELLING;
            before = words[k];
        }
        memset(words, 0, sizeof words);
    }
    return runs;
}

static size_t copies_of_the_error(void)
{
    static struct region regions[REGIONS_MAX];
    size_t count = writable_regions(regions), copies = 0;
    int memory = open("/proc/self/mem", O_RDONLY);
    assert_true(memory >= 0);
    for (size_t k = 0; k < count; k++)
        copies += runs_in(memory, regions[k]);
    close(memory);
    return copies;
}

static void the_error_is_in_one_place_and_is_wiped(void **state)
{
    (void)state;
    static float rows[2 * COORDINATES], labels[2] = {-3e6F, -3e6F};
    struct matrix data = alike;
    struct kit kit;
    for (size_t k = 0; k < 2 * COORDINATES; k++)
        rows[k] = 1;
    data.records = 2;
    data.features = COORDINATES;
    data.rows = rows;
    data.values = labels;
    struct kit_setup setup = usual(&data, 2, 10);
    setup.noise_multiplier = 1;
    choose(&kit, M2, PARTITION, 1e3);
    kit_open(&kit, &setup);
    assert_int_equal(copies_of_the_error(), 0);
    for (int t = 0; t < 5; t++) {
        kit_step(&kit);
        if (t % 4 == 0)
            assert_int_equal(copies_of_the_error(), 1); /* only its own buffer */
    }
    stepper_destroy(kit.stepper);
    kit.stepper = NULL;
    assert_int_equal(copies_of_the_error(), 0);
    kit_close(&kit);
}

/* A job starts without an error, whatever the job before it kept. */
static void a_second_job_starts_without_an_error(void **state)
{
    (void)state;
    for (int job = 0; job < 2; job++) {
        struct kit kit;
        struct kit_setup setup = usual(&alike, 4, 20);
        choose(&kit, M1, PARTITION, 0);
        kit_open(&kit, &setup);
        kit.parameters[0] = 0;
        assert_true(fabs(sent(&kit) - 1) < 6 * 0.02 / 4);
        assert_true(fabs(sent(&kit) - 1.5) < 6 * 0.02 / 4);
        kit_close(&kit);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_epoch_ends_with_its_error_only_under_m2r),
        cmocka_unit_test(an_empty_batch_sends_noise_and_what_comes_back),
        cmocka_unit_test(noise_does_not_know_how_a_batch_is_cut),
        cmocka_unit_test(the_bias_is_gone_under_noise_and_sampling),
        cmocka_unit_test(the_error_is_in_one_place_and_is_wiped),
        cmocka_unit_test(a_second_job_starts_without_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
