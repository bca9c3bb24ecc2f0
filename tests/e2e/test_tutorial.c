/* Goal: the tutorial's commands, typed unchanged by a user who has nothing but an empty
 * folder, get the answers that its text describes. */
#include <stdlib.h>
#include <string.h>

#include "tests/expect.h"
#include "tests/e2e/page_fixture.h"
#include "tests/e2e/stage_fixture.h"

static void the_tutorial_works_as_typed(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    char *session = page_session("docs/tutorial.md", NULL);
    assert_int_equal(page_run(session, stage->daemon.directory, stage->daemon.base), 0);
    free(session);

    page_assert_output("docs/tutorial.md", stage->daemon.directory);

    /* "It is more than three": jobs of epsilon 1 within a promise of 3. */
    const struct reply *jobs =
        client_get(client, "/v1/jobs?dataset=people&state=SUCCEEDED");
    assert_true(json_array_size(reply_at(jobs, "jobs")) > 3);
    assert_true(reply_number(jobs, "jobs.0.metrics.evaluation.accuracy") > 0.7);
    /* "... and so is the promise": declaring the table again granted nothing. */
    const struct reply *ledger = client_get(client, "/v1/datasets/people/ledger");
    size_t grants = 0, at;
    json_t *entry;
    json_array_foreach(reply_at(ledger, "entries"), at, entry) grants +=
        strcmp(json_string_value(json_object_get(entry, "kind")), "GRANT") == 0;
    assert_int_equal(grants, 1);
    assert_int_equal(daemon_verify(&stage->daemon), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_tutorial_works_as_typed),
    };
    return cmocka_run_group_tests(tests, stage_begin, stage_end);
}
