/* Goal: the tutorial's commands, typed unchanged by a user who has nothing but an empty
 * folder, get the answers that its text describes. */
#include <stdlib.h>
#include <string.h>

#include "tests/expect.h"
#include "tests/e2e/page_fixture.h"
#include "tests/e2e/stage_fixture.h"

static void assert_printed(const char *text, const char *words)
{
    if (strstr(text, words) == NULL)
        fail_msg("no %s in what the tutorial printed:\n%.6000s", words, text);
}

static void the_tutorial_works_as_typed(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    char *session = page_session("docs/tutorial.md", NULL);
    assert_int_equal(page_run(session, stage->daemon.directory, stage->daemon.base), 0);
    free(session);

    char *text = page_output(stage->daemon.directory);
    assert_printed(text, "\"/columns/1/range\"");
    assert_printed(text, "\"import_failed\"");
    assert_printed(text, "\"line\":8}");
    assert_printed(text, "{\"state\":\"READY\",\"records\":20000}");
    assert_printed(text, "{\"state\":\"READY\",\"records\":4000}");
    assert_printed(text, "\"fits\": \"yes\"");
    assert_printed(text, "\"probabilities\"");
    assert_printed(text, "\"CANCELLED\"");
    assert_printed(text, "\"budget_exhausted\"");
    assert_printed(text, "{\"id\":\"quiet\",\"holdout\":0.2}");
    assert_printed(text, "{\"value\":\"low\",\"count\":");
    assert_printed(text, "{\"probability\":0.5,\"value\":");
    assert_printed(text,
                   "{\"records\":4000,\"epsilon\":0.2,\"accuracy\":{\"value\":0.");
    assert_printed(text, "{\"part\":\"holdout\",\"epsilon_spent\":0.");
    assert_printed(text, "{\"seq\":");
    free(text);

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
