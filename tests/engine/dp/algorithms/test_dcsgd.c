/* Goal: DC-SGD runs what it charges, one clip norm applies to a whole step, and it
 * shows only what it released. Method: the split's vectors of papers/dcsgd.md 2.2,
 * joint multipliers of random plans, and steps on tiny data under a fixed key against
 * norms worked out by hand. Acceptance checks 1, 5 to 10, 12, 16 and 20 of the paper's
 * spec. */
#include "engine/dp/algorithms/dcsgd.h"
#include "engine/dp/algorithms/joint_noise.h"

#include "engine/noise/noise.h"
#include "tests/engine/dp/line_fixture.h"

enum { CLIP_NORM, RANGE, HISTOGRAM };

static void the_split_is_the_published_one(void **state)
{
    (void)state;
    static const double vectors[][3] = {
        {1, 5, 1.020620726160},  {1.2, 5, 1.236128465145}, {0.5, 5, 0.502518907630},
        {2, 5, 2.182178902360},  {2, 8, 2.065591117977},   {3, 8, 3.236159339824},
        {4, 12, 4.242640687119}, {2, 2.5, 3.333333333333}, {0.9666, 5, 0.985184762789},
    };
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++) {
        double sigma = vectors[k][0], h = vectors[k][1];
        double t = joint_noise_gradient(sigma, h);
        assert_close(t, vectors[k][2], 1e-12);
        assert_close(1 / sqrt(1 / (t * t) + 1 / (h * h)), sigma, 1e-14);
    }
    assert_true(isinf(joint_noise_gradient(5, 5)));
    assert_true(isinf(joint_noise_gradient(5.1, 5)));
}

static void the_histogram_gets_what_the_paper_gives_it(void **state)
{
    (void)state;
    static const double rule[][2] = {{0.5, 5}, {1.99, 5},  {2, 8},
                                     {3, 8},   {3.01, 12}, {5.9, 12}};
    for (size_t k = 0; k < sizeof rule / sizeof *rule; k++)
        assert_true(dcsgd_histogram_noise(rule[k][0]) == rule[k][1]);
    assert_true(dcsgd_histogram_noise(40) == 80); /* the paper ends at 12 */
}

enum { POINTS = 60, WIDE = 997 };
static struct points points;
static float wide[POINTS * WIDE];
static const struct matrix zeros = {.records = POINTS,
                                    .features = WIDE,
                                    .element = ELEMENT_F32,
                                    .scale = 1,
                                    .rows = wide,
                                    .values = points.y};

static int make_points(void **state)
{
    (void)state;
    points_make(&points, POINTS, 0, 4);
    return 0;
}

static struct kit_setup usual(const char *algorithm)
{
    struct kit_setup setup = line_setup(&points.data, 0.5);
    setup.algorithm = algorithm;
    setup.steps = 100;
    setup.noise_multiplier = 1;
    return setup;
}

static const char *const both[] = {"dcsgd_p", "dcsgd_e"};

static void a_histogram_with_too_little_noise_is_refused(void **state)
{
    (void)state;
    static const struct {
        double sigma, histogram_noise;
        enum status status;
    } cases[] = {{1, 1, ST_INVALID},
                 {1, 0.9, ST_INVALID},
                 {1, 1.001, ST_OK},
                 {40, (double)NAN, ST_OK},
                 {6, 5, ST_INVALID}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (size_t a = 0; a < 2; a++) {
            struct kit kit;
            struct error error = {0};
            struct kit_setup setup = usual(both[a]);
            setup.noise_multiplier = cases[k].sigma;
            kit_spec(&kit, both[a]);
            kit_set(&kit, "histogram_noise", cases[k].histogram_noise);
            assert_int_equal(kit_start(&kit, &setup, &error), cases[k].status);
            assert_string_equal(error.pointer, cases[k].status == ST_OK
                                                   ? ""
                                                   : "/algorithm/histogram_noise");
            kit_close(&kit);
        }
}

static void the_charge_is_of_both_releases_together(void **state)
{
    (void)state;
    char *texts[3];
    static const char *const names[] = {"dpsgd", "dcsgd_p", "dcsgd_e"};
    for (size_t a = 0; a < 3; a++) {
        struct kit kit;
        struct mechanism m = {0};
        struct kit_setup setup = usual(names[a]);
        kit_spec(&kit, names[a]);
        kit_compile(&kit, &setup);
        kit.inputs.relation = RELATION_REPLACE_ONE;
        assert_int_equal(kit.spec.algorithm->plan(&m, &kit.inputs, NULL), ST_OK);
        texts[a] = mechanism_render(&m);
        mechanism_fini(&m);
        kit.inputs.noise_multiplier = 0;
        assert_int_equal(kit.spec.algorithm->plan(&m, &kit.inputs, NULL), ST_INVALID);
        kit_close(&kit);
    }
    assert_string_equal(texts[0], texts[1]);
    assert_string_equal(texts[0], texts[2]);
    assert_non_null(strstr(texts[0], "replace_one"));
    for (size_t a = 0; a < 3; a++)
        free(texts[a]);
}

/* sigma, recomputed in long double from the two grids' own sensitivities. */
static void what_runs_is_at_least_what_is_charged(void **state)
{
    (void)state;
    uint64_t seed = 5;
    for (int k = 0; k < 3000; k++) {
        double draw[3];
        for (int j = 0; j < 3; j++)
            draw[j] = draw_uniform(&seed);
        double sigma = exp2(12 * draw[0] - 4);
        double ratio = k % 3 == 0 ? 1e-9 * draw[1] : 40 * draw[1] * draw[1];
        struct kit kit;
        struct error error = {0};
        struct kit_setup setup = usual("dcsgd_e");
        setup.noise_multiplier = sigma;
        kit_spec(&kit, "dcsgd_e");
        kit_set(&kit, "histogram_noise", sigma * (1 + ratio));
        kit_set(&kit, "clip_norm", exp2(60 * draw[2] - 30));
        enum status status = kit_start(&kit, &setup, &error);
        if (status == ST_OK) {
            const struct noise_plan *noise =
                algorithm_noise(kit.spec.algorithm, kit.state);
            long double g = noise->grid.multiplier, h = noise->named[0].grid.multiplier;
            long double joint = 1 / sqrtl(1 / (g * g) + 1 / (h * h));
            assert_true(joint >= sigma);
            /* and no more than the whole scale of the counts costs */
            assert_true(joint <= sigma * (1 + 1e-9L + 2 / noise->named[0].grid.scale));
            assert_true(h * (long double)noise->named[0].grid.scale <= 0x1p36L);
        } else { /* nothing is left for the gradient: sigma_T is beyond any grid */
            assert_true(ratio < 1e-6);
        }
        kit_close(&kit);
    }
}

static double shown(const struct kit *kit, int which, size_t index)
{
    struct released_value values[RELEASED_SERIES_MAX];
    assert_int_equal(kit->spec.algorithm->released(kit->state, values), 3);
    assert_true(index < values[which].count);
    return values[which].numbers[index];
}

static void what_was_released_has_names(void **state)
{
    (void)state;
    for (size_t a = 0; a < 2; a++) {
        struct kit kit;
        struct released_value values[RELEASED_SERIES_MAX];
        struct kit_setup setup = usual(both[a]);
        kit_spec(&kit, both[a]);
        kit_set(&kit, "bins", 11);
        kit_open(&kit, &setup);
        kit_step(&kit);
        assert_int_equal(kit.spec.algorithm->released(kit.state, values), 3);
        assert_string_equal(values[CLIP_NORM].name, "clip_norm");
        assert_string_equal(values[RANGE].name, "histogram_range");
        assert_string_equal(values[HISTOGRAM].name, "histogram");
        assert_true(values[HISTOGRAM].is_list && values[HISTOGRAM].count == 11);
        assert_true(shown(&kit, CLIP_NORM, 0) == 1);
        assert_true(shown(&kit, RANGE, 0) == (a == 0 ? 2 : 11));
        kit_close(&kit);
    }
}

/* At histogram noise .1 a count is known to the exact record. The norms are those
 * before clipping, at the parameters with which the step began. */
static void every_record_of_the_batch_is_counted_once(void **state)
{
    struct kit kit;
    struct kit_setup setup = usual("dcsgd_p");
    (void)state;
    setup.noise_multiplier = 0.06;
    kit_spec(&kit, "dcsgd_p");
    kit_set(&kit, "histogram_noise", 0.1);
    kit_set(&kit, "clip_norm", 0.5);
    kit_set(&kit, "histogram_range", 5);
    kit_open(&kit, &setup);
    for (int t = 0; t < 5; t++) {
        double weight = (double)kit.parameters[0], counts[20] = {0};
        kit_step(&kit);
        double range = shown(&kit, RANGE, 0), total = 0;
        for (int i = 0; i < POINTS; i++) {
            double x = (double)points.x[i];
            double norm = fabs((weight * x - (double)points.y[i]) * x);
            counts[norm >= 0.95 * range ? 19 : (int)(20 * norm / range)]++;
        }
        for (size_t j = 0; j < 20; j++) {
            assert_true(fabs(shown(&kit, HISTOGRAM, j) - counts[j]) < 0.6);
            total += shown(&kit, HISTOGRAM, j);
        }
        assert_true(fabs(total - POINTS) < 2.5);
    }
    kit_close(&kit);
}

static void a_batch_moves_the_clip_norm_of_the_next_step_alone(void **state)
{
    (void)state;
    for (size_t a = 0; a < 2; a++) {
        double used[2][2];
        for (int run = 0; run < 2; run++) {
            struct kit kit;
            struct kit_setup setup = usual(both[a]);
            float kept[POINTS];
            memcpy(kept, points.y, sizeof kept);
            for (int i = 0; run == 1 && i < POINTS; i++)
                points.y[i] *= 5;
            kit_spec(&kit, both[a]);
            kit_set(&kit, "histogram_range", 20);
            kit_open(&kit, &setup);
            for (int t = 0; t < 2; t++) {
                kit_step(&kit);
                used[run][t] = shown(&kit, CLIP_NORM, 0);
            }
            memcpy(points.y, kept, sizeof kept);
            kit_close(&kit);
        }
        assert_true(used[0][0] == 1 && used[1][0] == 1);
        assert_true(used[0][1] != used[1][1]);
    }
}

/* Records of zeros have no gradient: a step is noise of deviation sigma_T C_t (1 + eta)
 * / B, whatever C_t is; noise on the counts far above them makes C_t vary. Only steps
 * that float32 parameters can show are measured: each has 997 coordinates, a standard
 * error of 2.2 %, and all of them together have one of 2.2 % / sqrt(steps). */
static void noise_follows_the_clip_norm(void **state)
{
    (void)state;
    struct kit kit;
    struct kit_setup setup = usual("dcsgd_p");
    setup.data = &zeros;
    kit_spec(&kit, "dcsgd_p");
    kit_set(&kit, "histogram_noise", 1000);
    kit_open(&kit, &setup);
    double eta = algorithm_noise(kit.spec.algorithm, kit.state)->grid.inflation,
           mean = 0;
    double unit = 0.5 * joint_noise_gradient(1, 1000) * (1 + eta) / POINTS;
    double least = 1, most = 1;
    float before[WIDE];
    int looked_at = 0;
    for (int t = 0; t < 100; t++) {
        double squares = 0, longest = 0;
        memcpy(before, kit.parameters, sizeof before);
        kit_step(&kit);
        double clip_norm = shown(&kit, CLIP_NORM, 0);
        for (int j = 0; j < WIDE; j++) {
            double moved = (double)kit.parameters[j] - (double)before[j];
            squares += moved * moved / WIDE;
            longest = fmax(longest, fabs((double)before[j]));
        }
        if (unit * clip_norm < 1e-3 * longest)
            continue;
        double ratio = sqrt(squares) / (unit * clip_norm);
        assert_true(fabs(ratio - 1) < 5 * 0.0224);
        mean = (mean * looked_at + ratio) / (looked_at + 1);
        looked_at++;
        least = fmin(least, clip_norm);
        most = fmax(most, clip_norm);
    }
    assert_true(looked_at >= 6 && most / least > 10);
    assert_true(fabs(mean - 1) < 5 * 0.0224 / sqrt(looked_at));
    kit_close(&kit);
}

/* The same noise in both releases would let an observer subtract it from both. 1,900
 * pairs: a standard error of 2.3 %. */
static void the_two_releases_have_noise_of_their_own(void **state)
{
    (void)state;
    struct kit kit;
    struct kit_setup setup = usual("dcsgd_p");
    setup.data = &zeros;
    kit_spec(&kit, "dcsgd_p");
    kit_open(&kit, &setup);
    double products = 0, moves = 0, counts = 0;
    for (int t = 0; t < 100; t++) {
        float before[WIDE];
        memset(kit.parameters, 0, sizeof before); /* float32 then shows every move */
        memcpy(before, kit.parameters, sizeof before);
        kit_step(&kit);
        for (int j = 1; j < 20; j++) { /* all records are in bin 0 */
            double moved = ((double)before[j] - (double)kit.parameters[j]) /
                           shown(&kit, CLIP_NORM, 0);
            double count = shown(&kit, HISTOGRAM, (size_t)j);
            products += moved * count;
            moves += moved * moved;
            counts += count * count;
        }
    }
    assert_true(moves > 0 && fabs(products) < 5 * 0.023 * sqrt(moves * counts));
    kit_close(&kit);
}

static void threads_change_nothing(void **state)
{
    (void)state;
    for (size_t a = 0; a < 2; a++) {
        double counts[20];
        float weight = 0;
        for (unsigned threads = 1; threads <= 3; threads++) {
            struct kit kit;
            struct kit_setup setup = usual(both[a]);
            setup.threads = threads;
            setup.batch_size = POINTS / 2;
            kit_spec(&kit, both[a]);
            kit_open(&kit, &setup);
            for (int t = 0; t < 20; t++)
                kit_step(&kit);
            for (size_t j = 0; threads == 1 && j < 20; j++)
                counts[j] = shown(&kit, HISTOGRAM, j);
            weight = threads == 1 ? kit.parameters[0] : weight;
            assert_true(kit.parameters[0] == weight);
            for (size_t j = 0; j < 20; j++)
                assert_true(shown(&kit, HISTOGRAM, j) == counts[j]);
            kit_close(&kit);
        }
    }
}

/* One record is expected: 37 % of the batches are empty. */
static void empty_batches_are_steps_like_others(void **state)
{
    (void)state;
    for (size_t a = 0; a < 2; a++) {
        struct kit kit;
        struct kit_setup setup = usual(both[a]);
        setup.batch_size = 1;
        setup.optimizer.learning_rate = setup.optimizer.learning_rate_final = 1e-3;
        kit_spec(&kit, both[a]);
        kit_open(&kit, &setup);
        for (int t = 0; t < 100; t++) {
            kit_step(&kit);
            assert_true(isfinite(kit.parameters[0]) &&
                        isfinite(shown(&kit, CLIP_NORM, 0)));
        }
        kit_close(&kit);
    }
}

/* Half the records have no gradient; then those are replaced by copies of the other
 * half. The realised batch size is the same, and the divisor is the expected size: the
 * step is twice as long. One key gives the same noise, and the step without any
 * gradients is that noise. */
static void doubles_of_the_records_double_the_step(void **state)
{
    (void)state;
    static const char *const names[] = {"dpsgd", "dcsgd_p", "dcsgd_e", "value_clip"};
    enum { HALF = POINTS / 2 };
    float kept[POINTS], moved[3];
    memcpy(kept, points.x, sizeof kept);
    for (size_t a = 0; a < 4; a++) {
        for (int run = 0; run < 3; run++) { /* none, half, doubles */
            struct kit kit;
            struct kit_setup setup = usual(names[a]);
            for (int i = 0; i < POINTS; i++) {
                points.x[i] = run == 0 || (run == 1 && i >= HALF) ? 0 : kept[i % HALF];
                points.y[i] = 4;
            }
            kit_spec(&kit, names[a]);
            kit_open(&kit, &setup);
            kit_step(&kit);
            moved[run] = kit.parameters[0];
            kit_close(&kit);
        }
        double half = (double)moved[1] - (double)moved[0];
        double twice = (double)moved[2] - (double)moved[0];
        assert_true(fabs(half) > 0.1);
        assert_close(twice, 2 * half, 1e-5);
    }
    memcpy(points.x, kept, sizeof kept);
    make_points(NULL);
}

/* While every gradient is clipped the release is proportional to C, exactly so for a
 * power of two, and Adam without epsilon ignores scale. */
static void adam_does_not_see_a_clip_norm_below_all_norms(void **state)
{
    (void)state;
    float weights[2][5];
    for (int run = 0; run < 2; run++) {
        struct kit kit;
        struct kit_setup setup = usual("dpsgd");
        setup.optimizer = (struct optimizer_spec){.kind = OPTIMIZER_ADAM,
                                                  .learning_rate = 0.001,
                                                  .learning_rate_final = 0.001,
                                                  .beta1 = 0.9,
                                                  .beta2 = 0.999};
        kit_spec(&kit, "dpsgd");
        kit_set(&kit, "clip_norm", run == 0 ? 0x1p-30 : 0x1p-40);
        kit_open(&kit, &setup);
        float start = kit.parameters[0];
        for (int t = 0; t < 5; t++) {
            kit_step(&kit);
            weights[run][t] = kit.parameters[0];
        }
        assert_close(fabs((double)weights[run][0] - (double)start), 0.001, 1e-4);
        kit_close(&kit);
    }
    assert_memory_equal(weights[0], weights[1], sizeof weights[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_split_is_the_published_one),
        cmocka_unit_test(the_histogram_gets_what_the_paper_gives_it),
        cmocka_unit_test(a_histogram_with_too_little_noise_is_refused),
        cmocka_unit_test(the_charge_is_of_both_releases_together),
        cmocka_unit_test(what_runs_is_at_least_what_is_charged),
        cmocka_unit_test(what_was_released_has_names),
        cmocka_unit_test(every_record_of_the_batch_is_counted_once),
        cmocka_unit_test(a_batch_moves_the_clip_norm_of_the_next_step_alone),
        cmocka_unit_test(noise_follows_the_clip_norm),
        cmocka_unit_test(the_two_releases_have_noise_of_their_own),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(empty_batches_are_steps_like_others),
        cmocka_unit_test(doubles_of_the_records_double_the_step),
        cmocka_unit_test(adam_does_not_see_a_clip_norm_below_all_norms),
    };
    return cmocka_run_group_tests(tests, make_points, NULL);
}
