/* Goal: a window reads the pixels that its geometry determines, and backward reaches
 * the same pixels. Method: every small geometry against one loop over single
 * numbers. */
#include "tests/expect.h"

#include <string.h>

#include "engine/nn/conv_window.h"
#include "tests/engine/draw_fixture.h"

struct geometry {
    struct image image;
    struct conv_window_demand demand;
};

static struct geometry any_geometry(uint64_t *state)
{
    return (struct geometry){
        .image = {1 + draw_below(state, 9), 1 + draw_below(state, 9),
                  1 + draw_below(state, 20)},
        .demand = {1 + draw_below(state, 5), 1 + draw_below(state, 5),
                   1 + draw_below(state, 4), draw_below(state, 4),
                   1 + draw_below(state, 3)}};
}

/* Returns the pixel of one tap at one position, or SIZE_MAX outside the image. */
static size_t pixel_of(const struct geometry *g, size_t position, size_t tap,
                       size_t out_width)
{
    ptrdiff_t padding = (ptrdiff_t)g->demand.padding;
    ptrdiff_t y = (ptrdiff_t)(position / out_width * g->demand.stride +
                              tap / g->demand.kernel_width * g->demand.dilation) -
                  padding;
    ptrdiff_t x = (ptrdiff_t)(position % out_width * g->demand.stride +
                              tap % g->demand.kernel_width * g->demand.dilation) -
                  padding;
    if (y < 0 || x < 0 || y >= (ptrdiff_t)g->image.height ||
        x >= (ptrdiff_t)g->image.width)
        return SIZE_MAX;
    return (size_t)y * g->image.width + (size_t)x;
}

static void check_unfolded(const struct geometry *g, const struct conv_window *window,
                           uint64_t *state)
{
    size_t c = g->image.channels, taps = conv_window_taps(window),
           stride = taps * c + 3;
    size_t all = conv_window_positions(window), first = draw_below(state, all);
    struct rows out = {calloc(all * stride, sizeof(float)), stride, all - first};
    float *image = calloc(g->image.height * g->image.width * c, sizeof *image);
    for (size_t j = 0; j < g->image.height * g->image.width * c; j++)
        image[j] = 1.0F + (float)draw_uniform(state);
    for (size_t j = 0; j < all * stride; j++)
        out.data[j] = -7.0F;
    conv_window_unfold(window, out, image, first);
    for (size_t t = 0; t < out.count; t++)
        for (size_t k = 0; k < stride; k++) {
            float expected = -7.0F; /* nothing is written beyond the taps */
            if (k < taps * c) {
                size_t pixel = pixel_of(g, first + t, k / c, window->out_width);
                expected = pixel == SIZE_MAX ? 0.0F : image[pixel * c + k % c];
            }
            assert_true(out.data[t * stride + k] == expected);
        }
    free(image);
    free(out.data);
}

/* Returns the pixel that tap k reads at position p of an axis, which may lie outside
 * the image. */
static ptrdiff_t pixel_read(const struct conv_window *window, bool down, size_t p,
                            size_t k)
{
    return (down ? window->top : window->left) +
           (ptrdiff_t)(p * window->stride + k * window->dilation);
}

/* Checks that each pixel's taps, in the order of the positions at which they read it,
 * are those of its phase. It tries all pairs of a tap and a position, including
 * positions beyond the output. */
static void check_phases(const struct conv_window *window, bool down)
{
    size_t size = down ? window->image.height : window->image.width, seen = 0;
    size_t taps = down ? window->kernel_height : window->kernel_width;
    for (size_t phase = 0; phase < window->stride; phase++) {
        struct conv_window_phase of = down ? conv_window_phase_down(window, phase)
                                           : conv_window_phase_across(window, phase);
        for (size_t m = 0; m < of.pixels; m++, seen++) {
            size_t pixel = phase + m * window->stride, pairs = 0;
            assert_true(pixel < size);
            for (size_t k = 0; k < taps; k++)
                for (size_t p = 0; p < 64; p++)
                    pairs += pixel_read(window, down, p, k) == (ptrdiff_t)pixel;
            for (size_t j = 0; j < of.taps; j++) {
                ptrdiff_t p = of.first + (ptrdiff_t)(m + j * of.step);
                size_t tap = of.last_tap - j * of.tap_step;
                assert_true(tap < taps);
                if (p < 0)
                    continue;
                assert_true(pixel_read(window, down, (size_t)p, tap) ==
                            (ptrdiff_t)pixel);
                pairs--;
            }
            assert_int_equal(pairs, 0);
        }
    }
    assert_int_equal(seen, size);
}

static void rows_are_the_pixels_of_the_taps(void **state)
{
    uint64_t random = 1;
    (void)state;
    for (int k = 0; k < 3000;) {
        struct geometry g = any_geometry(&random);
        struct conv_window window;
        if (!conv_window_fit(&window, g.image, &g.demand))
            continue;
        check_unfolded(&g, &window, &random);
        check_phases(&window, true);
        check_phases(&window, false);
        k++;
    }
}

static void a_window_larger_than_the_image_does_not_fit(void **state)
{
    struct image image = {4, 5, 1};
    struct conv_window window;
    (void)state;
    assert_true(
        conv_window_fit(&window, image, &(struct conv_window_demand){4, 5, 1, 0, 1}));
    assert_int_equal(conv_window_positions(&window), 1);
    assert_false(
        conv_window_fit(&window, image, &(struct conv_window_demand){5, 1, 1, 0, 1}));
    assert_false(
        conv_window_fit(&window, image, &(struct conv_window_demand){1, 6, 1, 0, 1}));
    assert_true(
        conv_window_fit(&window, image, &(struct conv_window_demand){5, 6, 1, 1, 1}));
    assert_false(
        conv_window_fit(&window, image, &(struct conv_window_demand){3, 3, 1, 0, 2}));
}

/* Removed taps meet no pixel, and the outermost remaining taps meet one. The window
 * reads the same values as before, and no pixel is read more often than
 * conv_window_overlap returns. */
static void only_taps_that_meet_nothing_are_left_out(void **state)
{
    uint64_t random = 2;
    size_t trimmed = 0;
    (void)state;
    for (int k = 0; k < 3000;) {
        struct geometry g = any_geometry(&random);
        struct conv_window whole, window;
        if (!conv_window_fit(&whole, g.image, &g.demand))
            continue;
        window = whole;
        struct tap first = conv_window_trim(&window);
        size_t reads[81] = {0}, most = 0, all = conv_window_positions(&whole);
        for (size_t tap = 0; tap < conv_window_taps(&whole); tap++) {
            size_t ky = tap / whole.kernel_width, kx = tap % whole.kernel_width,
                   met = 0;
            bool stays = ky >= first.y && ky < first.y + window.kernel_height &&
                         kx >= first.x && kx < first.x + window.kernel_width;
            for (size_t t = 0; t < all; t++) {
                size_t pixel = pixel_of(&g, t, tap, whole.out_width);
                met += pixel != SIZE_MAX;
                if (pixel != SIZE_MAX)
                    reads[pixel]++;
            }
            if (!stays)
                assert_int_equal(met, 0);
            trimmed += !stays;
        }
        for (size_t p = 0; p < g.image.height * g.image.width; p++)
            most = reads[p] > most ? reads[p] : most;
        assert_true(most <= conv_window_overlap(&window));
        check_phases(&window, true);
        check_phases(&window, false);
        k++;
    }
    assert_true(trimmed > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_the_pixels_of_the_taps),
        cmocka_unit_test(a_window_larger_than_the_image_does_not_fit),
        cmocka_unit_test(only_taps_that_meet_nothing_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
