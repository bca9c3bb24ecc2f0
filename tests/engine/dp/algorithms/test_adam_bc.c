/* Goal: adam_bc subtracts the variance that the noise of each step adds to the squares,
 * as declared, in every way of running a private row that it can train. Method: points
 * at 0, whose gradients are 0, so that each gradient is noise; the functions of the
 * optimizer are intercepted, and the squares compared with the declared variances by
 * chi-square. */
#include "tests/expect.h"

#include "tests/engine/dp/noise_law_oracle.h"
#include "tests/engine/dp/points_fixture.h"

enum { RECORDS = 24, FEATURES = 350, STEPS = 12 };

static struct step_seen {
    double variance; /* declared */
    double squares;  /* of the gradient */
    size_t count;
} seen[STEPS];
static size_t step_now, begun;

void __real_optimizer_begin_step(struct optimizer *optimizer, uint64_t step,
                                 double noise_variance);
void __wrap_optimizer_begin_step(struct optimizer *optimizer, uint64_t step,
                                 double noise_variance);
void __wrap_optimizer_begin_step(struct optimizer *optimizer, uint64_t step,
                                 double noise_variance)
{
    step_now = (size_t)step;
    seen[step_now].variance = noise_variance;
    begun++;
    __real_optimizer_begin_step(optimizer, step, noise_variance);
}

bool __real_optimizer_apply(struct optimizer *optimizer, float *parameters,
                            const float *gradient, struct span span);
bool __wrap_optimizer_apply(struct optimizer *optimizer, float *parameters,
                            const float *gradient, struct span span);
bool __wrap_optimizer_apply(struct optimizer *optimizer, float *parameters,
                            const float *gradient, struct span span)
{
    struct step_seen *step = &seen[step_now];
    for (size_t j = 0; j < span.count; j++)
        step->squares += (double)gradient[j] * (double)gradient[j];
    step->count += span.count;
    return __real_optimizer_apply(optimizer, parameters, gradient, span);
}

static void assert_declared(const struct way *way, size_t k)
{
    const struct step_seen *step = &seen[k];
    double count = (double)step->count, a = 2 / (9 * count);
    double least = count * pow(1 - a - law_two_sided * sqrt(a), 3);
    double most = count * pow(1 - a + law_two_sided * sqrt(a), 3);
    double squares = step->squares / step->variance;
    if (!(squares >= least && squares <= most))
        fail_msg("%s, step %zu: noise of %.4f times the declared variance", way->name,
                 k + 1, squares / count);
}

static void variance_is_as_declared(const struct way *way)
{
    struct kit kit = {.spec = way->spec};
    struct kit_setup setup = way->setup;
    setup.from_kernel = false;
    setup.key = 9;
    memset(seen, 0, sizeof seen);
    begun = 0;
    kit_open(&kit, &setup);
    for (size_t k = 0; k < STEPS; k++)
        kit_step(&kit);
    assert_int_equal(begun, STEPS);
    for (size_t k = 0; k < STEPS; k++) {
        assert_int_equal(seen[k].count, network_parameters(kit.network));
        assert_declared(way, k);
    }
    kit_close(&kit);
}

static void adam_bc_subtracts_the_variance_of_the_noise(void **state)
{
    (void)state;
    struct points points;
    points_create(&points, RECORDS, FEATURES, 0);
    memset(points.x, 0, sizeof *points.x * RECORDS * FEATURES);
    struct kit_setup setup = points_setup(&points, 8, STEPS);
    optimizer_spec_init(&setup.optimizer, OPTIMIZER_ADAM_BC);
    optimizer_spec_set_rate(&setup.optimizer, 1e-3);
    /* diff2_gd and diff2_bvr_l_sgd, whose estimates add up noise, refuse adam_bc, and so
     * does boosted_histograms, which moves bins by a rule of its own. */
    assert_int_equal(ways_each(&setup, variance_is_as_declared), 3);
    points_destroy(&points);
}

/* Without noise the squares are the gradient's own: nothing is subtracted from them. */
static void nothing_is_subtracted_on_public_data(void **state)
{
    (void)state;
    struct points points;
    struct kit kit;
    points_create(&points, RECORDS, FEATURES, 0);
    struct kit_setup setup = points_setup(&points, 8, STEPS);
    optimizer_spec_init(&setup.optimizer, OPTIMIZER_ADAM_BC);
    optimizer_spec_set_rate(&setup.optimizer, 1e-3);
    kit_spec(&kit, "sgd");
    kit_open(&kit, &setup);
    kit_step(&kit);
    assert_true(seen[0].variance == 0);
    kit_close(&kit);
    points_destroy(&points);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adam_bc_subtracts_the_variance_of_the_noise),
        cmocka_unit_test(nothing_is_subtracted_on_public_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
