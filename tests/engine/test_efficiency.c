/* Goal: the predicted efficiency is the model's. Method: a table that was computed
 * without this code, for two models, three networks and several batches: each figure is
 * within a hundredth, the precision to which it is printed. */
#include "engine/efficiency.h"

#include "tests/expect.h"

static const struct rank_machine ethernet_10 = {2e12, 1.1e9, 8e9, 0};
static const struct rank_machine ethernet_100 = {2e12, 10e9, 8e9, 0};
static const struct rank_machine infiniband_200 = {2e12, 22e9, 8e9, 0};

struct row {
    const struct rank_machine *machine;
    double record_flops, parameters, batch;
    double at[6]; /* 2, 4, 8, 16, 32 and 64 ranks */
};

static const struct row rows[] = {
    {&ethernet_10, 4.5e9, 1.1e7, 4096, {.96, .91, .84, .73, .59, .44}},
    {&ethernet_100, 4.5e9, 1.1e7, 4096, {.97, .94, .90, .84, .76, .65}},
    {&infiniband_200, 4.5e9, 1.1e7, 4096, {.97, .95, .91, .85, .77, .68}},
    {&ethernet_10, 4.5e9, 1.1e7, 16384, {.98, .96, .93, .89, .81, .71}},
    {&ethernet_100, 4.5e9, 1.1e7, 16384, {.99, .97, .95, .92, .88, .82}},
    {&ethernet_10, 4.5e9, 1.1e7, 65536, {.99, .98, .97, .95, .92, .87}},
    {&ethernet_100, 4.5e9, 1.1e7, 65536, {.99, .99, .98, .96, .94, .91}},
    {&ethernet_10, 87e9, 1.1e8, 4096, {.97, .93, .88, .80, .68, .55}},
    {&ethernet_100, 87e9, 1.1e8, 4096, {.97, .95, .91, .86, .78, .69}},
    {&ethernet_10, 87e9, 1.1e8, 16384, {.99, .97, .95, .91, .85, .77}},
    {&ethernet_100, 87e9, 1.1e8, 16384, {.99, .97, .95, .93, .89, .83}},
    {&ethernet_10, 87e9, 1.1e8, 65536, {.99, .99, .97, .96, .93, .89}},
    {&ethernet_100, 87e9, 1.1e8, 65536, {.99, .99, .98, .96, .94, .91}},
};

static void efficiencies_are_those_of_the_model(void **state)
{
    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        const struct row *row = &rows[r];
        const struct rank_work work = {row->batch, row->record_flops, row->parameters};
        for (size_t k = 0; k < 6; k++) {
            double found = efficiency_of(row->machine, &work, 2U << k);
            if (fabs(found - row->at[k]) > 0.01)
                fail_msg("row %zu, %u ranks: %.4f, not %.2f", r, 2U << k, found,
                         row->at[k]);
        }
    }
}

static void poisson_batches_alone_cost_a_quarter(void **state)
{
    (void)state;
    static const double batches[] = {4096, 16384, 65536}, shares[] = {.74, .85, .92};
    for (size_t k = 0; k < 3; k++) {
        double share = batches[k] / 64 / efficiency_rows(batches[k], 64);
        assert_true(fabs(share - shares[k]) <= 0.01);
    }
}

static void one_rank_is_used_whole(void **state)
{
    (void)state;
    const struct rank_work work = {4096, 4.5e9, 1.1e7};
    assert_true(efficiency_of(&ethernet_10, &work, 1) == 1);
    assert_true(efficiency_rows(4096, 1) == 4096);
}

/* Steps that take a tenth of the time of their messages. */
static void a_model_of_short_steps_never_pays(void **state)
{
    (void)state;
    struct rank_machine slow = ethernet_100;
    const struct rank_work work = {512, 1e5, 1000};
    slow.messages_s = 10 * work.batch * work.record_flops / slow.flops;
    for (unsigned ranks = 2; ranks <= 64; ranks *= 2) {
        assert_true(efficiency_of(&ethernet_100, &work, ranks) > 0.5 / ranks);
        assert_true(efficiency_of(&slow, &work, ranks) < 0.1 / ranks);
    }
    assert_true(efficiency_of(&slow, &work, 1) == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(efficiencies_are_those_of_the_model),
        cmocka_unit_test(poisson_batches_alone_cost_a_quarter),
        cmocka_unit_test(one_rank_is_used_whole),
        cmocka_unit_test(a_model_of_short_steps_never_pays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
