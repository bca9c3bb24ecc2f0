/* Goal: on the toy problems of papers/valueclip.md 3.4 the engine's value clipping
 * behaves as the paper's closed forms say. Method: acceptance checks A1 (losses and
 * norms), A4 (bit for bit), A5, A6, A7 and A8; the long ones if FULL is set.
 *
 * T-B and T-C are about |w - a|^2 / 2 in R^d, which has no network. With the records
 * x_i = sqrt(d) e_(i mod d), each coordinate n / d times, and labels 0, the mean of
 * (x_i w)^2 / 2 is |w|^2 / 2: the same descent, as long as nothing is clipped. */
#include "engine/dp/algorithm.h"
#include "engine/nn/layers/registry.h"

#include "tests/engine/dp/line_fixture.h"

static bool full(void)
{
    return getenv("FULL") != NULL;
}

static struct kit_setup setup_of(const struct matrix *data,
                                 const struct model_spec *model, double rate)
{
    struct kit_setup setup = line_setup(data, rate);
    setup.model = model;
    setup.steps = 1000000;
    setup.noise_multiplier = 0.1;
    setup.key = 3;
    return setup;
}

/* ---- A1: losses and norms of the published records ---- */

struct seen {
    double loss, norm;
};

static void see(float *weights, const struct measures *measures, const void *context)
{
    struct seen *seen = (struct seen *)(uintptr_t)context;
    *seen = (struct seen){measures->losses[0], measures->norms[0]};
    for (size_t i = 0; i < measures->count; i++)
        weights[i] = 0;
}

struct published {
    struct model_spec model;
    uint32_t classes;
    float x[2], value;
    uint32_t target;
    float parameters[12];
    double loss, norm;
};

static void assert_published(const struct published *published)
{
    const struct matrix data = {.records = 1,
                                .features = 2,
                                .classes = published->classes,
                                .element = ELEMENT_F32,
                                .scale = 1,
                                .rows = published->x,
                                .targets =
                                    published->classes > 0 ? &published->target : NULL,
                                .values = &published->value};
    struct kit_setup setup = setup_of(&data, &published->model, 0.1);
    struct kit kit;
    struct seen seen = {0, 0};
    kit_spec(&kit, "value_clip");
    kit_open(&kit, &setup);
    memcpy(kit.parameters, published->parameters,
           network_parameters(kit.network) * sizeof *kit.parameters);
    const struct noise_plan *noise = algorithm_noise(kit.spec.algorithm, kit.state);
    const struct batch_sum sum = {
        .grid = &noise->grid, .clip = see, .clip_context = &seen};
    stepper_begin_step(kit.stepper, 0);
    stepper_sample(kit.stepper, 1);
    assert_int_equal(stepper_sum(kit.stepper, &sum, NULL), ST_OK);
    assert_close(seen.loss, published->loss, 1e-6); /* float32 */
    assert_close(seen.norm, published->norm, 1e-5); /* an upper bound from float32 */
    stepper_release(kit.stepper, &noise->grid, 1);
    kit_close(&kit);
}

static void published_records_have_their_losses_and_norms(void **state)
{
    (void)state;
    static struct layer_spec biased = {.kind = &layer_dense, .out = 1, .bias = true},
                             three = {.kind = &layer_dense, .out = 3},
                             net[] = {{.kind = &layer_dense, .out = 3},
                                      {.kind = &layer_relu},
                                      {.kind = &layer_dense, .out = 2}};
    static const struct published records[] = {
        {.model = {.layer_count = 1, .layers = &line_layer, .loss = LOSS_SQUARED},
         .x = {3, 4},
         .value = 2,
         .parameters = {.5F, -.25F},
         .loss = 1.125,
         .norm = 7.5},
        {.model = {.layer_count = 1, .layers = &biased, .loss = LOSS_SQUARED},
         .x = {3, 4},
         .value = 2,
         .parameters = {.5F, -.25F, 0},
         .loss = 1.125,
         .norm = 7.6485292704},
        {.model = {.layer_count = 1, .layers = &line_layer, .loss = LOSS_LOGISTIC},
         .classes = 2,
         .target = 1,
         .x = {3, 4},
         .parameters = {.5F, -.25F},
         .loss = .4740769842,
         .norm = 1.8877033440},
        {.model = {.layer_count = 1,
                   .layers = &three,
                   .loss = LOSS_SOFTMAX_CROSS_ENTROPY},
         .classes = 3,
         .target = 1,
         .x = {3, 4},
         .parameters = {.1F, .2F, -.3F, .05F, .2F, -.1F},
         .loss = 2.2522650696,
         .norm = 5.6399712496},
        {.model = {.layer_count = 3, .layers = net, .loss = LOSS_SOFTMAX_CROSS_ENTROPY},
         .classes = 2,
         .target = 0,
         .x = {1, 2},
         .parameters = {1, -.5F, .25F, .5F, -1, .75F, .5F, -.25F, 1, -.75F, .5F, .25F},
         .loss = 1.0134372816,
         .norm = 1.9374535237},
    };
    for (size_t k = 0; k < sizeof records / sizeof *records; k++)
        assert_published(&records[k]);
}

/* ---- A4 and A5: what one record does to the sum ---- */

enum { RECORDS = 40, FEATURES = 7, PARAMETERS_MAX = 512 };

static float features[RECORDS * FEATURES], values[RECORDS];
static uint32_t classes[RECORDS];

static void fill(uint64_t *seed)
{
    for (size_t i = 0; i < RECORDS; i++) {
        double size = exp2(12 * draw_uniform(seed) - 6);
        for (size_t j = 0; j < FEATURES; j++)
            features[i * FEATURES + j] = (float)(size * (2 * draw_uniform(seed) - 1));
        values[i] = (float)(6 * draw_uniform(seed) - 3);
        classes[i] = (uint32_t)(4 * draw_uniform(seed));
    }
}

static struct matrix data_of(enum loss loss)
{
    bool values_wanted = loss == LOSS_SQUARED || loss == LOSS_HUBER;
    return (struct matrix){.records = RECORDS,
                           .features = FEATURES,
                           .classes = values_wanted ? 0 : 4,
                           .element = ELEMENT_F32,
                           .scale = 1,
                           .rows = features,
                           .targets = values_wanted ? NULL : classes,
                           .values = values};
}

/* Gives the parameters after one step, and how much longer than C the plan lets a
 * record be. */
static size_t step_once(const struct model_spec *model, double clip_norm, double rate,
                        float *parameters, double *inflation)
{
    const struct matrix data = data_of(model->loss);
    struct kit_setup setup = setup_of(&data, model, rate);
    struct kit kit;
    kit_spec(&kit, "value_clip");
    kit_set(&kit, "clip_norm", clip_norm);
    kit_open(&kit, &setup);
    size_t count = network_parameters(kit.network);
    assert_true(count <= PARAMETERS_MAX);
    *inflation = algorithm_noise(kit.spec.algorithm, kit.state)->grid.inflation;
    kit_step(&kit);
    memcpy(parameters, kit.parameters, count * sizeof *parameters);
    kit_close(&kit);
    return count;
}

/* These records contribute zero whatever their values are: zeros under any label, and
 * values that are not finite. A factor that depended on other records' losses would
 * move the sum. */
static void a_record_is_seen_by_no_other(void **state)
{
    (void)state;
    enum { J = 11 };
    static const float labels[] = {0, 8, -1e6F, 3e38F};
    float first[PARAMETERS_MAX], other[PARAMETERS_MAX];
    uint64_t seed = 21;
    double inflation;
    fill(&seed);
    memset(features + J * FEATURES, 0, FEATURES * sizeof *features);
    for (size_t k = 0; k < sizeof labels / sizeof *labels; k++) {
        values[J] = labels[k];
        size_t count = step_once(&line, 0.4, 0.25, k == 0 ? first : other, &inflation);
        if (k > 0)
            assert_memory_equal(first, other, count * sizeof *first);
    }
    for (size_t k = 0; k < 3; k++) {
        features[J * FEATURES + k] = k == 0 ? NAN : k == 1 ? INFINITY : -INFINITY;
        size_t count = step_once(&line, 0.4, 0.25, other, &inflation);
        assert_memory_equal(first, other, count * sizeof *first);
    }
}

static struct layer_spec layers[5];

static struct model_spec draw_model(uint64_t *seed)
{
    static const struct layer_kind *const between[] = {&layer_relu, &layer_tanh,
                                                       &layer_sigmoid};
    static const enum loss losses[] = {LOSS_SQUARED, LOSS_SOFTMAX_CROSS_ENTROPY};
    size_t depth = 1 + (size_t)(3 * draw_uniform(seed)), count = 0;
    enum loss loss = losses[draw_uniform(seed) < 0.5];
    bool bias = draw_uniform(seed) < 0.5;
    for (size_t l = 0; l < depth; l++) {
        bool last = l + 1 == depth;
        uint32_t out = !last                  ? 2 + (uint32_t)(8 * draw_uniform(seed))
                       : loss == LOSS_SQUARED ? 1
                                              : 4;
        layers[count++] =
            (struct layer_spec){.kind = &layer_dense, .out = out, .bias = bias};
        if (!last)
            layers[count++] =
                (struct layer_spec){.kind = between[(size_t)(3 * draw_uniform(seed))]};
    }
    return (struct model_spec){.layer_count = count, .layers = layers, .loss = loss};
}

/* At this rate the step is far larger than the rounding of float32 parameters. */
static void neighbours_differ_by_the_clip_norm_at_most(void **state)
{
    (void)state;
    const double rate = 1e5;
    uint64_t seed = 22;
    double longest = 0;
    for (int k = 0; k < (full() ? 20000 : SANITIZED ? 50 : 300); k++) {
        float with[PARAMETERS_MAX], without[PARAMETERS_MAX];
        double clip_norm = exp2(12 * draw_uniform(&seed) - 7), inflation, square = 0;
        size_t record = (size_t)(RECORDS * draw_uniform(&seed));
        struct model_spec model = draw_model(&seed);
        fill(&seed);
        size_t count = step_once(&model, clip_norm, rate, with, &inflation);
        features[record * FEATURES] = NAN; /* contributes zero */
        step_once(&model, clip_norm, rate, without, &inflation);
        for (size_t j = 0; j < count; j++) {
            double moved = ((double)with[j] - (double)without[j]) * RECORDS / rate;
            square += moved * moved;
        }
        assert_true(sqrt(square) <= clip_norm * (1 + inflation) * (1 + 1e-4));
        longest = fmax(longest, sqrt(square) / clip_norm);
    }
    assert_true(longest > 0.99);
}

/* ---- A6: only noise ---- */

/* Zero gradients, 30 % of the batches empty: after T steps each of 10^6 coordinates has
 * variance T (eta C sigma / B)^2; seven standard errors are 1 %. */
static void zero_gradients_leave_the_planned_noise(void **state)
{
    (void)state;
    enum { D = 1000000, STEPS = 3 };
    static const float labels[3] = {1, -2, 7};
    float *zeros = calloc(3 * (size_t)D, sizeof *zeros);
    assert_non_null(zeros);
    const struct matrix data = line_data(3, D, zeros, labels);
    struct kit_setup setup = setup_of(&data, &line, 0.25);
    struct kit kit;
    double square = 0;
    setup.batch_size = 1;
    setup.noise_multiplier = 1.5;
    kit_spec(&kit, "value_clip");
    kit_set(&kit, "clip_norm", 0.8);
    kit_open(&kit, &setup);
    memset(kit.parameters, 0, D * sizeof *kit.parameters);
    double inflation = algorithm_noise(kit.spec.algorithm, kit.state)->grid.inflation;
    for (int t = 0; t < STEPS; t++)
        kit_step(&kit);
    for (size_t j = 0; j < D; j++)
        square += (double)kit.parameters[j] * (double)kit.parameters[j] / D;
    kit_close(&kit);
    free(zeros);
    assert_close(square, STEPS * pow(0.25 * 0.8 * 1.5 * (1 + inflation), 2), 0.01);
}

/* ---- A7 and A8: the closed forms of T-B and T-C ---- */

struct bowl {
    struct kit kit;
    struct matrix data;
    float *x, *labels;
    size_t d;
    double steepest; /* largest gradient norm of any record so far */
};

struct bowl_shape {
    size_t n, d;
    double eta, clip_norm, noise;
};

static void bowl_open(struct bowl *bowl, struct bowl_shape shape, uint16_t salt)
{
    *bowl = (struct bowl){.d = shape.d};
    bowl->x = calloc(shape.n * shape.d, sizeof *bowl->x);
    bowl->labels = calloc(shape.n, sizeof *bowl->labels);
    assert_true(bowl->x != NULL && bowl->labels != NULL);
    for (size_t i = 0; i < shape.n; i++)
        bowl->x[i * shape.d + i % shape.d] = (float)sqrt((double)shape.d);
    bowl->data = (struct matrix){.records = shape.n,
                                 .features = (uint32_t)shape.d,
                                 .element = ELEMENT_F32,
                                 .scale = 1,
                                 .rows = bowl->x,
                                 .values = bowl->labels};
    struct kit_setup setup = setup_of(&bowl->data, &line, shape.eta);
    setup.noise_multiplier = shape.noise;
    setup.salt = salt;
    kit_spec(&bowl->kit, "value_clip");
    kit_set(&bowl->kit, "clip_norm", shape.clip_norm);
    kit_open(&bowl->kit, &setup);
}

static void bowl_close(struct bowl *bowl)
{
    kit_close(&bowl->kit);
    free(bowl->x);
    free(bowl->labels);
}

/* Starts at |w| = distance. */
static void bowl_start(struct bowl *bowl, double distance)
{
    for (size_t j = 0; j < bowl->d; j++)
        bowl->kit.parameters[j] = (float)(distance / sqrt((double)bowl->d));
}

static double bowl_excess(struct bowl *bowl)
{
    double square = 0;
    for (size_t j = 0; j < bowl->d; j++) {
        double w = (double)bowl->kit.parameters[j];
        square += w * w;
        bowl->steepest = fmax(bowl->steepest, (double)bowl->d * fabs(w));
    }
    return square / 2;
}

/* T-B: n = 1000, d = 5, C = 10, sigma = 4, eta = .1. From step 200 on the law is
 * stationary, and states 50 steps apart are independent (.9^100): 20,000 of them are
 * the 20,000 last iterates that the check asks for. Each is half a chi-squared of 5
 * degrees: a relative deviation of sqrt(2 / 5). */
static void last_iterates_have_the_published_excess(void **state)
{
    (void)state;
    const struct bowl_shape shape = {1000, 5, 0.1, 10, 4};
    size_t samples = full() ? 20000 : SANITIZED ? 50 : 400;
    struct bowl bowl;
    double sum = 0;
    bowl_open(&bowl, shape, 0);
    double noise =
        1 + algorithm_noise(bowl.kit.spec.algorithm, bowl.kit.state)->grid.inflation;
    bowl_start(&bowl, 2);
    for (int t = 0; t < 150; t++)
        kit_step(&bowl.kit);
    for (size_t k = 0; k < samples; k++) {
        for (int t = 0; t < 50; t++)
            kit_step(&bowl.kit);
        sum += bowl_excess(&bowl);
    }
    bowl_close(&bowl);
    assert_close(sum / (double)samples, 2.1052632e-4 * noise * noise,
                 full() ? 0.02 : 5 * sqrt(0.4 / (double)samples));
}

/* The same over t = 0 .. 200 from |w| = 2: the mean of a run is off by 1 %. */
static void a_random_iterate_has_the_published_excess(void **state)
{
    (void)state;
    const struct bowl_shape shape = {1000, 5, 0.1, 10, 4};
    uint16_t runs = full() ? 100 : SANITIZED ? 3 : 10;
    double sum = 0;
    for (uint16_t run = 0; run < runs; run++) {
        struct bowl bowl;
        bowl_open(&bowl, shape, run);
        bowl_start(&bowl, 2);
        sum += bowl_excess(&bowl);
        for (int t = 0; t < 200; t++) {
            kit_step(&bowl.kit);
            sum += bowl_excess(&bowl);
        }
        assert_true(bowl.steepest < shape.clip_norm); /* nothing was clipped */
        bowl_close(&bowl);
    }
    assert_close(sum / 201 / runs, 0.05257474,
                 full() ? 0.005 : 5 * 0.01 / sqrt((double)runs));
}

/* T-C: n = 250, d = 10, T = 6250. Its C of 2 would clip these records, which are d
 * times as steep as their mean. Here C is ten times as large and sigma a tenth, so the
 * noise is the same. The mean of a run has a deviation of .0042. The bound is that of
 * Lemma A.12. */
static void the_excess_of_theorem_4_5_is_the_published_one(void **state)
{
    (void)state;
    enum { T = 6250 };
    const struct bowl_shape shape = {250, 10, 0.00169517, 20, 29.49323};
    uint16_t runs = full() ? 40 : SANITIZED ? 1 : 4;
    double sum = 0;
    for (uint16_t run = 0; run < runs; run++) {
        struct bowl bowl;
        bowl_open(&bowl, shape, run);
        bowl_start(&bowl, 1);
        double of_run = bowl_excess(&bowl);
        for (int t = 0; t < T; t++) {
            kit_step(&bowl.kit);
            of_run += bowl_excess(&bowl);
        }
        assert_true(bowl.steepest < shape.clip_norm);
        sum += of_run / (T + 1);
        bowl_close(&bowl);
    }
    assert_true(fabs(sum / runs - 0.0461103) <
                (full() ? 0.003 : 5 * 0.0042 / sqrt((double)runs)));
    assert_true(sum / runs < 0.1887416);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_records_have_their_losses_and_norms),
        cmocka_unit_test(a_record_is_seen_by_no_other),
        cmocka_unit_test(neighbours_differ_by_the_clip_norm_at_most),
        cmocka_unit_test(zero_gradients_leave_the_planned_noise),
        cmocka_unit_test(last_iterates_have_the_published_excess),
        cmocka_unit_test(a_random_iterate_has_the_published_excess),
        cmocka_unit_test(the_excess_of_theorem_4_5_is_the_published_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
