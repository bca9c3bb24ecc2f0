/* Goal: rank 0 sends heartbeats between its reports. Method: standard output is a
 * pipe. */
#include "mpi/worker_heartbeat.h"

#include <stdio.h>
#include <unistd.h>

#include "tests/expect.h"

static void a_heartbeat_is_an_empty_line_from_the_start(void **state)
{
    (void)state;
    char byte = 0;
    int from[2], before = dup(STDOUT_FILENO);
    assert_int_equal(pipe(from), 0);
    fflush(stdout);
    assert_int_equal(dup2(from[1], STDOUT_FILENO), STDOUT_FILENO);
    struct worker_heartbeat *heartbeat = worker_heartbeat_open();
    ssize_t got = read(from[0], &byte, 1);
    worker_heartbeat_close(heartbeat);
    worker_heartbeat_close(NULL);
    fflush(stdout);
    assert_int_equal(dup2(before, STDOUT_FILENO), STDOUT_FILENO);
    close(from[0]);
    close(from[1]);
    close(before);
    assert_int_equal(got, 1);
    assert_int_equal(byte, '\n');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_heartbeat_is_an_empty_line_from_the_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
