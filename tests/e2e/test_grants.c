/* Goal: on a daemon with keys nothing is granted until a person other than the proposer
 * agrees: neither a budget nor that records are public. Deciding twice, deciding too
 * late, and approving one's own proposal with another key are refused; after a kill a
 * grant is decided completely or not at all. Method: a daemon with keys of several
 * owners, made by `epsilond key` on the host. */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "tests/expect.h"
#include "tests/e2e/approval_fixture.h"
#include "tests/e2e/receiver_fixture.h"

enum { KILLS = 6 };

static void nothing_is_granted_before_it_is_approved(void **state)
{
    (void)state;
    const char *grant = approval_propose("people", SAMPLE_BUDGET(4), 1);
    struct client *client = approval_as(approval_scene.ana);
    assert_problem(client_act(client, "/v1/datasets/people:import"), 409,
                   "grant_pending");
    assert_problem(client_post(client, "/v1/datasets/people:import", NULL,
                               "{'postgresql':{'host':'127.0.0.1','database':'d',"
                               "'user':'u','password':'p',"
                               "'query':'SELECT 1'}}"),
                   409, "grant_pending");
    assert_problem(client_get(client, "/v1/datasets/people/budget"), 409,
                   "grant_pending");
    assert_problem(client_get(client, "/v1/datasets/people/ledger"), 409,
                   "grant_pending");
    assert_problem(client_get(client, "/v1/job-schema?dataset=people"), 409,
                   "grant_pending");
    assert_problem(client_create(client, "/v1/jobs", SAMPLE_JOB, "people", 3, 9.0), 409,
                   "grant_pending");
    assert_problem(
        client_post(client, "/v1/jobs:estimate", NULL, SAMPLE_JOB, "people", 3, 9.0),
        409, "grant_pending");
    assert_true(
        json_is_null(reply_at(client_get(client, "/v1/datasets/people"), "guarantee")));
    assert_true(reply_number(client_get(client, "/v1/ledger/head"), "seq") == 0);
    const struct reply *list = client_get(client, "/v1/grants?state=PENDING");
    assert_int_equal(json_array_size(reply_at(list, "grants")), 1);
    assert_string_equal(reply_text(list, "grants.0.id"), grant);
    assert_int_equal(daemon_verify(&approval_scene.stage->daemon), 0);
}

static void who_proposed_it_does_not_decide_it(void **state)
{
    (void)state;
    const struct reply *list =
        client_get(approval_as(approval_scene.bob), "/v1/grants?state=PENDING");
    const char *grant = reply_text(list, "grants.0.id");
    assert_problem(approval_decide(approval_scene.ana, "approve", grant), 403,
                   "forbidden");
    assert_problem(approval_decide(approval_scene.ana_officer, "approve", grant), 403,
                   "second_person");
    assert_problem(approval_decide(approval_scene.ana_officer, "reject", grant), 403,
                   "second_person");
    assert_problem(approval_decide(approval_scene.carl, "approve", grant), 403,
                   "forbidden");
    char path[96];
    snprintf(path, sizeof path, "/v1/grants/%s", grant);
    assert_problem(client_get(approval_as(approval_scene.eve), "%s", path), 404,
                   "not_found");
    assert_int_equal(
        json_array_size(reply_at(
            client_get(approval_as(approval_scene.eve), "/v1/grants"), "grants")),
        0);
    snprintf(path, sizeof path, "/v1/grants/%s:approve", grant);
    assert_invalid_at(
        client_post(approval_as(approval_scene.bob), path, NULL, "{'reason':''}"),
        "/reason");
    assert_invalid_at(client_post(approval_as(approval_scene.bob), path, NULL,
                                  "{'reason':'two\\nlines'}"),
                      "/reason");
    assert_problem(approval_decide(approval_scene.bob, "approve",
                                   "grt_01JJZ0000000000000000000AB"),
                   404, "not_found");
    assert_true(
        reply_number(client_get(approval_as(approval_scene.bob), "/v1/ledger/head"),
                     "seq") == 0);
}

/* Makes a key through the API as ana: of role analyst, with this scope. */
static void mint(char key[KEY_SIZE], const char *scope)
{
    const struct reply *made = client_post(
        approval_as(approval_scene.ana), "/v1/keys", NULL,
        "{'owner':'ana','project':'fraud','role':'analyst','scopes':['%s']}", scope);
    assert_status(made, 201);
    snprintf(key, KEY_SIZE, "%s", reply_text(made, "key"));
}

/* A person who could make a key that proposes would approve that key's proposals. */
static void nobody_mints_a_second_self_to_propose(void **state)
{
    (void)state;
    char minted[KEY_SIZE];
    mint(minted, "datasets:admin");
    const struct reply *list =
        client_get(approval_as(approval_scene.bob), "/v1/grants");
    size_t grants = json_array_size(reply_at(list, "grants"));
    assert_problem(client_create(approval_as(minted), "/v1/datasets", DECLARATION,
                                 "shadow", SAMPLE_BUDGET(1)),
                   403, "forbidden");
    list = client_get(approval_as(approval_scene.bob), "/v1/grants");
    assert_int_equal(json_array_size(reply_at(list, "grants")), grants);
}

/* A scope that is limited to one project does not open what spans all projects. */
static void a_scope_beside_an_analyst_reads_nothing_of_all_projects(void **state)
{
    (void)state;
    char key[KEY_SIZE];
    approval_make_key(key, "--owner dora --role analyst --project ads --scopes "
                           "audit:read,ops:read");
    assert_problem(client_get(approval_as(key), "/v1/audit"), 403, "forbidden");
    assert_problem(client_get(approval_as(key), "/metrics"), 403, "forbidden");
    assert_status(client_get(approval_as(approval_scene.bob), "/v1/audit"), 200);
}

static void an_approval_is_the_grant_and_names_both(void **state)
{
    (void)state;
    const struct reply *list =
        client_get(approval_as(approval_scene.bob), "/v1/grants?state=PENDING");
    const char *grant = reply_text(list, "grants.0.id");
    const struct reply *approved =
        approval_decide(approval_scene.bob, "approve", grant);
    assert_status(approved, 200);
    assert_string_equal(reply_text(approved, "state"), "APPROVED");
    assert_string_equal(reply_text(approved, "decided_by"), "bob");
    const struct reply *ledger =
        client_get(approval_as(approval_scene.bob), "/v1/datasets/people/ledger");
    assert_int_equal(json_array_size(reply_at(ledger, "entries")), 1);
    assert_string_equal(reply_text(ledger, "entries.0.actor"), "ana");
    assert_string_equal(reply_text(ledger, "entries.0.meta.approved_by"), "bob");
    assert_string_equal(reply_text(ledger, "entries.0.meta.reason"),
                        "looked at the code book");
    /* The same decision again is answered and changes nothing; any other comes too
     * late. */
    assert_status(approval_decide(approval_scene.bob, "approve", grant), 200);
    assert_problem(approval_decide(approval_scene.bob, "reject", grant), 409,
                   "grant_decided");
    char path[96];
    snprintf(path, sizeof path, "/v1/grants/%s:approve", grant);
    assert_problem(client_post(approval_as(approval_scene.bob), path, NULL,
                               "{'reason':'another reason'}"),
                   409, "grant_decided");
    approval_make_key(approval_scene.eve,
                      "--owner dora --role privacy_officer --project ads");
    assert_problem(approval_decide(approval_scene.eve, "approve", grant), 409,
                   "grant_decided");
    const struct reply *acts = client_get(approval_as(approval_scene.bob),
                                          "/v1/audit?action=grant.approve&result=ok");
    assert_int_equal(json_array_size(reply_at(acts, "acts")), 1);
    assert_string_equal(reply_text(acts, "acts.0.actor"), "bob");
    assert_string_equal(reply_text(acts, "acts.0.object"), "people");
    assert_string_equal(reply_text(acts, "acts.0.detail.reason"),
                        "looked at the code book");
    assert_status(
        client_act(approval_as(approval_scene.ana), "/v1/datasets/people:import"), 200);
    assert_string_equal(
        reply_text(client_get(approval_as(approval_scene.ana), "/v1/datasets/people"),
                   "grant.state"),
        "APPROVED");
    approval_as(approval_scene.carl);
    train(&approval_scene.stage->client, SAMPLE_JOB, "people", 3, 9.0);
    assert_int_equal(daemon_verify(&approval_scene.stage->daemon), 0);
}

/* One person with two keys, one of whose names is in capitals. */
static void capitals_are_no_second_person(void **state)
{
    (void)state;
    static const char *const names[] = {"ANA", "Ana"};
    const char *grant = approval_propose("shouted", SAMPLE_BUDGET(4), 63);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char officer[KEY_SIZE], words[96];
        snprintf(words, sizeof words,
                 "--owner %s --role privacy_officer --project fraud", names[i]);
        approval_make_key(officer, words);
        assert_problem(approval_decide(officer, "approve", grant), 403,
                       "second_person");
        assert_problem(approval_decide(officer, "reject", grant), 403, "second_person");
    }
    assert_status(approval_decide(approval_scene.bob, "approve", grant), 200);
}

static void public_records_need_a_second_person_too(void **state)
{
    (void)state;
    const char *grant = approval_propose("everybody", SAMPLE_PUBLIC, 2);
    const struct reply *waiting =
        client_get(approval_as(approval_scene.carl), "/v1/datasets/everybody");
    assert_true(json_is_null(reply_at(waiting, "sha256")));
    assert_problem(client_create(approval_as(approval_scene.carl), "/v1/jobs",
                                 "{'dataset':'people','evaluation':'everybody',"
                                 "'model':{'preset':'linear'},'algorithm':{'name':"
                                 "'dpsgd'},'batch_size':50,'steps':3,'privacy':"
                                 "{'noise_multiplier':9}}"),
                   409, "grant_pending");
    assert_problem(
        client_act(approval_as(approval_scene.ana), "/v1/datasets/everybody:import"),
        409, "grant_pending");
    assert_status(approval_decide(approval_scene.bob, "approve", grant), 200);
    assert_status(
        client_act(approval_as(approval_scene.ana), "/v1/datasets/everybody:import"),
        200);
    assert_problem(
        client_get(approval_as(approval_scene.bob), "/v1/datasets/everybody/ledger"),
        409, "dataset_public");
}

static void what_is_rejected_is_never_granted(void **state)
{
    (void)state;
    const char *grant = approval_propose("refused", SAMPLE_BUDGET(4), 3);
    assert_status(approval_decide(approval_scene.bob, "reject", grant), 200);
    assert_problem(approval_decide(approval_scene.bob, "approve", grant), 409,
                   "grant_decided");
    assert_problem(
        client_act(approval_as(approval_scene.ana), "/v1/datasets/refused:import"), 409,
        "grant_pending");
    assert_status(
        client_delete(approval_as(approval_scene.ana), "/v1/datasets/refused"), 204);
    const char *deleted = approval_propose("dropped", SAMPLE_BUDGET(4), 4);
    assert_status(
        client_delete(approval_as(approval_scene.ana), "/v1/datasets/dropped"), 204);
    assert_problem(approval_decide(approval_scene.bob, "approve", deleted), 404,
                   "not_found");
}

/* Replaces the declaration of the dataset with this text, sent with this key. */
static const struct reply *put_text(const char *key, const char *id, char *text)
{
    char path[64];
    snprintf(path, sizeof path, "/v1/datasets/%s", id);
    for (char *quote = text; (quote = strchr(quote, '\'')) != NULL;)
        *quote = '"';
    return client_send(approval_as(key),
                       &(struct request){.method = "PUT",
                                         .path = path,
                                         .headers = {"Content-Type: application/json"},
                                         .body = text,
                                         .size = strlen(text)});
}

static const struct reply *put(const char *key, const char *id, const char *privacy)
{
    char text[512];
    snprintf(text, sizeof text, DECLARATION, id, privacy);
    return put_text(key, id, text);
}

/* The same with another range of a column. */
static const struct reply *put_wider(const char *key, const char *id,
                                     const char *privacy)
{
    char text[512];
    snprintf(text, sizeof text, DECLARATION, id, privacy);
    char *range = strstr(text, "[-1,1]");
    assert_non_null(range);
    memcpy(range, "[-9,9]", strlen("[-9,9]"));
    return put_text(key, id, text);
}

/* The schema is part of what an officer reads, so replacing it makes a new grant with a
 * new id; replacing the display name does not. */
static void a_schema_that_was_exchanged_is_not_approved(void **state)
{
    (void)state;
    char minted[KEY_SIZE];
    mint(minted, "datasets:admin");
    const char *first = approval_propose("exchanged", SAMPLE_BUDGET(4), 62);
    const struct reply *same = put(minted, "exchanged", SAMPLE_BUDGET(4));
    assert_string_equal(reply_text(same, "grant.id"), first);
    same = put(approval_scene.ana, "exchanged",
               SAMPLE_BUDGET(4) ",'display_name':'Points'");
    assert_status(same, 200);
    assert_string_equal(reply_text(same, "grant.id"), first);

    assert_problem(put_wider(minted, "exchanged", SAMPLE_BUDGET(4)), 403, "forbidden");
    const struct reply *anew =
        put_wider(approval_scene.ana, "exchanged", SAMPLE_BUDGET(4));
    assert_status(anew, 200);
    assert_string_equal(reply_text(anew, "grant.state"), "PENDING");
    assert_problem(approval_decide(approval_scene.bob, "approve", first), 404,
                   "not_found");
    assert_string_equal(
        put_wider(approval_scene.ana, "exchanged", SAMPLE_BUDGET(4))->body, anew->body);
    assert_status(
        approval_decide(approval_scene.bob, "approve", reply_text(anew, "grant.id")),
        200);
    assert_status(
        client_act(approval_as(approval_scene.ana), "/v1/datasets/exchanged:import"),
        200);
}

/* A new promise grants nothing before it is approved, and until then the first cannot
 * be used: two people agreed to the first, not to what the dataset declares now. */
static void another_promise_takes_a_second_person_again(void **state)
{
    (void)state;
    char minted[KEY_SIZE], dora[KEY_SIZE];
    approval_make_key(dora, "--owner dora --role data_owner --project fraud");
    mint(minted, "datasets:admin");
    const char *first = approval_propose("mistyped", SAMPLE_BUDGET(4), 60);
    /* A pending grant is replaced by another, which is not the one that the officer has
     * read. */
    const struct reply *anew = put(approval_scene.ana, "mistyped", SAMPLE_BUDGET(3));
    assert_status(anew, 200);
    assert_problem(approval_decide(approval_scene.bob, "approve", first), 404,
                   "not_found");
    const char *grant = reply_text(anew, "grant.id");
    const struct reply *waiting =
        client_get(approval_as(approval_scene.bob), "/v1/grants/%s", grant);
    assert_true(json_is_null(reply_at(waiting, "replaces")));
    waiting = approval_decide(approval_scene.bob, "approve", grant);
    assert_status(waiting, 200);
    assert_true(json_is_null(reply_at(waiting, "replaces")));
    const struct reply *head =
        client_get(approval_as(approval_scene.bob), "/v1/ledger/head");

    assert_problem(put(minted, "mistyped", SAMPLE_BUDGET(2)), 403, "forbidden");
    assert_problem(put(dora, "mistyped", SAMPLE_BUDGET(2)), 403, "forbidden");
    anew = put(approval_scene.ana, "mistyped", SAMPLE_BUDGET(2));
    assert_status(anew, 200);
    assert_string_equal(reply_text(anew, "grant.state"), "PENDING");
    assert_string_equal(reply_text(anew, "grant.proposed_by"), "ana");
    assert_true(json_is_null(reply_at(anew, "guarantee")));
    assert_string_equal(put(approval_scene.ana, "mistyped", SAMPLE_BUDGET(2))->body,
                        anew->body);
    assert_string_equal(
        client_get(approval_as(approval_scene.bob), "/v1/ledger/head")->body,
        head->body);
    assert_problem(
        client_act(approval_as(approval_scene.ana), "/v1/datasets/mistyped:import"),
        409, "grant_pending");
    assert_problem(
        client_get(approval_as(approval_scene.ana), "/v1/datasets/mistyped/budget"),
        409, "grant_pending");
    const struct reply *list = client_get(approval_as(approval_scene.ana),
                                          "/v1/datasets?view=summary&q=mistyped");
    assert_true(json_is_null(reply_at(list, "datasets.0.budget")));
    assert_int_equal(daemon_verify(&approval_scene.stage->daemon), 0);
    assert_int_equal(daemon_stop(&approval_scene.stage->daemon, SIGTERM), 0);
    daemon_start(&approval_scene.stage->daemon, NULL);

    /* The officer sees the grant that was approved before. */
    grant = reply_text(anew, "grant.id");
    list = client_get(approval_as(approval_scene.bob), "/v1/grants?state=PENDING");
    assert_string_equal(reply_text(list, "grants.0.id"), grant);
    assert_true(reply_number(list, "grants.0.replaces.epsilon") == 3);
    assert_true(reply_number(list, "grants.0.replaces.delta") > 0);
    assert_problem(approval_decide(approval_scene.ana_officer, "approve", grant), 403,
                   "second_person");
    assert_status(approval_decide(approval_scene.bob, "approve", grant), 200);
    assert_status(approval_decide(approval_scene.bob, "approve", grant), 200);
    const struct reply *ledger =
        client_get(approval_as(approval_scene.bob), "/v1/datasets/mistyped/ledger");
    assert_int_equal(json_array_size(reply_at(ledger, "entries")), 2);
    assert_true(reply_number(ledger, "entries.1.meta.replaces") ==
                reply_number(ledger, "entries.0.seq"));
    assert_string_equal(reply_text(ledger, "entries.1.meta.approved_by"), "bob");
    assert_string_equal(reply_text(ledger, "entries.1.actor"), "ana");
    assert_status(
        client_act(approval_as(approval_scene.ana), "/v1/datasets/mistyped:import"),
        200);
    approval_as(approval_scene.carl);
    train(&approval_scene.stage->client, SAMPLE_JOB, "mistyped", 3, 9.0);
    assert_int_equal(daemon_verify(&approval_scene.stage->daemon), 0);
}

/* Returning to what the ledger already grants needs no approval, and a rejected promise
 * may be proposed again. */
static void a_promise_that_is_taken_back_leaves_the_one_that_was_granted(void **state)
{
    (void)state;
    assert_status(approval_decide(approval_scene.bob, "approve",
                                  approval_propose("returned", SAMPLE_BUDGET(4), 61)),
                  200);
    const struct reply *wide = put(approval_scene.ana, "returned", SAMPLE_BUDGET(8));
    assert_string_equal(reply_text(wide, "grant.state"), "PENDING");
    const struct reply *back = put(approval_scene.ana, "returned", SAMPLE_BUDGET(4));
    assert_status(back, 200);
    assert_true(json_is_null(reply_at(back, "grant")));
    assert_true(reply_number(back, "guarantee.epsilon") == 4);
    assert_problem(
        approval_decide(approval_scene.bob, "approve", reply_text(wide, "grant.id")),
        404, "not_found");
    assert_problem(put(approval_scene.ana, "returned", SAMPLE_PUBLIC), 409,
                   "dataset_immutable");

    wide = put(approval_scene.ana, "returned", SAMPLE_BUDGET(8));
    const char *grant = reply_text(wide, "grant.id");
    assert_status(approval_decide(approval_scene.bob, "reject", grant), 200);
    const struct reply *asked = put(approval_scene.ana, "returned", SAMPLE_BUDGET(8));
    assert_string_equal(reply_text(asked, "grant.state"), "PENDING");
    assert_string_not_equal(reply_text(asked, "grant.id"), grant);
    assert_status(put(approval_scene.ana, "returned", SAMPLE_BUDGET(4)), 200);
    assert_status(
        client_act(approval_as(approval_scene.ana), "/v1/datasets/returned:import"),
        200);
    assert_int_equal(daemon_verify(&approval_scene.stage->daemon), 0);
}

static void a_repeated_registration_is_one_grant(void **state)
{
    (void)state;
    const struct reply *once =
        client_post(approval_as(approval_scene.ana), "/v1/datasets", "k-1", DECLARATION,
                    "twice", SAMPLE_BUDGET(2));
    const struct reply *again =
        client_post(approval_as(approval_scene.ana), "/v1/datasets", "k-1", DECLARATION,
                    "twice", SAMPLE_BUDGET(2));
    assert_status(once, 201);
    assert_status(again, 201);
    assert_string_equal(reply_text(once, "grant.id"), reply_text(again, "grant.id"));
    const struct reply *list =
        client_get(approval_as(approval_scene.bob), "/v1/grants?state=PENDING");
    assert_int_equal(json_array_size(reply_at(list, "grants")), 1);
    assert_status(
        approval_decide(approval_scene.bob, "reject", reply_text(once, "grant.id")),
        200);
}

/* A promise that cannot be granted is refused when it is proposed. */
static void a_promise_that_cannot_be_made_is_not_proposed(void **state)
{
    (void)state;
    const struct reply *reply =
        client_create(approval_as(approval_scene.ana), "/v1/datasets", DECLARATION,
                      "tiny", "{'epsilon':1e-9,'delta':1e-10}");
    assert_problem(reply, 400, "invalid_argument");
    assert_problem(client_get(approval_as(approval_scene.ana), "/v1/datasets/tiny"),
                   404, "not_found");
}

/* The daemon is killed at some moment around an approval. Afterwards either the grant
 * is pending and the ledger has no entry of it, or it is approved and has one. Both
 * verify. */
static void a_kill_leaves_it_decided_whole_or_not_at_all(void **state)
{
    (void)state;
    for (unsigned i = 0; i < KILLS; i++) {
        char id[16], path[96];
        snprintf(id, sizeof id, "kill-%u", i);
        const char *grant = approval_propose(id, SAMPLE_BUDGET(4), 10 + i);
        struct client *client = approval_as(approval_scene.bob);
        client->lossy = true;
        pid_t child = fork();
        if (child == 0) {
            usleep(300 * i * i);
            kill(approval_scene.stage->daemon.pid, SIGKILL);
            _exit(0);
        }
        approval_decide(approval_scene.bob, "approve", grant);
        assert_int_equal(waitpid(child, NULL, 0), child);
        assert_int_equal(daemon_wait(&approval_scene.stage->daemon), 128 + SIGKILL);
        client->lossy = false;
        assert_int_equal(daemon_verify(&approval_scene.stage->daemon), 0);
        daemon_start(&approval_scene.stage->daemon, NULL);
        const struct reply *now = client_get(client, "/v1/grants/%s", grant);
        bool approved = strcmp(reply_text(now, "state"), "APPROVED") == 0;
        snprintf(path, sizeof path, "/v1/datasets/%s/ledger", id);
        assert_int_equal(client_get(client, "%s", path)->status, approved ? 200 : 409);
        assert_status(approval_decide(approval_scene.bob, "approve", grant), 200);
        const struct reply *ledger = client_get(client, "%s", path);
        assert_int_equal(json_array_size(reply_at(ledger, "entries")), 1);
        const struct reply *acts = client_get(
            client, "/v1/audit?action=grant.approve&result=ok&object=%s", id);
        assert_int_equal(json_array_size(reply_at(acts, "acts")), 1);
    }
}

/* Webhooks report a grant that waits, and its approval. */
static void webhooks_are_told_of_what_waits(void **state)
{
    (void)state;
    struct receiver receiver;
    assert_int_equal(daemon_stop(&approval_scene.stage->daemon, SIGTERM), 0);
    daemon_start(&approval_scene.stage->daemon,
                 (const char *const[]){"--outbound-allow", "127.0.0.1", NULL});
    receiver_open(&receiver);
    assert_status(client_post(approval_as(approval_scene.bob), "/v1/webhooks", NULL,
                              "{'url':'%s/ok/grants','events':['grant.pending',"
                              "'grant.approved']}",
                              receiver.url),
                  201);
    const char *grant = approval_propose("told", SAMPLE_BUDGET(4), 90);
    assert_status(approval_decide(approval_scene.bob, "approve", grant), 200);
    const char *refused = approval_propose("told-too", SAMPLE_PUBLIC, 91);
    assert_status(approval_decide(approval_scene.bob, "reject", refused), 200);
    const struct reply *log = receiver_await(&receiver, 3);
    static const char *const types[] = {"grant.pending", "grant.approved",
                                        "grant.pending"};
    const char *const ids[] = {grant, grant, refused};
    for (size_t i = 0; i < 3; i++) {
        const json_t *entry = json_array_get(log->json, i);
        json_t *message =
            json_loads(json_string_value(json_object_get(entry, "body")), 0, NULL);
        assert_string_equal(json_string_value(json_object_get(message, "type")),
                            types[i]);
        assert_string_equal(json_string_value(json_object_get(message, "id")), ids[i]);
        json_decref(message);
    }
    receiver_close(&receiver);
}

static void without_approvals_a_budget_is_granted_at_once(void **state)
{
    (void)state;
    assert_int_equal(daemon_stop(&approval_scene.stage->daemon, SIGTERM), 0);
    daemon_start(&approval_scene.stage->daemon,
                 (const char *const[]){"--approvals", "off", NULL});
    approval_as(approval_scene.ana);
    ready_points(&approval_scene.stage->client, "alone", 300, 77, SAMPLE_BUDGET(4));
    assert_true(json_is_null(reply_at(
        client_get(approval_as(approval_scene.ana), "/v1/datasets/alone"), "grant")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_granted_before_it_is_approved),
        cmocka_unit_test(who_proposed_it_does_not_decide_it),
        cmocka_unit_test(nobody_mints_a_second_self_to_propose),
        cmocka_unit_test(a_scope_beside_an_analyst_reads_nothing_of_all_projects),
        cmocka_unit_test(an_approval_is_the_grant_and_names_both),
        cmocka_unit_test(capitals_are_no_second_person),
        cmocka_unit_test(public_records_need_a_second_person_too),
        cmocka_unit_test(what_is_rejected_is_never_granted),
        cmocka_unit_test(another_promise_takes_a_second_person_again),
        cmocka_unit_test(a_schema_that_was_exchanged_is_not_approved),
        cmocka_unit_test(a_promise_that_is_taken_back_leaves_the_one_that_was_granted),
        cmocka_unit_test(a_repeated_registration_is_one_grant),
        cmocka_unit_test(a_promise_that_cannot_be_made_is_not_proposed),
        cmocka_unit_test(a_kill_leaves_it_decided_whole_or_not_at_all),
        cmocka_unit_test(webhooks_are_told_of_what_waits),
        cmocka_unit_test(without_approvals_a_budget_is_granted_at_once),
    };
    return cmocka_run_group_tests(tests, approval_begin, stage_end);
}
