/* Goal: pools compute the maximum and the mean, and their gradients go back to the
 * right inputs. Method: every small geometry against one loop over single numbers, with
 * values from a short list so that ties abound. */
#include "tests/expect.h"

#include <math.h>
#include <string.h>

#include "engine/nn/layers/pooling.h"
#include "tests/engine/draw_fixture.h"

struct pool { /* a window and two records of each value */
    struct conv_window window;
    struct conv_window_demand demand;
    struct rows x, y, dx, dy;
    int32_t *taps;
};

enum { RECORDS = 2 };

static struct rows values(size_t width, uint64_t *state)
{
    size_t stride = (width + 15) / 16 * 16;
    struct rows rows = {calloc(RECORDS * stride, sizeof(float)), stride, RECORDS};
    for (size_t i = 0; i < RECORDS; i++)
        for (size_t j = 0; j < width; j++)
            rows.data[i * stride + j] = (float)draw_below(state, 5) - 2.0F;
    return rows;
}

static void make(struct pool *pool, uint64_t *state)
{
    struct image image;
    do {
        image = (struct image){1 + draw_below(state, 8), 1 + draw_below(state, 8),
                               1 + draw_below(state, 20)};
        pool->demand = (struct conv_window_demand){
            1 + draw_below(state, 4), 1 + draw_below(state, 4),
            1 + draw_below(state, 3), draw_below(state, 2), 1};
    } while (2 * pool->demand.padding > pool->demand.kernel_height ||
             2 * pool->demand.padding > pool->demand.kernel_width ||
             !conv_window_fit(&pool->window, image, &pool->demand));
    size_t outputs = conv_window_positions(&pool->window) * image.channels;
    pool->x = values(image.height * image.width * image.channels, state);
    pool->dx = values(image.height * image.width * image.channels, state);
    pool->y = values(outputs, state);
    pool->dy = values(outputs, state);
    pool->taps = calloc(RECORDS * pool->y.stride, sizeof *pool->taps);
}

static void clear(struct pool *pool)
{
    free(pool->x.data);
    free(pool->y.data);
    free(pool->dx.data);
    free(pool->dy.data);
    free(pool->taps);
}

/* Returns the place in x that one tap of one output reads, or SIZE_MAX. */
static size_t source(const struct pool *pool, size_t output, size_t tap)
{
    const struct conv_window *w = &pool->window;
    size_t channel = output % w->image.channels, at = output / w->image.channels;
    size_t y = at / w->out_width * w->stride + tap / w->kernel_width;
    size_t x = at % w->out_width * w->stride + tap % w->kernel_width;
    if (y < pool->demand.padding || x < pool->demand.padding ||
        y - pool->demand.padding >= w->image.height ||
        x - pool->demand.padding >= w->image.width)
        return SIZE_MAX;
    return ((y - pool->demand.padding) * w->image.width + x - pool->demand.padding) *
               w->image.channels +
           channel;
}

static void check(const struct pool *pool, bool greatest)
{
    size_t outputs = conv_window_positions(&pool->window) * pool->window.image.channels;
    size_t taps = conv_window_taps(&pool->window);
    for (size_t i = 0; i < RECORDS; i++) {
        const float *x = pool->x.data + i * pool->x.stride;
        const float *dy = pool->dy.data + i * pool->dy.stride;
        double *dx = calloc(pool->dx.stride, sizeof *dx);
        for (size_t o = 0; o < outputs; o++) {
            size_t best = SIZE_MAX;
            double sum = 0.0;
            for (size_t tap = 0; tap < taps; tap++) {
                size_t from = source(pool, o, tap);
                if (from == SIZE_MAX)
                    continue;
                sum += (double)x[from];
                best = best == SIZE_MAX || x[from] > x[best] ? from : best;
                if (!greatest)
                    dx[from] += (double)dy[o] / (double)taps;
            }
            double expected = greatest ? (double)x[best] : sum / (double)taps;
            assert_true(fabs((double)pool->y.data[i * pool->y.stride + o] - expected) <=
                        1e-6);
            if (greatest)
                dx[best] += (double)dy[o];
        }
        for (size_t j = 0; j < pool->dx.stride; j++)
            assert_true(fabs((double)pool->dx.data[i * pool->dx.stride + j] - dx[j]) <=
                        1e-5);
        free(dx);
    }
}

static void the_greatest_goes_forth_and_back_the_first_on_ties(void **state)
{
    uint64_t random = 3;
    (void)state;
    for (int k = 0; k < 2000; k++) {
        struct pool pool;
        make(&pool, &random);
        max_pool_forward(&pool.window, pool.y, pool.x, pool.taps);
        max_pool_backward(&pool.window, pool.dx, pool.dy, pool.taps);
        check(&pool, true);
        clear(&pool);
    }
}

static void the_mean_goes_forth_and_is_spread_back(void **state)
{
    uint64_t random = 4;
    (void)state;
    for (int k = 0; k < 2000; k++) {
        struct pool pool;
        do {
            make(&pool, &random);
            if (pool.demand.padding > 0)
                clear(&pool);
        } while (pool.demand.padding > 0);
        average_pool_forward(&pool.window, pool.y, pool.x);
        average_pool_backward(&pool.window, pool.dx, pool.dy);
        check(&pool, false);
        clear(&pool);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_greatest_goes_forth_and_back_the_first_on_ties),
        cmocka_unit_test(the_mean_goes_forth_and_is_spread_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
