/* Goal: networks on images compute every record's gradient and a bound of its norm, in
 * every form of a norm. Method: a double oracle of loops over single numbers, itself
 * checked by finite differences, over many geometries of convolutions and pools; each
 * form forced in turn. */
#include "tests/expect.h"
#include "engine/nn/layers/registry.h"

#include <string.h>

#include "tests/engine/nn/random_batch_fixture.h"
#include "tests/engine/nn/record_oracle.h"
#include "tests/engine/nn/record_claims_fixture.h"

enum { FORMS = 4 }; /* of a norm: as planned, and each forced */

struct family {
    const char *layers;
    enum loss loss;
    struct model_input input;
    size_t count;
};

static const struct family families[] = {
    {"c3,3fd4", LOSS_SOFTMAX_CROSS_ENTROPY, {5, 5, 1}, 19},
    {"c5,2,2rfd3", LOSS_SOFTMAX_CROSS_ENTROPY, {6, 7, 2}, 33},
    {"C4,3,1,1rm2,2c6,3,1,1tm2,1fd8rd5", LOSS_SOFTMAX_CROSS_ENTROPY, {8, 8, 3}, 20},
    {"c4,3x1,2,1,2tc3,2,1,0,2rfd2", LOSS_SOFTMAX_CROSS_ENTROPY, {9, 11, 1}, 17},
    {"x3c4,3,2,1rm2,1c7,2rfd5td3", LOSS_SOFTMAX_CROSS_ENTROPY, {9, 8, 1}, 18},
    {"x2C3,2x3fd1", LOSS_LOGISTIC, {4, 5, 1}, 16},
    {"c6,3,1,1ra2,2c4,3,1,1g", LOSS_SOFTMAX_CROSS_ENTROPY, {6, 6, 2}, 21},
    {"a2,1c5,1td4tgd1", LOSS_SQUARED, {5, 4, 3}, 18},
    {"m3,2,1c4,3,1,1rfd1", LOSS_LOGISTIC, {7, 7, 2}, 22},
    {"rc16,1fd3", LOSS_SOFTMAX_CROSS_ENTROPY, {3, 3, 2}, 16},
    {"c5,3,1,1rc4,3,1,1rfd3", LOSS_SOFTMAX_CROSS_ENTROPY, {1, 1, 4}, 40},
    {"c5,3,2,1rc6,3,1,1rfd3", LOSS_SOFTMAX_CROSS_ENTROPY, {2, 3, 2}, 40},
    {"fd4rd2", LOSS_SOFTMAX_CROSS_ENTROPY, {3, 2, 2}, 16},
    {"c32,3,1,1rd16tfd3", LOSS_SOFTMAX_CROSS_ENTROPY, {6, 5, 1}, 16},
    {"c5,3,2sm2,1pc3,2sfd4pd3", LOSS_SOFTMAX_CROSS_ENTROPY, {9, 8, 1}, 18},
    {"fsd7sd5pd1", LOSS_SQUARED, {3, 3, 1}, 17},
    {"c5,3uc4,2Ufd4ud1", LOSS_HUBER, {6, 5, 2}, 30},
    {"c6,3n3rc4,2n4tfd3", LOSS_SOFTMAX_CROSS_ENTROPY, {7, 6, 2}, 20},
    {"n1c4,3n1a2rn2gd3", LOSS_SOFTMAX_CROSS_ENTROPY, {6, 5, 1}, 20},
    {"fd8n4rd6rn2d1", LOSS_SQUARED, {3, 2, 1}, 20},
    {"n2fd3", LOSS_SOFTMAX_CROSS_ENTROPY, {3, 2, 2}, 20},
    {"c6,3lrc4,2ltfd3", LOSS_SOFTMAX_CROSS_ENTROPY, {7, 6, 2}, 20},
    {"lc5,3la2rlgd3", LOSS_SOFTMAX_CROSS_ENTROPY, {6, 5, 3}, 20},
    {"fd8lrd6tld1", LOSS_SQUARED, {3, 2, 1}, 20},
    {"lfd3", LOSS_SOFTMAX_CROSS_ENTROPY, {3, 2, 2}, 20},
    {"c4,3[lC4,3,1,1u|l]rn2gd3", LOSS_SOFTMAX_CROSS_ENTROPY, {6, 7, 2}, 20},
    {"c6,3o4rc4,2o1fd6o5d3", LOSS_SOFTMAX_CROSS_ENTROPY, {7, 6, 2}, 20},
    {"o2fd4sd1", LOSS_LOGISTIC, {3, 2, 2}, 20},
    {"c4,3[c4,3,1,1rC4,3,1,1]rgd3", LOSS_SOFTMAX_CROSS_ENTROPY, {6, 7, 2}, 20},
    {"c4,3r[C6,3,2,1n3rC6,3,1,1n2|C6,1,2n3]r[n2rc6,1o3]gd3",
     LOSS_SOFTMAX_CROSS_ENTROPY,
     {9, 8, 1},
     20},
    {"[c3,1t|c3,3,1,1]fd2", LOSS_SOFTMAX_CROSS_ENTROPY, {4, 3, 2}, 20},
    {"[r[tc2,1|r]c2,3,1,1]fd1", LOSS_LOGISTIC, {4, 5, 2}, 20},
    {"fd5[d5r[d3td5]]d1", LOSS_SQUARED, {3, 2, 1}, 20},
    {"k4c3,3rfd3", LOSS_SOFTMAX_CROSS_ENTROPY, {7, 6, 3}, 16},
    {"k3n1c3,2rgd1", LOSS_LOGISTIC, {4, 8, 1}, 16},
    {"fud6Ud5tud1", LOSS_HUBER, {2, 3, 1}, 30},
    {"wn3rfd3", LOSS_SOFTMAX_CROSS_ENTROPY, {8, 12, 1}, 16},
    {"k8w3c4,1rfd2", LOSS_SOFTMAX_CROSS_ENTROPY, {9, 11, 2}, 16},
};
enum { FAMILIES = sizeof families / sizeof *families, POSITIONS = 99 };

static void make(struct batch *batch, const struct family *family, int form)
{
    const struct model_input *input = &family->input;
    batch_make(batch, &(struct batch_demand){.layers = family->layers,
                                             .loss = family->loss,
                                             .features = (size_t)input->height *
                                                         input->width * input->channels,
                                             .count = family->count,
                                             .input = *input,
                                             .form = form - 1});
    assert_int_equal(batch->parameters,
                     oracle_parameters(&batch->model, batch->features));
}

static void backward_is_the_derivative(void **state)
{
    (void)state;
    for (size_t f = 0; f < FAMILIES; f++) {
        struct batch batch;
        make(&batch, &families[f], 0);
        expect_derivatives(&batch, 2, 41);
        batch_fini(&batch);
    }
}

/* A bound of M over all layers if no window has more than TAPS taps: |a|^2 and |b|^2 of
 * the products' inputs, times the taps. */
static double spread_bound(const struct batch *batch, size_t record)
{
    enum { TAPS = 64 };
    double square = 0;
    for (size_t k = 0; k < workspace_factor_count(batch->workspace); k++) {
        struct factors f = workspace_factors(batch->workspace, k);
        double a = 0, b = 0;
        for (size_t j = 0; j < f.inputs; j++)
            a += pow((double)f.a[record * f.a_stride + j], 2);
        for (size_t j = 0; j < f.outputs; j++)
            b += pow((double)f.b[record * f.b_stride + j], 2);
        square += TAPS * a * b;
    }
    return sqrt(square);
}

/* Checks the records of a batch in the given form: losses, gradients summed one by one,
 * and norms, against the oracle. */
static void check_records(struct batch *batch)
{
    double *gradient = calloc(batch->parameters, sizeof *gradient);
    double *ours = calloc(batch->parameters, sizeof *ours);
    float *sum = calloc(batch->parameters, sizeof *sum);

    batch_run(batch);
    for (size_t i = 0; i < batch->count; i++) {
        double loss = record_gradient(batch, batch->theta, i, gradient);
        double norm = norm_of(gradient, batch->parameters);
        assert_close(workspace_losses(batch->workspace)[i] + 1.0, loss + 1.0, 1e-5);
        batch_sum(batch, (struct row_range){i, 1}, sum);
        batch_as_file(batch, ours, sum);
        assert_true(distance(batch, sum, 1.0, gradient) <= 1e-5 * norm);
        /* A bound by the GRAM form of T rows is too large by T u M (noise.md 2.4). */
        double room = (POSITIONS + 1) * 0x1p-24 * spread_bound(batch, i);
        assert_true(fabs(workspace_norms(batch->workspace)[i] - norm) <=
                    1e-5 * norm + room);
        assert_true(workspace_norms(batch->workspace)[i] >=
                    norm_of(ours, batch->parameters) * (1.0 - 0x1p-23));
        assert_true(workspace_spreads(batch->workspace)[i] >=
                    workspace_norms(batch->workspace)[i] * (1.0 - 0x1p-20));
    }
    free(sum);
    free(ours);
    free(gradient);
}

static void a_record_has_its_gradient_and_norm_in_every_form(void **state)
{
    (void)state;
    for (size_t f = 0; f < FAMILIES; f++)
        for (int form = 0; form < FORMS; form++) {
            struct batch batch;
            make(&batch, &families[f], form);
            check_records(&batch);
            batch_fini(&batch);
        }
}

static void differentiate_again(struct batch *batch)
{
    workspace_forward(batch->workspace, batch->theta, batch->count);
    workspace_loss(batch->workspace);
    workspace_backward(batch->workspace, batch->theta);
}

/* The sums equal those of measured records to the last bit, or to 1e-5 if the sum
 * computes the gradients again. */
static void sums_of_per_example_gradients_need_no_norm(void **state)
{
    (void)state;
    for (size_t f = 0; f < FAMILIES; f++)
        for (int form = 0; form < FORMS; form++) {
            struct batch batch;
            make(&batch, &families[f], form);
            struct row_range all = {0, batch.count};
            size_t size = batch.parameters * sizeof(float);
            float *measured = malloc(size), *kept = malloc(size), *plain = malloc(size);
            double square = 0, apart = 0;
            batch_run(&batch);
            batch_sum(&batch, all, measured);
            differentiate_again(&batch);
            batch_sum(&batch, all, plain);
            workspace_per_example_gradients(batch.workspace);
            batch_sum(&batch, all, kept);
            assert_memory_equal(kept, measured, size);
            for (size_t j = 0; j < batch.parameters; j++) {
                square += (double)kept[j] * (double)kept[j];
                apart += pow((double)kept[j] - (double)plain[j], 2);
            }
            assert_true(apart <= 1e-10 * square);
            free(measured);
            free(kept);
            free(plain);
            batch_fini(&batch);
        }
}

/* The presets on small images: all of their layers, with few positions. No record has a
 * loss near zero: its gradient would consist of exponentials whose relative error is
 * the absolute error of outputs in the tens. */
static void a_presets_record_has_its_gradient_and_norm(void **state)
{
    static const struct {
        enum preset preset;
        struct model_input input;
    } presets[] = {{PRESET_CNN_MNIST, {21, 19, 1}},
                   {PRESET_CNN_CIFAR, {27, 26, 1}},
                   {PRESET_RESNET18_GN, {17, 17, 1}}};
    (void)state;
    for (size_t k = 0; k < sizeof presets / sizeof *presets; k++) {
        const struct model_input *input = &presets[k].input;
        struct batch batch;
        batch_make(&batch,
                   &(struct batch_demand){.preset = presets[k].preset,
                                          .features = (size_t)input->height *
                                                      input->width * input->channels,
                                          .count = 2,
                                          .input = *input,
                                          .form = -1});
        check_records(&batch);
        batch_fini(&batch);
    }
}

/* Two convolutions with kernel, stride, padding and dilation from 1..3 each, images of
 * odd and even sides down to one pixel, if they fit. */
static void every_geometry_of_a_convolution_is_right(void **state)
{
    uint64_t random = 2385;
    size_t done = 0;
    (void)state;
    while (done < 120) {
        char layers[64];
        uint32_t n[9];
        for (size_t k = 0; k < 9; k++)
            n[k] = 1 + (uint32_t)(3.0 * batch_random(&random));
        struct family family = {layers,
                                LOSS_SOFTMAX_CROSS_ENTROPY,
                                {1 + (uint32_t)(11.0 * batch_random(&random)),
                                 1 + (uint32_t)(11.0 * batch_random(&random)), n[8]},
                                16};
        snprintf(layers, sizeof layers, "c%u,%ux%u,%u,%u,%utc%u,%u,%u,1fd3", 2 + n[0],
                 n[1], n[2], n[3], n[4] - 1, n[5], 1 + n[6], n[7], n[0]);
        size_t tall = n[5] * (n[1] - 1) + 1, wide = n[5] * (n[2] - 1) + 1;
        size_t height = family.input.height + 2 * (n[4] - 1);
        size_t width = family.input.width + 2 * (n[4] - 1);
        if (tall > height || wide > width)
            continue;
        height = (height - tall) / n[3] + 3, width = (width - wide) / n[3] + 3;
        if (n[7] > height || n[7] > width)
            continue;
        for (int form = 0; form < FORMS; form++) {
            struct batch batch;
            make(&batch, &family, form);
            check_records(&batch);
            batch_fini(&batch);
        }
        done++;
    }
}

static uint32_t draw_below(uint64_t *random, uint32_t below)
{
    return (uint32_t)((double)below * batch_random(random));
}

/* A few layers that keep 4 groups of channels and the size of the image. */
static char *draw_layers(char *to, uint64_t *random, uint32_t channels, int depth)
{
    static const char *const kinds[] = {"r", "t", "s", "p", "u", "U", "o1", "o3"};
    for (uint32_t left = 1 + draw_below(random, 3); left > 0; left--)
        switch (draw_below(random, 5)) {
        case 0: to += sprintf(to, "n%u", 1U << draw_below(random, 3)); break;
        case 1: to += sprintf(to, "c%u,3,1,1", channels); break;
        case 2:
            if (depth < 2) {
                *to++ = '[';
                to = draw_layers(to, random, channels, depth + 1);
                if (draw_below(random, 2) == 0) {
                    *to++ = '|';
                    to = draw_layers(to, random, channels, depth + 1);
                }
                *to++ = ']';
                *to = '\0';
                break;
            }
            /* fall through */
        default: to += sprintf(to, "%s", kinds[draw_below(random, 8)]);
        }
    return to;
}

/* Groups of these images hold 9 values or more: of two values, a norm leaves only the
 * signs, and all digits of the gradient cancel. */
static void random_networks_of_all_layers_are_right(void **state)
{
    uint64_t random = 8128;
    (void)state;
    for (int draw = 0; draw < 60; draw++) {
        char layers[512], *end = layers;
        uint32_t channels = 4 * (1 + draw_below(&random, 2));
        struct family family = {layers,
                                LOSS_SOFTMAX_CROSS_ENTROPY,
                                {7 + draw_below(&random, 4), 7 + draw_below(&random, 4),
                                 1 + draw_below(&random, 3)},
                                16};
        struct batch batch;
        end += sprintf(end, "c%u,3,%u,%u", channels, 1 + draw_below(&random, 2),
                       draw_below(&random, 2));
        end = draw_layers(end, &random, channels, 0);
        end += sprintf(end, "%s", draw_below(&random, 2) == 0 ? "g" : "f");
        end += sprintf(end, "d8%s", draw_below(&random, 2) == 0 ? "[d8u]" : "o2");
        sprintf(end, "d3");
        make(&batch, &family, draw % FORMS);
        check_records(&batch);
        batch_fini(&batch);
    }
}

/* A weighted sum over some rows is the sum of the records' own sums, also before any
 * norm is computed. */
static void the_sum_is_linear_in_the_weights(void **state)
{
    (void)state;
    for (size_t f = 0; f < FAMILIES; f++)
        for (int form = 0; form < FORMS; form++) {
            struct batch batch;
            float ones[64];
            make(&batch, &families[f], form);
            struct row_range range = {2, batch.count - 5};
            float *plain = calloc(batch.parameters, sizeof *plain);
            double total = 0.0;
            batch_run(&batch);
            for (size_t i = 0; i < batch.count; i++)
                ones[i] = 1.0F;
            for (size_t i = range.first; i < range.first + range.count; i++)
                total += workspace_norms(batch.workspace)[i];
            double *expected = sum_one_by_one(&batch, range, ones);
            expect_linear_sum(&batch, workspace_norms(batch.workspace));
            workspace_forward(batch.workspace, batch.theta, batch.count);
            workspace_loss(batch.workspace);
            workspace_backward(batch.workspace, batch.theta);
            batch_sum(&batch, range, plain);
            assert_true(distance(&batch, plain, 1.0, expected) <= 2e-6 * total);
            free(expected);
            free(plain);
            batch_fini(&batch);
        }
}

/* The row of a record and its neighbours change; masks and gradients do not. */
static void micro_batches_of_any_size_agree(void **state)
{
    (void)state;
    for (size_t f = 0; f < FAMILIES; f++) {
        struct batch batch;
        make(&batch, &families[f], (int)(f % FORMS));
        float *whole = calloc(batch.parameters, sizeof *whole);
        float *part = calloc(batch.parameters, sizeof *part);
        batch_run(&batch);
        for (size_t i = 0; i < batch.count; i += 5) {
            double norm = workspace_norms(batch.workspace)[i];
            batch_sum(&batch, (struct row_range){i, 1}, whole);
            for (size_t row = 0; row < 7; row++)
                batch_place(&batch, row, (i + row) % batch.count);
            batch_pass(&batch, 7);
            batch_sum(&batch, (struct row_range){0, 1}, part);
            assert_true(workspace_norms(batch.workspace)[0] == norm);
            assert_memory_equal(part, whole, batch.parameters * sizeof *whole);
            batch_run(&batch);
        }
        free(whole);
        free(part);
        batch_fini(&batch);
    }
}

static void a_bad_record_changes_nothing_else(void **state)
{
    (void)state;
    for (size_t f = 0; f < FAMILIES; f++)
        for (size_t k = 0; k < BAD_VALUES * FORMS; k++) {
            struct batch batch;
            make(&batch, &families[f], (int)(k % FORMS));
            /* Layers other than convolutions may turn these values into ordinary
             * numbers. */
            if (batch.model.layers[0].kind == &layer_conv2d)
                expect_bad_record_alone(&batch, bad_values[k / FORMS], batch_pass);
            batch_fini(&batch);
        }
}

static void no_record_reads_another(void **state)
{
    (void)state;
    for (size_t f = 0; f < FAMILIES; f++) {
        struct batch batch;
        make(&batch, &families[f], (int)(f % FORMS));
        expect_no_record_reads_another(&batch, batch_pass);
        batch_fini(&batch);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(backward_is_the_derivative),
        cmocka_unit_test(a_record_has_its_gradient_and_norm_in_every_form),
        cmocka_unit_test(sums_of_per_example_gradients_need_no_norm),
        cmocka_unit_test(a_presets_record_has_its_gradient_and_norm),
        cmocka_unit_test(every_geometry_of_a_convolution_is_right),
        cmocka_unit_test(random_networks_of_all_layers_are_right),
        cmocka_unit_test(the_sum_is_linear_in_the_weights),
        cmocka_unit_test(micro_batches_of_any_size_agree),
        cmocka_unit_test(a_bad_record_changes_nothing_else),
        cmocka_unit_test(no_record_reads_another),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
