/* Goal: the head file detects a restored backup; everything that was open is charged,
 * and nothing more is spent until the owner grants a new epoch. */
#include "accountant/audit/verify.h"

#include "tests/expect.h"
#include "accountant/ledger/head_file.h"
#include "accountant/ledger/ledger_freeze.h"
#include "accountant/ledger/ledger_view.h"
#include "tests/accountant/ledger_fixture.h"
#include "tests/store/place_fixture.h"

struct scene {
    struct place place;
    struct kit kit;
    char head[80], backup[80];
};

static bool use_head(struct scene *scene)
{
    bool frozen = true;
    struct error error = {0};
    if (ledger_head_file(scene->kit.ledger, scene->head, &frozen, &error) != ST_OK)
        fail_msg("%s", error.text);
    return frozen;
}

/* Dataset a: job 1 open with 3 of 10 steps authorised, job 2 open, never begun. */
static struct scene make_scene(void)
{
    struct scene scene = {.place = place_make()};
    snprintf(scene.head, sizeof scene.head, "%s/head", scene.place.folder);
    snprintf(scene.backup, sizeof scene.backup, "%s/backup.db", scene.place.folder);
    scene.kit = kit_open(scene.place.path);
    assert_false(use_head(&scene));
    assert_int_equal(kit_grant(&scene.kit, "a", 4, 1e-5, 0), ST_OK);
    assert_int_equal(kit_reserve(&scene.kit, "a", 1, 23.85, 10), ST_OK);
    assert_int_equal(kit_reserve(&scene.kit, "a", 2, 23.85, 10), ST_OK);
    assert_int_equal(kit_authorise(&scene.kit, 1, 3), ST_OK);
    return scene;
}

static void restart(struct scene *scene)
{
    kit_close(&scene->kit);
    scene->kit = kit_open(scene->place.path);
}

static void take_backup(struct scene *scene)
{
    kit_close(&scene->kit);
    place_copy(scene->place.path, scene->backup);
    scene->kit = kit_open(scene->place.path);
    assert_false(use_head(scene));
}

static void restore_backup(struct scene *scene)
{
    kit_close(&scene->kit);
    place_copy(scene->backup, scene->place.path);
    scene->kit = kit_open(scene->place.path);
}

static void end_scene(struct scene *scene)
{
    struct verify_report report;
    struct error error = {0};
    if (verify_store(scene->kit.store, &report, &error) != ST_OK)
        fail_msg("%s", error.text);
    kit_close(&scene->kit);
    place_remove(&scene->place);
}

static enum status regrant(struct scene *scene, const char *name, double epsilon,
                           enum relation relation)
{
    struct store_tx *tx = kit_begin(&scene->kit);
    struct dataset_id id = kit_dataset(name);
    struct grant grant = {relation, epsilon, 1e-5, 0, {0, 0}, PRIVACY_UNIT_RECORD, 0};
    return kit_end(tx, ledger_regrant(scene->kit.ledger, tx,
                                      &(struct ledger_promise){&id, &grant,
                                                               &principal_local, NULL},
                                      NULL));
}

/* A divided dataset stays divided, and an undivided one stays undivided. */
static void a_new_epoch_divides_nothing_anew(void **state)
{
    (void)state;
    struct scene scene = make_scene();
    take_backup(&scene);
    assert_int_equal(kit_authorise(&scene.kit, 1, 7), ST_OK);
    restore_backup(&scene);
    assert_true(use_head(&scene));
    struct dataset_id id = kit_dataset("a");
    const struct grant grant = {RELATION_ZERO_OUT,   2, 1e-5, 0, {0.1, 0},
                                PRIVACY_UNIT_RECORD, 0};
    const struct ledger_promise promise = {&id, &grant, &principal_local, NULL};
    struct store_tx *tx = kit_begin(&scene.kit);
    struct error error = {0};
    assert_int_equal(ledger_regrant(scene.kit.ledger, tx, &promise, &error),
                     ST_INVALID);
    assert_non_null(strstr(error.text, "divided"));
    store_rollback(tx);
    end_scene(&scene);
}

static void the_head_follows_every_entry_and_authorisation(void **state)
{
    (void)state;
    struct scene scene = make_scene();
    struct head head;
    struct ledger_entry_name name;
    bool found = false;
    assert_int_equal(head_file_read(scene.head, &head, &found, NULL), ST_OK);
    assert_true(found);
    ledger_head(scene.kit.ledger, &name);
    assert_memory_equal(&head.entry, &name, sizeof name);
    assert_int_equal(head.authorised, 3);
    assert_int_equal(kit_authorise(&scene.kit, 1, 9), ST_OK);
    assert_int_equal(kit_settle(&scene.kit, 1), ST_OK);
    assert_int_equal(head_file_read(scene.head, &head, &found, NULL), ST_OK);
    assert_int_equal(head.authorised, 9);
    assert_int_equal(head.entry.seq, 4);
    end_scene(&scene);
}

static void a_restart_on_the_same_or_a_newer_store_freezes_nothing(void **state)
{
    (void)state;
    struct scene scene = make_scene();
    restart(&scene);
    assert_false(use_head(&scene));
    restart(&scene); /* the head is not written this time */
    assert_int_equal(kit_authorise(&scene.kit, 1, 8), ST_OK);
    assert_int_equal(kit_settle(&scene.kit, 1), ST_OK);
    restart(&scene);
    assert_false(use_head(&scene));
    assert_int_equal(kit_reserve(&scene.kit, "a", 3, 23.85, 1), ST_OK);
    end_scene(&scene);
}

static void expect_frozen(struct scene *scene)
{
    assert_true(kit_balance(&scene->kit, "a").frozen);
    assert_int_equal(kit_reserve(&scene->kit, "a", 9, 50, 1), ST_DATASET_FROZEN);
    assert_int_equal(kit_authorise(&scene->kit, 2, 1), ST_DATASET_FROZEN);
    struct mechanism m = kit_gaussian(50, 1);
    struct dataset_id id = kit_dataset("a");
    struct outlook outlook;
    assert_int_equal(outlook_of(&scene->kit, &id, &m, 9, &outlook), ST_DATASET_FROZEN);
    mechanism_fini(&m);
}

static void a_restored_backup_freezes_and_charges_what_was_open_whole(void **state)
{
    (void)state;
    struct scene scene = make_scene();
    take_backup(&scene);
    assert_int_equal(kit_reserve(&scene.kit, "a", 3, 23.85, 10), ST_OK);
    restore_backup(&scene);
    struct balance before = kit_balance(&scene.kit, "a");
    assert_true(use_head(&scene));
    expect_frozen(&scene);
    restart(&scene); /* the freeze outlives the head file and the process */
    expect_frozen(&scene);
    assert_false(use_head(&scene));
    expect_frozen(&scene);
    struct job_id one = kit_job(1), two = kit_job(2);
    assert_int_equal(ledger_authorised(scene.kit.ledger, &one), 10);
    assert_int_equal(ledger_authorised(scene.kit.ledger, &two), 10);
    assert_int_equal(kit_settle(&scene.kit, 1), ST_OK);
    assert_int_equal(kit_settle(&scene.kit, 2), ST_OK);
    struct balance after = kit_balance(&scene.kit, "a");
    assert_memory_equal(&after.committed, &before.held, sizeof after.committed);
    end_scene(&scene);
}

static void a_restored_backup_freezes_every_dataset(void **state)
{
    (void)state;
    static const char *const names[] = {"a", "b", "c"};
    struct scene scene = make_scene();
    assert_int_equal(kit_grant(&scene.kit, "b", 2, 1e-5, 0), ST_OK);
    assert_int_equal(kit_grant(&scene.kit, "c", 2, 1e-5, 0), ST_OK);
    take_backup(&scene);
    assert_int_equal(kit_reserve(&scene.kit, "b", 3, 23.85, 10), ST_OK);
    restore_backup(&scene);
    assert_true(use_head(&scene));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_true(kit_balance(&scene.kit, names[i]).frozen);
        assert_int_equal(kit_reserve(&scene.kit, names[i], 4, 23.85, 1),
                         ST_DATASET_FROZEN);
    }
    end_scene(&scene);
}

/* No entry was lost, only marks: the chain by itself does not show the loss. */
static void a_backup_that_lost_only_authorisations_is_noticed(void **state)
{
    (void)state;
    struct scene scene = make_scene();
    take_backup(&scene);
    assert_int_equal(kit_authorise(&scene.kit, 1, 7), ST_OK);
    restore_backup(&scene);
    assert_true(use_head(&scene));
    expect_frozen(&scene);
    end_scene(&scene);
}

/* The same number of entries and marks, but different ones: a fork. */
static void another_history_of_the_same_length_is_noticed(void **state)
{
    (void)state;
    struct scene scene = make_scene();
    take_backup(&scene);
    assert_int_equal(kit_reserve(&scene.kit, "a", 3, 23.85, 10), ST_OK);
    restore_backup(&scene);
    assert_int_equal(kit_reserve(&scene.kit, "a", 4, 99.5, 1), ST_OK);
    assert_true(use_head(&scene));
    expect_frozen(&scene);
    end_scene(&scene);
}

/* Returns the price of the three steps that job 1 was authorised in the backup: they
 * may have run again after the restore. */
static double twice(const struct epochs *epochs)
{
    double order = fmax(curve_orders[epochs->items[0].filter.weighted[0]],
                        curve_orders[epochs->items[0].filter.weighted[1]]);
    return 3 * order / (2 * 23.85 * 23.85);
}

/* Expects two epochs with different orders, of which the first counts in full whatever
 * its entries say. */
static void expect_both_epochs(struct scene *scene)
{
    struct epochs epochs = {0};
    struct balance balance;
    struct dataset_id id = kit_dataset("a");
    assert_int_equal(ledger_epochs(scene->kit.ledger, &id, &epochs, &balance, NULL),
                     ST_OK);
    assert_int_equal(epochs.count, 2);
    assert_true(epochs.items[0].frozen && !epochs.items[1].frozen);
    assert_true(epochs.items[0].grant.epsilon == 4);
    assert_true(epochs.items[0].committed.at[9] > 0);
    assert_close(odometer_guarantee(&epochs).epsilon, 4 + 2 + twice(&epochs), 1e-9);
    assert_close(odometer_guarantee(&epochs).delta, 2e-5, 1e-14);
    assert_close(odometer_reading(&epochs, &balance.committed).epsilon,
                 4 + twice(&epochs), 1e-9);
    assert_int_equal(epochs_timelines(&epochs), 1); /* truncated, not forked */
    assert_int_equal(balance.timelines, 1);
    epochs_fini(&epochs);
}

static void count_epochs(void *context, const struct verified_budget *budget)
{
    size_t *count = context;
    assert_string_equal(budget->dataset, "a");
    assert_close(odometer_guarantee(budget->epochs).epsilon,
                 4 + 2 + twice(budget->epochs), 1e-9);
    *count += budget->epochs->count;
}

static void a_new_epoch_starts_from_nothing_and_keeps_the_old_one(void **state)
{
    (void)state;
    struct scene scene = make_scene();
    assert_int_equal(regrant(&scene, "a", 2, RELATION_ZERO_OUT), ST_INVALID);
    assert_int_equal(regrant(&scene, "b", 2, RELATION_ZERO_OUT), ST_NOT_FOUND);
    take_backup(&scene);
    assert_int_equal(kit_settle(&scene.kit, 2), ST_OK);
    restore_backup(&scene);
    assert_true(use_head(&scene));
    assert_int_equal(regrant(&scene, "a", 2, RELATION_ZERO_OUT), ST_DATASET_IN_USE);
    assert_int_equal(kit_settle(&scene.kit, 1), ST_OK);
    assert_int_equal(kit_settle(&scene.kit, 2), ST_OK);
    assert_int_equal(regrant(&scene, "a", 2, RELATION_REPLACE_ONE), ST_INVALID);
    assert_int_equal(regrant(&scene, "a", 0, RELATION_ZERO_OUT), ST_INVALID);
    assert_int_equal(regrant(&scene, "a", 2, RELATION_ZERO_OUT), ST_OK);
    assert_int_equal(regrant(&scene, "a", 2, RELATION_ZERO_OUT), ST_INVALID);
    for (int again = 0; again < 2; again++) {
        struct balance balance = kit_balance(&scene.kit, "a");
        assert_int_equal(balance.epoch, 2);
        assert_false(balance.frozen);
        assert_true(balance.epsilon == 2 && balance.epsilon_spent == 0);
        expect_both_epochs(&scene);
        restart(&scene);
        assert_false(use_head(&scene));
    }
    assert_int_equal(kit_reserve(&scene.kit, "a", 5, 23.85, 10), ST_OK);
    assert_int_equal(kit_authorise(&scene.kit, 5, 10), ST_OK);
    assert_int_equal(kit_settle(&scene.kit, 5), ST_OK);
    assert_int_equal(kit_reserve(&scene.kit, "a", 1, 23.85, 10), ST_ALREADY_EXISTS);
    struct dataset_id id = kit_dataset("a");
    assert_true(ledger_touched(scene.kit.ledger, &id));
    size_t count = 0;
    struct verify_visitor visitor = {.budget = count_epochs, .context = &count};
    struct verify_report report;
    struct store_tx *tx = kit_begin(&scene.kit);
    assert_int_equal(verify_budgets(tx, &report, &visitor, NULL), ST_OK);
    store_rollback(tx);
    assert_int_equal(count, 2);
    end_scene(&scene);
}

static void a_head_file_that_cannot_be_used_is_refused(void **state)
{
    (void)state;
    struct scene scene = {.place = place_make()};
    bool frozen;
    scene.kit = kit_open(scene.place.path);
    assert_int_equal(kit_grant(&scene.kit, "a", 4, 1e-5, 0), ST_OK);
    assert_int_equal(
        ledger_head_file(scene.kit.ledger, "/nonexistent/head", &frozen, NULL), ST_IO);
    assert_int_equal(
        ledger_head_file(scene.kit.ledger, scene.place.folder, &frozen, NULL), ST_IO);
    static const char *const junk[] = {
        "", "head\n", "{\"seq\":1,\"hash\":\"00\",\"authorised\":0}\n",
        "{\"seq\":1,\"hash\":"
        "\"0000000000000000000000000000000000000000000000000000000000"
        "000000\",\"authorised\":0}"};
    snprintf(scene.head, sizeof scene.head, "%s/head", scene.place.folder);
    for (size_t i = 0; i < sizeof junk / sizeof *junk; i++) {
        FILE *file = fopen(scene.head, "wb");
        assert_non_null(file);
        fputs(junk[i], file);
        fclose(file);
        assert_int_equal(ledger_head_file(scene.kit.ledger, scene.head, &frozen, NULL),
                         ST_CORRUPT);
    }
    assert_false(kit_balance(&scene.kit, "a").frozen);
    end_scene(&scene);
}

/* SQLite takes an empty file for a new database, in which nothing could be frozen. */
static void an_empty_store_beside_a_head_is_refused(void **state)
{
    (void)state;
    struct scene scene = make_scene();
    bool frozen;
    kit_close(&scene.kit);
    assert_int_equal(truncate(scene.place.path, 0), 0);
    scene.kit = kit_open(scene.place.path);
    assert_int_equal(ledger_head_file(scene.kit.ledger, scene.head, &frozen, NULL),
                     ST_CORRUPT);
    end_scene(&scene);
}

/* An authorisation must be in the head file before any step runs on it. */
static void a_head_that_cannot_be_written_stops_the_ledger(void **state)
{
    (void)state;
    struct scene scene = {.place = place_make()};
    char folder[80], chain[96];
    snprintf(folder, sizeof folder, "%s/other", scene.place.folder);
    snprintf(chain, sizeof chain, "%s/head.chain", folder);
    snprintf(scene.head, sizeof scene.head, "%s/other/head", scene.place.folder);
    assert_int_equal(mkdir(folder, 0700), 0);
    scene.kit = kit_open(scene.place.path);
    assert_false(use_head(&scene));
    assert_int_equal(kit_grant(&scene.kit, "a", 4, 1e-5, 0), ST_OK);
    assert_int_equal(kit_reserve(&scene.kit, "a", 1, 23.85, 10), ST_OK);
    assert_int_equal(unlink(scene.head), 0);
    assert_int_equal(unlink(chain), 0);
    assert_int_equal(rmdir(folder), 0);
    assert_int_equal(kit_authorise(&scene.kit, 1, 3), ST_IO);
    assert_true(store_poisoned(scene.kit.store));
    assert_int_equal(kit_authorise(&scene.kit, 1, 4), ST_IO);
    restart(&scene);
    struct job_id job = kit_job(1);
    assert_int_equal(ledger_authorised(scene.kit.ledger, &job), 3);
    end_scene(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_epoch_divides_nothing_anew),
        cmocka_unit_test(the_head_follows_every_entry_and_authorisation),
        cmocka_unit_test(a_restart_on_the_same_or_a_newer_store_freezes_nothing),
        cmocka_unit_test(a_restored_backup_freezes_and_charges_what_was_open_whole),
        cmocka_unit_test(a_restored_backup_freezes_every_dataset),
        cmocka_unit_test(a_backup_that_lost_only_authorisations_is_noticed),
        cmocka_unit_test(another_history_of_the_same_length_is_noticed),
        cmocka_unit_test(a_new_epoch_starts_from_nothing_and_keeps_the_old_one),
        cmocka_unit_test(a_head_file_that_cannot_be_used_is_refused),
        cmocka_unit_test(an_empty_store_beside_a_head_is_refused),
        cmocka_unit_test(a_head_that_cannot_be_written_stops_the_ledger),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
