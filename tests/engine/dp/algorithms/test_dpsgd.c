/* Goal: automatic clipping adds no record beyond the clip norm, is charged as flat
 * clipping is, and refuses values that float32 could not represent. Method: random
 * norms over the whole range in long double with the slack that noise.md 2.4 proves to
 * be necessary; a noiseless limit worked out by hand. */
#include "engine/dp/clip.h"
#include "engine/nn/layers/registry.h"

#include "tests/engine/dp/line_fixture.h"

enum { FLAT, AUTOMATIC, PER_LAYER };

static float weight_of(double norm, double spread, struct automatic_clip clip)
{
    float weight = -1;
    double loss = 0;
    struct measures measures = {&norm, &spread, &loss, 1, NULL};
    clip_automatic(&weight, &measures, &clip);
    return weight;
}

static void no_record_is_longer_than_the_clip_norm(void **state)
{
    (void)state;
    uint64_t seed = 11;
    for (int k = 0; k < 200000; k++) {
        double draw[4];
        for (int j = 0; j < 4; j++)
            draw[j] = draw_uniform(&seed);
        struct automatic_clip clip = {.clip_norm = exp2(40 * draw[0] - 20),
                                      .gamma = exp2(30 * draw[3] - 20),
                                      .spread = k % 2 == 0 ? 1 : 8};
        double norm = clip.clip_norm * exp2(80 * draw[1] - 30);
        double spread = norm * (1 + 20 * draw[2]);
        double ideal = fmin(clip.clip_norm / (norm + clip.gamma),
                            clip.spread * clip.clip_norm / spread);
        float weight = weight_of(norm, spread, clip);
        assert_true((long double)weight * norm * (1 + 0x1p-23L) <= clip.clip_norm);
        assert_true((long double)weight * spread * (1 + 0x1p-23L) <=
                    clip.spread * (long double)clip.clip_norm);
        assert_true((double)weight <= ideal);
        assert_true((double)weight >= ideal * (1 - 0x1p-21));
    }
}

static void short_gradients_are_lengthened_up_to_gamma(void **state)
{
    (void)state;
    const struct automatic_clip clip = {.clip_norm = 2, .gamma = 0.01, .spread = 1};
    assert_close((double)weight_of(0, 0, clip), 200, 0x1p-21);
    assert_close((double)weight_of(0.01, 0.01, clip), 100, 0x1p-21);
    assert_close((double)weight_of(7.99, 7.99, clip), 0.25, 0x1p-21);
}

static const float features[] = {3, 0.5F, -2, 1.25F};
static const float values[] = {5, -1, 2, 0.75F};
static const struct matrix points = {.records = 4,
                                     .features = 1,
                                     .element = ELEMENT_F32,
                                     .scale = 1,
                                     .rows = features,
                                     .values = values};

static struct kit_setup usual(void)
{
    struct kit_setup setup = line_setup(&points, 0.5);
    setup.steps = 1;
    setup.noise_multiplier = 0.1;
    setup.key = 5;
    return setup;
}

/* With the same key the noise is the same multiple of C (1 + eta): the difference of
 * two runs is the difference of their sums. */
static void the_sum_is_of_normalised_gradients(void **state)
{
    (void)state;
    double moved[2];
    float start = 0;
    struct kit_setup setup = usual();
    for (int clipping = FLAT; clipping <= AUTOMATIC; clipping++) {
        struct kit kit;
        kit_spec(&kit, "dpsgd");
        kit_set(&kit, "clipping", clipping);
        kit_set(&kit, "clip_norm", 0.5);
        kit_set(&kit, "gamma", 0.01);
        kit_open(&kit, &setup);
        start = kit.parameters[0];
        kit_step(&kit);
        moved[clipping] = (double)start - (double)kit.parameters[0];
        kit_close(&kit);
    }
    double sums[2] = {0, 0};
    for (int i = 0; i < 4; i++) {
        double x = (double)features[i];
        double g = ((double)start * x - (double)values[i]) * x, norm = fabs(g);
        sums[FLAT] += norm <= 0.5 ? g : 0.5 * g / norm;
        sums[AUTOMATIC] += 0.5 * g / (norm + 0.01);
    }
    assert_true(sums[FLAT] != sums[AUTOMATIC]);
    assert_close(moved[AUTOMATIC] - moved[FLAT],
                 0.5 * (sums[AUTOMATIC] - sums[FLAT]) / 4, 2e-5);
}

/* Only record 1 of two moves the parameters; the other has no finite gradient. Record
 * 1's part in each layer is at most C / sqrt(2) long, and its whole gradient at most
 * C. */
static void each_layer_is_clipped_by_itself(void **state)
{
    (void)state;
    enum { IN = 3, HIDDEN = 5, COUNT = IN * HIDDEN + HIDDEN + HIDDEN + 1 };
    static struct layer_spec layers[] = {
        {.kind = &layer_dense, .out = HIDDEN, .bias = true},
        {.kind = &layer_tanh},
        {.kind = &layer_dense, .out = 1, .bias = true}};
    static const struct model_spec net = {
        .layer_count = 3, .layers = layers, .loss = LOSS_SQUARED};
    float x[2 * IN] = {0.5F, -1, 2, 3e38F, 0, 0}, labels[2] = {9, 0};
    const struct matrix data = line_data(2, IN, x, labels);
    struct kit_setup setup = usual();
    setup.data = &data;
    setup.model = &net;
    setup.batch_size = 2;
    float ends[2][COUNT];
    for (int run = 0; run < 2; run++) {
        struct kit kit;
        x[0] = run == 0 ? 0.5F : 3e38F;
        kit_spec(&kit, "dpsgd");
        kit_set(&kit, "clipping", PER_LAYER);
        kit_set(&kit, "clip_norm", 0.25);
        kit_open(&kit, &setup);
        assert_true(algorithm_noise(kit.spec.algorithm, kit.state)->clip_norm == 0.25);
        kit_step(&kit);
        memcpy(ends[run], kit.parameters, sizeof ends[run]);
        kit_close(&kit);
    }
    double squares[2] = {0, 0};
    for (size_t j = 0; j < COUNT; j++) {
        double moved = ((double)ends[0][j] - (double)ends[1][j]) * 2 / 0.5;
        squares[j >= (IN + 1) * HIDDEN] += moved * moved;
    }
    /* Both parts are far longer than that: they are shortened to it exactly. */
    assert_close(sqrt(squares[0]), 0.25 / sqrt(2), 1e-4);
    assert_close(sqrt(squares[1]), 0.25 / sqrt(2), 1e-4);
}

static void all_ways_of_clipping_are_charged_alike(void **state)
{
    (void)state;
    char *texts[3];
    struct kit_setup setup = usual();
    for (int clipping = FLAT; clipping <= PER_LAYER; clipping++) {
        struct kit kit;
        struct mechanism m = {0};
        kit_spec(&kit, "dpsgd");
        kit_set(&kit, "clipping", clipping);
        kit_compile(&kit, &setup);
        assert_int_equal(kit.spec.algorithm->plan(&m, &kit.inputs, NULL), ST_OK);
        texts[clipping] = mechanism_render(&m);
        mechanism_fini(&m);
        kit_close(&kit);
    }
    assert_string_equal(texts[FLAT], texts[AUTOMATIC]);
    assert_string_equal(texts[FLAT], texts[PER_LAYER]);
    for (int clipping = FLAT; clipping <= PER_LAYER; clipping++)
        free(texts[clipping]);
}

static void a_gain_that_float32_cannot_carry_is_refused(void **state)
{
    (void)state;
    static const struct {
        double clip_norm, gamma;
        int clipping;
        enum status status;
    } cases[] = {{0x1p40, 0x1p-19, AUTOMATIC, ST_OK}, /* 2^59 */
                 {0x1p42, 0x1p-19, AUTOMATIC, ST_INVALID},
                 {0x1p42, 0x1p-19, FLAT, ST_OK}};
    struct kit_setup setup = usual();
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct kit kit;
        struct error error = {0};
        kit_spec(&kit, "dpsgd");
        kit_set(&kit, "clipping", cases[k].clipping);
        kit_set(&kit, "clip_norm", cases[k].clip_norm);
        kit_set(&kit, "gamma", cases[k].gamma);
        assert_int_equal(kit_start(&kit, &setup, &error), cases[k].status);
        assert_string_equal(error.pointer,
                            cases[k].status == ST_OK ? "" : "/algorithm/gamma");
        kit_close(&kit);
    }
}

static void a_demand_without_noise_is_refused(void **state)
{
    (void)state;
    struct kit kit;
    struct mechanism m = {0};
    struct kit_setup setup = usual();
    setup.noise_multiplier = 0;
    kit_spec(&kit, "dpsgd");
    kit_compile(&kit, &setup);
    assert_int_equal(kit.spec.algorithm->plan(&m, &kit.inputs, NULL), ST_INVALID);
    kit_close(&kit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_record_is_longer_than_the_clip_norm),
        cmocka_unit_test(short_gradients_are_lengthened_up_to_gamma),
        cmocka_unit_test(the_sum_is_of_normalised_gradients),
        cmocka_unit_test(each_layer_is_clipped_by_itself),
        cmocka_unit_test(all_ways_of_clipping_are_charged_alike),
        cmocka_unit_test(a_gain_that_float32_cannot_carry_is_refused),
        cmocka_unit_test(a_demand_without_noise_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
