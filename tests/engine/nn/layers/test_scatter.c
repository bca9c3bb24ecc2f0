/* Goal: the scattering transform agrees with its definition, and its output for a
 * record depends only on that record. Method: an oracle that convolves pixel by pixel,
 * without Fourier transforms (scatter_oracle.h); images with a known result; records
 * among different other records. test_gradients.c checks the gradients of layers after
 * it. */
#include "tests/expect.h"

#include <pthread.h>
#include <string.h>

#include "engine/nn/layers/registry.h"
#include "engine/nn/layers/scattering.h"
#include "tests/engine/nn/random_batch_fixture.h"
#include "tests/engine/nn/record_claims_fixture.h"
#include "tests/engine/nn/record_oracle.h"
#include "tests/engine/nn/scatter_oracle.h"

enum { PIXELS_MAX = 32 * 32 };

struct transform {
    size_t height, width, positions;
    struct scattering *scattering;
    float *maps, *scratch;
};

static void open_transform(struct transform *t, size_t height, size_t width)
{
    *t = (struct transform){.height = height, .width = width};
    t->scattering = scattering_create(height, width);
    assert_non_null(t->scattering);
    t->positions = scattering_positions(t->scattering);
    assert_int_equal(t->positions, height / 4 * (width / 4));
    t->maps = calloc(SCATTERING_MAPS * t->positions, sizeof *t->maps);
    t->scratch =
        aligned_alloc(64, scattering_scratch(t->scattering) * sizeof *t->scratch);
}

static void close_transform(struct transform *t)
{
    scattering_destroy(t->scattering);
    free(t->maps);
    free(t->scratch);
}

/* Computes t->maps for a channel whose pixels are step floats apart. */
static void run(struct transform *t, const double *image, size_t step, float centre)
{
    float *lying = calloc(t->height * t->width * step, sizeof *lying);
    for (size_t p = 0; p < t->height * t->width; p++)
        lying[p * step] = (float)image[p];
    scattering_run(t->scattering, t->maps,
                   (struct scattering_channel){lying, step, centre}, t->scratch);
    free(lying);
}

static size_t spectra; /* spectra that were begun */

struct wavelet_spectrum __real_wavelet_spectrum_of(struct wavelet wavelet,
                                                   struct torus torus);
struct wavelet_spectrum __wrap_wavelet_spectrum_of(struct wavelet wavelet,
                                                   struct torus torus);
struct wavelet_spectrum __wrap_wavelet_spectrum_of(struct wavelet wavelet,
                                                   struct torus torus)
{
    spectra++; /* under the lock of the filters */
    return __real_wavelet_spectrum_of(wavelet, torus);
}

/* A network that is compiled only to compute its price, or waits in the queue, takes
 * neither time nor memory for filters. */
static void filters_are_made_by_the_first_run_alone(void **state)
{
    enum { FILTERS = WAVELET_SCALES * WAVELET_DIRECTIONS };
    static const double image[16 * 20];
    struct transform t;
    (void)state;
    spectra = 0;
    open_transform(&t, 16, 20);
    assert_int_equal(spectra, 0);
    run(&t, image, 1, 0.0F);
    assert_int_equal(spectra, FILTERS);
    run(&t, image, 1, 0.0F);
    assert_int_equal(spectra, FILTERS);
    close_transform(&t);
}

enum { RUNNERS = 2, RUNNER_SIDE = 64 };

static pthread_barrier_t ready;

static void *run_once(void *context)
{
    double image[RUNNER_SIDE * RUNNER_SIDE];
    for (size_t p = 0; p < RUNNER_SIDE * RUNNER_SIDE; p++)
        image[p] = (double)(p % 7);
    pthread_barrier_wait(&ready);
    run(context, image, 1, 0.375F);
    return NULL;
}

/* However many runs begin at once, each uses complete filters. */
static void first_runs_at_once_have_the_same_maps(void **state)
{
    struct transform of[RUNNERS];
    pthread_t threads[RUNNERS];
    (void)state;
    assert_int_equal(pthread_barrier_init(&ready, NULL, RUNNERS), 0);
    open_transform(&of[0], RUNNER_SIDE, RUNNER_SIDE);
    for (size_t i = 1; i < RUNNERS; i++) {
        open_transform(&of[i], RUNNER_SIDE, RUNNER_SIDE);
        scattering_destroy(of[i].scattering);
        of[i].scattering = of[0].scattering;
    }
    for (size_t i = 0; i < RUNNERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_once, &of[i]), 0);
    for (size_t i = 0; i < RUNNERS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&ready);
    for (size_t i = 1; i < RUNNERS; i++) {
        for (size_t j = 0; j < SCATTERING_MAPS * of[0].positions; j++)
            assert_true(of[i].maps[j] == of[0].maps[j]);
        of[i].scattering = NULL;
        close_transform(&of[i]);
    }
    close_transform(&of[0]);
}

static void the_maps_are_those_of_the_definition(void **state)
{
    static const size_t sizes[][2] = {{8, 8}, {8, 20}, {28, 28}, {32, 32}};
    uint64_t random = 2385;
    (void)state;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        struct transform t;
        struct scatter_oracle oracle;
        double image[PIXELS_MAX], *maps;
        open_transform(&t, sizes[k][0], sizes[k][1]);
        scatter_oracle_init(&oracle, t.height, t.width);
        maps = calloc(SCATTERING_MAPS * t.positions, sizeof *maps);
        for (size_t p = 0; p < t.height * t.width; p++)
            image[p] = (double)(float)(batch_random(&random) - 0.375);
        scatter_oracle_run(&oracle, maps, image);
        for (size_t p = 0; p < t.height * t.width; p++)
            image[p] += 0.375;
        run(&t, image, 1 + k, 0.375F);
        /* Sums of about forty terms of at most 1 in float, through three transforms. */
        for (size_t j = 0; j < SCATTERING_MAPS * t.positions; j++)
            assert_true(fabs((double)t.maps[j] - maps[j]) <= 0x1p-20);
        free(maps);
        scatter_oracle_fini(&oracle);
        close_transform(&t);
    }
}

static void of_an_image_of_one_colour_only_the_low_pass_is_left(void **state)
{
    struct transform t;
    double image[16 * 12];
    (void)state;
    open_transform(&t, 16, 12);
    for (size_t p = 0; p < 16 * 12; p++)
        image[p] = 0.75;
    run(&t, image, 1, 0.25F);
    for (size_t j = 0; j < SCATTERING_MAPS * t.positions; j++)
        assert_true(fabs((double)t.maps[j] - (j < t.positions ? 0.5 : 0)) <= 0x1p-20);
    close_transform(&t);
}

/* Stripes of the frequency of scale 0 along the rows' axis (direction 3): no other
 * direction has as large an output. */
static void a_wavelet_answers_to_its_direction(void **state)
{
    struct transform t;
    double image[32 * 32];
    (void)state;
    open_transform(&t, 32, 32);
    for (size_t p = 0; p < 32 * 32; p++)
        image[p] = cos(0.75 * M_PI * (double)(p / 32));
    run(&t, image, 1, 0);
    size_t middle = t.positions / 2 + 4, best = 0;
    for (size_t l = 1; l < WAVELET_DIRECTIONS; l++)
        if (t.maps[(1 + l) * t.positions + middle] >
            t.maps[(1 + best) * t.positions + middle])
            best = l;
    assert_int_equal(best, 3);
    close_transform(&t);
}

static void make(struct batch *batch, const char *layers, struct model_input input)
{
    batch_make(batch, &(struct batch_demand){.layers = layers,
                                             .loss = LOSS_SOFTMAX_CROSS_ENTROPY,
                                             .features = (size_t)input.height *
                                                         input.width * input.channels,
                                             .count = 17,
                                             .input = input,
                                             .form = -1});
}

static const struct model_input image_of_two = {8, 12, 2};

static void no_record_reads_another(void **state)
{
    struct batch batch;
    (void)state;
    make(&batch, "wn9fd3", image_of_two);
    expect_no_record_reads_another(&batch, batch_pass);
    batch_fini(&batch);
}

static void a_bad_record_changes_nothing_else(void **state)
{
    static const float bad[] = {NAN, INFINITY, 3e38F};
    (void)state;
    for (size_t k = 0; k < 3; k++) {
        struct batch batch;
        make(&batch, "wn9fd3", image_of_two);
        expect_bad_record_alone(&batch, bad[k], batch_pass);
        batch_fini(&batch);
    }
}

/* 32 x 32 x 3 becomes 243 maps of 8 x 8, which come before all trained layers. */
static void its_maps_are_features_though_it_has_no_weights(void **state)
{
    static const char *const models[] = {"wfd3", "wd3gd3", "k8wfd3"};
    static const size_t widths[] = {15552, 15552, 4 * 81 * 3};
    (void)state;
    for (size_t k = 0; k < 3; k++) {
        struct batch batch;
        make(&batch, models[k], (struct model_input){32, 32, 3});
        assert_int_equal(network_frozen_width(batch.network), widths[k]);
        batch_fini(&batch);
    }
}

/* A channel of 32 x 32 takes 17 transforms of 40 x 40 in 5 + 8 terms a side, and 72 of
 * 20 x 20 in 4 + 5. The products of the head are added. */
static void its_operations_are_counted(void **state)
{
    struct batch batch;
    (void)state;
    make(&batch, "wfd3", (struct model_input){32, 32, 3});
    assert_close(network_forward_flops(batch.network),
                 3 * (17 * 8.0 * 1600 * 26 + 72 * 8.0 * 400 * 18) + 2.0 * 15552 * 3,
                 1e-12);
    batch_fini(&batch);
}

static void refuse(const struct layer_spec *layers, size_t count,
                   struct model_input input, const char *pointer)
{
    struct model_spec model = {.layer_count = count,
                               .layers = (struct layer_spec *)(uintptr_t)layers,
                               .input = input};
    struct network_shape shape = {input.height * input.width * input.channels, 2};
    struct network *network = NULL;
    struct error error = {0};
    assert_int_equal(network_create(&network, &model, shape, &error), ST_INVALID);
    assert_string_equal(error.pointer, pointer);
    assert_null(network);
}

static void a_centre_out_of_range_is_refused(void **state)
{
    static const double centres[] = {1.0000001e6, -2e6, NAN, INFINITY};
    (void)state;
    for (size_t k = 0; k < 4; k++) {
        const struct layer_spec layers[] = {
            {.kind = &layer_scatter, .centre = centres[k]},
            {.kind = &layer_flatten},
            {.kind = &layer_dense, .out = 2}};
        refuse(layers, 3, (struct model_input){8, 8, 1}, "/model/layers/0/centre");
    }
}

static void sides_and_places_that_do_not_fit_are_refused(void **state)
{
    static const struct model_input inputs[] = {
        {8, 10, 1}, {10, 8, 1}, {4, 8, 1}, {8, 260, 1}};
    const struct layer_spec scatter = {.kind = &layer_scatter},
                            flatten = {.kind = &layer_flatten},
                            head = {.kind = &layer_dense, .out = 2},
                            norm = {.kind = &layer_layer_norm, .epsilon = 1e-5};
    const struct layer_spec alone[] = {scatter, flatten, head};
    const struct layer_spec late[] = {norm, scatter, flatten, head};
    (void)state;
    for (size_t k = 0; k < sizeof inputs / sizeof *inputs; k++)
        refuse(alone, 3, inputs[k], "/model/layers/0/type");
    refuse(late, 4, (struct model_input){8, 8, 1}, "/model/layers/1/type");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filters_are_made_by_the_first_run_alone),
        cmocka_unit_test(first_runs_at_once_have_the_same_maps),
        cmocka_unit_test(the_maps_are_those_of_the_definition),
        cmocka_unit_test(of_an_image_of_one_colour_only_the_low_pass_is_left),
        cmocka_unit_test(a_wavelet_answers_to_its_direction),
        cmocka_unit_test(no_record_reads_another),
        cmocka_unit_test(a_bad_record_changes_nothing_else),
        cmocka_unit_test(its_maps_are_features_though_it_has_no_weights),
        cmocka_unit_test(its_operations_are_counted),
        cmocka_unit_test(a_centre_out_of_range_is_refused),
        cmocka_unit_test(sides_and_places_that_do_not_fit_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
