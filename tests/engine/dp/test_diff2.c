/* Goal: DIFF2 runs the paper's rounds with the noise that is charged. Method: next to no
 * noise against the reference in double (diff2_reference.h, itself held against the
 * specification); noise alone, where gradients are zero, against what its multipliers say;
 * bit for bit against what it must reduce to. */
#include <float.h>

#include "engine/dp/rounds.h"
#include "engine/dp/shards.h"
#include "tests/engine/dp/algorithm_kit.h"
#include "tests/engine/dp/diff2_reference.h"

enum {
    RECORDS = 3001,
    FEATURES = 4,
    HIDDEN = 5,
    DIM = FEATURES * HIDDEN + HIDDEN + HIDDEN + 1
};

static float features[RECORDS * FEATURES], values[RECORDS];
static const struct matrix points = {.records = RECORDS,
                                     .features = FEATURES,
                                     .element = ELEMENT_F32,
                                     .scale = 1,
                                     .rows = features,
                                     .values = values};
static struct layer_spec layers[] = {{.kind = LAYER_DENSE, .out = HIDDEN, .bias = true},
                                     {.kind = LAYER_TANH},
                                     {.kind = LAYER_DENSE, .out = 1, .bias = true}};
static const struct model_spec net = {
    .layer_count = 3, .layers = layers, .loss = LOSS_SQUARED};

static double next_uniform(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005 + 1442695040888963407;
    return (double)(*seed >> 11) * 0x1p-53;
}

static int fill(void **state)
{
    (void)state;
    uint64_t seed = 41;
    for (size_t i = 0; i < RECORDS; i++) {
        values[i] = 0.5F;
        for (size_t j = 0; j < FEATURES; j++) {
            float x = (float)(2 * next_uniform(&seed) - 1);
            features[i * FEATURES + j] = x;
            values[i] += x * (float)(j + 1);
        }
    }
    return 0;
}

/* Of (z - y)^2 / 2, z the net's output; weights (HIDDEN, FEATURES), biases, weights, bias. */
static void gradient(const void *context, size_t i, const double *x, double *out)
{
    (void)context;
    const double *bias = x + FEATURES * HIDDEN, *top = bias + HIDDEN;
    const float *a = features + i * FEATURES;
    double h[HIDDEN], z = top[HIDDEN];
    for (size_t k = 0; k < HIDDEN; k++) {
        double s = bias[k];
        for (size_t j = 0; j < FEATURES; j++)
            s += x[k * FEATURES + j] * (double)a[j];
        h[k] = tanh(s);
        z += top[k] * h[k];
    }
    double b = z - (double)values[i];
    for (size_t k = 0; k < HIDDEN; k++) {
        double below = b * top[k] * (1 - h[k] * h[k]);
        for (size_t j = 0; j < FEATURES; j++)
            out[k * FEATURES + j] = below * (double)a[j];
        out[FEATURES * HIDDEN + k] = below;
        out[FEATURES * HIDDEN + HIDDEN + k] = b * h[k];
    }
    out[DIM - 1] = b;
}

static const double quiet = 0x1p-6; /* the least noise multiplier a grid carries */

static struct kit_setup usual(uint64_t steps)
{
    return (struct kit_setup){.data = &points,
                              .model = &net,
                              .optimizer = {.kind = OPTIMIZER_SGD,
                                            .learning_rate = 0.25,
                                            .learning_rate_final = 0.25},
                              .batch_size = RECORDS,
                              .steps = steps,
                              .noise_multiplier = quiet,
                              .threads = 2,
                              .key = 9};
}

/* Noise moves each coordinate by at most six deviations a round, and errors of the
 * estimate live for a window. */
static void next_to_no_noise_is_the_reference(void **state)
{
    (void)state;
    enum { ROUNDS = 14 };
    static const struct {
        size_t interval, clients;
        double clip_norm, difference_clip;
    } cases[] = {{1, 1, 0.3, 1},  {2, 1, 0.3, 0.4}, {7, 1, 0.3, 0.4},
                 {14, 1, 3, 0.4}, {14, 3, 0.3, 40}, {7, 4, 0.3, 0.4},
                 {5, 7, 1, 1},    {14, 1, 1e3, 1e3}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct kit kit;
        struct kit_setup setup = usual(ROUNDS);
        struct shards shards = {RECORDS, cases[k].clients};
        size_t starts[9] = {0};
        kit_spec(&kit, "diff2_gd");
        kit_set(&kit, "restart_interval", (double)cases[k].interval);
        kit_set(&kit, "clients", (double)cases[k].clients);
        kit_set(&kit, "clip_norm", cases[k].clip_norm);
        kit_set(&kit, "difference_clip", cases[k].difference_clip);
        kit_open(&kit, &setup);
        struct reference run = {.gradient = gradient,
                                .dim = DIM,
                                .clients = cases[k].clients,
                                .starts = starts,
                                .clip_norm = cases[k].clip_norm,
                                .difference_clip = cases[k].difference_clip,
                                .rate = 0.25,
                                .interval = cases[k].interval};
        for (size_t p = 0; p < cases[k].clients; p++)
            starts[p + 1] = starts[p] + shards_range(&shards, p).count;
        for (size_t j = 0; j < DIM; j++)
            run.x[j] = (double)kit.parameters[j];
        struct rounds rounds = {.steps = ROUNDS,
                                .interval = cases[k].interval,
                                .local_steps = 1,
                                .clients = 1,
                                .restart_share = 0.8,
                                .difference_share = 0.2};
        double most = 0, unit = 6 * quiet / (RECORDS - 7);
        for (int r = 0; r < ROUNDS; r++) {
            double moved = 0, before[DIM];
            memcpy(before, run.x, sizeof before);
            kit_step(&kit);
            reference_round(&run);
            for (size_t j = 0; j < DIM; j++)
                moved += pow(run.x[j] - before[j], 2);
            double error = cases[k].clip_norm;
            if (cases[k].interval > 1)
                error += (double)ROUNDS * rounds_ratio(&rounds, RELEASE_DIFFERENCE) *
                         cases[k].difference_clip * sqrt(moved);
            most += 0.25 * unit * error + 1e-6;
            for (size_t j = 0; j < DIM; j++)
                assert_true(fabs((double)kit.parameters[j] - run.x[j]) < 2 * most);
        }
        kit_close(&kit);
    }
}

static void run_steps(const char *algorithm, const struct kit_setup *setup,
                      const char *const *names, const double *numbers, float *out)
{
    struct kit kit;
    kit_spec(&kit, algorithm);
    for (size_t k = 0; names[k] != NULL; k++)
        kit_set(&kit, names[k], numbers[k]);
    kit_open(&kit, setup);
    for (uint64_t k = 0; k < setup->steps; k++)
        kit_step(&kit);
    memcpy(out, kit.parameters, network_parameters(kit.network) * sizeof *out);
    kit_close(&kit);
}

static void an_interval_of_one_is_dpgd_bit_for_bit(void **state)
{
    (void)state;
    static const char *const none[] = {"clip_norm", NULL};
    static const char *const names[] = {"clip_norm", "restart_interval",
                                        "difference_clip", NULL};
    float whole[DIM], restarts[DIM];
    struct kit_setup setup = usual(9);
    setup.noise_multiplier = 1.5;
    run_steps("dpgd", &setup, none, (double[]){0.5}, whole);
    run_steps("diff2_gd", &setup, names, (double[]){0.5, 1, 1}, restarts);
    assert_memory_equal(whole, restarts, sizeof whole);
    run_steps("diff2_gd", &setup, names, (double[]){0.5, 1, NAN}, restarts);
    assert_memory_equal(whole, restarts, sizeof whole);
    /* A later restart would not do so. */
    run_steps("diff2_gd", &setup, names, (double[]){0.5, 2, 1}, restarts);
    assert_memory_not_equal(whole, restarts, sizeof whole);
}

static void one_local_step_is_diff2_gd_bit_for_bit(void **state)
{
    (void)state;
    static const char *const gd[] = {"restart_interval", "clients", NULL};
    static const char *const local[] = {"restart_interval", "clients", "local_steps",
                                        "restart_split", NULL};
    float whole[DIM], rounds[DIM];
    struct kit_setup setup = usual(9);
    setup.noise_multiplier = 1.5;
    run_steps("diff2_gd", &setup, gd, (double[]){4, 3}, whole);
    run_steps("diff2_bvr_l_sgd", &setup, local, (double[]){4, 3, 1, 1.25}, rounds);
    assert_memory_equal(whole, rounds, sizeof whole);
}

static void threads_change_nothing(void **state)
{
    (void)state;
    static const char *const names[] = {"restart_interval", "clients", "local_steps",
                                        NULL};
    float ends[2][DIM];
    struct kit_setup setup = usual(12);
    setup.noise_multiplier = 3;
    for (unsigned k = 0; k < 2; k++) {
        setup.threads = k == 0 ? 1 : 3;
        run_steps("diff2_bvr_l_sgd", &setup, names, (double[]){2, 3, 4}, ends[k]);
    }
    assert_memory_equal(ends[0], ends[1], sizeof ends[0]);
}

/* With clients of one size the mean of means is the mean: shards cut cells elsewhere, and
 * float32 rounds elsewhere. Noise is the same. */
static void clients_of_one_size_change_nothing(void **state)
{
    (void)state;
    enum { EVEN = 3000 };
    static const char *const names[] = {"restart_interval", "clients", NULL};
    static const double clients[] = {1, 2, 5, 10};
    struct matrix even = points;
    float ends[4][DIM];
    struct kit_setup setup = usual(12);
    even.records = EVEN;
    setup.data = &even;
    setup.batch_size = EVEN;
    setup.noise_multiplier = 2;
    for (size_t k = 0; k < 4; k++) {
        run_steps("diff2_gd", &setup, names, (double[]){5, clients[k]}, ends[k]);
        for (size_t j = 0; j < DIM; j++)
            assert_true(fabs((double)ends[k][j] - (double)ends[0][j]) < 2e-6);
    }
}

/* Five records and two clients, of two and three: gradients of -C and +C cancel in the
 * mean of means, and would leave C / 5 in the mean of all. Noise of C / 64 on the sum. */
static void clients_weigh_alike_whatever_their_size(void **state)
{
    (void)state;
    static struct layer_spec line = {.kind = LAYER_DENSE, .out = 1, .bias = false};
    static const struct model_spec linear = {
        .layer_count = 1, .layers = &line, .loss = LOSS_SQUARED};
    static const float ones[] = {1, 1, 1, 1, 1}, far[] = {99, 99, -99, -99, -99};
    const struct matrix five = {.records = 5,
                                .features = 1,
                                .element = ELEMENT_F32,
                                .scale = 1,
                                .rows = ones,
                                .values = far};
    for (int clients = 1; clients <= 2; clients++) {
        struct kit kit;
        struct kit_setup setup = usual(1);
        setup.data = &five;
        setup.model = &linear;
        setup.batch_size = 5;
        kit_spec(&kit, "diff2_gd");
        kit_set(&kit, "clients", clients);
        kit_open(&kit, &setup);
        kit_step(&kit);
        double mean = (double)training_gradient(kit.training)[0];
        assert_true(fabs(mean - (clients == 1 ? 0.2 : 0)) < 6 * quiet / 4);
        kit_close(&kit);
    }
}

/* --- noise alone: features of zeros and no bias have gradients of zero --- */

enum { SILENT = 200, WIDE_IN = 256, WIDE_OUT = 400, WIDE = WIDE_IN * WIDE_OUT };

static const float silence[SILENT * WIDE_IN];
static const uint32_t classes[SILENT];
static const struct matrix silent = {.records = SILENT,
                                     .features = WIDE_IN,
                                     .classes = WIDE_OUT,
                                     .element = ELEMENT_F32,
                                     .scale = 1,
                                     .rows = silence,
                                     .targets = classes};
static struct layer_spec wide_layer = {
    .kind = LAYER_DENSE, .out = WIDE_OUT, .bias = false};
static const struct model_spec wide = {
    .layer_count = 1, .layers = &wide_layer, .loss = LOSS_SOFTMAX_CROSS_ENTROPY};

static struct kit_setup in_silence(uint64_t steps)
{
    struct kit_setup setup = usual(steps);
    setup.data = &silent;
    setup.model = &wide;
    setup.batch_size = SILENT;
    setup.noise_multiplier = 2;
    setup.optimizer.learning_rate = setup.optimizer.learning_rate_final = 0.001;
    return setup;
}

static double deviation(const double *v)
{
    double square = 0;
    for (size_t j = 0; j < WIDE; j++)
        square += v[j] * v[j];
    return sqrt(square / WIDE);
}

static double product(const double *v, const double *w, size_t shift)
{
    double sum = 0;
    for (size_t j = 0; j + shift < WIDE; j++)
        sum += v[j] * w[j + shift];
    return sum / (WIDE * deviation(v) * deviation(w));
}

struct audit {
    double expected[8];      /* deviation of each release, from the multipliers */
    double square[8];        /* of the estimate, a coordinate */
    double release[8][WIDE]; /* what each step added to the estimate */
};

/* Takes steps and looks at the estimate, which the gradient shows rounded to float. */
static void listen(struct audit *audit, struct kit *kit, const struct rounds *rounds,
                   const double rates[3], const double divisors[3])
{
    static double value[WIDE];
    static float before[WIDE];
    for (uint64_t step = 0; step < rounds->steps; step++) {
        enum release release = rounds_release(rounds, step);
        double moved = 0;
        for (size_t j = 0; j < WIDE && release == RELEASE_LOCAL; j++)
            moved += pow((double)kit->parameters[j] - (double)before[j], 2);
        if (release == RELEASE_DIFFERENCE) /* every round here is one step */
            for (size_t j = 0; j < WIDE; j++)
                moved += pow((double)kit->parameters[j] - (double)before[j], 2);
        memcpy(before, kit->parameters, sizeof before);
        kit_step(kit);
        double clip_norm =
            rates[release] * (release == RELEASE_RESTART ? 1 : sqrt(moved));
        audit->expected[step] =
            2 * rounds_ratio(rounds, release) * clip_norm / divisors[release];
        const float *shown = training_gradient(kit->training);
        audit->square[step] = 0;
        for (size_t j = 0; j < WIDE; j++) {
            double now = (double)shown[j];
            audit->release[step][j] = release == RELEASE_RESTART ? now : now - value[j];
            value[j] = now;
            audit->square[step] += now * now / WIDE;
        }
    }
}

static struct audit audit;

/* 102,400 coordinates: a deviation is known to 1/sqrt(2 d) = .22 %. */
static void noise_is_what_the_multipliers_say(void **state)
{
    (void)state;
    struct kit kit;
    struct kit_setup setup = in_silence(6);
    kit_spec(&kit, "diff2_gd");
    kit_set(&kit, "restart_interval", 3);
    kit_set(&kit, "clip_norm", 0.7);
    kit_set(&kit, "difference_clip", 1.9);
    kit_set(&kit, "clients", 8);
    kit_open(&kit, &setup);
    struct rounds rounds = {.steps = 6,
                            .interval = 3,
                            .local_steps = 1,
                            .clients = 8,
                            .restart_share = 0.8,
                            .difference_share = 0.2};
    listen(&audit, &kit, &rounds, (double[]){0.7, 1.9, 0},
           (double[]){SILENT, SILENT, 1});
    for (size_t r = 0; r < 6; r++) {
        assert_close(deviation(audit.release[r]), audit.expected[r], 0.01);
        for (size_t s = 0; s < r; s++)
            assert_true(fabs(product(audit.release[r], audit.release[s], 0)) <
                        5 / sqrt(WIDE));
        assert_true(fabs(product(audit.release[r], audit.release[r], 1)) <
                    5 / sqrt(WIDE));
    }
    kit_close(&kit);
}

static double normal_above(double x)
{
    return 0.5 * erfc(x / sqrt(2));
}

/* Of a million draws of a restart's noise, and the same moved by what a record can do,
 * the best test tells no more than the exact curve of the multiplier 2 allows: mu = 1/2. */
static void neighbours_are_told_apart_as_charged_and_no_better(void **state)
{
    (void)state;
    enum { REPEATS = 10 };
    static const double epsilons[] = {0, 0.25, 0.5, 1, 1.5};
    const double mu = 0.5, draws = (double)REPEATS * WIDE;
    double above[5] = {0}, moved_above[5] = {0};
    for (int k = 0; k < REPEATS; k++) {
        struct kit kit;
        struct kit_setup setup = in_silence(1);
        setup.salt = (uint16_t)(k + 1);
        kit_spec(&kit, "diff2_gd");
        kit_open(&kit, &setup);
        kit_step(&kit);
        const float *shown = training_gradient(kit.training);
        for (size_t j = 0; j < WIDE; j++) {
            double x = (double)shown[j] * SILENT / 2; /* in deviations */
            for (size_t e = 0; e < 5; e++) {
                double threshold = epsilons[e] / mu + mu / 2;
                above[e] += x > threshold;
                moved_above[e] += x + mu > threshold;
            }
        }
        kit_close(&kit);
    }
    for (size_t e = 0; e < 5; e++) {
        double ratio = exp(epsilons[e]), place = epsilons[e] / mu;
        double curve =
            normal_above(place - mu / 2) - ratio * normal_above(place + mu / 2);
        double found = (moved_above[e] - ratio * above[e]) / draws;
        double error =
            sqrt((moved_above[e] + ratio * ratio * above[e]) / draws / draws);
        assert_true(fabs(found - curve) < 5 * error);
    }
}

/* E ||v_r - grad f||^2 = restart's noise + the window's differences' noise; the gradient is
 * zero. Four standard errors of d normals. */
static void errors_add_up_until_a_restart(void **state)
{
    (void)state;
    struct kit kit;
    struct kit_setup setup = in_silence(8);
    double window = 0;
    kit_spec(&kit, "diff2_gd");
    kit_set(&kit, "restart_interval", 4);
    kit_set(&kit, "difference_clip", 25);
    kit_open(&kit, &setup);
    struct rounds rounds = {.steps = 8,
                            .interval = 4,
                            .local_steps = 1,
                            .clients = 1,
                            .restart_share = 0.8,
                            .difference_share = 0.2};
    listen(&audit, &kit, &rounds, (double[]){1, 25, 0}, (double[]){SILENT, SILENT, 1});
    for (size_t r = 0; r < 8; r++) {
        window = (r % 4 == 0 ? 0 : window) + audit.expected[r] * audit.expected[r];
        assert_close(audit.square[r], window, 4 * sqrt(2.0 / WIDE) + 1e-4);
        assert_true(r % 4 == 0 || audit.square[r] > 1.05 * audit.square[r - 1]);
    }
    kit_close(&kit);
}

static void local_steps_have_their_own_noise(void **state)
{
    (void)state;
    struct kit kit;
    struct kit_setup setup = in_silence(8);
    kit_spec(&kit, "diff2_bvr_l_sgd");
    kit_set(&kit, "restart_interval", 5);
    kit_set(&kit, "local_steps", 8);
    kit_set(&kit, "local_batch", 10);
    kit_set(&kit, "local_clip", 3);
    kit_set(&kit, "clients", 2);
    kit_open(&kit, &setup);
    struct rounds rounds = {.steps = 8,
                            .interval = 5,
                            .local_steps = 8,
                            .clients = 2,
                            .local_rate = 0.1,
                            .restart_share = 0.5,
                            .difference_share = 0.25};
    listen(&audit, &kit, &rounds, (double[]){1, 1, 3}, (double[]){SILENT, SILENT, 10});
    for (size_t r = 0; r < 8; r++) {
        assert_close(deviation(audit.release[r]), audit.expected[r], 0.01);
        for (size_t s = 0; s < r; s++)
            assert_true(fabs(product(audit.release[r], audit.release[s], 0)) <
                        5 / sqrt(WIDE));
    }
    kit_close(&kit);
}

/* Records of a client are all alike, so that whom a subset takes does not matter, and
 * those of clients differ: whose turn it is does. Against the pseudocode of BVR. */
static void local_steps_go_round_the_clients(void **state)
{
    (void)state;
    enum { CLIENTS = 3, EACH = 200, ALL = CLIENTS * EACH, K = 4, ROUNDS = 7 };
    static float rows[ALL * FEATURES], targets[ALL];
    const struct matrix alike = {.records = ALL,
                                 .features = FEATURES,
                                 .element = ELEMENT_F32,
                                 .scale = 1,
                                 .rows = rows,
                                 .values = targets};
    for (size_t i = 0; i < ALL; i++) {
        memcpy(rows + i * FEATURES, features + i / EACH * FEATURES,
               FEATURES * sizeof *rows);
        targets[i] = values[i / EACH];
    }
    struct kit kit;
    struct kit_setup setup = usual(K * ROUNDS);
    setup.data = &alike;
    setup.batch_size = ALL;
    kit_spec(&kit, "diff2_bvr_l_sgd");
    kit_set(&kit, "restart_interval", 2);
    kit_set(&kit, "local_steps", K);
    kit_set(&kit, "local_batch", EACH - 1);
    kit_set(&kit, "local_clip", 0.4);
    kit_set(&kit, "difference_clip", 0.5);
    kit_set(&kit, "clients", CLIENTS);
    kit_open(&kit, &setup);
    double x[DIM], y[DIM], w[DIM], v[DIM] = {0}, g[DIM], other[DIM];
    double start[DIM] = {0}; /* x of the round before */
    for (size_t j = 0; j < DIM; j++)
        x[j] = (double)kit.parameters[j];
    for (size_t r = 1; r <= ROUNDS; r++) {
        bool restart = (r - 1) % 2 == 0;
        double moved = 0, mean[DIM] = {0};
        for (size_t j = 0; j < DIM; j++)
            moved += pow(x[j] - start[j], 2);
        for (size_t p = 0; p < CLIENTS; p++) {
            gradient(NULL, p, x, g);
            gradient(NULL, p, start, other);
            for (size_t j = 0; j < DIM && !restart; j++)
                g[j] -= other[j];
            double clip_norm = restart ? 1 : 0.5 * sqrt(moved);
            double norm = reference_norm(g, DIM);
            for (size_t j = 0; j < DIM; j++)
                mean[j] += g[j] * (norm > clip_norm ? clip_norm / norm : 1) / CLIENTS;
        }
        for (size_t j = 0; j < DIM; j++) {
            w[j] = v[j] = (restart ? 0 : v[j]) + mean[j];
            start[j] = y[j] = x[j];
            x[j] -= 0.25 * w[j];
        }
        for (size_t k = 2; k <= K; k++) {
            double step[DIM];
            gradient(NULL, r % CLIENTS, x, g);
            gradient(NULL, r % CLIENTS, y, other);
            for (size_t j = 0; j < DIM; j++) {
                g[j] -= other[j];
                step[j] = x[j] - y[j];
            }
            double norm = reference_norm(g, DIM);
            double clip_norm = 0.4 * reference_norm(step, DIM);
            for (size_t j = 0; j < DIM; j++) {
                w[j] += g[j] * (norm > clip_norm ? clip_norm / norm : 1);
                y[j] = x[j];
                x[j] -= 0.25 * w[j];
            }
        }
        for (size_t k = 0; k < K; k++)
            kit_step(&kit);
        for (size_t j = 0; j < DIM; j++)
            assert_true(fabs((double)kit.parameters[j] - x[j]) < 0.004 * (double)r);
    }
    kit_close(&kit);
}

/* The second release over the gradient's change at a motion of a millionth of the
 * parameters, worked out at the very points in double; float32 gradients, subtracted,
 * would be tens of percent off. */
static void differences_keep_their_digits_at_small_motions(void **state)
{
    (void)state;
    static const double motions[] = {1e-2, 1e-4, 1e-6};
    for (size_t k = 0; k < 3; k++) {
        struct kit kit;
        struct kit_setup setup = usual(2);
        double x[2][DIM], first[DIM], mean[DIM] = {0}, error = 0, size = 0, length = 0;
        kit_spec(&kit, "diff2_gd");
        kit_compile(&kit, &setup);
        float initial[DIM];
        network_init(kit.network, initial, 0);
        for (size_t j = 0; j < DIM; j++)
            length += pow((double)initial[j], 2);
        kit_close(&kit);
        setup.optimizer.learning_rate = setup.optimizer.learning_rate_final = 1;
        kit_spec(&kit, "diff2_gd");
        kit_set(&kit, "restart_interval", 2);
        kit_set(&kit, "difference_clip", 50);
        /* Of gradients that are all longer than this, the mean is about as long. */
        kit_set(&kit, "clip_norm", motions[k] * sqrt(length));
        kit_open(&kit, &setup);
        for (size_t j = 0; j < DIM; j++)
            x[0][j] = (double)kit.parameters[j];
        kit_step(&kit);
        for (size_t j = 0; j < DIM; j++) {
            x[1][j] = (double)kit.parameters[j];
            first[j] = (double)training_gradient(kit.training)[j];
        }
        kit_step(&kit);
        double moved = 0;
        for (size_t j = 0; j < DIM; j++)
            moved += pow(x[1][j] - x[0][j], 2);
        assert_true(sqrt(moved / length) < 1.1 * motions[k]);
        assert_true(sqrt(moved / length) > 0.1 * motions[k]);
        for (size_t i = 0; i < RECORDS; i++) {
            double now[DIM], before[DIM];
            gradient(NULL, i, x[1], now);
            gradient(NULL, i, x[0], before);
            for (size_t j = 0; j < DIM; j++)
                mean[j] += (now[j] - before[j]) / RECORDS;
        }
        for (size_t j = 0; j < DIM; j++) {
            double added = (double)training_gradient(kit.training)[j] - first[j];
            error += pow(added - mean[j], 2);
            size += mean[j] * mean[j];
        }
        /* What noise adds: multiplier 2 / 64 of clip norm 50 |dx| on a mean of 3001. */
        double noise = 2 * quiet * 50 * sqrt(moved) * sqrt(DIM) / RECORDS;
        assert_true(sqrt(error) < 3 * noise + 1e-5 * sqrt(size));
        assert_true(3 * noise < 0.02 * sqrt(size));
        kit_close(&kit);
    }
}

/* One neuron: a record's gradient is as long as it likes, at either end of it. */
static void replacing_a_record_moves_the_mean_by_two_clip_norms_at_most(void **state)
{
    (void)state;
    enum { FEW = 40 };
    static struct layer_spec line = {.kind = LAYER_DENSE, .out = 1, .bias = false};
    static const struct model_spec linear = {
        .layer_count = 1, .layers = &line, .loss = LOSS_SQUARED};
    float x[FEW], y[FEW];
    double most = 0;
    uint64_t seed = 77;
    const struct matrix few = {.records = FEW,
                               .features = 1,
                               .element = ELEMENT_F32,
                               .scale = 1,
                               .rows = x,
                               .values = y};
    for (int trial = 0; trial < 60; trial++) {
        float ends[2];
        struct kit_setup setup = usual(1);
        setup.data = &few;
        setup.model = &linear;
        setup.batch_size = FEW;
        setup.optimizer.learning_rate = setup.optimizer.learning_rate_final = 1;
        for (int k = 0; k < FEW; k++) {
            x[k] = (float)next_uniform(&seed);
            y[k] = (float)next_uniform(&seed);
        }
        for (int side = 0; side < 2; side++) {
            static const char *const names[] = {"clip_norm", "clients", NULL};
            x[5] = trial == 0 ? 1 : (float)(4 * next_uniform(&seed) - 2);
            y[5] = trial == 0 ? (side == 0 ? 99 : -99)
                              : (float)(20 * next_uniform(&seed) - 10);
            run_steps("diff2_gd", &setup, names, (double[]){0.5, 4}, &ends[side]);
        }
        double moved = fabs((double)ends[0] - (double)ends[1]) * FEW;
        assert_true(moved <= 2 * 0.5 * (1 + 1e-5));
        most = fmax(most, moved);
    }
    assert_close(most, 1, 1e-5); /* the first pair: +C against -C */
}

/* Between restarts a record's difference counts up to C2 |dx| and no further. Both records
 * have the same clipped gradient at first, so that both runs take the same first step. */
static void a_difference_is_cut_at_its_rate(void **state)
{
    (void)state;
    enum { FEW = 40 };
    static struct layer_spec line = {.kind = LAYER_DENSE, .out = 1, .bias = false};
    static const struct model_spec linear = {
        .layer_count = 1, .layers = &line, .loss = LOSS_SQUARED};
    float x[FEW], y[FEW];
    double change[2], moved = 0;
    const struct matrix few = {.records = FEW,
                               .features = 1,
                               .element = ELEMENT_F32,
                               .scale = 1,
                               .rows = x,
                               .values = y};
    for (int side = 0; side < 2; side++) {
        struct kit kit;
        struct kit_setup setup = usual(2);
        setup.data = &few;
        setup.model = &linear;
        setup.batch_size = FEW;
        for (int k = 0; k < FEW; k++) {
            x[k] = 0;
            y[k] = 0;
        }
        x[5] = side == 0 ? 1 : 10; /* second derivatives 1 and 100 */
        y[5] = -1000;
        kit_spec(&kit, "diff2_gd");
        kit_set(&kit, "restart_interval", 2);
        kit_set(&kit, "difference_clip", 20);
        kit_open(&kit, &setup);
        float start = kit.parameters[0];
        kit_step(&kit);
        moved = (double)kit.parameters[0] - (double)start;
        float first = training_gradient(kit.training)[0];
        kit_step(&kit);
        change[side] =
            ((double)training_gradient(kit.training)[0] - (double)first) * FEW;
        kit_close(&kit);
    }
    /* Of noise, 2 / 64 of 20 |dx|, both have the same. */
    assert_close(change[1] - change[0], (20 - 1) * moved, 1e-4);
}

static void a_point_that_stays_is_released_for_nothing(void **state)
{
    (void)state;
    struct kit kit;
    float first[DIM];
    struct kit_setup setup = usual(3);
    setup.optimizer.learning_rate = setup.optimizer.learning_rate_final = 1e-30;
    kit_spec(&kit, "diff2_gd");
    kit_set(&kit, "restart_interval", 3);
    kit_open(&kit, &setup);
    kit_step(&kit);
    memcpy(first, training_gradient(kit.training), sizeof first);
    kit_step(&kit);
    kit_step(&kit);
    assert_memory_equal(first, training_gradient(kit.training), sizeof first);
    kit_close(&kit);
}

static void what_diverges_stops(void **state)
{
    (void)state;
    struct kit kit;
    struct error error = {0};
    struct kit_setup setup = usual(2);
    kit_spec(&kit, "diff2_gd");
    kit_open(&kit, &setup);
    kit_step(&kit);
    kit.parameters[3] = INFINITY;
    training_begin_step(kit.training, 1);
    assert_int_equal(kit.spec.algorithm->step(kit.state, kit.training, &error),
                     ST_INTERNAL);
    assert_string_equal(error.text, "diverged");
    kit_close(&kit);
}

/* At the rate that the refusal names it is taken. A job that names none has the usual one,
 * halved until it is. */
static void noise_that_would_feed_on_itself_is_refused(void **state)
{
    (void)state;
    static const char *const names[] = {"diff2_gd", "diff2_bvr_l_sgd"};
    for (int k = 0; k < 2; k++) {
        double most = 0;
        for (int turn = 0; turn < 2; turn++) {
            struct kit kit;
            struct error error = {0};
            struct kit_setup setup = usual(60);
            double rate = turn == 0 ? 500 : most;
            setup.noise_multiplier = 20;
            setup.optimizer.learning_rate = setup.optimizer.learning_rate_final = rate;
            kit_spec(&kit, names[k]);
            kit_set(&kit, "restart_interval", k == 0 ? 20 : 1);
            assert_int_equal(kit_start(&kit, &setup, &error),
                             turn == 0 ? ST_INVALID : ST_OK);
            if (turn == 0) {
                assert_string_equal(error.pointer, "/optimizer/learning_rate");
                const char *named = strstr(error.text, "at most ");
                assert_non_null(named);
                most = strtod(named + strlen("at most "), NULL) * (1 - 1e-2);
                assert_true(most > 0.1 && most < 250);
                struct algorithm_model model = {.parameters = DIM};
                double own =
                    kit.spec.algorithm->learning_rate(&kit.demand, &model, 500);
                assert_true(own > 0.49 * most && own < 1.02 * most);
                assert_true(exp2(rint(log2(500 / own))) == 500 / own);
                assert_true(kit.spec.algorithm->learning_rate(&kit.demand, &model,
                                                              1e-3) == 1e-3);
            }
            kit_close(&kit);
        }
    }
}

/* --- plans --- */

struct refusal {
    const char *algorithm, *name;
    double value;
    const char *pointer;
};

static void what_has_no_proof_is_refused_by_name(void **state)
{
    (void)state;
    static const struct refusal cases[] = {
        {"diff2_gd", "clients", RECORDS + 1, "/algorithm/clients"},
        {"diff2_bvr_l_sgd", "restart_split", 1.2, "/algorithm/difference_split"},
        {"diff2_bvr_l_sgd", "difference_split", 2, "/algorithm/difference_split"},
        {"diff2_bvr_l_sgd", "local_batch", RECORDS, "/algorithm/local_batch"},
        {"diff2_bvr_l_sgd", "local_batch", RECORDS + 9, "/algorithm/local_batch"},
        {"diff2_bvr_l_sgd", "clients", RECORDS, "/algorithm/local_batch"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct kit kit;
        struct mechanism m = {0};
        struct error errors[2] = {{0}, {0}};
        struct kit_setup setup = usual(20);
        kit_spec(&kit, cases[k].algorithm);
        kit_set(&kit, cases[k].name, cases[k].value);
        assert_int_equal(kit_start(&kit, &setup, &errors[0]), ST_INVALID);
        assert_int_equal(kit.spec.algorithm->plan(&m, &kit.demand, &errors[1]),
                         ST_INVALID);
        assert_string_equal(errors[0].pointer, cases[k].pointer);
        assert_string_equal(errors[1].pointer, cases[k].pointer);
        kit_close(&kit);
    }
}

static void other_optimizers_are_refused(void **state)
{
    (void)state;
    static const struct {
        struct optimizer_spec optimizer;
        const char *pointer;
    } cases[] = {
        {{.kind = OPTIMIZER_ADAM, .learning_rate = 1, .learning_rate_final = 1},
         "/optimizer/name"},
        {{.momentum = 0.5, .learning_rate = 1, .learning_rate_final = 1},
         "/optimizer/momentum"},
        {{.learning_rate = 1, .learning_rate_final = 0.5}, "/optimizer/learning_rate"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct kit kit;
        struct mechanism m = {0};
        struct error error = {0};
        struct kit_setup setup = usual(20);
        setup.optimizer = cases[k].optimizer;
        kit_spec(&kit, k == 1 ? "diff2_bvr_l_sgd" : "diff2_gd");
        kit_compile(&kit, &setup);
        assert_int_equal(kit.spec.algorithm->plan(&m, &kit.demand, &error), ST_INVALID);
        assert_string_equal(error.pointer, cases[k].pointer);
        kit_close(&kit);
    }
}

/* A fiftieth of the rounds, and a 128th of a client. */
static void what_is_not_named_follows_from_the_job(void **state)
{
    (void)state;
    struct kit kit;
    struct mechanism m = {0};
    struct kit_setup setup = usual(1000);
    setup.noise_multiplier = 2;
    kit_spec(&kit, "diff2_gd");
    kit_compile(&kit, &setup);
    assert_int_equal(kit.spec.algorithm->plan(&m, &kit.demand, NULL), ST_OK);
    assert_int_equal(m.kind, MECHANISM_GAUSSIAN);
    assert_int_equal(m.run_count, 100);
    assert_int_equal(m.runs[1].steps, 19);
    assert_close(m.runs[1].noise_multiplier, 2 * sqrt(19 * 4), 1e-12);
    mechanism_fini(&m);
    kit_close(&kit);
    kit_spec(&kit, "diff2_bvr_l_sgd");
    kit_set(&kit, "clients", 2);
    kit_compile(&kit, &setup);
    assert_int_equal(kit.spec.algorithm->plan(&m, &kit.demand, NULL), ST_OK);
    assert_int_equal(m.kind, MECHANISM_FIXED_SUBSET);
    assert_int_equal(m.run_count, 200);
    assert_true(m.runs[1].sampling_rate == 12.0 / 1500);
    assert_int_equal(m.runs[1].steps, 9);
    mechanism_fini(&m);
    kit_close(&kit);
}

/* 16,510 records at epsilon 3: sigma1 of diff2.md 2.3 and 2.4. */
static void the_papers_noise_is_claimed(void **state)
{
    (void)state;
    struct kit kit;
    struct kit_setup setup = usual(2000);
    kit_spec(&kit, "diff2_gd");
    kit_set(&kit, "restart_interval", 20);
    kit_compile(&kit, &setup);
    kit.demand.records = kit.demand.batch_size = 16510;
    assert_close(kit.spec.algorithm->paper_claim(&kit.demand, 3, 1e-5) / 16510,
                 2.345840912e-3, 1e-9);
    kit_set(&kit, "restart_interval", 1);
    assert_close(kit.spec.algorithm->paper_claim(&kit.demand, 3, 1e-5) / 16510,
                 9.383364e-3, 1e-6);
    kit_close(&kit);
    kit_spec(&kit, "diff2_bvr_l_sgd");
    kit_set(&kit, "restart_interval", 6);
    kit_set(&kit, "restart_split", 3);
    kit_set(&kit, "clients", 10);
    kit_compile(&kit, &setup);
    assert_close(kit.spec.algorithm->paper_claim(&kit.demand, 3, 1e-5) / 16510,
                 2.119062e-3, 1e-6);
    kit_close(&kit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(next_to_no_noise_is_the_reference),
        cmocka_unit_test(an_interval_of_one_is_dpgd_bit_for_bit),
        cmocka_unit_test(one_local_step_is_diff2_gd_bit_for_bit),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(clients_of_one_size_change_nothing),
        cmocka_unit_test(clients_weigh_alike_whatever_their_size),
        cmocka_unit_test(noise_is_what_the_multipliers_say),
        cmocka_unit_test(neighbours_are_told_apart_as_charged_and_no_better),
        cmocka_unit_test(errors_add_up_until_a_restart),
        cmocka_unit_test(local_steps_have_their_own_noise),
        cmocka_unit_test(local_steps_go_round_the_clients),
        cmocka_unit_test(differences_keep_their_digits_at_small_motions),
        cmocka_unit_test(replacing_a_record_moves_the_mean_by_two_clip_norms_at_most),
        cmocka_unit_test(a_difference_is_cut_at_its_rate),
        cmocka_unit_test(a_point_that_stays_is_released_for_nothing),
        cmocka_unit_test(what_diverges_stops),
        cmocka_unit_test(noise_that_would_feed_on_itself_is_refused),
        cmocka_unit_test(what_has_no_proof_is_refused_by_name),
        cmocka_unit_test(other_optimizers_are_refused),
        cmocka_unit_test(what_is_not_named_follows_from_the_job),
        cmocka_unit_test(the_papers_noise_is_claimed),
    };
    return cmocka_run_group_tests(tests, fill, NULL);
}
