/* Goal: moments, tilt and top of a sum of losses are near the true ones. Method: Renyi
 * divergences are moments of the loss; the Gaussian's are known in closed form. */
#include "accountant/numeric/saddle.h"

#include "accountant/pricing/profile.h"
#include "accountant/mechanisms/rdp.h"
#include "tests/expect.h"

static struct saddle_part part(double rate, double noise, double steps)
{
    struct saddle_part p = {.step = {RELATION_ZERO_OUT, rate, noise}, .steps = steps};
    p.range = privacy_loss_range_of(&p.step, 1e-18);
    return p;
}

static void moments_are_renyi_divergences(void **state)
{
    (void)state;
    struct saddle_part p = part(0.01, 1.1, 300);
    struct saddle *saddle = saddle_create(&p, 1, LOSS_REMOVING);
    struct rdp rdp = {0};
    rdp_set(&rdp, RELATION_ZERO_OUT, &(struct mechanism_run){0.01, 1.1, 300});
    for (double tilt = 0.01; tilt < 5; tilt *= 1.7)
        assert_close(saddle_moment(saddle, tilt).log,
                     300 * tilt * rdp_at(&rdp, tilt + 1), 1e-9);
    saddle_destroy(saddle);
}

static void a_gaussian_has_its_mean_and_variance_in_both_directions(void **state)
{
    (void)state;
    struct saddle_part parts[] = {part(1, 5, 40), part(1, 2.385, 3)};
    double mu2 = 40 / 25.0 + 3 / (2.385 * 2.385);
    for (enum privacy_loss_direction d = LOSS_REMOVING; d <= LOSS_ADDING; d++) {
        struct saddle *saddle = saddle_create(parts, 2, d);
        struct saddle_moment m = saddle_moment(saddle, 0.7);
        assert_close(m.mean, mu2 / 2 + 0.7 * mu2, 1e-6);
        assert_close(m.variance, mu2, 1e-6);
        saddle_destroy(saddle);
    }
}

static void the_tilt_is_where_delta_is_decided(void **state)
{
    (void)state;
    struct saddle_part p = part(1, 20, 100);
    struct saddle *saddle = saddle_create(&p, 1, LOSS_REMOVING);
    for (double delta = 1e-2; delta > 1e-14; delta /= 31) {
        double tilt = saddle_tilt(saddle, delta);
        assert_close(saddle_moment(saddle, tilt).mean, profile_epsilon(0.5, delta),
                     3e-3);
    }
    assert_true(saddle_tilt(saddle, 0.9) == 0);
    saddle_destroy(saddle);
}

static void above_the_top_lies_no_more_than_the_tail(void **state)
{
    (void)state;
    struct saddle_part p = part(1, 20, 100);
    struct saddle *saddle = saddle_create(&p, 1, LOSS_REMOVING);
    double tilt = 0, top = saddle_top(saddle, 1e-9, 1000, &tilt);
    /* Losses are normal, mean 1/8 and deviation 1/2: P(L > top),
     * and the bound's excess. */
    double above = 0.5 * erfc((top - 0.125) / 0.5 / sqrt(2));
    assert_true(above <= 1e-9 && above > 1e-11);
    assert_close(exp(saddle_moment(saddle, tilt).log - tilt * top), 1e-9, 1e-6);
    assert_true(saddle_top(saddle, 1e-9, 1, &tilt) > top && tilt <= 1);
    saddle_destroy(saddle);
    saddle_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moments_are_renyi_divergences),
        cmocka_unit_test(a_gaussian_has_its_mean_and_variance_in_both_directions),
        cmocka_unit_test(the_tilt_is_where_delta_is_decided),
        cmocka_unit_test(above_the_top_lies_no_more_than_the_tail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
