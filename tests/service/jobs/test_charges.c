/* Goal: a block of a charge is granted once and in order, a lease ends with what was
 * authorised, and a restart finds the charge unchanged. Method: a service whose threads
 * do nothing; the ledger says what is authorised and what was committed. */
#include "service/planning/charge_lease.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

#include "service/process/daemon_state.h"
#include "service/webhooks/webhooks.h"
#include "tests/expect.h"
#include "tests/service/service_fixture.h"
#include "tests/service/webhook_fixture.h"
#include "accountant/ledger/ledger_view.h"

enum { STEPS = 25, BLOCK = 10, SECOND = 1000 };

static struct scene scene;

static int begin(void **state)
{
    (void)state;
    scene_open(&scene);
    scene_declare(&scene, "points", "{\"epsilon\":8,\"delta\":1e-5}");
    return 0;
}

static int end(void **state)
{
    (void)state;
    scene_close(&scene);
    return 0;
}

/* Creates a charge as the write queue does: 25 steps in blocks of 10, with a lease that
 * ends at SECOND. */
static struct charge *make_on(const char *id)
{
    char body[512];
    struct mechanism m;
    struct charge_request declared;
    struct charge *charge = NULL;
    struct ledger_entry_name entry;
    struct daemon_state *context = &scene.context;
    struct charge_addition addition = {
        .request_take = &declared,
        .owner = &principal_local,
        .info = {.lease_end_s = SECOND, .figures.delta = 1e-5},
        .create_s = 1};
    snprintf(body, sizeof body,
             "{\"dataset\":\"%s\",\"engine\":\"opacus\",\"unit\":\"record\","
             "\"block_steps\":%d,\"mechanism\":{\"kind\":\"gaussian\","
             "\"noise_multiplier\":40,\"steps\":%d,\"neighbour\":\"add_remove\"}}",
             id, BLOCK, STEPS);
    assert_int_equal(charge_request_parse(&declared, json_text_of(body), NULL), ST_OK);
    assert_int_equal(charge_request_mechanism(&m, &declared, RELATION_ZERO_OUT, NULL),
                     ST_OK);
    charge_id_make(&addition.id);
    const struct job_id holder = holder_of_charge(&addition.id);
    const struct dataset_id dataset = declared.dataset;
    const struct ledger_claim claim = {&dataset,         &holder,       &m,
                                       &principal_local, PARTS_UNNAMED, "opacus"};
    struct store_tx *tx = scene_begin(&scene);
    assert_int_equal(ledger_reserve(context->ledger, tx, &claim, &entry, NULL), ST_OK);
    scene_commit(tx, charges_add(context->charges, tx, &addition, &charge, NULL));
    mechanism_fini(&m);
    return charge;
}

static struct charge *make(void)
{
    return make_on("points");
}

static enum status grant(struct charge *charge, uint64_t block)
{
    struct charge_info info;
    const struct block_request asked = {block, "0123456789abcdef"};
    struct store_tx *tx = scene_begin(&scene);
    return store_end(tx, charge_grant(&scene.context, tx, charge, &asked, &info, NULL),
                     NULL);
}

static uint64_t authorised(const struct charge *charge)
{
    const struct job_id holder = holder_of_charge(charge_id(charge));
    return ledger_authorised(scene.context.ledger, &holder);
}

static enum charge_state state_of(const struct charge *charge)
{
    struct charge_info info;
    charge_read(scene.context.charges, charge, &info);
    return info.state;
}

static enum status settle(struct charge *charge)
{
    struct store_tx *tx = scene_begin(&scene);
    return store_end(
        tx, charge_settle(&scene.context, tx, charge, CHARGE_SETTLED, 7, NULL), NULL);
}

static void a_block_authorises_its_steps_before_it_is_granted(void **state)
{
    (void)state;
    struct charge *charge = make();
    assert_int_equal(authorised(charge), 0);
    assert_int_equal(grant(charge, 1), ST_OK);
    assert_int_equal(authorised(charge), BLOCK);
    assert_int_equal(grant(charge, 2), ST_OK);
    assert_int_equal(authorised(charge), 2 * BLOCK);
    assert_int_equal(grant(charge, 3), ST_OK);
    assert_int_equal(authorised(charge), STEPS);
    assert_int_equal(grant(charge, 4), ST_BLOCK_OUT_OF_ORDER);
    assert_int_equal(settle(charge), ST_OK);
}

static void no_block_is_granted_twice_or_out_of_its_turn(void **state)
{
    (void)state;
    struct charge *charge = make();
    assert_int_equal(grant(charge, 2), ST_BLOCK_OUT_OF_ORDER);
    assert_int_equal(grant(charge, 1), ST_OK);
    assert_int_equal(grant(charge, 1), ST_BLOCK_GRANTED);
    assert_int_equal(grant(charge, 3), ST_BLOCK_OUT_OF_ORDER);
    assert_int_equal(authorised(charge), BLOCK);
    assert_int_equal(settle(charge), ST_OK);
    assert_int_equal(grant(charge, 2), ST_CHARGE_ENDED);
}

struct commits {
    const char *id;
    unsigned count;
    struct entry_commit last;
};

static bool take_commit(void *context, const struct ledger_row *row)
{
    struct commits *commits = context;
    if (strcmp(row->kind, "COMMIT") == 0 && strcmp(row->job, commits->id) == 0) {
        assert_true(entry_commit_parse(&commits->last, row));
        commits->count++;
    }
    return true;
}

static struct commits commits_of(const struct charge *charge)
{
    struct commits commits = {.id = charge_id(charge)->text};
    struct store_tx *tx = scene_begin(&scene);
    assert_int_equal(ledger_rows_walk(tx, &(struct ledger_range){.dataset = "points"},
                                      take_commit, &commits, NULL),
                     ST_OK);
    store_rollback(tx);
    return commits;
}

static void a_lease_that_ends_commits_what_was_authorised(void **state)
{
    (void)state;
    struct charge *used = make(), *unused = make();
    assert_int_equal(grant(used, 1), ST_OK);
    assert_true(
        charges_open_on(scene.context.charges, &charge_declared(used)->dataset));
    charges_lapse(&scene.context, SECOND - 1);
    assert_int_equal(state_of(unused), CHARGE_OPEN);
    charges_lapse(&scene.context, SECOND);
    assert_int_equal(state_of(unused), CHARGE_LAPSED);
    /* A block extends the lease, from the clock's second on. */
    assert_int_equal(state_of(used), CHARGE_OPEN);
    charges_lapse(&scene.context, INT64_C(1) << 40);
    assert_int_equal(state_of(used), CHARGE_LAPSED);
    struct commits commits = commits_of(used);
    assert_int_equal(commits.count, 1);
    assert_int_equal(commits.last.steps, BLOCK);
    commits = commits_of(unused);
    assert_int_equal(commits.count, 1);
    assert_int_equal(commits.last.steps, 0);
    assert_false(
        charges_open_on(scene.context.charges, &charge_declared(used)->dataset));
}

static void *lapse(void *context)
{
    charges_lapse(context, SECOND);
    return NULL;
}

/* The lease has expired when the lapse first checks it, but not any more when its write
 * transaction begins. */
static void a_lease_that_a_block_has_renewed_goes_on(void **state)
{
    (void)state;
    static const struct timespec look = {.tv_nsec = 50000000};
    static const struct block_request asked = {1, "0123456789abcdef"};
    pthread_t thread;
    struct charge_info info;
    struct charge *charge = make();
    struct store_tx *tx = scene_begin(&scene);
    assert_int_equal(charge_grant(&scene.context, tx, charge, &asked, &info, NULL),
                     ST_OK);
    assert_int_equal(pthread_create(&thread, NULL, lapse, &scene.context), 0);
    nanosleep(&look, NULL);
    scene_commit(tx, ST_OK);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(state_of(charge), CHARGE_OPEN);
    assert_int_equal(grant(charge, 2), ST_OK);
    assert_int_equal(settle(charge), ST_OK);
}

static void a_restart_finds_what_was_granted(void **state)
{
    (void)state;
    struct charge_info info;
    struct charges *again = NULL;
    struct charge *charge = make();
    assert_int_equal(grant(charge, 1), ST_OK);
    struct store_tx *tx = scene_begin(&scene);
    assert_int_equal(charges_open(&again, tx, NULL), ST_OK);
    store_rollback(tx);
    const struct charge *found = charges_find(again, charge_id(charge)->text);
    assert_non_null(found);
    charge_read(again, found, &info);
    assert_int_equal(info.state, CHARGE_OPEN);
    assert_int_equal(info.blocks, 1);
    assert_string_equal(info.process, "0123456789abcdef");
    assert_true(info.figures.epsilon_spent > 0);
    assert_int_equal(charges_count(again), charges_count(scene.context.charges));
    charges_close(again);
    assert_int_equal(settle(charge), ST_OK);
}

static void the_list_of_open_charges_and_the_tally_agree(void **state)
{
    (void)state;
    size_t count;
    struct charge *charge = make();
    free(charges_list_open(scene.context.charges, NULL, &count));
    assert_int_equal(charges_tally(scene.context.charges).by_state[CHARGE_OPEN], count);
    assert_int_equal(charges_next_end(scene.context.charges), SECOND);
    assert_int_equal(settle(charge), ST_OK);
    assert_true(charges_next_end(scene.context.charges) == INT64_MAX);
}

/* Grants a whole charge and ends it. */
static void spend(const char *id)
{
    struct charge *charge = make_on(id);
    for (uint64_t block = 1; block <= 3; block++)
        assert_int_equal(grant(charge, block), ST_OK);
    assert_int_equal(settle(charge), ST_OK);
}

static char low_message[] = "{\"type\":\"budget.low\",\"timestamp\":"
                            "\"1970-01-01T00:00:07Z\",\"id\":\"low\","
                            "\"state\":\"READY\",\"left\":0.5}";

static void webhooks_are_told_when_a_budget_falls_and_else_not(void **state)
{
    (void)state;
    hook_keep_outbox(&scene);
    scene_declare(&scene, "ample", "{\"epsilon\":8,\"delta\":1e-5}");
    scene_declare(&scene, "low", "{\"epsilon\":0.65,\"delta\":1e-5},\"holdout\":0.25");
    const struct webhook webhook = hook_make(&scene, HOOK_BUDGET);
    spend("ample");
    assert_int_equal(hook_waiting(&scene, &webhook), 0);
    spend("low"); /* without parts, a charge is to both */
    hook_expect(&scene, &webhook, PARTS_MAX, low_message);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_authorises_its_steps_before_it_is_granted),
        cmocka_unit_test(no_block_is_granted_twice_or_out_of_its_turn),
        cmocka_unit_test(a_lease_that_ends_commits_what_was_authorised),
        cmocka_unit_test(a_lease_that_a_block_has_renewed_goes_on),
        cmocka_unit_test(a_restart_finds_what_was_granted),
        cmocka_unit_test(the_list_of_open_charges_and_the_tally_agree),
        cmocka_unit_test(webhooks_are_told_when_a_budget_falls_and_else_not),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
