/* Goal: a gradient that is used stretch by stretch equals the one that is stored as a
 * whole, each coordinate has its own noise, and the sum is erased. Method: one sum of a
 * model of several stretches, released under one key in both ways, by teams of several
 * sizes. */
#include "engine/dp/release.h"

#include <pthread.h>
#include <string.h>

#include "tests/expect.h"
#include "tests/engine/small_network_fixture.h"

enum { IN = 18000, HIDDEN = 6, OUT = 2, MEMBERS = 3 }; /* 108,020 parameters */

static const struct grid grid = {.scale = 0x1p30};
static const struct noise_key key = {{5, 4, 3}};

struct seen { /* the values that were used */
    pthread_mutex_t lock;
    float *gradient;
    unsigned char *times;
    unsigned stretches;
};

static void see(void *context, const float *gradient, struct span span)
{
    struct seen *seen = context;
    pthread_mutex_lock(&seen->lock);
    memcpy(seen->gradient + span.first, gradient, span.count * sizeof *gradient);
    for (size_t j = 0; j < span.count; j++)
        seen->times[span.first + j]++;
    seen->stretches++;
    pthread_mutex_unlock(&seen->lock);
}

/* Releases made-up integers, from 0 on by 0x12345 steps. */
static void release_once(struct release *release, struct reduction *reduction,
                         const struct release_use *use)
{
    for (size_t j = 0; j < reduction->dim; j++)
        reduction->sum[j] = (int64_t)j * 0x12345;
    release_begin_step(release);
    release_sum(release, reduction, &grid, 2, use);
    for (size_t j = 0; j < reduction->dim; j++)
        assert_true(reduction->sum[j] == 0);
}

static void what_is_used_at_once_is_what_is_kept(void **state)
{
    (void)state;
    struct network *network = small_network_dense(IN, HIDDEN, OUT);
    size_t dim = network_parameters(network);
    float *whole = calloc(dim, sizeof *whole),
          *gradient = calloc(dim, sizeof *gradient);
    struct seen seen = {PTHREAD_MUTEX_INITIALIZER, gradient, calloc(dim, 1), 0};
    struct noise *noise = noise_create();
    int64_t *sum = calloc(dim, sizeof *sum);
    for (size_t j = 0; j < dim; j++)
        sum[j] = (int64_t)j * 0x12345;
    noise_release(noise, whole, sum, (struct span){0, dim},
                  &(struct noise_release){{&key, 0}, &grid, 2});
    for (unsigned members = 1; members <= MEMBERS; members++) {
        struct team *team;
        struct reduction reduction;
        struct release release;
        const struct release_use use = {see, &seen};
        assert_int_equal(team_create(&team, members, NULL), ST_OK);
        assert_int_equal(reduction_init(&reduction, network, &group_alone, false, NULL),
                         ST_OK);
        assert_int_equal(release_init(&release, team, &key, dim, NULL), ST_OK);
        seen.stretches = 0;
        memset(seen.times, 0, dim);
        memset(gradient, 0, dim * sizeof *gradient);
        release_once(&release, &reduction, NULL);
        assert_memory_equal(release.gradient, whole, dim * sizeof *whole);
        release_once(&release, &reduction, &use);
        assert_memory_equal(gradient, whole, dim * sizeof *whole);
        assert_true(seen.stretches > members);
        for (size_t j = 0; j < dim; j++)
            assert_int_equal(seen.times[j], 1);
        release_fini(&release);
        reduction_fini(&reduction);
        team_destroy(team);
    }
    noise_destroy(noise);
    free(sum);
    free(seen.times);
    free(gradient);
    free(whole);
    network_destroy(network);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_used_at_once_is_what_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
