/* Goal: forms are chosen by the rule; weights are gathered and scattered without loss;
 * an output of either pass is one chain of fused multiply-adds, with the same bits on
 * every kernel and with any other records. Method: the table of the rule, loops over
 * single numbers, and fmaf term by term, compared by memcmp. */
#include "tests/expect.h"

#include <math.h>
#include <string.h>

#include "tests/engine/nn/position_shape_fixture.h"
#include "tests/engine/gemm_fixture.h"

/* The table of network.md 2.2 for images of these shapes, changed for products in
 * double (README.md). */
static void the_form_is_that_of_the_rule(void **state)
{
    static const struct {
        struct position_shape shape;
        size_t positions, inputs;
        enum norm_form form;
    } cases[] = {
        {{{28, 28, 1}, 8, 2, 3, 16, 3}, 196, 64, NORM_PER_EXAMPLE},
        {{{28, 28, 3}, 8, 2, 3, 16, 1}, 196, 192, NORM_PER_EXAMPLE},
        {{{13, 13, 16}, 4, 2, 0, 32, 1}, 25, 256, NORM_PER_EXAMPLE},
        {{{32, 32, 3}, 7, 2, 3, 64, 1}, 256, 147, NORM_PER_EXAMPLE},
        {{{8, 8, 64}, 3, 1, 1, 64, 1}, 64, 576, NORM_EXPLICIT},
        {{{4, 4, 128}, 3, 1, 1, 128, 1}, 16, 1152, NORM_GRAM},
        {{{2, 2, 512}, 3, 1, 1, 512, 1}, 4, 4608, NORM_GRAM},
        {{{1, 1, 512}, 3, 1, 1, 512, 1}, 1, 512, NORM_GRAM},
        {{{14, 14, 256}, 3, 1, 1, 256, 1}, 196, 2304, NORM_EXPLICIT},
        {{{28, 28, 128}, 3, 1, 1, 128, 1}, 784, 1152, NORM_PER_EXAMPLE},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct position_layer layer = position_layer_of(&cases[i].shape, true);
        assert_int_equal(conv_window_positions(&layer.window), cases[i].positions);
        assert_int_equal(layer.rows.inputs, cases[i].inputs);
        assert_int_equal(layer.form, cases[i].form);
    }
}

/* Copies are added up and taps that never meet the image are left out. A gathered
 * gradient is written back to every copy, and zero elsewhere. */
static void weights_are_gathered_and_scattered(void **state)
{
    static const struct position_shape shapes[] = {{{5, 4, 1}, 3, 1, 0, 2, 3},
                                                   {{1, 1, 2}, 3, 1, 1, 3, 1},
                                                   {{1, 2, 1}, 3, 2, 1, 2, 2}};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct position_layer layer = position_layer_of(&shapes[i], false);
        size_t copies = shapes[i].copies, row = positions_row_floats(&layer);
        size_t channels = shapes[i].image.channels, d = layer.rows.inputs;
        float weights[256], gathered[256], back[256];
        for (size_t j = 0; j < row * shapes[i].outputs; j++)
            weights[j] = (float)(j * j % 97);
        assert_int_equal(positions_gathered(&layer), d * shapes[i].outputs);
        assert_ptr_equal(positions_gather(&layer, weights, gathered), gathered);
        for (size_t o = 0; o < shapes[i].outputs; o++) {
            size_t met = 0;
            positions_scatter(&layer, back, gathered + o * d);
            for (size_t j = 0; j < row; j++) {
                size_t tap = j / copies / channels, c = j / copies % channels;
                size_t ky = tap / 3 - layer.first.y, kx = tap % 3 - layer.first.x;
                if (ky >= layer.window.kernel_height ||
                    kx >= layer.window.kernel_width) {
                    assert_true(back[j] == 0.0F);
                    continue;
                }
                size_t at = (ky * layer.window.kernel_width + kx) * channels + c;
                float sum = 0.0F;
                for (size_t k = 0; k < copies; k++)
                    sum += weights[o * row + (tap * channels + c) * copies + k];
                assert_true(gathered[o * d + at] == sum && back[j] == sum);
                met++;
            }
            assert_int_equal(met, d * copies);
        }
    }
}

/* --- products --- */

static float
uniform(uint64_t *state) /* in [-1, 1), now and then a zero of either sign */
{
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    size_t kind = (size_t)(*state >> 33) % 32;
    if (kind < 2)
        return kind == 0 ? 0.0F : -0.0F;
    return (float)((double)(*state >> 11) * 0x1p-52 - 1.0);
}

static size_t below(uint64_t *state, size_t bound)
{
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    return (size_t)(*state >> 33) % bound;
}

static struct rows make_rows(size_t count, size_t width, uint64_t *state)
{
    struct rows rows = {NULL, rows_stride(width), count};
    rows.data = aligned_alloc(64, rows.count * rows.stride * sizeof(float));
    assert_non_null(rows.data);
    for (size_t k = 0; k < rows.count * rows.stride; k++)
        rows.data[k] = k % rows.stride < width ? uniform(state) : 0.0F;
    return rows;
}

struct trial {
    struct position_layer layer;
    struct position_pass pass;
    struct rows a, z; /* images, and values at the outputs */
    float *weights, *bias;
};

static size_t image_width(const struct conv_window *window)
{
    return window->image.height * window->image.width * window->image.channels;
}

static void trial_make(struct trial *trial, const struct conv_window_demand *demand,
                       struct image image, size_t outputs, uint64_t *state)
{
    size_t records = 1 + below(state, 5);
    struct trial t = {.layer = {.rows = {.outputs = outputs, .bias = SIZE_MAX},
                                .kernel_height = demand->kernel_height,
                                .kernel_width = demand->kernel_width,
                                .copies = 1}};
    assert_true(conv_window_fit(&t.layer.window, image, demand));
    positions_plan(&t.layer);
    size_t floats = t.layer.rows.inputs * outputs,
           scratch = rows_stride(positions_scratch(&t.layer)) * sizeof(float);
    t.a = make_rows(records, image_width(&t.layer.window), state);
    t.z = make_rows(records, conv_window_positions(&t.layer.window) * outputs, state);
    t.weights = make_rows(1, floats, state).data;
    t.bias = make_rows(1, outputs, state).data;
    t.pass = (struct position_pass){.layer = &trial->layer,
                                    .weights = t.weights,
                                    .scratch = aligned_alloc(64, scratch + 64)};
    *trial = t;
}

static void trial_free(struct trial *t)
{
    free(t->a.data);
    free(t->z.data);
    free(t->weights);
    free(t->bias);
    free(t->pass.scratch);
}

/* The chain of output o at position p, over taps and channels; lines of taps above and
 * below the image give no terms, a tap left or right of it is a term of zero. */
static float forward_chain(const struct trial *t, const float *image, size_t p,
                           size_t o, float chain)
{
    const struct conv_window *w = &t->layer.window;
    const float *weight = t->weights + o * t->layer.rows.inputs;
    for (size_t k = 0; k < conv_window_taps(w); k++) {
        ptrdiff_t y = w->top + (ptrdiff_t)(p / w->out_width * w->stride +
                                           k / w->kernel_width * w->dilation);
        ptrdiff_t x = w->left + (ptrdiff_t)(p % w->out_width * w->stride +
                                            k % w->kernel_width * w->dilation);
        bool inside = x >= 0 && x < (ptrdiff_t)w->image.width;
        if (y < 0 || y >= (ptrdiff_t)w->image.height) {
            weight += w->image.channels;
            continue;
        }
        for (size_t c = 0; c < w->image.channels; c++, weight++) {
            size_t at = ((size_t)y * w->image.width + (size_t)x) * w->image.channels;
            chain = fmaf(inside ? image[at + c] : 0.0F, *weight, chain);
        }
    }
    return chain;
}

/* Computes the position on an axis at which tap k reads a pixel, which may be negative;
 * false if there is none. */
static bool position_at(size_t pixel, ptrdiff_t start, size_t back, size_t stride,
                        ptrdiff_t *position)
{
    ptrdiff_t off = (ptrdiff_t)pixel - start - (ptrdiff_t)back;
    *position = off / (ptrdiff_t)stride;
    return off % (ptrdiff_t)stride == 0;
}

/* The chain of channel c at a pixel: over the taps that meet it, by ascending position,
 * and the outputs. */
static float backward_chain(const struct trial *t, const float *b, size_t pixel,
                            size_t c, float chain)
{
    const struct conv_window *w = &t->layer.window;
    size_t outputs = t->layer.rows.outputs, channels = w->image.channels;
    for (size_t k = conv_window_taps(w); k-- > 0;) {
        ptrdiff_t y, x;
        if (!position_at(pixel / w->image.width, w->top,
                         k / w->kernel_width * w->dilation, w->stride, &y) ||
            !position_at(pixel % w->image.width, w->left,
                         k % w->kernel_width * w->dilation, w->stride, &x))
            continue;
        bool inside = x >= 0 && x < (ptrdiff_t)w->out_width;
        if (y < 0 || y >= (ptrdiff_t)w->out_height)
            continue;
        size_t at = ((size_t)y * w->out_width + (size_t)x) * outputs;
        for (size_t o = 0; o < outputs; o++)
            chain =
                fmaf(inside ? b[at + o] : 0.0F,
                     t->weights[o * t->layer.rows.inputs + k * channels + c], chain);
    }
    return chain;
}

/* Runs the pass on every kernel of this processor and compares whole rows. */
static void expect_rows(const struct trial *t, bool forward, struct rows expected)
{
    uint64_t state = 5;
    struct rows out = make_rows(expected.count, expected.stride, &state);
    const struct rows *before = forward ? &t->z : &t->a;
    size_t size = out.count * out.stride * sizeof(float);
    for (size_t k = 0; gemm_choice_at(k) != NULL; k++) {
        product_chosen = gemm_choice_at(k);
        if (!product_chosen->available())
            continue;
        memcpy(out.data, before->data, size);
        if (forward)
            positions_forward(&t->pass, out, t->a);
        else
            positions_backward(&t->pass, out, t->z);
        if (memcmp(out.data, expected.data, size) != 0)
            fail_msg("%s, %s: %zu x %zu x %zu, taps %zu x %zu, stride %zu, dilation "
                     "%zu, %zu outputs",
                     product_chosen->name, forward ? "forward" : "backward",
                     t->layer.window.image.height, t->layer.window.image.width,
                     t->layer.window.image.channels, t->layer.window.kernel_height,
                     t->layer.window.kernel_width, t->layer.window.stride,
                     t->layer.window.dilation, t->layer.rows.outputs);
    }
    product_chosen = NULL;
    free(out.data);
}

static void check_forward(struct trial *t)
{
    size_t outputs = t->layer.rows.outputs;
    uint64_t state = 6;
    struct rows z = make_rows(t->z.count, t->z.stride, &state);
    memcpy(z.data, t->z.data, z.count * z.stride * sizeof(float));
    for (size_t i = 0; i < z.count; i++)
        for (size_t k = 0; k < conv_window_positions(&t->layer.window) * outputs; k++) {
            float *to = z.data + i * z.stride + k, start = t->pass.adds ? *to : 0.0F;
            if (t->pass.bias != NULL && !t->pass.adds)
                start = t->bias[k % outputs];
            *to = forward_chain(t, t->a.data + i * t->a.stride, k / outputs,
                                k % outputs, start);
            if (t->pass.bias != NULL && t->pass.adds)
                *to += t->bias[k % outputs];
        }
    expect_rows(t, true, z);
    free(z.data);
}

static void check_backward(struct trial *t)
{
    size_t channels = t->layer.window.image.channels;
    uint64_t state = 7;
    struct rows a = make_rows(t->a.count, t->a.stride, &state);
    memcpy(a.data, t->a.data, a.count * a.stride * sizeof(float));
    for (size_t i = 0; i < a.count; i++)
        for (size_t k = 0; k < image_width(&t->layer.window); k++) {
            float *to = a.data + i * a.stride + k;
            *to = backward_chain(t, t->z.data + i * t->z.stride, k / channels,
                                 k % channels, t->pass.adds ? *to : 0.0F);
        }
    expect_rows(t, false, a);
    free(a.data);
}

static void check_trial(struct trial *t)
{
    t->pass.bias = t->bias;
    check_forward(t);
    t->pass.bias = NULL;
    check_backward(t);
    t->pass.adds = true;
    check_forward(t);
    check_backward(t);
    t->pass.bias = t->bias;
    check_forward(t);
}

/* Random geometries, so that tiles, panels, runs and frames end at all places. Then
 * geometries with several groups of lines, with runs that are cut, and with short lines
 * and many records. */
static void every_output_is_one_chain_on_every_kernel(void **state)
{
    static const struct {
        struct image image;
        struct conv_window_demand demand;
        size_t outputs;
    } large[] = {{{6, 30, 3}, {3, 3, 1, 1, 1}, 70},  {{4, 4, 130}, {3, 3, 1, 1, 1}, 33},
                 {{2, 2, 300}, {2, 2, 2, 0, 1}, 16}, {{1, 1, 40}, {1, 1, 1, 0, 1}, 300},
                 {{9, 9, 20}, {1, 1, 2, 0, 1}, 48},  {{5, 5, 70}, {2, 3, 1, 2, 2}, 40}};
    uint64_t random = 1;
    (void)state;
    for (int k = 0; k < 150;) {
        struct image image = {1 + below(&random, 9), 1 + below(&random, 17),
                              1 + below(&random, 6)};
        struct conv_window_demand demand = {
            1 + below(&random, 4), 1 + below(&random, 4), 1 + below(&random, 3),
            below(&random, 3), 1 + below(&random, 3)};
        struct conv_window window;
        if (!conv_window_fit(&window, image, &demand))
            continue;
        struct trial t;
        trial_make(&t, &demand, image, 1 + below(&random, 20), &random);
        check_trial(&t);
        trial_free(&t);
        k++;
    }
    for (size_t k = 0; k < sizeof large / sizeof *large; k++) {
        struct trial t;
        trial_make(&t, &large[k].demand, large[k].image, large[k].outputs, &random);
        check_trial(&t);
        trial_free(&t);
    }
}

/* noise.md 2.5: the result for a record depends neither on other records nor on its
 * row. */
static void a_record_is_what_it_is_alone(void **state)
{
    const struct conv_window_demand demand = {3, 3, 1, 1, 1};
    uint64_t random = 2;
    (void)state;
    for (size_t k = 0; gemm_choice_at(k) != NULL; k++) {
        product_chosen = gemm_choice_at(k);
        if (!processor_has(product_chosen->name, product_chosen->available()))
            continue;
        struct trial t;
        trial_make(&t, &demand, (struct image){4, 4, 48}, 40, &random);
        size_t inputs = t.a.stride, outputs = t.z.stride;
        struct rows images = make_rows(17, inputs, &random), one = t.a;
        struct rows all = make_rows(17, outputs, &random), alone = t.z;
        one.count = alone.count = 1;
        positions_forward(&t.pass, alone, one);
        for (size_t count = 1; count <= 17; count += 4) {
            images.count = all.count = count;
            memcpy(images.data + (count - 1) * inputs, one.data,
                   inputs * sizeof(float));
            positions_forward(&t.pass, all, images);
            assert_memory_equal(all.data + (count - 1) * outputs, alone.data,
                                outputs * sizeof(float));
        }
        free(images.data);
        free(all.data);
        trial_free(&t);
    }
    product_chosen = NULL;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_form_is_that_of_the_rule),
        cmocka_unit_test(weights_are_gathered_and_scattered),
        cmocka_unit_test(every_output_is_one_chain_on_every_kernel),
        cmocka_unit_test(a_record_is_what_it_is_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
