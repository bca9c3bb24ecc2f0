/* Goal: the schema of a job on a dataset accepts exactly the jobs that the daemon
 * accepts. Method: for a dataset of every format, check_job_schema.py sends bodies of
 * its defaults and of what it forbids, and checks each with the schema too. FULL=1
 * tries the residual networks as well. */
#include <stdlib.h>
#include <sys/wait.h>

#include "tests/expect.h"
#include "tests/e2e/stage_fixture.h"

static void what_it_names_is_taken_and_what_it_forbids_is_refused(void **state)
{
    struct stage *stage = *state;
    char command[160];
    snprintf(command, sizeof command,
             "PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "
             "tests/e2e/check_job_schema.py %s %s",
             stage->daemon.base, getenv("FULL") != NULL ? "resnets" : "");
    int status = system(command);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_it_names_is_taken_and_what_it_forbids_is_refused),
    };
    return cmocka_run_group_tests(tests, stage_begin, stage_end);
}
