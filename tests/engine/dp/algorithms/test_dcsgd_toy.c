/* Goal: DC-SGD-E beats every fixed clip norm on the toy problem of papers/dcsgd.md 3.3
 * without tuning and from any first clip norm, and a percentile can lose to a fixed
 * norm. Method: the problem as given there, with the rules and the sampler of the
 * engine; its bands come from numpy, over seeds 0 to 4. One seed; five if FULL is set.
 *
 * Loss of record i = |a - x_i|^2 / 2 + |b|^2 / 2, x_i = 3 + N(0, I_50), b in
 * R^199950. */
#include <string.h>

#include "engine/dp/algorithms/dcsgd_clip.h"
#include "engine/dp/algorithms/dcsgd.h"
#include "engine/dp/algorithms/joint_noise.h"
#include "engine/noise/noise.h"
#include "tests/expect.h"
#include "tests/engine/draw_fixture.h"

enum {
    SEEN = 50,
    DIM = 200000,
    UNSEEN = DIM - SEEN,
    RECORDS = 12800,
    BATCH = 256,
    STEPS = 300,
    BINS = 20,
    CHUNKS = (DIM + BINS + NOISE_CHUNK - 1) / NOISE_CHUNK,
};

enum rule { FIXED, PERCENTILE, ERROR };

struct run {
    enum rule rule;
    double clip_norm, share;
    uint64_t seed;
};

struct toy {
    double (*x)[SEEN];
    double mean[SEEN], a[SEEN];
    float *b;
    int64_t *noise; /* (NOISE_CHUNK CHUNKS) */
    uint64_t random;
};

static void toy_init(struct toy *toy, uint64_t seed)
{
    *toy = (struct toy){.random = seed * 77 + 1};
    toy->x = calloc(RECORDS, sizeof *toy->x);
    toy->b = calloc(UNSEEN, sizeof *toy->b);
    toy->noise = calloc((size_t)NOISE_CHUNK * CHUNKS, sizeof *toy->noise);
    assert_true(toy->x != NULL && toy->b != NULL && toy->noise != NULL);
    for (size_t i = 0; i < RECORDS; i++)
        for (size_t j = 0; j < SEEN; j++) {
            toy->x[i][j] = 3 + draw_normal(&toy->random);
            toy->mean[j] += toy->x[i][j] / RECORDS;
        }
}

static void toy_fini(struct toy *toy)
{
    free(toy->x);
    free(toy->b);
    free(toy->noise);
}

static double square_of_b(const struct toy *toy)
{
    double square = 0;
    for (size_t j = 0; j < UNSEEN; j++)
        square += (double)toy->b[j] * (double)toy->b[j];
    return square;
}

/* Computes the sum of the clipped gradients, the weight of b in it, and the
 * histogram. */
static double pass(struct toy *toy, const struct dcsgd_clip *adaptive, double sum[SEEN],
                   double *counts)
{
    double weights = 0, unseen = square_of_b(toy);
    for (size_t i = 0; i < RECORDS; i++) {
        if (draw_uniform(&toy->random) >= (double)BATCH / RECORDS)
            continue;
        double square = unseen;
        for (size_t j = 0; j < SEEN; j++)
            square += (toy->a[j] - toy->x[i][j]) * (toy->a[j] - toy->x[i][j]);
        double weight = fmin(1, adaptive->clip_norm / sqrt(square));
        for (size_t j = 0; j < SEEN; j++)
            sum[j] += weight * (toy->a[j] - toy->x[i][j]);
        weights += weight;
        counts[histogram_bin(&adaptive->histogram, sqrt(square))]++;
    }
    return weights;
}

static void step(struct toy *toy, struct dcsgd_clip *adaptive, const struct run *run)
{
    double sum[SEEN] = {0}, counts[BINS] = {0};
    double sigma = run->rule == FIXED ? 1 : joint_noise_gradient(1, 5);
    double weights = pass(toy, adaptive, sum, counts);
    double unit = sigma * adaptive->clip_norm * 0x1p-36, rate = 0.1 / BATCH;
    for (size_t j = 0; j < SEEN; j++)
        toy->a[j] -= rate * (sum[j] + unit * (double)toy->noise[j]);
    for (size_t j = 0; j < UNSEEN; j++)
        toy->b[j] -= (float)(rate * (weights * (double)toy->b[j] +
                                     unit * (double)toy->noise[SEEN + j]));
    for (size_t j = 0; j < BINS; j++)
        counts[j] += 5 * (double)toy->noise[DIM + j] * 0x1p-36;
    if (run->rule == PERCENTILE)
        dcsgd_clip_percentile(adaptive, counts, run->share);
    if (run->rule == ERROR)
        dcsgd_clip_error(
            adaptive, counts,
            &(struct clip_error){.variance = sigma * sigma * DIM / BATCH / BATCH});
}

static double excess(struct run run)
{
    struct toy toy;
    struct noise_key key = {{(uint8_t)run.seed}};
    struct noise *noise = noise_create();
    struct dcsgd_clip adaptive = {
        run.clip_norm,
        {.bins = BINS, .range = run.rule == PERCENTILE ? 2 * run.clip_norm : BINS}};
    toy_init(&toy, run.seed);
    for (uint64_t t = 0; t < STEPS; t++) {
        const struct noise_address address = {&key, t};
        noise_draw(noise, toy.noise, &address, 0, CHUNKS);
        step(&toy, &adaptive, &run);
    }
    double loss = square_of_b(&toy) / 2;
    for (size_t j = 0; j < SEEN; j++)
        loss += (toy.a[j] - toy.mean[j]) * (toy.a[j] - toy.mean[j]) / 2;
    toy_fini(&toy);
    noise_destroy(noise);
    return loss;
}

static double mean_excess(struct run run)
{
    unsigned seeds = getenv("FULL") != NULL ? 5 : 1;
    double sum = 0;
    for (run.seed = 0; run.seed < seeds; run.seed++)
        sum += excess(run);
    return sum / seeds;
}

static void the_error_rule_beats_every_fixed_clip_norm(void **state)
{
    (void)state;
    static const double starts[] = {1e-3, 1, 1e3};
    double fixed = mean_excess((struct run){.rule = FIXED, .clip_norm = 2});
    assert_true(fixed > 1.07 && fixed < 1.12); /* the best of ten clip norms */
    for (size_t k = 0; k < 3; k++) {
        double ours = mean_excess((struct run){.rule = ERROR, .clip_norm = starts[k]});
        assert_true(ours > 0.95 && ours < 1.05);
        assert_true(ours < fixed);
    }
}

static void a_percentile_can_lose_to_a_fixed_clip_norm(void **state)
{
    (void)state;
    double small =
        mean_excess((struct run){.rule = PERCENTILE, .clip_norm = 1, .share = .1});
    double large =
        mean_excess((struct run){.rule = PERCENTILE, .clip_norm = 1, .share = .9});
    assert_close(small, 4.27, 0.05); /* the table gives no deviations for these */
    assert_close(large, 6.59, 0.05);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_error_rule_beats_every_fixed_clip_norm),
        cmocka_unit_test(a_percentile_can_lose_to_a_fixed_clip_norm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
