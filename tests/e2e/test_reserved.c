/* Goal: a job that is answered with 201 holds its whole price, and is the ledger's
 * newest entry, before any other request is sent. */
#include <string.h>

#include "tests/expect.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"

static void an_answered_job_is_reserved(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    ready_points(client, "points", 300, 8, SAMPLE_BUDGET(4));
    double held = 0;
    for (int i = 0; i < 3; i++) {
        const char *job =
            submit(client, SAMPLE_JOB, "points", SAMPLE_ENDLESS, 100000.0);
        const struct reply *budget = client_get(client, "/v1/datasets/points/budget");
        double now = reply_number(budget, "epsilon_held");
        assert_true(now > held);
        held = now;
        const struct reply *entries = client_get(client, "/v1/datasets/points/ledger");
        char at[32];
        snprintf(at, sizeof at, "entries.%d.kind", i + 1);
        assert_string_equal(reply_text(entries, at), "RESERVE");
        snprintf(at, sizeof at, "entries.%d.job", i + 1);
        assert_string_equal(reply_text(entries, at), job);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answered_job_is_reserved),
    };
    return cmocka_run_group_tests(tests, stage_begin, stage_end);
}
