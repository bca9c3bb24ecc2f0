/* Goal: the audit has power, and the sound charges hold against it. Method: the engine's
 * own steps with and without one record whose long gradient stays in the kept error for
 * ever (CE1 of papers/dicesgd.md 3.4); the attacker sees the final model alone and says
 * "it was there" where the sum of all updates passes two standard deviations. A guarantee
 * of (epsilon, delta) caps what it can find: TPR <= e^epsilon FPR + delta.
 *   RUNS=n  of each kind, at most 128, each with a key of its own; 120 unless given */
#include "accountant/figures.h"
#include "tests/engine/dp/algorithm_kit.h"

enum { N = 50000, B = 1000, T = 150 };

static const double rate = 1e-7; /* so small that others' gradients stay 0 */

struct attack {
    double found, false_alarms; /* shares of the runs */
    int runs;
};

static int runs_wanted(void)
{
    const char *text = getenv("RUNS");
    int runs = text != NULL ? atoi(text) : 120;
    return runs > 0 && runs < 128 ? runs : 128;
}

/* Whether the attacker says the record was there. */
static bool alarm_of(const struct matrix *data, double noise, int batches, uint8_t key)
{
    static struct layer_spec line = {.kind = LAYER_DENSE, .out = 1, .bias = false};
    const struct model_spec linear = {
        .layer_count = 1, .layers = &line, .loss = LOSS_SQUARED};
    const struct kit_setup setup = {.data = data,
                                    .model = &linear,
                                    .optimizer = {.kind = OPTIMIZER_SGD,
                                                  .learning_rate = rate,
                                                  .learning_rate_final = rate},
                                    .batch_size = B,
                                    .steps = T,
                                    .noise_multiplier = noise,
                                    .threads = 1,
                                    .key = key};
    struct kit kit;
    kit_spec(&kit, "dicesgd");
    kit_set(&kit, "accountant", 2); /* m1: the paper's algorithm as it stands */
    kit_set(&kit, "batches", batches);
    kit_set(&kit, "pre_clip_norm", 0);
    kit_set(&kit, "error_clip_norm", 1);
    kit_open(&kit, &setup);
    kit.parameters[0] = 0;
    for (int t = 0; t < T; t++)
        kit_step(&kit);
    double sent = -(double)kit.parameters[0] / rate;
    kit_close(&kit);
    return sent > 2 * sqrt(T) * noise / B;
}

static struct attack attack(double noise, int batches)
{
    static float ones[N], values[N], others[N];
    struct attack result = {.runs = runs_wanted()};
    struct matrix data = {.records = N,
                          .features = 1,
                          .element = ELEMENT_F32,
                          .scale = 1,
                          .rows = ones,
                          .values = values};
    for (size_t i = 0; i < N; i++)
        ones[i] = 1;
    values[N / 3] = -(float)(B * T + 2);
    for (int run = 0; run < result.runs; run++) {
        data.values = values;
        result.found += alarm_of(&data, noise, batches, (uint8_t)run) ? 1 : 0;
        data.values = others;
        result.false_alarms +=
            alarm_of(&data, noise, batches, (uint8_t)(128 + run)) ? 1 : 0;
    }
    result.found /= result.runs;
    result.false_alarms /= result.runs;
    return result;
}

static double cap_of(double epsilon, double delta)
{
    return exp(epsilon) * 0.02275 + delta; /* one side of two standard deviations */
}

static double standard_error(double share, int runs)
{
    return sqrt(fmax(share * (1 - share), 0.02) / runs);
}

static void the_final_model_alone_breaks_theorem_3_7(void **state)
{
    (void)state;
    struct algorithm_spec spec;
    algorithm_spec_init(&spec, algorithm_find("dicesgd"));
    spec.values[4] = 1; /* error_clip_norm */
    struct algorithm_demand demand = {
        .spec = &spec, .records = N, .batch_size = B, .steps = T};
    double noise = spec.algorithm->paper_claim(&demand, 2, 1e-5);
    struct attack result = attack(noise, 1);
    print_message("Theorem 3.7, (2, 1e-5): noise %.6g of the mean, found %.3f, false "
                  "alarms %.3f, allowed %.3f\n",
                  noise / B, result.found, result.false_alarms, cap_of(2, 1e-5));
    assert_true(result.false_alarms <
                0.02275 + 5 * standard_error(0.02275, result.runs));
    assert_true(result.found >
                cap_of(2, 1e-5) + 5 * standard_error(result.found, result.runs));
    assert_true(result.found > 0.55);
}

static void the_charge_of_m1_holds(void **state)
{
    (void)state;
    for (int batches = 0; batches < 2; batches++) {
        struct mechanism_run run = {1, 1, T};
        struct mechanism m = {.kind = MECHANISM_ERROR_FEEDBACK,
                              .prefixes_priced = true,
                              .run_count = 1,
                              .runs = &run,
                              .feedback = {.bound = FEEDBACK_M1,
                                           .period = batches == 1 ? 1 : N / B,
                                           .error_clip = B}};
        double noise;
        assert_int_equal(figure_noise(&noise, &m, 2, 1e-5, NULL), ST_OK);
        struct attack result = attack(noise, batches);
        print_message("m1, (2, 1e-5), %s: noise %.6g of the mean, found %.3f, false "
                      "alarms %.3f, allowed %.3f\n",
                      batches == 1 ? "poisson" : "partition", noise / B, result.found,
                      result.false_alarms, cap_of(2, 1e-5));
        assert_true(result.found <=
                    cap_of(2, 1e-5) + 4 * standard_error(result.found, result.runs));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_final_model_alone_breaks_theorem_3_7),
        cmocka_unit_test(the_charge_of_m1_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
