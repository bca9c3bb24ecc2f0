/* Goal: work that runs elsewhere is reserved, authorised in blocks and settled like a
 * job: its entries say so, a block is granted once, authorised blocks stay spent
 * however the lease ends, also after a kill, and blocks are granted only to the
 * charge's creator. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/expect.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"

enum { KEY_SIZE = 64 };

#define PROCESS       "0123456789abcdef"
#define OTHER_PROCESS "fedcba9876543210"

#define SAMPLED                                                                        \
    "{'kind':'sampled_gaussian','sampler':'poisson','sampling_rate':0.01,"             \
    "'noise_multiplier':1,'steps':1000,'neighbour':'add_remove'}"
#define CHARGE                                                                         \
    "{'dataset':'%s','engine':'opacus 1.5','unit':'record','mechanism':" SAMPLED "}"

static int begin(void **state)
{
    stage_begin(state);
    struct stage *stage = *state;
    ready_points(&stage->client, "people", 300, 1, SAMPLE_BUDGET(8));
    return 0;
}

static struct client *client_of(void **state)
{
    return &((struct stage *)*state)->client;
}

static const char *make(struct client *client, const char *dataset)
{
    const struct reply *made = client_create(client, "/v1/charges", CHARGE, dataset);
    assert_status(made, 201);
    return reply_text(made, "id");
}

static const struct reply *ask_block(struct client *client, const char *charge,
                                     const char *process, unsigned block)
{
    char path[96];
    snprintf(path, sizeof path, "/v1/charges/%s/blocks", charge);
    return client_create(client, path, "{'block':%u,'process':'%s'}", block, process);
}

/* Opacus and dp-accounting compute 2.101365271648 (accounting.md 2.2). */
static void a_charge_costs_what_other_accountants_say(void **state)
{
    struct client *client = client_of(state);
    const struct reply *estimate =
        client_post(client, "/v1/charges:estimate", NULL, CHARGE, "people");
    assert_status(estimate, 200);
    assert_string_equal(reply_text(estimate, "fits"), "yes");
    double epsilon = reply_number(estimate, "epsilon_planned");
    assert_true(epsilon >= 2.08 && epsilon <= 2.1014);
    assert_string_equal(reply_text(estimate, "priced_as.relation"), "zero_out");
    assert_true(reply_number(estimate, "blocks") == 100);
    assert_true(reply_number(client_get(client, "/v1/datasets/people/budget"),
                             "epsilon_held") == 0);
}

static void a_charge_is_held_then_spent_by_its_blocks(void **state)
{
    struct client *client = client_of(state);
    const char *id = make(client, "people");
    const struct reply *budget = client_get(client, "/v1/datasets/people/budget");
    assert_true(reply_number(budget, "epsilon_held") > 2);
    assert_true(json_is_true(reply_at(budget, "conditional")));
    assert_non_null(strstr(reply_text(budget, "condition"), "declared"));
    for (unsigned block = 1; block <= 3; block++) {
        const struct reply *granted = ask_block(client, id, PROCESS, block);
        assert_status(granted, 201);
        assert_true(reply_number(granted, "first_step") == 10 * block - 9);
        assert_true(reply_number(granted, "last_step") == 10 * block);
    }
    const struct reply *charge = client_get(client, "/v1/charges/%s", id);
    assert_true(reply_number(charge, "authorised_steps") == 30);
    double spent = reply_number(charge, "epsilon_spent");
    assert_true(spent > 0 && spent < 2);
    charge = client_act(client, "/v1/charges/%s:settle", id);
    assert_status(charge, 200);
    assert_string_equal(reply_text(charge, "state"), "SETTLED");
    budget = client_get(client, "/v1/datasets/people/budget");
    assert_true(reply_number(budget, "epsilon_held") == 0);
    assert_true(reply_number(budget, "epsilon_spent") > 0);
    assert_problem(client_act(client, "/v1/charges/%s:settle", id), 409,
                   "charge_ended");
    assert_problem(ask_block(client, id, PROCESS, 4), 409, "charge_ended");
    const struct reply *ledger =
        client_get(client, "/v1/datasets/people/ledger?order=desc&page_size=2");
    assert_string_equal(reply_text(ledger, "entries.0.kind"), "COMMIT");
    assert_string_equal(reply_text(ledger, "entries.0.job"), id);
    assert_true(reply_number(ledger, "entries.0.meta.steps") == 30);
    assert_string_equal(reply_text(ledger, "entries.1.kind"), "RESERVE");
    assert_string_equal(reply_text(ledger, "entries.1.external"), "opacus 1.5");
    assert_string_equal(reply_text(ledger, "entries.1.actor"), "local");
}

static void a_block_is_granted_once_and_in_its_turn(void **state)
{
    char path[96];
    struct client *client = client_of(state);
    const char *id = make(client, "people");
    assert_problem(ask_block(client, id, PROCESS, 2), 409, "block_out_of_order");
    assert_problem(ask_block(client, id, PROCESS, 101), 409, "block_out_of_order");
    snprintf(path, sizeof path, "/v1/charges/%s/blocks", id);
    const struct reply *granted =
        client_post(client, path, "b1", "{'block':1,'process':'" PROCESS "'}");
    assert_status(granted, 201);
    /* If the answer is lost on its way, the process that asked gets the same one
     * again. */
    const struct reply *again =
        client_post(client, path, "b1", "{'block':1,'process':'" PROCESS "'}");
    char replayed[256];
    assert_status(again, 201);
    assert_true(reply_header(again, "idempotency-replayed", replayed));
    assert_problem(
        client_post(client, path, "b1", "{'block':1,'process':'" OTHER_PROCESS "'}"),
        422, "idempotency_key_reused");
    const struct reply *refused = ask_block(client, id, PROCESS, 1);
    assert_problem(refused, 409, "block_granted");
    assert_string_equal(reply_text(refused, "errors.0.pointer"), "/block");
    assert_problem(ask_block(client, id, OTHER_PROCESS, 1), 409, "block_granted");
    assert_status(ask_block(client, id, OTHER_PROCESS, 2), 201);
    assert_status(client_act(client, "/v1/charges/%s:settle", id), 200);
}

/* Everything that was authorised is in a COMMIT, however the lease ended. */
static void a_lease_ends_by_itself_and_what_was_authorised_stays_spent(void **state)
{
    struct client *client = client_of(state);
    const struct reply *made = client_create(
        client, "/v1/charges",
        "{'dataset':'people','engine':'sql','unit':'record','lease_s':10,'block_steps':"
        "1,"
        "'mechanism':{'kind':'laplace','noise_scale':20,'steps':5,'neighbour':"
        "'zero_out'}}");
    assert_status(made, 201);
    const char *id = reply_text(made, "id");
    assert_status(ask_block(client, id, PROCESS, 1), 201);
    assert_status(ask_block(client, id, PROCESS, 2), 201);
    const struct reply *charge = client_get(client, "/v1/charges/%s", id);
    while (strcmp(reply_text(charge, "state"), "OPEN") == 0) {
        usleep(200000);
        charge = client_get(client, "/v1/charges/%s", id);
    }
    assert_string_equal(reply_text(charge, "state"), "LAPSED");
    assert_true(reply_number(charge, "authorised_steps") == 2);
    const struct reply *ledger =
        client_get(client, "/v1/datasets/people/ledger?order=desc&page_size=1");
    assert_string_equal(reply_text(ledger, "entries.0.job"), id);
    assert_true(reply_number(ledger, "entries.0.meta.steps") == 2);
    assert_problem(ask_block(client, id, PROCESS, 3), 409, "charge_ended");
    assert_problem(client_act(client, "/v1/charges/%s:settle", id), 409,
                   "charge_ended");
}

static void a_lease_goes_on_over_a_kill(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    const char *id = make(client, "people");
    assert_status(ask_block(client, id, PROCESS, 1), 201);
    daemon_stop(&stage->daemon, SIGKILL);
    daemon_start(&stage->daemon, NULL);
    const struct reply *charge = client_get(client, "/v1/charges/%s", id);
    assert_string_equal(reply_text(charge, "state"), "OPEN");
    assert_true(reply_number(charge, "authorised_steps") == 10);
    assert_problem(ask_block(client, id, PROCESS, 1), 409, "block_granted");
    assert_status(ask_block(client, id, OTHER_PROCESS, 2), 201);
    assert_problem(client_delete(client, "/v1/datasets/people"), 409, "dataset_in_use");
    assert_status(client_act(client, "/v1/charges/%s:settle", id), 200);
}

/* A dataset whose rows are kept elsewhere has a budget as soon as it is declared. */
static void a_dataset_may_be_a_ledger_alone(void **state)
{
    struct client *client = client_of(state);
    assert_status(declare_points(client, "elsewhere", SAMPLE_BUDGET(3)), 201);
    assert_invalid_at(client_create(client, "/v1/charges", CHARGE, "elsewhere"),
                      "/records");
    static const char with_records[] =
        "{'dataset':'elsewhere','engine':'jax','unit':'record','records':%u,'mechanism'"
        ":"
        "{'kind':'gaussian','sampler':'shuffled','noise_multiplier':20,'steps':4,"
        "'neighbour':'add_remove'}}";
    assert_status(client_create(client, "/v1/charges", with_records, 1000), 201);
    assert_invalid_at(client_create(client, "/v1/charges", with_records, 1001),
                      "/records");
    assert_invalid_at(
        client_create(client, "/v1/charges",
                      "{'dataset':'people','engine':'jax','unit':'record',"
                      "'records':299,'mechanism':" SAMPLED "}"),
        "/records");
    const struct reply *list =
        client_get(client, "/v1/charges?dataset=elsewhere&state=OPEN");
    assert_int_equal(json_array_size(reply_at(list, "charges")), 1);
}

static void what_does_not_fit_is_refused_with_what_would(void **state)
{
    struct client *client = client_of(state);
    const struct reply *refused = client_create(
        client, "/v1/charges",
        "{'dataset':'people','engine':'sql','unit':'record','mechanism':{'kind':"
        "'gaussian','noise_multiplier':1,'steps':20,'neighbour':'add_remove'}}");
    assert_problem(refused, 409, "budget_exhausted");
    assert_true(reply_number(refused, "largest_epsilon") > 1);
    assert_true(reply_number(refused, "most_steps") < 20);
}

static void bad_charges_are_refused_at_their_place(void **state)
{
    struct client *client = client_of(state);
    static const struct {
        const char *mechanism, *pointer;
    } cases[] = {
        {"{'kind':'approximate','epsilon':1,'delta':1e-6,'steps':1,'neighbour':"
         "'add_remove'}",
         "/mechanism/kind"},
        {"{'kind':'error_feedback','steps':1,'neighbour':'add_remove'}",
         "/mechanism/kind"},
        {"{'kind':'gaussian','noise_multiplier':2,'steps':1,'neighbour':'replace_one'}",
         "/mechanism/neighbour"},
        {"[{'kind':'zcdp','rho':0.1,'steps':1,'neighbour':'add_remove'},{'kind':'pure',"
         "'epsilon':1,'steps':1,'neighbour':'replace_one'}]",
         "/mechanism/1/neighbour"},
        {"{'kind':'gaussian','noise_multiplier':2,'steps':1}", "/mechanism/neighbour"},
        {"{'kind':'sampled_gaussian','sampler':'shuffled','sampling_rate':0.1,"
         "'noise_multiplier':2,'steps':1,'neighbour':'add_remove'}",
         "/mechanism/sampler"},
        {"{'kind':'sampled_gaussian','sampling_rate':0.1,'noise_multiplier':2,'steps':"
         "1,"
         "'neighbour':'add_remove'}",
         "/mechanism/sampler"},
        {"{'kind':'sampled_gaussian','sampler':'poisson','sampling_rate':0,"
         "'noise_multiplier':2,'steps':1,'neighbour':'add_remove'}",
         "/mechanism/sampling_rate"},
        {"{'kind':'gaussian','sampling_rate':0.5,'noise_multiplier':2,'steps':1,"
         "'neighbour':'add_remove'}",
         "/mechanism/sampling_rate"},
        {"{'kind':'laplace','sampler':'poisson','noise_scale':2,'steps':1,'neighbour':"
         "'add_remove'}",
         "/mechanism/sampler"},
        {"{'kind':'pure','epsilon':1,'delta':1e-6,'steps':1,'neighbour':'add_remove'}",
         "/mechanism/delta"},
        {"{'kind':'zcdp','rho':500,'steps':1,'neighbour':'add_remove'}",
         "/mechanism/rho"},
        {"{'kind':'zcdp','rho':0.1,'steps':0,'neighbour':'add_remove'}",
         "/mechanism/steps"},
        {"[]", "/mechanism"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_invalid_at(
            client_create(
                client, "/v1/charges",
                "{'dataset':'people','engine':'x','unit':'record','mechanism':"
                "%s}",
                cases[i].mechanism),
            cases[i].pointer);
    static const struct {
        const char *members, *pointer;
    } others[] = {
        {"'engine':'x','unit':'person'", "/unit"},
        {"'engine':'x'", "/unit"},
        {"'engine':'','unit':'record'", "/engine"},
        {"'engine':'x','unit':'record','lease_s':9", "/lease_s"},
        {"'engine':'x','unit':'record','block_steps':0", "/block_steps"},
        {"'engine':'x','unit':'record','parts':['holdout']", "/parts"},
        {"'engine':'x','unit':'record','parts':['test']", "/parts/0"},
        {"'engine':'x','unit':'record','noise':1", "/noise"},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_invalid_at(client_create(client, "/v1/charges",
                                        "{'dataset':'people','mechanism':" SAMPLED
                                        ",%s}",
                                        others[i].members),
                          others[i].pointer);
    assert_problem(client_create(client, "/v1/charges", CHARGE, "nowhere"), 404,
                   "not_found");
    const char *id = make(client, "people");
    static const char *const bad_blocks[][2] = {
        {"{'block':0,'process':'" PROCESS "'}", "/block"},
        {"{'block':1,'process':'short'}", "/process"},
        {"{'block':1}", "/process"},
    };
    for (size_t i = 0; i < sizeof bad_blocks / sizeof *bad_blocks; i++) {
        char path[96];
        snprintf(path, sizeof path, "/v1/charges/%s/blocks", id);
        assert_invalid_at(client_create(client, path, "%s", bad_blocks[i][0]),
                          bad_blocks[i][1]);
    }
    assert_status(client_act(client, "/v1/charges/%s:settle", id), 200);
}

static double estimated(struct client *client, const char *dataset,
                        const char *neighbour)
{
    const struct reply *estimate =
        client_post(client, "/v1/charges:estimate", NULL,
                    "{'dataset':'%s','engine':'x','unit':'record','records':300,'"
                    "mechanism':{'kind':"
                    "'gaussian','noise_multiplier':9,'steps':4,'neighbour':'%s'}}",
                    dataset, neighbour);
    assert_status(estimate, 200);
    return reply_number(estimate, "epsilon_planned");
}

/* Replacing a record changes a sum by twice as much as adding or removing one, unless
 * the sensitivity is already that of a replacement. */
static void the_price_is_that_of_the_datasets_relation(void **state)
{
    struct client *client = client_of(state);
    assert_status(declare_points(client, "pairs",
                                 "{'epsilon':8,'delta':1e-5,'relation':'replace_one'}"),
                  201);
    double near = estimated(client, "people", "add_remove");
    assert_true(estimated(client, "people", "zero_out") == near);
    assert_true(estimated(client, "pairs", "replace_one") == near);
    assert_true(estimated(client, "pairs", "add_remove") > 1.9 * near);
}

static void a_public_dataset_is_charged_nothing(void **state)
{
    struct client *client = client_of(state);
    assert_status(declare_points(client, "open", SAMPLE_PUBLIC), 201);
    assert_problem(client_create(client, "/v1/charges", CHARGE, "open"), 409,
                   "dataset_public");
}

/* An auditor's recomputation covers the whole directory, including charges. */
static void verify_knows_charges(void **state)
{
    struct stage *stage = *state;
    assert_int_equal(daemon_verify(&stage->daemon), 0);
}

static void make_key(struct stage *stage, char key[KEY_SIZE], const char *owner)
{
    char command[512], rest[256];
    snprintf(command, sizeof command,
             "%s key create --owner %s --project default --data-dir %s "
             "2>&1",
             getenv("EPSILOND"), owner, stage->daemon.data_dir);
    FILE *printed = popen(command, "r");
    assert_non_null(printed);
    assert_non_null(fgets(key, KEY_SIZE, printed));
    key[strcspn(key, "\n")] = '\0';
    while (fgets(rest, sizeof rest, printed) != NULL)
        continue;
    assert_int_equal(WEXITSTATUS(pclose(printed)), 0);
}

/* The tests from here on use keys. */
static void a_lease_of_another_key_is_not_there(void **state)
{
    char ana[KEY_SIZE], bob[KEY_SIZE];
    struct stage *stage = *state;
    struct client *client = &stage->client;
    make_key(stage, ana, "ana --role analyst");
    make_key(stage, bob, "bob --role analyst");
    snprintf(client->key, sizeof client->key, "%s", ana);
    const char *id = make(client, "people");
    snprintf(client->key, sizeof client->key, "%s", bob);
    assert_problem(ask_block(client, id, PROCESS, 1), 404, "not_found");
    assert_problem(client_act(client, "/v1/charges/%s:settle", id), 404, "not_found");
    assert_status(client_get(client, "/v1/charges/%s", id), 200);
    snprintf(client->key, sizeof client->key, "%s", ana);
    assert_status(ask_block(client, id, PROCESS, 1), 201);
    assert_status(client_act(client, "/v1/charges/%s:settle", id), 200);
}

/* The limits of a key's policy for a dataset hold for charges, too. */
static void the_policy_of_a_key_holds_for_charges(void **state)
{
    char owner[KEY_SIZE];
    struct stage *stage = *state;
    struct client *client = &stage->client;
    static const struct {
        const char *policy, *limit;
    } cases[] = {
        {"{'max_epsilon_per_job':0.5}", "max_epsilon_per_job"},
        {"{'min_noise_multiplier':1.5}", "min_noise_multiplier"},
        {"{'algorithms':['dpsgd']}", "algorithms"},
        {"{'max_share':{'share':0.05,'period':'P30D'}}", "max_share"},
    };
    make_key(stage, owner, "ward --role data_owner");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(client->key, sizeof client->key, "%s", owner);
        const struct reply *key = client_post(
            client, "/v1/keys", NULL,
            "{'owner':'carl-%zu','project':'default','role':'analyst','policy':%s}", i,
            cases[i].policy);
        assert_status(key, 201);
        snprintf(client->key, sizeof client->key, "%s", reply_text(key, "key"));
        const struct reply *refused =
            client_create(client, "/v1/charges", CHARGE, "people");
        assert_problem(refused, 403, "policy_violation");
        assert_string_equal(reply_text(refused, "policy"), cases[i].limit);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_charge_costs_what_other_accountants_say),
        cmocka_unit_test(a_charge_is_held_then_spent_by_its_blocks),
        cmocka_unit_test(a_block_is_granted_once_and_in_its_turn),
        cmocka_unit_test(a_lease_goes_on_over_a_kill),
        cmocka_unit_test(a_dataset_may_be_a_ledger_alone),
        cmocka_unit_test(what_does_not_fit_is_refused_with_what_would),
        cmocka_unit_test(bad_charges_are_refused_at_their_place),
        cmocka_unit_test(the_price_is_that_of_the_datasets_relation),
        cmocka_unit_test(a_public_dataset_is_charged_nothing),
        cmocka_unit_test(a_lease_ends_by_itself_and_what_was_authorised_stays_spent),
        cmocka_unit_test(verify_knows_charges),
        cmocka_unit_test(a_lease_of_another_key_is_not_there),
        cmocka_unit_test(the_policy_of_a_key_holds_for_charges),
    };
    return cmocka_run_group_tests(tests, begin, stage_end);
}
