/* Goal: dicesgd does what its mechanism says, refuses what has no proof, and ends in
 * places that clipping without feedback would not reach. Method: the engine's own steps
 * on a few records with a fixed key; sums of one record against the norms that the
 * proofs are about. Checks of papers/dicesgd.md 7: 5, 8, 12, 13, 14, 15; resuming does
 * not exist here, so its checks do not either. */
#include "engine/dp/algorithms/registry.h"
#include "engine/dp/clip.h"

#include "tests/engine/dp/line_fixture.h"

enum { M2R, M2, M1, M3, PAPER_CLAIM };
enum { PARTITION, POISSON };

static const float ones[] = {1, 1, 1};
static const float toy_values[] = {-1, -1, 2};
static const struct matrix toy = {.records = 3,
                                  .features = 1,
                                  .element = ELEMENT_F32,
                                  .scale = 1,
                                  .rows = ones,
                                  .values = toy_values};

static struct kit_setup usual(void)
{
    struct kit_setup setup = line_setup(&toy, 0.05);
    setup.steps = 3000;
    setup.noise_multiplier = 0.1;
    return setup;
}

static enum status plan_of(struct mechanism *m, int accountant, int batches,
                           double whole, struct error *error)
{
    struct kit kit;
    struct kit_setup setup = usual();
    kit_spec(&kit, "dicesgd");
    kit_set(&kit, "accountant", accountant);
    kit_set(&kit, "batches", batches);
    kit_set(&kit, "pre_clip_norm", whole);
    kit_compile(&kit, &setup);
    kit.inputs.batch_size = 2;
    enum status status = kit.spec.algorithm->plan(m, &kit.inputs, error);
    kit_close(&kit);
    return status;
}

static void the_mechanism_says_which_proof_bounds_it(void **state)
{
    (void)state;
    static const struct {
        int accountant, batches;
        double whole;
        const char *text;
    } rows[] = {
        {M2R, PARTITION, 3, "[\"m2r\",2,2,0],\"prefixes_priced\":true}"},
        {M2, PARTITION, 3, "[\"m2\",2,2,4],\"prefixes_priced\":true}"},
        {M1, PARTITION, 0, "[\"m1\",2,0,4],\"prefixes_priced\":true}"},
        {M1, POISSON, 3, "[\"m1\",1,0,4],\"prefixes_priced\":true}"},
        {M3, POISSON, 3, "[\"m3\",0,2,4],\"prefixes_priced\":false}"},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        struct mechanism m = {0};
        assert_int_equal(
            plan_of(&m, rows[k].accountant, rows[k].batches, rows[k].whole, NULL),
            ST_OK);
        assert_true(mechanism_extra_valid(&m));
        char *text = mechanism_render(&m);
        assert_non_null(strstr(text, rows[k].text));
        free(text);
        mechanism_fini(&m);
    }
}

static void what_has_no_proof_is_refused(void **state)
{
    (void)state;
    static const struct {
        int accountant, batches;
        double whole;
        const char *pointer;
    } rows[] = {
        {PAPER_CLAIM, PARTITION, 2, "/algorithm/accountant"},
        {M2, POISSON, 2, "/algorithm/batches"}, /* m2 without a cap */
        {M2R, POISSON, 2, "/algorithm/batches"},
        {M3, PARTITION, 2, "/algorithm/batches"},
        {M2R, PARTITION, 0, "/algorithm/pre_clip_norm"},
        {M2, PARTITION, 1, "/algorithm/pre_clip_norm"},
        {M1, PARTITION, 0.5, "/algorithm/pre_clip_norm"},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        struct mechanism m = {0};
        struct error error = {0};
        assert_int_equal(
            plan_of(&m, rows[k].accountant, rows[k].batches, rows[k].whole, &error),
            ST_INVALID);
        assert_string_equal(error.pointer, rows[k].pointer);
    }
}

static void replacing_a_record_has_no_proof_under_m3(void **state)
{
    (void)state;
    struct kit kit;
    struct mechanism m = {0};
    struct error error = {0};
    struct kit_setup setup = usual();
    kit_spec(&kit, "dicesgd");
    kit_set(&kit, "accountant", M3);
    kit_set(&kit, "batches", POISSON);
    kit_compile(&kit, &setup);
    kit.inputs.relation = RELATION_REPLACE_ONE;
    assert_int_equal(kit.spec.algorithm->plan(&m, &kit.inputs, &error), ST_INVALID);
    assert_string_equal(error.pointer, "/algorithm/accountant");
    kit.inputs.relation = RELATION_ZERO_OUT;
    kit.inputs.steps = 65537;
    assert_int_equal(kit.spec.algorithm->plan(&m, &kit.inputs, &error), ST_INVALID);
    kit.inputs.steps = 10;
    kit.inputs.noise_multiplier = 0;
    assert_int_equal(kit.spec.algorithm->plan(&m, &kit.inputs, &error), ST_INVALID);
    kit_close(&kit);
}

static void the_paper_s_noise_is_a_claim_alone(void **state)
{
    (void)state;
    struct algorithm_spec spec;
    algorithm_spec_init(&spec, algorithm_find("dicesgd"));
    spec.values[4] = 1; /* error_clip_norm */
    struct algorithm_inputs inputs = {
        .spec = &spec, .records = 50000, .batch_size = 1000, .steps = 150};
    double claim = spec.algorithm->paper_claim(&inputs, 2, 1e-5);
    assert_close(claim / 1000, 3.324517103667, 1e-12);
    spec.values[2] = spec.values[4] = 0.1;
    claim = spec.algorithm->paper_claim(&inputs, 2, 1e-5);
    assert_close(claim * 0.1 / 1000, 0.332451710367, 1e-12);
}

/* Checks (taken + rest) of a record as micro_batch applies them. */
static void the_rest_of_a_record_is_within_its_norm(void **state)
{
    (void)state;
    uint64_t seed = 23;
    for (int k = 0; k < 200000; k++) {
        double draw[4];
        for (int j = 0; j < 4; j++)
            draw[j] = draw_uniform(&seed);
        struct flat_clip flat = {.clip_norm = exp2(20 * draw[0] - 10),
                                 .spread = k % 2 == 0 ? 1 : 8};
        double whole = flat.clip_norm * (1 + exp2(12 * draw[1] - 8));
        struct rest_clip clip = {
            .clip = flat, .whole = whole, .rest = whole - flat.clip_norm};
        double norm = flat.clip_norm * exp2(30 * draw[2] - 5), loss = 0;
        double spread = norm * (1 + 20 * draw[3]);
        struct measures measures = {&norm, &spread, &loss, 1, NULL};
        float taken, more;
        clip_flat(&taken, &measures, &flat);
        clip_rest(&more, &measures, &clip);
        long double rest = (long double)taken * more * (1 + 0x1p-22L);
        assert_true(rest * norm <= clip.rest);
        assert_true(rest * spread <= flat.spread * (long double)clip.rest);
        if (norm <= flat.clip_norm && spread <= flat.spread * flat.clip_norm)
            assert_true(more == 0);
        if (flat.spread > 1 || spread > norm * 1.5)
            continue;
        clip.whole = 0; /* no limit: keeps all that was cut off */
        clip_rest(&more, &measures, &clip);
        assert_true((double)taken * (1 + (double)more) > 1 - 0x1p-20);
    }
}

static double average_end(const char *algorithm, const struct kit_setup *setup,
                          int accountant, double whole)
{
    struct kit kit;
    double sum = 0;
    kit_spec(&kit, algorithm);
    kit_set(&kit, "clip_norm", 1);
    if (strcmp(algorithm, "dicesgd") == 0) {
        kit_set(&kit, "accountant", accountant);
        kit_set(&kit, "batches", accountant == M3 ? POISSON : PARTITION);
        kit_set(&kit, "pre_clip_norm", whole);
        kit_set(&kit, "error_clip_norm", 1);
    }
    kit_open(&kit, setup);
    for (uint64_t t = 0; t < setup->steps; t++) {
        kit_step(&kit);
        if (2 * t >= setup->steps)
            sum += (double)kit.parameters[0];
    }
    kit_close(&kit);
    return sum / ((double)setup->steps / 2);
}

/* Toy A without its clamp, with noise of a thirtieth in each step. */
static void the_bias_of_clipping_is_gone(void **state)
{
    (void)state;
    struct kit_setup setup = usual();
    assert_true(fabs(average_end("dpsgd", &setup, 0, 0) + 0.5) < 0.08);
    assert_true(fabs(average_end("dicesgd", &setup, M2, 6)) < 0.08);
    assert_true(fabs(average_end("dicesgd", &setup, M1, 0)) < 0.08);
    setup.batch_size = 1; /* an epoch of three steps, a record each */
    assert_true(fabs(average_end("dicesgd", &setup, M2, 6)) < 0.1);
    setup.optimizer = (struct optimizer_spec){.kind = OPTIMIZER_ADAM,
                                              .learning_rate = 0.01,
                                              .learning_rate_final = 0.01,
                                              .beta1 = 0.9,
                                              .beta2 = 0.999,
                                              .epsilon = 1e-8};
    setup.batch_size = 3;
    assert_true(fabs(average_end("dicesgd", &setup, M2, 6)) < 0.1);
}

/* The feedback comes one step late: an epoch of one step gives nothing back. */
static void forgetting_at_every_step_is_plain_clipping(void **state)
{
    (void)state;
    struct kit_setup setup = usual();
    assert_true(fabs(average_end("dicesgd", &setup, M2R, 6) + 0.5) < 0.08);
}

static void an_error_clip_of_zero_is_plain_clipping(void **state)
{
    (void)state;
    struct kit_setup setup = usual();
    struct kit kit;
    kit_spec(&kit, "dicesgd");
    kit_set(&kit, "accountant", M1);
    kit_set(&kit, "pre_clip_norm", 0);
    kit_set(&kit, "error_clip_norm", 0);
    kit_open(&kit, &setup);
    double sum = 0;
    for (int t = 0; t < 3000; t++) {
        kit_step(&kit);
        sum += t >= 1500 ? (double)kit.parameters[0] : 0;
    }
    kit_close(&kit);
    assert_true(fabs(sum / 1500 + 0.5) < 0.08);
}

/* The model stays finite with a record of any size and two that are not numbers. */
static void wild_records_leave_the_model_finite(void **state)
{
    (void)state;
    static const float wild[] = {1e38F, NAN, INFINITY};
    struct matrix data = toy;
    struct kit_setup setup = usual();
    struct kit kit;
    data.values = wild;
    setup.data = &data;
    kit_spec(&kit, "dicesgd");
    kit_set(&kit, "accountant", M1);
    kit_set(&kit, "pre_clip_norm", 0);
    kit_open(&kit, &setup);
    for (int t = 0; t < 200; t++) {
        kit_step(&kit);
        assert_true(isfinite(kit.parameters[0]));
    }
    kit_close(&kit);
}

/* Zero gradients: the release is only noise, of deviation sigma C1 / B in each
 * coordinate, a little more to leave room for rounding. */
static void noise_is_what_was_planned(void **state)
{
    (void)state;
    enum { WIDE = 4096, STEPS = 250 };
    static float zeros[3 * WIDE];
    struct matrix data = toy;
    struct kit_setup setup = usual();
    struct kit kit;
    data.features = WIDE;
    data.rows = zeros;
    setup.data = &data;
    setup.steps = STEPS;
    setup.noise_multiplier = 2.5;
    setup.optimizer.learning_rate = setup.optimizer.learning_rate_final = 1;
    kit_spec(&kit, "dicesgd");
    kit_open(&kit, &setup);
    static float before[WIDE];
    double squares = 0;
    for (int t = 0; t < STEPS; t++) {
        memcpy(before, kit.parameters, sizeof before);
        kit_step(&kit);
        for (size_t j = 0; j < WIDE; j++) {
            double moved = (double)kit.parameters[j] - (double)before[j];
            squares += moved * moved;
        }
    }
    double deviation = sqrt(squares / WIDE / STEPS);
    assert_close(deviation, 2.5 / 3, 0.005);
    assert_true(deviation > 2.5 / 3 * (1 - 5 / sqrt(2.0 * WIDE * STEPS)));
    kit_close(&kit);
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    float ends[3];
    struct kit_setup setup = usual();
    setup.batch_size = 2;
    for (unsigned threads = 1; threads <= 3; threads++) {
        struct kit kit;
        setup.threads = threads;
        kit_spec(&kit, "dicesgd");
        kit_open(&kit, &setup);
        for (int t = 0; t < 50; t++)
            kit_step(&kit);
        ends[threads - 1] = kit.parameters[0];
        kit_close(&kit);
    }
    assert_true(ends[0] == ends[1] && ends[1] == ends[2]);
}

static void too_much_rounding_for_the_noise_is_refused(void **state)
{
    (void)state;
    struct kit kit;
    struct error error = {0};
    struct kit_setup setup = usual();
    setup.noise_multiplier = 1e5;
    kit_spec(&kit, "dicesgd");
    kit_set(&kit, "pre_clip_norm", 1.0001);
    kit_set(&kit, "error_clip_norm", 1e12);
    assert_int_equal(kit_start(&kit, &setup, &error), ST_INVALID);
    kit_close(&kit);
    error = (struct error){0};
    setup.noise_multiplier = 0.1;
    kit_spec(&kit, "dicesgd");
    kit_set(&kit, "pre_clip_norm", 1e6);
    assert_int_equal(kit_start(&kit, &setup, &error), ST_INVALID);
    assert_string_equal(error.pointer, "/algorithm/pre_clip_norm");
    kit_close(&kit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_mechanism_says_which_proof_bounds_it),
        cmocka_unit_test(what_has_no_proof_is_refused),
        cmocka_unit_test(replacing_a_record_has_no_proof_under_m3),
        cmocka_unit_test(the_paper_s_noise_is_a_claim_alone),
        cmocka_unit_test(the_rest_of_a_record_is_within_its_norm),
        cmocka_unit_test(the_bias_of_clipping_is_gone),
        cmocka_unit_test(forgetting_at_every_step_is_plain_clipping),
        cmocka_unit_test(an_error_clip_of_zero_is_plain_clipping),
        cmocka_unit_test(wild_records_leave_the_model_finite),
        cmocka_unit_test(noise_is_what_was_planned),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(too_much_rounding_for_the_noise_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
