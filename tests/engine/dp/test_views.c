/* Goal: a view is the image moved and mirrored, with zeros outside the image; the views
 * of a unit depend only on the step's key and the unit's index, and all views are
 * equally likely. Method: pixel by pixel against the definition, and counts of many
 * draws under a fixed key. */
#include "engine/dp/views.h"

#include <math.h>
#include <string.h>

#include "engine/nn/network.h"
#include "tests/expect.h"

enum { PLANES = 2, HEIGHT = 5, WIDTH = 7, SIZE = PLANES * HEIGHT * WIDTH };

static const struct view_spec images = {.count = 4,
                                        .flips = true,
                                        .shift = 2,
                                        .planes = PLANES,
                                        .height = HEIGHT,
                                        .width = WIDTH};
static const uint8_t key[STREAM_KEY_SIZE] = {0x71, 0x1e};

/* Returns the pixel of the view according to the definition. */
static float pixel(const float *image, struct image_view view, int plane, int y, int x)
{
    int source_y = y - view.down;
    int source_x = (view.is_flipped ? WIDTH - 1 - x : x) - view.right;
    if (source_y < 0 || source_y >= HEIGHT || source_x < 0 || source_x >= WIDTH)
        return 0;
    return image[(plane * HEIGHT + source_y) * WIDTH + source_x];
}

static void check_view(const float *image, struct image_view view)
{
    float seen[SIZE];
    memset(seen, 0x7f, sizeof seen);
    views_make(seen, image, &images, view);
    for (int p = 0; p < PLANES; p++)
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++)
                assert_true(seen[(p * HEIGHT + y) * WIDTH + x] ==
                            pixel(image, view, p, y, x));
}

static void a_view_is_the_image_moved_and_mirrored(void **state)
{
    (void)state;
    float image[SIZE], seen[SIZE];
    for (size_t i = 0; i < SIZE; i++)
        image[i] = (float)i + 0.385F;
    for (int32_t down = -HEIGHT - 1; down <= HEIGHT + 1; down++)
        for (int32_t right = -WIDTH - 1; right <= WIDTH + 1; right++) {
            check_view(image, (struct image_view){false, down, right});
            check_view(image, (struct image_view){true, down, right});
        }
    views_make(seen, image, &images, (struct image_view){0});
    assert_memory_equal(seen, image, sizeof image);
}

static void take(struct image_view *views, size_t count, uint32_t unit,
                 const uint8_t *by)
{
    struct stream *stream = stream_create();
    views_draw(views, &images, unit, (struct views_draw){by, count}, stream);
    stream_destroy(stream);
}

static void views_depend_on_the_key_and_the_unit_alone(void **state)
{
    (void)state;
    static const uint8_t other_key[STREAM_KEY_SIZE] = {0x71, 0x1f};
    struct image_view once[UNIT_ROWS_MAX], again[UNIT_ROWS_MAX];
    take(once, UNIT_ROWS_MAX, 41, key);
    take(again, UNIT_ROWS_MAX, 40, key);
    assert_memory_not_equal(once, again, sizeof once);
    take(again, UNIT_ROWS_MAX, 41, other_key);
    assert_memory_not_equal(once, again, sizeof once);
    take(again, UNIT_ROWS_MAX, 41, key);
    for (size_t k = 0; k < UNIT_ROWS_MAX; k++) {
        assert_int_equal(once[k].is_flipped, again[k].is_flipped);
        assert_int_equal(once[k].down, again[k].down);
        assert_int_equal(once[k].right, again[k].right);
    }
}

/* Counts are within six deviations of those of a fair draw. */
static void each_view_is_as_likely_as_any_other(void **state)
{
    (void)state;
    enum { UNITS = 20000, SIDE = 5, VIEWS = 2 * SIDE * SIDE };
    size_t counts[VIEWS] = {0};
    struct image_view views[UNIT_ROWS_MAX];
    for (uint32_t unit = 0; unit < UNITS / UNIT_ROWS_MAX; unit++) {
        take(views, UNIT_ROWS_MAX, unit, key);
        for (size_t k = 0; k < UNIT_ROWS_MAX; k++) {
            assert_true(abs(views[k].down) <= 2 && abs(views[k].right) <= 2);
            counts[(views[k].is_flipped * SIDE + views[k].down + 2) * SIDE +
                   views[k].right + 2]++;
        }
    }
    double expected = (double)UNITS / VIEWS;
    for (size_t i = 0; i < VIEWS; i++)
        assert_true(fabs((double)counts[i] - expected) < 6 * sqrt(expected));
}

static void what_is_not_asked_for_does_not_happen(void **state)
{
    (void)state;
    const struct view_spec still = {.count = 4, .planes = 1, .height = 9, .width = 1};
    struct image_view views[UNIT_ROWS_MAX];
    struct stream *stream = stream_create();
    for (uint32_t unit = 0; unit < 50; unit++) {
        views_draw(views, &still, unit, (struct views_draw){key, UNIT_ROWS_MAX},
                   stream);
        for (size_t k = 0; k < UNIT_ROWS_MAX; k++)
            assert_true(!views[k].is_flipped && views[k].down == 0 &&
                        views[k].right == 0);
    }
    stream_destroy(stream);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_view_is_the_image_moved_and_mirrored),
        cmocka_unit_test(views_depend_on_the_key_and_the_unit_alone),
        cmocka_unit_test(each_view_is_as_likely_as_any_other),
        cmocka_unit_test(what_is_not_asked_for_does_not_happen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
