/* Goal: what a run shows, and when it is authorised and evaluated, is a function of its
 * plan. Method: whole runs of many lengths, walked step by step and from stop to
 * stop. */
#include "service/runs/run_schedule.h"

#include "engine/train_spec.h"
#include "service/threads/reveal_delay.h"
#include "tests/expect.h"

static const struct {
    uint64_t steps, records, batch;
} plans[] = {{1, 60, 60}, {3, 61, 60},     {99, 1000, 10}, {100, 1000, 7},
             {101, 5, 5}, {1037, 997, 31}, {4000, 60, 1}};

static struct train_spec plan(size_t i)
{
    return (struct train_spec){.steps = plans[i].steps,
                               .records = plans[i].records,
                               .batch_size = plans[i].batch};
}

static void
a_private_run_has_a_block_for_each_quarter_and_a_public_run_one(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        const struct train_spec train = plan(i);
        uint64_t done = 0, blocks = 0, first = run_schedule_block_end(&train, true, 0);
        for (; done < train.steps; blocks++) {
            uint64_t end = run_schedule_block_end(&train, true, done);
            assert_true(end == train.steps || end == done + first);
            done = end;
        }
        assert_true(done == train.steps && blocks <= REVEAL_QUARTERS);
        assert_true(4 * first >= train.steps && 4 * (first - 1) < train.steps);
        assert_int_equal(run_schedule_block_end(&train, false, 0), train.steps);
    }
}

static void what_a_private_run_shows_changes_only_where_a_block_ends(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        const struct train_spec train = plan(i);
        uint64_t begin = 0, end = run_schedule_block_end(&train, true, 0);
        for (uint64_t done = 0; done < train.steps; done++) {
            if (done == end) {
                begin = end;
                end = run_schedule_block_end(&train, true, begin);
            }
            assert_int_equal(run_schedule_shown(&train, true, done), begin);
            assert_true(run_schedule_shown(&train, false, done) <= done);
            assert_true(
                run_schedule_is_point(&train, run_schedule_shown(&train, false, done)));
        }
    }
}

static void a_run_has_at_most_a_hundred_points_and_evaluations(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        const struct train_spec train = plan(i);
        uint64_t points = 0, evaluations = 0, last = 0;
        for (uint64_t step = 1; step <= train.steps; step++) {
            points += run_schedule_is_point(&train, step);
            if (!run_schedule_is_evaluation(&train, step))
                continue;
            evaluations++;
            assert_true(step == train.steps ||
                        (step - last) * train.batch_size >= train.records);
            last = step;
        }
        assert_true(points <= 100 && evaluations >= 1 && evaluations <= 101);
        assert_int_equal(last, train.steps);
    }
}

static void
ranks_stop_at_every_point_evaluation_and_block_and_nowhere_else(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        const struct train_spec train = plan(i);
        uint64_t block_end = run_schedule_block_end(&train, true, 0), stop = 0;
        for (uint64_t step = 1; step <= train.steps; step++) {
            if (step > stop) {
                stop = run_schedule_stop(&train, step - 1, block_end);
                assert_true(stop >= step && stop <= block_end);
            }
            bool matters = step == block_end || run_schedule_is_point(&train, step) ||
                           run_schedule_is_evaluation(&train, step);
            assert_int_equal(matters, step == stop);
            if (step == block_end)
                block_end = run_schedule_block_end(&train, true, step);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            a_private_run_has_a_block_for_each_quarter_and_a_public_run_one),
        cmocka_unit_test(what_a_private_run_shows_changes_only_where_a_block_ends),
        cmocka_unit_test(a_run_has_at_most_a_hundred_points_and_evaluations),
        cmocka_unit_test(
            ranks_stop_at_every_point_evaluation_and_block_and_nowhere_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
