/* Goal: everything about an algorithm is in the table: each row is complete, obeys the
 * rules of the algorithm interface at its defaults and takes steps; no other source
 * names an algorithm. A new row is tested here as soon as it is in the table;
 * api/test_openapi checks that openapi.yaml describes the same parameters. Method:
 * every row through the same calls as the trainer makes. */

#include "engine/dp/algorithms/registry.h"
#include "engine/nn/layers/registry.h"
#include "tests/engine/dp/algorithm_fixture.h"
#include "tests/source_fixture.h"

enum { POINTS = 40, FEATURES = 3 };
static float features[POINTS][FEATURES];
static uint32_t classes[POINTS];
static const struct matrix points = {.records = POINTS,
                                     .features = FEATURES,
                                     .classes = 2,
                                     .element = ELEMENT_F32,
                                     .scale = 1,
                                     .rows = features,
                                     .targets = classes};
static struct layer_spec line = {.kind = &layer_dense, .out = 2, .bias = true};
static const struct model_spec linear = {.preset = PRESET_LINEAR,
                                         .layer_count = 1,
                                         .layers = &line,
                                         .loss = LOSS_SOFTMAX_CROSS_ENTROPY};

static int make_points(void **state)
{
    (void)state;
    for (int i = 0; i < POINTS; i++) {
        for (int j = 0; j < FEATURES; j++)
            features[i][j] = (float)sin(3.7 * i + 1.3 * j);
        classes[i] = features[i][0] > 0;
    }
    return 0;
}

static struct kit_setup usual(const struct algorithm *algorithm)
{
    struct kit_setup setup = {.data = &points,
                              .model = &linear,
                              .optimizer = {.kind = OPTIMIZER_SGD,
                                            .learning_rate = 0.1,
                                            .learning_rate_final = 0.1},
                              .batch_size = algorithm->full_batch ? POINTS : POINTS / 2,
                              .steps = 20,
                              .noise_multiplier = 1.3,
                              .threads = 1,
                              .key = 3};
    kit_choose_model(&setup, algorithm);
    return setup;
}

static void assert_words(const char *text)
{
    assert_non_null(text);
    assert_true(strlen(text) > 10);
}

static void every_row_says_what_it_is(void **state)
{
    (void)state;
    for (size_t k = 0; algorithms[k] != NULL; k++) {
        const struct algorithm *a = algorithms[k];
        assert_ptr_equal(algorithm_find(a->name), a); /* no other row has its name */
        assert_true(strspn(a->name, "abcdefghijklmnopqrstuvwxyz0123456789_") ==
                    strlen(a->name));
        assert_words(a->title);
        assert_words(a->paper);
        assert_words(a->charge);
        assert_words(a->when_to_use);
        assert_true(a->plan != NULL && a->start != NULL && a->step != NULL);
        assert_true(a->state_size > 0);
        if (a->is_private)
            assert_in_range(a->noise_at + sizeof(struct noise_plan), 1, a->state_size);
    }
}

static void assert_parameter(const struct algorithm *a, size_t k)
{
    const struct algorithm_parameter *p = &a->parameters[k];
    size_t choice = 0, count = 0;
    assert_words(p->about);
    for (size_t j = 0; j < k; j++)
        assert_string_not_equal(a->parameters[j].name, p->name);
    while (p->choices != NULL && p->choices[count] != NULL)
        count++;
    assert_true((p->kind == PARAMETER_CHOICE) == (count > 0));
    if (p->kind == PARAMETER_CHOICE)
        assert_true(p->fallback >= 0 && p->fallback < (double)count);
    if (p->kind == PARAMETER_REAL || p->kind == PARAMETER_COUNT)
        assert_true(p->optional || (p->fallback >= p->low && p->fallback <= p->high &&
                                    !(p->low_open && p->fallback == p->low)));
    if (p->only_with == NULL)
        return;
    while (choice < a->parameter_count &&
           strcmp(a->parameters[choice].name, p->only_with) != 0)
        choice++;
    assert_true(choice < a->parameter_count && choice != k);
    assert_int_equal(a->parameters[choice].kind, PARAMETER_CHOICE);
    for (size_t j = 0; j <= p->only_value; j++)
        assert_non_null(a->parameters[choice].choices[j]);
}

static void every_parameter_has_a_range_a_default_and_words(void **state)
{
    (void)state;
    for (size_t k = 0; algorithms[k] != NULL; k++) {
        assert_true(algorithms[k]->parameter_count <= ALGORITHM_PARAMETERS_MAX);
        for (size_t j = 0; j < algorithms[k]->parameter_count; j++)
            assert_parameter(algorithms[k], j);
    }
}

/* A plan is priced from its text only, has as many steps as were asked for, and charges
 * nothing for an algorithm that is not private. */
static void every_private_row_plans_at_its_defaults(void **state)
{
    (void)state;
    for (size_t k = 0; algorithms[k] != NULL; k++) {
        struct kit kit;
        struct kit_setup setup = usual(algorithms[k]);
        struct mechanism m = {0}, again;
        struct error error = {0};
        kit_spec(&kit, algorithms[k]->name);
        kit_compile(&kit, &setup);
        enum status status = algorithms[k]->plan(&m, &kit.inputs, &error);
        assert_int_equal(status == ST_OK, algorithms[k]->is_private);
        if (status == ST_OK) {
            char *text = mechanism_render(&m);
            assert_int_equal(mechanism_parse(&again, text, NULL), ST_OK);
            assert_true(mechanism_steps(&again) >= setup.steps);
            mechanism_fini(&again);
            free(text);
        } else {
            assert_words(error.text);
        }
        mechanism_fini(&m);
        kit_close(&kit);
    }
}

/* These layers add one term per record: noise that grows with the positions would be
 * planned by mistake. */
static void terms_of_a_position_add_no_noise(void **state)
{
    (void)state;
    enum { CHANNELS = 8, SIDE = 4 };
    struct layer_spec layers[] = {{.kind = &layer_conv2d,
                                   .out = 64,
                                   .bias = true,
                                   .kernel_height = 3,
                                   .kernel_width = 3,
                                   .stride = 1,
                                   .dilation = 1},
                                  {.kind = &layer_flatten},
                                  {.kind = &layer_dense, .out = 2, .bias = true}};
    struct model_spec images = {.layer_count = 3,
                                .layers = layers,
                                .input = {SIDE, SIDE, CHANNELS},
                                .loss = LOSS_SOFTMAX_CROSS_ENTROPY};
    struct matrix wide = points;
    unsigned planned = 0;
    wide.features = CHANNELS * SIDE * SIDE;
    for (size_t k = 0; algorithms[k] != NULL; k++) {
        struct kit kit;
        struct kit_setup setup = usual(algorithms[k]);
        struct error error = {0};
        setup.data = &wide;
        setup.model = &images;
        if (!algorithms[k]->is_private || algorithms[k]->uses_differences ||
            algorithms[k]->uses_histograms)
            continue;
        kit_spec(&kit, algorithms[k]->name);
        if (kit_start(&kit, &setup, &error) == ST_OK) {
            assert_true(algorithm_noise(algorithms[k], kit.state)->grid.inflation <
                        1e-3);
            planned++;
        }
        kit_close(&kit);
    }
    assert_true(planned >= 6); /* all rows but value_clip, which refuses the model */
}

static void assert_released(const struct kit *kit)
{
    struct released_value values[RELEASED_SERIES_MAX];
    size_t numbers = 0;
    if (kit->spec.algorithm->released == NULL)
        return;
    size_t count = kit->spec.algorithm->released(kit->state, values);
    assert_true(count <= RELEASED_SERIES_MAX);
    for (size_t k = 0; k < count; k++)
        numbers += values[k].count;
    assert_true(numbers <= RELEASED_NUMBERS_MAX);
}

/* Only private rows: the kit trains as on private data. */
static void every_row_takes_steps_with_noise(void **state)
{
    (void)state;
    for (size_t k = 0; algorithms[k] != NULL; k++) {
        struct kit kit;
        struct kit_setup setup = usual(algorithms[k]);
        if (!algorithms[k]->is_private)
            continue;
        kit_spec(&kit, algorithms[k]->name);
        kit_open(&kit, &setup);
        assert_true(algorithm_noise(kit.spec.algorithm, kit.state)->grid.multiplier >
                    0);
        for (int t = 0; t < 20; t++) {
            float before = kit.parameters[0];
            kit_step(&kit);
            assert_true(isfinite(kit.parameters[0]));
            /* A round moves the bins of one column, and a count moves none. */
            assert_true(algorithms[k]->uses_histograms || kit.parameters[0] != before);
            assert_released(&kit);
        }
        kit_close(&kit);
    }
}

/* Looks for the name in quotes, as code that compares text would have it; sgd is also
 * the name of an optimizer. */
static void assert_names_none(const char *path, const char *text)
{
    for (size_t k = 0; algorithms[k] != NULL; k++) {
        char quoted[64];
        snprintf(quoted, sizeof quoted, "\"%s\"", algorithms[k]->name);
        if (strcmp(algorithms[k]->name, "sgd") != 0 && strstr(text, quoted) != NULL)
            fail_msg("%s names %s", path, algorithms[k]->name);
    }
}

static void nothing_outside_the_table_names_an_algorithm(void **state)
{
    (void)state;
    static const char *const patterns[] = {"api/*.[ch]",       "api/*/*.[ch]",
                                           "service/*/*.[ch]", "accountant/*/*.[ch]",
                                           "engine/*.[ch]",    "engine/nn/*.[ch]"};
    for (size_t k = 0; k < sizeof patterns / sizeof *patterns; k++)
        sources_walk(patterns[k], assert_names_none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_says_what_it_is),
        cmocka_unit_test(every_parameter_has_a_range_a_default_and_words),
        cmocka_unit_test(every_private_row_plans_at_its_defaults),
        cmocka_unit_test(terms_of_a_position_add_no_noise),
        cmocka_unit_test(every_row_takes_steps_with_noise),
        cmocka_unit_test(nothing_outside_the_table_names_an_algorithm),
    };
    return cmocka_run_group_tests(tests, make_points, NULL);
}
