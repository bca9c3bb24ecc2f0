/* Goal: the reference that the engine's DIFF2 is compared with is the paper's, and
 * DIFF2 gains as much as its specification measured. Method: toy A of papers/diff2.md
 * 3.4, with its own data and figures; splitmix64 gives the same bits. */
#include "tests/engine/dp/diff2_oracle.h"

#include <stdint.h>
#include <stdlib.h>

#include "tests/expect.h"

enum { RECORDS = 20000, DIM = 5 };

static double features[RECORDS][DIM], targets[RECORDS];

static double uniform(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return ((double)((z ^ z >> 31) >> 11) + 0.5) * 0x1p-53;
}

static double normal(void *generator)
{
    uint64_t *state = generator;
    double u = uniform(state), v = uniform(state);
    return sqrt(-2 * log(u)) * cos(2 * acos(-1) * v);
}

static int make(void **state)
{
    (void)state;
    static const double truth[DIM] = {2, -2, 2, -2, 2};
    uint64_t seed = 2023;
    for (size_t i = 0; i < RECORDS; i++) {
        for (int j = 0; j < DIM; j++)
            features[i][j] = 0.6 * pow(0.1 / 0.6, j / 4.0) * normal(&seed);
        double norm = reference_norm(features[i], DIM);
        targets[i] = 0;
        for (int j = 0; j < DIM; j++) {
            features[i][j] /= norm > 1 ? norm : 1;
            targets[i] += features[i][j] * truth[j];
        }
        targets[i] += 0.2 * normal(&seed);
    }
    return 0;
}

static double residual(size_t i, const double *x)
{
    double t = -targets[i];
    for (int j = 0; j < DIM; j++)
        t += features[i][j] * x[j];
    return t;
}

/* The gradient of log(1 + t^2 / 2). */
static void gradient(const void *context, size_t i, const double *x, double *out)
{
    (void)context;
    double t = residual(i, x), slope = t / (1 + t * t / 2);
    for (int j = 0; j < DIM; j++)
        out[j] = slope * features[i][j];
}

static double loss(const double *x)
{
    double sum = 0;
    for (size_t i = 0; i < RECORDS; i++)
        sum += log1p(pow(residual(i, x), 2) / 2);
    return sum / RECORDS;
}

static double gradient_square(const double *x)
{
    double sum[DIM] = {0}, g[DIM];
    for (size_t i = 0; i < RECORDS; i++) {
        gradient(NULL, i, x, g);
        for (int j = 0; j < DIM; j++)
            sum[j] += g[j] / RECORDS;
    }
    return pow(reference_norm(sum, DIM), 2);
}

static void the_data_are_the_specifications(void **state)
{
    (void)state;
    static const double first[DIM] = {-0.64482409, 0.36323138, 0.2556814, 0.11847886,
                                      -0.06041784};
    const double zero[DIM] = {0};
    double features_sum = 0, targets_sum = 0;
    for (size_t i = 0; i < RECORDS; i++) {
        targets_sum += targets[i];
        for (int j = 0; j < DIM; j++)
            features_sum += features[i][j];
    }
    for (int j = 0; j < DIM; j++)
        assert_close(features[0][j], first[j], 2e-7);
    assert_close(features_sum, -14.955263061, 1e-9);
    assert_close(targets_sum, -115.452976107, 1e-9);
    assert_close(loss(zero), 0.566214070007, 1e-11);
    assert_close(gradient_square(zero), 0.0544024471193, 1e-11);
}

struct trace {
    double clip_norm, difference_clip;
    size_t clients, starts[11];
    double x[DIM], loss;
    size_t clipped[6]; /* in rounds 1, 2, 3, 25, 26, 50 */
};

static const struct trace traces[] = {
    {0.70710678118654757,
     1,
     1,
     {0, RECORDS},
     {1.999318106514, -1.997772723185, 1.987063308015, -1.735103923212, 1.102728886983},
     0.0238693802844,
     {0, 0, 0, 0, 0, 0}},
    {0.2,
     0.3,
     1,
     {0, RECORDS},
     {1.844905150266, -1.840277016447, 1.704844990946, -1.287214555890, 0.725468919724},
     0.0391005496692,
     {15255, 620, 733, 143, 9849, 46}},
    {0.2,
     0.3,
     10,
     {0, 2000, 4000, 6000, 8000, 10000, 12000, 14000, 16000, 18000, 20000},
     {1.844905150266, -1.840277016447, 1.704844990946, -1.287214555890, 0.725468919724},
     0.0391005496692,
     {15255, 620, 733, 143, 9849, 46}},
    {0.2,
     0.3,
     2,
     {0, 5000, RECORDS},
     {1.844591578450, -1.843454480086, 1.700638388266, -1.288923100893, 0.721468036879},
     0.0391347977488,
     {15255, 623, 735, 141, 9842, 48}},
};

static void noiseless_runs_are_the_specifications_traces(void **state)
{
    (void)state;
    static const size_t watched[] = {1, 2, 3, 25, 26, 50};
    for (size_t k = 0; k < sizeof traces / sizeof *traces; k++) {
        const struct trace *trace = &traces[k];
        struct reference run = {.gradient = gradient,
                                .dim = DIM,
                                .clients = trace->clients,
                                .starts = trace->starts,
                                .clip_norm = trace->clip_norm,
                                .difference_clip = trace->difference_clip,
                                .rate = 2,
                                .interval = 25};
        for (size_t w = 0; w < 6; w++) {
            while (run.round < watched[w])
                reference_round(&run);
            assert_int_equal(run.clipped, trace->clipped[w]);
        }
        for (int j = 0; j < DIM; j++)
            assert_true(fabs(run.x[j] - trace->x[j]) < 2e-12 + 1e-9);
        assert_close(loss(run.x), trace->loss, 1e-9);
    }
}

/* Nothing is clipped and there is no noise: restarts change nothing. */
static void without_noise_every_interval_is_gradient_descent(void **state)
{
    (void)state;
    static const size_t intervals[] = {1, 2, 7, 50}, starts[] = {0, RECORDS};
    double descent[DIM];
    for (size_t k = 0; k < 4; k++) {
        struct reference run = {.gradient = gradient,
                                .dim = DIM,
                                .clients = 1,
                                .starts = starts,
                                .clip_norm = 1e9,
                                .difference_clip = 1e9,
                                .rate = 2,
                                .interval = intervals[k]};
        for (int r = 0; r < 50; r++)
            reference_round(&run);
        for (int j = 0; j < DIM; j++) {
            if (k == 0)
                descent[j] = run.x[j];
            assert_true(fabs(run.x[j] - descent[j]) < 1e-12);
        }
    }
}

/* Mean over seeds of the squared gradient norm, rounds 286 to 300, at epsilon 3. */
static double final_gradient(size_t interval, unsigned seeds)
{
    enum { ROUNDS = 300, LAST = 15 };
    static const size_t starts[] = {0, RECORDS};
    double order = 9, restarts = ceil(ROUNDS / (double)interval), total = 0;
    double u = interval == 1 ? 1 : 1.25, n = RECORDS, zero[DIM] = {0};
    for (unsigned seed = 0; seed < seeds; seed++) {
        uint64_t generator = UINT64_C(977) * (seed + 1);
        struct reference run = {
            .gradient = gradient,
            .normal = normal,
            .generator = &generator,
            .dim = DIM,
            .clients = 1,
            .starts = starts,
            .clip_norm = sqrt(0.5),
            .difference_clip = 1,
            .sigma1 = sqrt(4 * u * order * restarts / (n * n * 3)),
            .sigma2 = sqrt(4 * 5 * order * (ROUNDS - restarts) / (n * n * 3)),
            .rate = 2,
            .interval = interval};
        for (int r = 0; r < ROUNDS; r++) {
            if (r >= ROUNDS - LAST)
                total += gradient_square(run.x) / LAST;
            reference_round(&run);
        }
        assert_true(loss(run.x) < loss(zero));
    }
    return total / seeds;
}

/* The thresholds are for twenty seeds; the ratio separates two seeds as well. */
static void differences_gain_what_was_measured(void **state)
{
    (void)state;
    bool full = getenv("FULL") != NULL;
    unsigned seeds = full ? 20 : 2;
    double restarts = final_gradient(1, seeds), differences = final_gradient(90, seeds);
    double never = final_gradient(300, seeds);
    print_message("squared gradient: T=1 %.3g, T=90 %.3g, T=300 %.3g\n", restarts,
                  differences, never);
    assert_true(never >= 1e-5 && never >= 10 * differences);
    assert_true(restarts >= 3 * differences);
    if (!full)
        return;
    assert_in_range(restarts * 1e9, 2000, 3400);
    assert_in_range(differences * 1e9, 150, 650);
}

/* Takes K - 1 local steps of client p, each over b newly drawn records, from the
 * round's first step. */
static void go_local(struct reference *run, size_t client, size_t steps, double sigma3)
{
    enum { BATCH = 50 };
    double w[DIM], now[DIM], then[DIM];
    double y[DIM]; /* the point before x */
    size_t first = run->starts[client], count = run->starts[client + 1] - first;
    memcpy(w, run->value, sizeof w);
    memcpy(y, run->before, sizeof y);
    for (size_t k = 1; k < steps; k++) {
        double moved[DIM], mean[DIM] = {0};
        bool drawn[RECORDS / 10] = {false};
        for (int j = 0; j < DIM; j++)
            moved[j] = run->x[j] - y[j];
        double clip_norm = reference_norm(moved, DIM); /* C3 = 1 */
        for (size_t b = 0; b < BATCH;) {
            size_t i = (size_t)(uniform(run->generator) * (double)count);
            if (drawn[i])
                continue;
            drawn[i] = true;
            b++;
            gradient(NULL, first + i, run->x, now);
            gradient(NULL, first + i, y, then);
            for (int j = 0; j < DIM; j++)
                now[j] -= then[j];
            double norm = reference_norm(now, DIM);
            for (int j = 0; j < DIM; j++)
                mean[j] += now[j] * (norm > clip_norm ? clip_norm / norm : 1) / BATCH;
        }
        for (int j = 0; j < DIM; j++) {
            w[j] += mean[j] + sigma3 * clip_norm * normal(run->generator);
            y[j] = run->x[j];
            run->x[j] -= run->rate * w[j];
        }
    }
}

/* Thirty rounds with ten steps each reach a gradient that three hundred rounds without
 * local steps reach: R = 30, T = 10, K = 10, b = 50, (u1, u2) = (2, 4); over twenty
 * seeds it is below 1.5e-6. */
static void local_steps_save_rounds(void **state)
{
    (void)state;
    enum { ROUNDS = 30, SEEDS = 20, CLIENTS = 10 };
    size_t starts[CLIENTS + 1];
    double total = 0;
    for (size_t p = 0; p <= CLIENTS; p++)
        starts[p] = p * RECORDS / CLIENTS;
    for (unsigned seed = 0; seed < SEEDS; seed++) {
        uint64_t generator = UINT64_C(31337) * (seed + 1);
        struct reference run = {.gradient = gradient,
                                .normal = normal,
                                .generator = &generator,
                                .dim = DIM,
                                .clients = CLIENTS,
                                .starts = starts,
                                .clip_norm = sqrt(0.5),
                                .difference_clip = 1,
                                .sigma1 = 4.242641e-4,
                                .sigma2 = 1.8e-3,
                                .rate = 2,
                                .interval = 10};
        for (size_t r = 1; r <= ROUNDS; r++) {
            reference_round(&run);
            go_local(&run, r % CLIENTS, 10, 0.0500855);
        }
        total += gradient_square(run.x) / SEEDS;
    }
    print_message("squared gradient after 30 rounds: %.3g\n", total);
    assert_true(total < 1.5e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_data_are_the_specifications),
        cmocka_unit_test(noiseless_runs_are_the_specifications_traces),
        cmocka_unit_test(without_noise_every_interval_is_gradient_descent),
        cmocka_unit_test(differences_gain_what_was_measured),
        cmocka_unit_test(local_steps_save_rounds),
    };
    return cmocka_run_group_tests(tests, make, NULL);
}
