/* Goal: a grant replaces another only if nothing was ever reserved, and then nothing of
 * the first counts; a store that says otherwise does not open. Method: budgets of other
 * numbers, relations, units and divisions; the same life resumed from each of its
 * states; entries forged without the ledger's checks. */
#include <pthread.h>

#include "accountant/audit/verify.h"

#include "tests/expect.h"
#include "accountant/ledger/budget_history.h"
#include "accountant/ledger/ledger_change.h"
#include "accountant/ledger/ledger_freeze.h"
#include "accountant/pricing/odometer.h"
#include "tests/accountant/ledger_fixture.h"
#include "tests/store/place_fixture.h"

static const struct grant wide = {RELATION_ZERO_OUT,   2, 1e-5, 0, {0, 0},
                                  PRIVACY_UNIT_RECORD, 0};
static const struct grant narrow = {RELATION_REPLACE_ONE, 1.7, 1e-6, 12, {0.1, 9},
                                    PRIVACY_UNIT_PERSON,  0};
static const struct grant middling = {RELATION_ZERO_OUT,   1.3, 1e-5, 0, {0, 0},
                                      PRIVACY_UNIT_RECORD, 0};

static enum status grant_anew(struct kit *kit, const char *name,
                              const struct grant *grant)
{
    struct store_tx *tx = kit_begin(kit);
    struct dataset_id id = kit_dataset(name);
    const struct ledger_promise promise = {&id, grant, &principal_local, NULL};
    return kit_end(tx, ledger_grant_anew(kit->ledger, tx, &promise, NULL));
}

static void expect_verified(struct kit *kit)
{
    struct verify_report report;
    struct error error = {0};
    if (verify_store(kit->store, &report, &error) != ST_OK)
        fail_msg("%s", error.text);
}

/* The balance is that of this grant, unused, and nothing else was ever promised. */
static void expect_fresh(struct kit *kit, const char *name, const struct grant *grant)
{
    struct filter filter;
    struct epochs epochs;
    struct balance balance;
    struct dataset_id id = kit_dataset(name);
    assert_int_equal(filter_of(&filter, grant, NULL), ST_OK);
    assert_int_equal(ledger_epochs(kit->ledger, &id, &epochs, &balance, NULL), ST_OK);
    assert_int_equal(epochs.count, 1);
    assert_true(grant_same(&epochs.items[0].grant, grant));
    struct guarantee guarantee = odometer_guarantee(&epochs);
    assert_true(guarantee.epsilon == grant->epsilon && guarantee.delta == grant->delta);
    epochs_fini(&epochs);
    assert_int_equal(balance.closed, 0);
    assert_memory_equal(balance.capacity, filter.capacity, sizeof filter.capacity);
    assert_true(balance.epsilon_spent == 0 && balance.epsilon_held == 0);
    struct division division = ledger_division(kit->ledger, &id);
    assert_true(division_same(&division, &grant->division));
}

static bool read_meta(void *context, const struct ledger_row *row)
{
    snprintf(context, 512, "%s", row->meta);
    return true;
}

static void a_grant_that_was_never_used_is_replaced_whole(void **state)
{
    (void)state;
    char meta[512];
    struct kit kit = kit_open(":memory:");
    assert_int_equal(kit_grant(&kit, "b", 2, 1e-5, 0), ST_OK);
    assert_int_equal(kit_grant(&kit, "a", 2, 1e-5, 0), ST_OK);
    const struct grant *const grants[] = {&narrow, &middling, &narrow, &wide};
    for (unsigned i = 0; i < 4; i++) {
        struct dataset_id id = kit_dataset("a");
        uint64_t version = ledger_version(kit.ledger, &id);
        assert_int_equal(ledger_unused(kit.ledger, &id, NULL), ST_OK);
        assert_int_equal(grant_anew(&kit, "a", grants[i]), ST_OK);
        assert_true(ledger_version(kit.ledger, &id) > version);
        expect_fresh(&kit, "a", grants[i]);
        kit_reopen_ledger(&kit);
        expect_fresh(&kit, "a", grants[i]);
        expect_fresh(&kit, "b", &wide);
        expect_verified(&kit);
        assert_int_equal(ledger_tally(kit.ledger).grants, 3 + i);
        char names[32];
        struct store_tx *tx = kit_begin(&kit);
        assert_int_equal(
            ledger_rows_walk(tx, &(struct ledger_range){0}, read_meta, meta, NULL),
            ST_OK);
        store_rollback(tx);
        snprintf(names, sizeof names, "\"replaces\":%u}", i + 2);
        assert_non_null(strstr(meta, names));
    }
    /* A reservation is checked only against the current grant. */
    assert_int_equal(kit_reserve(&kit, "a", 1, 2.9, 1), ST_OK);
    assert_int_equal(kit_reserve(&kit, "a", 2, 2.9, 1), ST_BUDGET_HELD);
    expect_verified(&kit);
    kit_close(&kit);
}

static void a_smaller_budget_refuses_what_the_larger_had_room_for(void **state)
{
    (void)state;
    struct kit kit = kit_open(":memory:");
    assert_int_equal(kit_grant(&kit, "a", 2, 1e-5, 0), ST_OK);
    assert_int_equal(grant_anew(&kit, "a", &middling), ST_OK);
    assert_int_equal(kit_reserve(&kit, "a", 1, 2.9, 1), ST_BUDGET_EXHAUSTED);
    assert_int_equal(grant_anew(&kit, "a", &narrow), ST_OK);
    assert_int_equal(kit_reserve(&kit, "a", 1, 90, 1), ST_INVALID); /* under zero_out */
    kit_close(&kit);
}

static void what_was_drawn_on_stays(void **state)
{
    (void)state;
    struct kit kit = kit_open(":memory:");
    struct dataset_id id = kit_dataset("a");
    const struct grant none = {RELATION_ZERO_OUT,   1e-4, 1e-9, 0, {0, 0},
                               PRIVACY_UNIT_RECORD, 0};
    const struct grant vast = {RELATION_ZERO_OUT,   30.5, 1e-5, 0, {0, 0},
                               PRIVACY_UNIT_RECORD, 0};
    assert_int_equal(grant_anew(&kit, "a", &wide), ST_NOT_FOUND);
    assert_int_equal(ledger_unused(kit.ledger, &id, NULL), ST_NOT_FOUND);
    assert_int_equal(kit_grant(&kit, "a", 2, 1e-5, 0), ST_OK);
    assert_int_equal(grant_anew(&kit, "a", &none), ST_INVALID);
    assert_int_equal(grant_anew(&kit, "a", &vast), ST_INVALID);
    expect_fresh(&kit, "a", &wide);
    assert_int_equal(kit_reserve(&kit, "a", 1, 23.85, 10), ST_OK);
    assert_int_equal(grant_anew(&kit, "a", &middling), ST_DATASET_IMMUTABLE);
    assert_int_equal(kit_settle(&kit, 1), ST_OK); /* no step of it ran */
    assert_int_equal(grant_anew(&kit, "a", &middling), ST_DATASET_IMMUTABLE);
    kit_reopen_ledger(&kit);
    assert_int_equal(ledger_unused(kit.ledger, &id, NULL), ST_DATASET_IMMUTABLE);
    assert_int_equal(grant_anew(&kit, "a", &middling), ST_DATASET_IMMUTABLE);
    assert_true(kit_balance(&kit, "a").epsilon == 2);
    kit_close(&kit);
}

/* A reservation and another grant are in one transaction, and neither is durable
 * yet. */
static void what_the_same_transaction_reserves_counts(void **state)
{
    (void)state;
    struct kit kit = kit_open(":memory:");
    struct dataset_id id = kit_dataset("a");
    struct job_id job = kit_job(1);
    struct mechanism m = kit_gaussian(23.85, 10);
    struct ledger_entry_name entry;
    const struct ledger_claim claim = {&id,           &job, &m, &principal_local,
                                       PARTS_UNNAMED, NULL};
    const struct ledger_promise promise = {&id, &middling, &principal_local, NULL};
    assert_int_equal(kit_grant(&kit, "a", 2, 1e-5, 0), ST_OK);
    struct store_tx *tx = kit_begin(&kit);
    assert_int_equal(ledger_reserve(kit.ledger, tx, &claim, &entry, NULL), ST_OK);
    assert_int_equal(ledger_grant_anew(kit.ledger, tx, &promise, NULL),
                     ST_DATASET_IMMUTABLE);
    store_rollback(tx);
    tx = kit_begin(&kit);
    assert_int_equal(ledger_grant_anew(kit.ledger, tx, &promise, NULL), ST_OK);
    store_rollback(tx);
    expect_fresh(&kit, "a", &wide);
    tx = kit_begin(&kit);
    assert_int_equal(ledger_grant_anew(kit.ledger, tx, &promise, NULL), ST_OK);
    assert_int_equal(ledger_reserve(kit.ledger, tx, &claim, &entry, NULL), ST_OK);
    assert_int_equal(store_commit(tx, NULL), ST_OK);
    assert_true(kit_balance(&kit, "a").epsilon == 1.3);
    expect_verified(&kit);
    mechanism_fini(&m);
    kit_close(&kit);
}

/* --- the same life resumed from each of its states --- */

enum { LIFE = 9 };

static enum status live(struct kit *kit, unsigned step)
{
    switch (step) {
    case 0: return kit_grant(kit, "a", 2, 1e-5, 0);
    case 1: return kit_grant(kit, "b", 4, 1e-6, 5);
    case 2: return grant_anew(kit, "a", &narrow);
    case 3: return grant_anew(kit, "b", &middling);
    case 4: return grant_anew(kit, "a", &middling);
    case 5: return kit_reserve(kit, "a", 1, 23.85, 10);
    case 6: return kit_authorise(kit, 1, 4);
    case 7: return kit_settle(kit, 1);
    default: return kit_reserve(kit, "b", 2, 31.7, 3);
    }
}

static void every_state_goes_on_to_the_same_end(void **state)
{
    (void)state;
    struct place place = place_make(), copies[LIFE];
    struct kit kit = kit_open(place.path);
    for (unsigned step = 0; step < LIFE; step++) {
        kit_close(&kit);
        copies[step] = place_make();
        place_copy(place.path, copies[step].path);
        kit = kit_open(place.path);
        assert_int_equal(live(&kit, step), ST_OK);
    }
    for (unsigned from = 0; from < LIFE; from++) {
        struct kit other = kit_open(copies[from].path);
        for (unsigned step = from; step < LIFE; step++) {
            assert_int_equal(live(&other, step), ST_OK);
            kit_reopen_ledger(&other);
            expect_verified(&other);
        }
        for (unsigned i = 0; i < 2; i++) {
            struct balance a = kit_balance(&kit, i == 0 ? "a" : "b");
            struct balance b = kit_balance(&other, i == 0 ? "a" : "b");
            assert_same_balance(&a, &b);
            assert_true(a.epsilon == 1.3 && b.epsilon == 1.3);
        }
        kit_close(&other);
        place_remove(&copies[from]);
    }
    kit_close(&kit);
    place_remove(&place);
}

/* Points before the replacement belong to the grant of that time, and nothing of them
 * is added. */
static void a_history_tells_both_and_adds_neither(void **state)
{
    (void)state;
    struct kit kit = kit_open(":memory:");
    struct dataset_id id = kit_dataset("a");
    struct budget_history history;
    const struct ledger_part part = {&id, PART_TRAIN};
    assert_int_equal(kit_grant(&kit, "a", 2, 1e-5, 0), ST_OK);
    assert_int_equal(grant_anew(&kit, "a", &middling), ST_OK);
    assert_int_equal(kit_reserve(&kit, "a", 1, 23.85, 10), ST_OK);
    assert_int_equal(kit_authorise(&kit, 1, 10), ST_OK);
    assert_int_equal(kit_settle(&kit, 1), ST_OK);
    assert_int_equal(budget_history_read(&history, kit.store, &part, 100, NULL), ST_OK);
    assert_int_equal(history.count, 4);
    const struct budget_point *last = &history.points[3];
    struct balance balance = kit_balance(&kit, "a");
    assert_true(last->epsilon_spent == balance.epsilon_spent);
    struct epochs epochs;
    assert_int_equal(ledger_epochs(kit.ledger, &id, &epochs, &balance, NULL), ST_OK);
    struct guarantee told = odometer_reading(&epochs, &balance.committed);
    assert_true(last->exposure.epsilon == told.epsilon && told.epsilon < 1.3);
    assert_true(last->exposure.delta == 1e-5);
    epochs_fini(&epochs);
    for (size_t i = 0; i < history.count; i++)
        assert_int_equal(history.points[i].epochs, 1);
    budget_history_fini(&history);
    kit_close(&kit);
}

/* --- restored backups --- */

/* Reservations under the grant may be among the lost entries, so the grant counts in
 * full; it still does after a further epoch. */
static void a_frozen_budget_is_not_replaced(void **state)
{
    (void)state;
    struct place place = place_make();
    char head[80], backup[80];
    bool frozen;
    struct epochs epochs;
    struct balance balance;
    struct dataset_id id = kit_dataset("a");
    snprintf(head, sizeof head, "%s/head", place.folder);
    snprintf(backup, sizeof backup, "%s/backup.db", place.folder);
    struct kit kit = kit_open(place.path);
    assert_int_equal(kit_grant(&kit, "a", 4, 1e-5, 0), ST_OK);
    assert_int_equal(grant_anew(&kit, "a", &wide), ST_OK);
    kit_close(&kit);
    place_copy(place.path, backup);
    kit = kit_open(place.path);
    assert_int_equal(ledger_head_file(kit.ledger, head, &frozen, NULL), ST_OK);
    assert_int_equal(kit_reserve(&kit, "a", 1, 23.85, 10), ST_OK);
    kit_close(&kit);
    place_copy(backup, place.path);
    kit = kit_open(place.path);
    assert_int_equal(ledger_head_file(kit.ledger, head, &frozen, NULL), ST_OK);
    assert_true(frozen);
    assert_int_equal(ledger_unused(kit.ledger, &id, NULL), ST_DATASET_FROZEN);
    assert_int_equal(grant_anew(&kit, "a", &middling), ST_DATASET_FROZEN);
    struct store_tx *tx = kit_begin(&kit);
    const struct ledger_promise further = {&id, &wide, &principal_local, NULL};
    assert_int_equal(kit_end(tx, ledger_regrant(kit.ledger, tx, &further, NULL)),
                     ST_OK);
    assert_int_equal(grant_anew(&kit, "a", &middling), ST_DATASET_IMMUTABLE);
    for (int again = 0; again < 2; again++) {
        assert_int_equal(ledger_epochs(kit.ledger, &id, &epochs, &balance, NULL),
                         ST_OK);
        assert_int_equal(epochs.count, 2);
        assert_true(epochs.items[0].frozen && epochs.items[0].grant.epsilon == 2);
        assert_true(odometer_guarantee(&epochs).epsilon > 3);
        epochs_fini(&epochs);
        kit_reopen_ledger(&kit);
    }
    expect_verified(&kit);
    kit_close(&kit);
    place_remove(&place);
}

/* --- forged entries --- */

struct forgery {
    const char *dataset;
    uint64_t epoch, replaces;
    bool after_reserve; /* of a job on a */
    const char *what;
};

/* Appends a GRANT, chained and priced as the ledger would. */
static void forge(struct kit *kit, const struct forgery *forgery)
{
    struct filter filter;
    struct curve capacity;
    uint8_t bytes[ENTRY_CURVE_SIZE];
    struct store_tx *tx = kit_begin(kit);
    assert_int_equal(filter_of(&filter, &middling, NULL), ST_OK);
    entry_capacity(&capacity, &filter);
    entry_curve_encode(bytes, &capacity);
    char *meta = entry_grant_render(&middling, &filter, NULL, forgery->replaces);
    struct ledger_row row = {.dataset = forgery->dataset,
                             .epoch = forgery->epoch,
                             .job = "",
                             .kind = "GRANT",
                             .curve = bytes,
                             .curve_size = sizeof bytes,
                             .meta = meta,
                             .actor = "local"};
    assert_int_equal(ledger_change_append(kit->ledger, tx, &row, NULL), ST_OK);
    assert_int_equal(store_commit(tx, NULL), ST_OK);
    free(meta);
}

static void a_forged_replacement_is_found(void **state)
{
    (void)state;
    static const struct forgery all[] = {
        {"a", 3, 3, true, "replaces a grant that"},  /* a used grant */
        {"a", 3, 1, false, "replaces a grant that"}, /* a grant already replaced */
        {"a", 3, 2, false, "replaces a grant that"}, /* another dataset's */
        {"a", 3, 4, false, "replaces a grant that"}, /* itself */
        {"c", 1, 3, false, "replaces a grant that"}, /* there is no grant */
        {"a", 4, 3, false, "out of turn"},           /* skips an epoch */
        {"a", 3, 3, false, NULL},                    /* the valid form */
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct verify_report report;
        struct error error = {0};
        struct ledger *again;
        struct kit kit = kit_open(":memory:");
        assert_int_equal(kit_grant(&kit, "a", 2, 1e-5, 0), ST_OK);
        assert_int_equal(kit_grant(&kit, "b", 2, 1e-5, 0), ST_OK);
        assert_int_equal(grant_anew(&kit, "a", &wide), ST_OK);
        struct store_tx *tx = kit_begin(&kit);
        assert_int_equal(kit_end(tx, kit_dataset_row(tx, "c")), ST_OK);
        if (all[i].after_reserve) {
            assert_int_equal(kit_reserve(&kit, "a", 1, 23.85, 10), ST_OK);
            assert_int_equal(kit_settle(&kit, 1), ST_OK);
        }
        forge(&kit, &all[i]);
        if (all[i].what == NULL) {
            expect_verified(&kit);
            kit_reopen_ledger(&kit);
            expect_fresh(&kit, "a", &middling);
        } else {
            assert_int_equal(verify_store(kit.store, &report, &error), ST_CORRUPT);
            assert_non_null(strstr(error.text, all[i].what));
            assert_int_equal(ledger_open(&again, kit.store, &error), ST_CORRUPT);
            assert_non_null(strstr(error.text, all[i].what));
        }
        kit_close(&kit);
    }
}

/* A freeze counts the whole epoch, and a replacement would not count it at all. */
static void what_was_frozen_is_not_replaced_unnoticed(void **state)
{
    (void)state;
    for (uint64_t frozen = 1; frozen <= 3; frozen++) {
        struct verify_report report;
        struct error error = {0};
        struct ledger *again;
        struct kit kit = kit_open(":memory:");
        const struct freeze_row row = {.dataset = "a", .epoch = frozen, .seq = 1};
        assert_int_equal(kit_grant(&kit, "a", 2, 1e-5, 0), ST_OK);
        assert_int_equal(grant_anew(&kit, "a", &narrow), ST_OK);
        assert_int_equal(grant_anew(&kit, "a", &wide), ST_OK);
        struct store_tx *tx = kit_begin(&kit);
        assert_int_equal(kit_end(tx, freeze_row_insert(tx, &row, NULL)), ST_OK);
        if (frozen == 3) {
            expect_verified(&kit);
            kit_reopen_ledger(&kit);
            assert_true(kit_balance(&kit, "a").frozen);
        } else {
            assert_int_equal(verify_store(kit.store, &report, &error), ST_CORRUPT);
            assert_non_null(strstr(error.text, "one that was replaced"));
            assert_int_equal(ledger_open(&again, kit.store, &error), ST_CORRUPT);
        }
        kit_close(&kit);
    }
}

/* --- a race --- */

struct racer {
    struct kit *kit;
    pthread_barrier_t *start;
    enum status status;
};

static void *race(void *context)
{
    struct racer *racer = context;
    pthread_barrier_wait(racer->start);
    racer->status = kit_reserve(racer->kit, "a", 1, 2.9, 1);
    return NULL;
}

/* Either the reservation, which fits only the larger budget, comes first and the grant
 * stays, or it comes too late. */
static void a_reservation_and_another_grant_exclude_each_other(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 20; round++) {
        struct kit kit = kit_open(":memory:");
        pthread_barrier_t start;
        pthread_t thread;
        struct racer racer = {.kit = &kit, .start = &start};
        assert_int_equal(kit_grant(&kit, "a", 2, 1e-5, 0), ST_OK);
        assert_int_equal(pthread_barrier_init(&start, NULL, 2), 0);
        assert_int_equal(pthread_create(&thread, NULL, race, &racer), 0);
        pthread_barrier_wait(&start);
        enum status status = grant_anew(&kit, "a", &middling);
        assert_int_equal(pthread_join(thread, NULL), 0);
        if (racer.status == ST_OK)
            assert_int_equal(status, ST_DATASET_IMMUTABLE);
        else
            assert_true(racer.status == ST_BUDGET_EXHAUSTED && status == ST_OK);
        assert_true(kit_balance(&kit, "a").epsilon == (status == ST_OK ? 1.3 : 2));
        expect_verified(&kit);
        pthread_barrier_destroy(&start);
        kit_close(&kit);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_grant_that_was_never_used_is_replaced_whole),
        cmocka_unit_test(a_smaller_budget_refuses_what_the_larger_had_room_for),
        cmocka_unit_test(what_was_drawn_on_stays),
        cmocka_unit_test(what_the_same_transaction_reserves_counts),
        cmocka_unit_test(every_state_goes_on_to_the_same_end),
        cmocka_unit_test(a_history_tells_both_and_adds_neither),
        cmocka_unit_test(a_frozen_budget_is_not_replaced),
        cmocka_unit_test(a_forged_replacement_is_found),
        cmocka_unit_test(what_was_frozen_is_not_replaced_unnoticed),
        cmocka_unit_test(a_reservation_and_another_grant_exclude_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
