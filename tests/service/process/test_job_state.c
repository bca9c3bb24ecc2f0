/* Goal: the code allows exactly the transitions in the drawing of job_state.h. */
#include "service/process/job_state.h"

#include <string.h>

#include "tests/expect.h"

static const enum job_state all[] = {JOB_QUEUED,    JOB_RUNNING, JOB_CANCELLING,
                                     JOB_SUCCEEDED, JOB_FAILED,  JOB_CANCELLED};
enum { COUNT = sizeof all / sizeof *all };

static void the_moves_are_those_of_the_drawing(void **state)
{
    (void)state;
    static const char *const drawn[COUNT] = {
        /* to: Q R g S F C */
        [JOB_QUEUED] = ".x...x",     [JOB_RUNNING] = "..xxx.",
        [JOB_CANCELLING] = "...xxx", [JOB_SUCCEEDED] = "......",
        [JOB_FAILED] = "......",     [JOB_CANCELLED] = "......",
    };
    for (size_t from = 0; from < COUNT; from++)
        for (size_t to = 0; to < COUNT; to++)
            assert_int_equal(job_state_may_move(all[from], all[to]),
                             drawn[from][to] == 'x');
}

static void a_finished_job_never_moves(void **state)
{
    (void)state;
    for (size_t from = 0; from < COUNT; from++) {
        bool moves = false;
        for (size_t to = 0; to < COUNT; to++)
            moves = moves || job_state_may_move(all[from], all[to]);
        assert_int_equal(job_state_is_terminal(all[from]), !moves);
    }
}

static void names_read_back(void **state)
{
    (void)state;
    enum job_state read = JOB_QUEUED;
    enum job_reason reason = REASON_NONE;
    for (size_t i = 0; i < COUNT; i++) {
        assert_true(job_state_parse(&read, job_state_name(all[i])));
        assert_int_equal(read, all[i]);
    }
    for (int i = REASON_NONE; i <= REASON_USED_UP; i++) {
        assert_true(job_reason_parse(&reason, job_reason_name((enum job_reason)i)));
        assert_int_equal(reason, i);
    }
    assert_false(job_state_parse(&read, "queued"));
    assert_false(job_reason_parse(&reason, "tired"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_moves_are_those_of_the_drawing),
        cmocka_unit_test(a_finished_job_never_moves),
        cmocka_unit_test(names_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
