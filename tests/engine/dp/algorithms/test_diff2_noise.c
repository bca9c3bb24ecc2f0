/* Goal: each release of DIFF2 carries its own noise, of the deviation that is charged.
 * Method: noise without signal, on features of zeros and no bias, where gradients are
 * zero, against the multipliers; neighbouring datasets distinguished, against the exact
 * curve. */
#include "engine/dp/algorithms/diff2_rounds.h"
#include "engine/nn/layers/registry.h"
#include "tests/engine/dp/diff2_fixture.h"

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
    .kind = &layer_dense, .out = WIDE_OUT, .bias = false};
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

/* Takes steps and reads the estimate, which the gradient shows rounded to float. */
static void listen(struct audit *audit, struct kit *kit,
                   const struct diff2_rounds *rounds, const double rates[3],
                   const double divisors[3])
{
    static double value[WIDE];
    static float before[WIDE];
    for (uint64_t step = 0; step < rounds->steps; step++) {
        enum diff2_release release = diff2_rounds_release(rounds, step);
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
            2 * diff2_rounds_ratio(rounds, release) * clip_norm / divisors[release];
        const float *shown = stepper_gradient(kit->stepper);
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

/* Checks the first count releases: they have the planned deviations, and no correlation
 * with each other, nor with themselves shifted by one coordinate. */
static void expect_as_planned(const struct audit *heard, size_t count)
{
    for (size_t r = 0; r < count; r++) {
        assert_close(deviation(heard->release[r]), heard->expected[r], 0.01);
        for (size_t s = 0; s < r; s++)
            assert_true(fabs(product(heard->release[r], heard->release[s], 0)) <
                        5 / sqrt(WIDE));
        assert_true(fabs(product(heard->release[r], heard->release[r], 1)) <
                    5 / sqrt(WIDE));
    }
}

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
    struct diff2_rounds rounds = {.steps = 6,
                                  .interval = 3,
                                  .local_steps = 1,
                                  .clients = 8,
                                  .restart_share = 0.8,
                                  .difference_share = 0.2};
    listen(&audit, &kit, &rounds, (double[]){0.7, 1.9, 0},
           (double[]){SILENT, SILENT, 1});
    expect_as_planned(&audit, 6);
    kit_close(&kit);
}

static double normal_above(double x)
{
    return 0.5 * erfc(x / sqrt(2));
}

/* On a million draws of a restart's noise, and the same draws moved by the most that
 * one record can move them, the best test distinguishes the two no better than the
 * exact curve of multiplier 2 allows: mu = 1/2. */
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
        const float *shown = stepper_gradient(kit.stepper);
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

/* E ||v_r - grad f||^2 = restart's noise + the window's differences' noise; the
 * gradient is zero. Four standard errors of d normals. */
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
    struct diff2_rounds rounds = {.steps = 8,
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
    struct diff2_rounds rounds = {.steps = 8,
                                  .interval = 5,
                                  .local_steps = 8,
                                  .clients = 2,
                                  .local_rate = 0.1,
                                  .restart_share = 0.5,
                                  .difference_share = 0.25};
    listen(&audit, &kit, &rounds, (double[]){1, 1, 3}, (double[]){SILENT, SILENT, 10});
    expect_as_planned(&audit, 8);
    kit_close(&kit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(noise_is_what_the_multipliers_say),
        cmocka_unit_test(neighbours_are_told_apart_as_charged_and_no_better),
        cmocka_unit_test(errors_add_up_until_a_restart),
        cmocka_unit_test(local_steps_have_their_own_noise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
