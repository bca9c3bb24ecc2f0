/* Goal: a budget that a restored backup froze gets a new epoch once, by two persons and
 * by no one else. Method: an old database is put back and detected by the head kept
 * elsewhere. */
#include <signal.h>
#include <string.h>

#include "tests/expect.h"
#include "tests/e2e/approval_fixture.h"

static const struct reply *regrant_of(const char *id, const char *key,
                                      const char *epsilon)
{
    char path[64];
    snprintf(path, sizeof path, "/v1/datasets/%s:regrant", id);
    return client_post(approval_as(key), path, NULL, "{'epsilon':%s,'delta':1e-6}",
                       epsilon);
}

static const struct reply *regrant(const char *key, const char *epsilon)
{
    return regrant_of("people", key, epsilon);
}

static double epoch_of_people(void)
{
    return reply_number(
        client_get(approval_as(approval_scene.bob), "/v1/datasets/people/budget"),
        "epoch");
}

/* Declares the dataset, which never had content, with another budget. */
static const struct reply *declare_anew(const char *id, const char *privacy)
{
    return client_create(approval_as(approval_scene.ana), "/v1/datasets", DECLARATION,
                         id, privacy);
}

static void a_further_epoch_takes_a_second_person_too(void **state)
{
    (void)state;
    assert_status(approval_decide(approval_scene.bob, "approve",
                                  approval_propose("unused", SAMPLE_BUDGET(4), 2)),
                  200);
    assert_status(approval_decide(approval_scene.bob, "approve",
                                  approval_propose("people", SAMPLE_BUDGET(4), 1)),
                  200);
    assert_status(
        client_act(approval_as(approval_scene.ana), "/v1/datasets/people:import"), 200);
    assert_problem(regrant(approval_scene.ana, "1"), 409, "dataset_not_frozen");
    approval_freeze("people");
    assert_problem(declare_anew("unused", SAMPLE_BUDGET(2)), 409, "dataset_frozen");
    assert_problem(regrant(approval_scene.carl, "1"), 403, "forbidden");
    assert_problem(regrant(approval_scene.eve, "1"), 404, "not_found");
    assert_invalid_at(regrant(approval_scene.ana, "31"), "/epsilon");
    const struct reply *asked = regrant(approval_scene.ana, "1");
    assert_status(asked, 202);
    assert_string_equal(reply_text(asked, "kind"), "regrant");
    assert_string_equal(reply_text(asked, "state"), "PENDING");
    assert_true(reply_number(asked, "privacy.epsilon") == 1);
    const char *grant = reply_text(asked, "id");
    assert_string_equal(reply_text(regrant(approval_scene.ana, "1"), "id"), grant);
    assert_problem(regrant(approval_scene.ana, "2"), 409, "grant_pending");
    assert_problem(regrant(approval_scene.bob, "1"), 409, "grant_pending");
    assert_true(epoch_of_people() == 1);
    assert_int_equal(daemon_verify(&approval_scene.stage->daemon), 0);

    assert_problem(approval_decide(approval_scene.ana_officer, "approve", grant), 403,
                   "second_person");
    assert_status(approval_decide(approval_scene.bob, "reject", grant), 200);
    assert_problem(approval_decide(approval_scene.bob, "approve", grant), 409,
                   "grant_decided");
    assert_true(epoch_of_people() == 1);
    grant = reply_text(regrant(approval_scene.ana, "1"), "id");
    assert_status(approval_decide(approval_scene.bob, "approve", grant), 200);
    assert_status(approval_decide(approval_scene.bob, "approve", grant), 200);
    assert_true(epoch_of_people() == 2);
    assert_problem(regrant(approval_scene.ana, "1"), 409, "dataset_not_frozen");
    const struct reply *ledger =
        client_get(approval_as(approval_scene.bob),
                   "/v1/datasets/people/ledger?order=desc&page_size=1");
    assert_string_equal(reply_text(ledger, "entries.0.kind"), "GRANT");
    assert_string_equal(reply_text(ledger, "entries.0.actor"), "ana");
    assert_string_equal(reply_text(ledger, "entries.0.meta.approved_by"), "bob");
    assert_string_equal(
        reply_text(client_get(approval_as(approval_scene.ana), "/v1/datasets/people"),
                   "grant.state"),
        "APPROVED");
    const struct reply *list =
        client_get(approval_as(approval_scene.bob), "/v1/grants?state=APPROVED");
    size_t i, of_people = 0;
    const json_t *found;
    json_array_foreach(reply_at(list, "grants"), i, found) of_people +=
        strcmp(json_string_value(json_object_get(found, "dataset")), "people") == 0;
    assert_int_equal(of_people, 2);
    approval_as(approval_scene.carl);
    train(&approval_scene.stage->client, SAMPLE_JOB, "people", 3, 9.0);
    assert_int_equal(daemon_verify(&approval_scene.stage->daemon), 0);
}

/* Reservations under the first epoch may have been lost, so it counts as fully
 * spent. */
static void a_budget_that_has_had_a_further_epoch_is_not_replaced(void **state)
{
    (void)state;
    const struct reply *asked = regrant_of("unused", approval_scene.ana, "1");
    assert_status(asked, 202);
    assert_status(
        approval_decide(approval_scene.bob, "approve", reply_text(asked, "id")), 200);
    assert_problem(declare_anew("unused", SAMPLE_BUDGET(2)), 409, "already_exists");
    assert_int_equal(daemon_verify(&approval_scene.stage->daemon), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_further_epoch_takes_a_second_person_too),
        cmocka_unit_test(a_budget_that_has_had_a_further_epoch_is_not_replaced),
    };
    return cmocka_run_group_tests(tests, approval_begin, stage_end);
}
