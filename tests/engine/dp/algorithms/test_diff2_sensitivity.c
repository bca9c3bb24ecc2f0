/* Goal: neither a record nor a client moves what DIFF2 releases by more than is
 * charged, at a restart and between restarts. Method: one weight, so that a record's
 * gradient can have any length, and runs that differ in one record under the same
 * noise. */
#include "tests/engine/dp/diff2_fixture.h"

/* Five records and two clients, of two and three records: gradients of -C and +C cancel
 * in the mean of means, and would leave C / 5 in the mean of all records. The noise is
 * C / 64 on the sum. */
static void clients_weigh_alike_whatever_their_size(void **state)
{
    (void)state;
    static const float ones[] = {1, 1, 1, 1, 1}, far[] = {99, 99, -99, -99, -99};
    const struct matrix five = line_data(5, 1, ones, far);
    for (int clients = 1; clients <= 2; clients++) {
        struct kit kit;
        struct kit_setup setup = usual(1);
        setup.data = &five;
        setup.model = &line;
        setup.batch_size = 5;
        kit_spec(&kit, "diff2_gd");
        kit_set(&kit, "clients", clients);
        kit_open(&kit, &setup);
        kit_step(&kit);
        double mean = (double)stepper_gradient(kit.stepper)[0];
        assert_true(fabs(mean - (clients == 1 ? 0.2 : 0)) < 6 * quiet / 4);
        kit_close(&kit);
    }
}

/* One neuron: a record's gradient can have any length, in both directions. */
static void replacing_a_record_moves_the_mean_by_two_clip_norms_at_most(void **state)
{
    (void)state;
    enum { FEW = 40 };
    float x[FEW] = {0}, y[FEW] = {0};
    double most = 0;
    uint64_t seed = 77;
    const struct matrix few = line_data(FEW, 1, x, y);
    for (int trial = 0; trial < 60; trial++) {
        float ends[2];
        struct kit_setup setup = usual(1);
        setup.data = &few;
        setup.model = &line;
        setup.batch_size = FEW;
        setup.optimizer.learning_rate = setup.optimizer.learning_rate_final = 1;
        for (int k = 0; k < FEW; k++) {
            x[k] = (float)draw_uniform(&seed);
            y[k] = (float)draw_uniform(&seed);
        }
        for (int side = 0; side < 2; side++) {
            static const char *const names[] = {"clip_norm", "clients", NULL};
            x[5] = trial == 0 ? 1 : (float)(4 * draw_uniform(&seed) - 2);
            y[5] = trial == 0 ? (side == 0 ? 99 : -99)
                              : (float)(20 * draw_uniform(&seed) - 10);
            run_steps("diff2_gd", &setup, names, (double[]){0.5, 4}, &ends[side]);
        }
        double moved = fabs((double)ends[0] - (double)ends[1]) * FEW;
        assert_true(moved <= 2 * 0.5 * (1 + 1e-5));
        most = fmax(most, moved);
    }
    assert_close(most, 1, 1e-5); /* the first pair: +C against -C */
}

/* Between restarts a record's difference counts up to C2 |dx| and no more. Both records
 * have the same clipped gradient at first, so that both runs take the same first
 * step. */
static void a_difference_is_cut_at_its_rate(void **state)
{
    (void)state;
    enum { FEW = 40 };
    float x[FEW] = {0}, y[FEW] = {0};
    double change[2], moved = 0;
    const struct matrix few = line_data(FEW, 1, x, y);
    for (int side = 0; side < 2; side++) {
        struct kit kit;
        struct kit_setup setup = usual(2);
        setup.data = &few;
        setup.model = &line;
        setup.batch_size = FEW;
        for (int k = 0; k < FEW; k++) {
            x[k] = 0;
            y[k] = 0;
        }
        x[5] = side == 0 ? 1 : 10; /* second derivatives 1 and 100 */
        y[5] = -1000;
        kit_spec(&kit, "diff2_gd");
        kit_set(&kit, "restart_interval", 2);
        kit_set(&kit, "difference_clip", 20);
        kit_open(&kit, &setup);
        float start = kit.parameters[0];
        kit_step(&kit);
        moved = (double)kit.parameters[0] - (double)start;
        float first = stepper_gradient(kit.stepper)[0];
        kit_step(&kit);
        change[side] = ((double)stepper_gradient(kit.stepper)[0] - (double)first) * FEW;
        kit_close(&kit);
    }
    /* Both have the same noise, 2 / 64 of 20 |dx|. */
    assert_close(change[1] - change[0], (20 - 1) * moved, 1e-4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clients_weigh_alike_whatever_their_size),
        cmocka_unit_test(replacing_a_record_moves_the_mean_by_two_clip_norms_at_most),
        cmocka_unit_test(a_difference_is_cut_at_its_rate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
