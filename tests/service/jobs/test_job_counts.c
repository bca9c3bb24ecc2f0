/* Goal: jobs are counted by state, in total and for each project. */
#include "service/jobs/job_counts.h"

#include "tests/expect.h"

static void what_happens_in_one_project_is_not_counted_in_another(void **state)
{
    (void)state;
    struct job_counts counts = {0};
    size_t found[JOB_STATE_COUNT];
    job_counts_add(&counts, "fraud", JOB_QUEUED);
    job_counts_add(&counts, "ads", JOB_QUEUED);
    job_counts_add(&counts, "ads", JOB_QUEUED);
    job_counts_move(&counts, "ads", JOB_QUEUED, JOB_RUNNING);
    assert_int_equal(counts.by_state[JOB_QUEUED], 2);
    assert_int_equal(counts.by_state[JOB_RUNNING], 1);
    assert_int_equal(counts.states_version, 4);
    job_counts_of(&counts, "fraud", found);
    assert_int_equal(found[JOB_QUEUED], 1);
    assert_int_equal(found[JOB_RUNNING], 0);
    job_counts_of(&counts, "ads", found);
    assert_int_equal(found[JOB_QUEUED], 1);
    assert_int_equal(found[JOB_RUNNING], 1);
    job_counts_of(&counts, "nowhere", found);
    assert_int_equal(found[JOB_QUEUED], 0);
    job_counts_fini(&counts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_happens_in_one_project_is_not_counted_in_another),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
