/* Goal: the daemon does what the document that it serves says. Method:
 * replay_openapi.py sends every example of a request and compares every answer with the
 * schema promised for it. */
#include <sys/wait.h>

#include "tests/expect.h"
#include "tests/e2e/stage_fixture.h"

static void every_answer_is_one_that_the_document_promises(void **state)
{
    struct stage *stage = *state;
    char command[256];
    snprintf(command, sizeof command,
             "/usr/bin/python3 tests/e2e/replay_openapi.py %s %s", stage->daemon.base,
             stage->daemon.data_dir);
    int status = system(command);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_answer_is_one_that_the_document_promises),
    };
    return cmocka_run_group_tests(tests, stage_begin, stage_end);
}
