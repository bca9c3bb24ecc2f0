/* Goal: the shown spending of a job is the price of what was authorised, and never more
 * than its plan's. Method: compared with the accountant's figures. */
#include "service/jobs/job_plan.h"

#include "tests/expect.h"
#include "accountant/pricing/figures.h"

static void steps_are_spent_at_their_own_price(void **state)
{
    (void)state;
    struct job_plan plan = {.is_private = true, .request = {.delta = 1e-5}};
    struct figure whole = {0};
    double before = 0;
    mechanism_init(&plan.mechanism, MECHANISM_SAMPLED_GAUSSIAN, RELATION_ZERO_OUT,
                   (struct mechanism_run){
                       .sampling_rate = 0.01, .noise_multiplier = 1.1, .steps = 1000});
    assert_int_equal(job_plan_figure(&plan, 1000, &whole, NULL), ST_OK);
    plan.epsilon_planned = whole.epsilon;
    assert_true(job_plan_spent(&plan, 0) == 0);
    for (uint64_t steps = 1; steps <= 1000; steps += 111) {
        struct figure figure = {0};
        assert_int_equal(figure_epsilon(&figure, &plan.mechanism, steps, 1e-5, NULL),
                         ST_OK);
        assert_true(job_plan_spent(&plan, steps) == figure.epsilon);
        assert_true(figure.epsilon > before);
        before = figure.epsilon;
    }
    plan.epsilon_planned = 0.75 * whole.epsilon;
    assert_true(job_plan_spent(&plan, 1000) == plan.epsilon_planned);
    mechanism_fini(&plan.mechanism);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_spent_at_their_own_price),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
