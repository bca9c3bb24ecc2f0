/* Goal: the ledger's life cycle and every status of ledger.h, on a store in memory.
 * Method: balances are compared with sums computed by hand from a / (2 sigma^2). */
#include "accountant/ledger/ledger.h"

#include "accountant/ledger/ledger_view.h"
#include "tests/expect.h"
#include "tests/accountant/ledger_fixture.h"

/* RDP of `steps` Gaussians at grid index i, to which rounding up to 2^-40 may add. */
static double gaussian(size_t i, double sigma, double steps)
{
    return steps * curve_orders[i] / (2 * sigma * sigma);
}

static void expect_curve(const struct curve *curve, double sigma, double steps)
{
    for (size_t i = 0; i < CURVE_ORDERS; i++) {
        double expected = gaussian(i, sigma, steps);
        assert_true(curve->at[i] >= expected * (1 - 1e-15));
        assert_true(curve->at[i] <= expected * (1 + 1e-13) + 0x1p-38);
    }
}

static void a_grant_is_the_whole_budget(void **state)
{
    (void)state;
    struct kit kit = kit_open(":memory:");
    assert_int_equal(kit_grant(&kit, "mnist", 2, 1e-5, 0), ST_OK);
    struct balance balance = kit_balance(&kit, "mnist");
    assert_true(balance.epsilon == 2 && balance.delta == 1e-5);
    assert_int_equal(balance.epoch, 1);
    assert_true(balance.epsilon_spent == 0 && balance.epsilon_held == 0);
    assert_true(balance.fraction_remaining == 1);
    assert_true(balance.epsilon_remaining > 1.9 && balance.epsilon_remaining < 2);
    assert_int_equal(kit_grant(&kit, "mnist", 2, 1e-5, 0), ST_ALREADY_EXISTS);
    assert_int_equal(kit_grant(&kit, "much", LEDGER_EPSILON_MAX, 1e-5, 0), ST_OK);
    assert_int_equal(kit_grant(&kit, "more", 30.5, 1e-5, 0), ST_INVALID);
    kit_close(&kit);
}

struct times {
    unsigned entries, finer; /* finer than a second */
};

static bool look_at_time(void *context, const struct ledger_row *row)
{
    struct times *times = context;
    times->entries++;
    times->finer += row->time_ms % 1000 != 0;
    return true;
}

/* A finer time would be published together with the hash that covers it, and a thousand
 * guesses would find it. Six entries would all fall on whole seconds by chance once in
 * 10^18. */
static void the_time_of_an_entry_is_a_whole_second(void **state)
{
    (void)state;
    struct kit kit = kit_open(":memory:");
    struct times times = {0};
    assert_int_equal(kit_grant(&kit, "a", 2, 1e-5, 0), ST_OK);
    assert_int_equal(kit_grant(&kit, "b", 2, 1e-5, 0), ST_OK);
    for (unsigned job = 1; job < 3; job++) {
        assert_int_equal(kit_reserve(&kit, "a", job, 80, 2), ST_OK);
        assert_int_equal(kit_settle(&kit, job), ST_OK);
    }
    struct store_tx *tx = kit_begin(&kit);
    assert_int_equal(
        ledger_rows_walk(tx, &(struct ledger_range){0}, look_at_time, &times, NULL),
        ST_OK);
    store_rollback(tx);
    assert_int_equal(times.entries, 6);
    assert_int_equal(times.finer, 0);
    kit_close(&kit);
}

static void grants_without_a_row_or_a_range_are_refused(void **state)
{
    (void)state;
    struct kit kit = kit_open(":memory:");
    static const struct grant bad[] = {
        {RELATION_ZERO_OUT, 0, 1e-5, 0, {0, 0}, PRIVACY_UNIT_RECORD, 0},
        {RELATION_ZERO_OUT, -1.5, 1e-5, 0, {0, 0}, PRIVACY_UNIT_RECORD, 0},
        {RELATION_ZERO_OUT, 1000.5, 1e-5, 0, {0, 0}, PRIVACY_UNIT_RECORD, 0},
        {RELATION_ZERO_OUT, NAN, 1e-5, 0, {0, 0}, PRIVACY_UNIT_RECORD, 0},
        {RELATION_ZERO_OUT, INFINITY, 1e-5, 0, {0, 0}, PRIVACY_UNIT_RECORD, 0},
        {RELATION_ZERO_OUT, 2, 0, 0, {0, 0}, PRIVACY_UNIT_RECORD, 0},
        {RELATION_ZERO_OUT, 2, 0x1p-39, 0, {0, 0}, PRIVACY_UNIT_RECORD, 0},
        {RELATION_ZERO_OUT, 2, 1, 0, {0, 0}, PRIVACY_UNIT_RECORD, 0},
        {RELATION_ZERO_OUT, 2, NAN, 0, {0, 0}, PRIVACY_UNIT_RECORD, 0},
        {RELATION_ZERO_OUT, 2, 1e-5, 10.5, {0, 0}, PRIVACY_UNIT_RECORD, 0},
        {RELATION_ZERO_OUT, 2, 1e-5, -2, {0, 0}, PRIVACY_UNIT_RECORD, 0},
        {RELATION_ZERO_OUT, 1e-4, 1e-9, 0, {0, 0}, PRIVACY_UNIT_RECORD, 0},
    };
    struct dataset_id id = kit_dataset("a");
    struct store_tx *tx = kit_begin(&kit);
    assert_int_equal(kit_dataset_row(tx, "a"), ST_OK);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(
            ledger_grant(kit.ledger, tx,
                         &(struct ledger_promise){&id, &bad[i], &principal_local, NULL},
                         NULL),
            ST_INVALID);
    assert_int_equal(store_commit(tx, NULL), ST_OK);
    struct dataset_id nowhere = kit_dataset("nowhere");
    struct grant good = {RELATION_ZERO_OUT, 2, 1e-5, 0, {0, 0}, PRIVACY_UNIT_RECORD, 0};
    tx = kit_begin(&kit);
    assert_int_equal(
        ledger_grant(kit.ledger, tx,
                     &(struct ledger_promise){&nowhere, &good, &principal_local, NULL},
                     NULL),
        ST_NOT_FOUND);
    store_rollback(tx);
    tx = kit_begin(&kit);
    assert_int_equal(
        ledger_grant(kit.ledger, tx,
                     &(struct ledger_promise){&id, &good, &principal_local, NULL},
                     NULL),
        ST_OK);
    assert_int_equal(store_commit(tx, NULL), ST_OK);
    kit_close(&kit);
}

static void a_reservation_holds_its_whole_curve(void **state)
{
    (void)state;
    struct kit kit = kit_open(":memory:");
    struct ledger_entry_name entry, head;
    struct job_id job = kit_job(7);
    kit_grant(&kit, "a", 2, 1e-5, 0);
    assert_false(ledger_reservation(kit.ledger, &job, &entry));
    struct dataset_id id = kit_dataset("a");
    assert_false(ledger_touched(kit.ledger, &id));
    assert_int_equal(kit_reserve(&kit, "a", 7, 23.85, 17), ST_OK);
    assert_true(ledger_touched(kit.ledger, &id));
    struct balance balance = kit_balance(&kit, "a");
    expect_curve(&balance.held, 23.85, 17);
    assert_true(balance.committed.at[9] == 0);
    assert_true(balance.epsilon_spent == 0 && balance.epsilon_held > 0);
    ledger_head(kit.ledger, &head);
    assert_true(ledger_reservation(kit.ledger, &job, &entry));
    assert_int_equal(entry.seq, 2);
    assert_memory_equal(&entry, &head, sizeof head);
    assert_int_equal(kit_reserve(&kit, "a", 7, 23.85, 17), ST_ALREADY_EXISTS);
    assert_int_equal(kit_reserve(&kit, "b", 8, 23.85, 17), ST_NOT_FOUND);
    kit_close(&kit);
}

static void what_is_settled_is_what_was_authorised(void **state)
{
    (void)state;
    struct kit kit = kit_open(":memory:");
    struct job_id job = kit_job(1);
    kit_grant(&kit, "a", 2, 1e-5, 0);
    assert_int_equal(kit_reserve(&kit, "a", 1, 23.85, 17), ST_OK);
    assert_int_equal(ledger_authorised(kit.ledger, &job), 0);
    assert_int_equal(kit_authorise(&kit, 1, 3), ST_OK);
    assert_int_equal(kit_authorise(&kit, 1, 11), ST_OK);
    assert_int_equal(ledger_authorised(kit.ledger, &job), 11);
    assert_int_equal(kit_settle(&kit, 1), ST_OK);
    struct balance balance = kit_balance(&kit, "a");
    expect_curve(&balance.committed, 23.85, 11);
    assert_true(balance.held.at[0] == 0 && balance.held.at[49] == 0);
    assert_int_equal(ledger_authorised(kit.ledger, &job), 11);
    assert_int_equal(kit_settle(&kit, 1), ST_NOT_FOUND);
    assert_int_equal(kit_authorise(&kit, 1, 12), ST_NOT_FOUND);
    kit_close(&kit);
}

static void a_job_that_never_ran_costs_nothing(void **state)
{
    (void)state;
    struct kit kit = kit_open(":memory:");
    kit_grant(&kit, "a", 2, 1e-5, 0);
    struct balance before = kit_balance(&kit, "a");
    assert_int_equal(kit_reserve(&kit, "a", 1, 23.85, 17), ST_OK);
    assert_int_equal(kit_settle(&kit, 1), ST_OK);
    struct balance after = kit_balance(&kit, "a");
    assert_same_balance(&before, &after);
    kit_close(&kit);
}

static void authorisation_only_grows_and_stays_within_the_reservation(void **state)
{
    (void)state;
    struct kit kit = kit_open(":memory:");
    kit_grant(&kit, "a", 2, 1e-5, 0);
    assert_int_equal(kit_reserve(&kit, "a", 1, 23.85, 17), ST_OK);
    assert_int_equal(kit_authorise(&kit, 1, 0), ST_INVALID);
    assert_int_equal(kit_authorise(&kit, 1, 18), ST_INVALID);
    assert_int_equal(kit_authorise(&kit, 1, UINT64_MAX), ST_INVALID);
    assert_int_equal(kit_authorise(&kit, 1, 5), ST_OK);
    assert_int_equal(kit_authorise(&kit, 1, 5), ST_INVALID);
    assert_int_equal(kit_authorise(&kit, 1, 4), ST_INVALID);
    assert_int_equal(kit_authorise(&kit, 2, 1), ST_NOT_FOUND);
    kit_close(&kit);
}

static void a_mechanism_without_priced_prefixes_is_authorised_whole(void **state)
{
    (void)state;
    struct kit kit = kit_open(":memory:");
    struct mechanism m = kit_gaussian(23.85, 17);
    m.prefixes_priced = false;
    kit_grant(&kit, "a", 2, 1e-5, 0);
    assert_int_equal(kit_reserve_m(&kit, "a", 1, &m), ST_OK);
    assert_int_equal(kit_authorise(&kit, 1, 3), ST_INVALID);
    assert_int_equal(kit_authorise(&kit, 1, 17), ST_OK);
    assert_int_equal(kit_settle(&kit, 1), ST_OK);
    struct balance balance = kit_balance(&kit, "a");
    expect_curve(&balance.committed, 23.85, 17);
    mechanism_fini(&m);
    kit_close(&kit);
}

static void held_and_exhausted_are_told_apart(void **state)
{
    (void)state;
    struct kit kit = kit_open(":memory:");
    struct dataset_id id = kit_dataset("a");
    struct mechanism m = kit_gaussian(4, 1), huge = kit_gaussian(0.5, 1);
    struct outlook outlook;
    kit_grant(&kit, "a", 2, 1e-5, 0);
    /* At order 10 the capacity is 1.05 and each such job costs .3125: three fit. */
    for (unsigned job = 1; job <= 3; job++)
        assert_int_equal(kit_reserve_m(&kit, "a", job, &m), ST_OK);
    assert_int_equal(kit_reserve_m(&kit, "a", 4, &m), ST_BUDGET_HELD);
    assert_int_equal(outlook_of(&kit, &id, &m, 9, &outlook), ST_OK);
    assert_int_equal(outlook.fits, FITS_HELD);
    assert_int_equal(kit_reserve_m(&kit, "a", 4, &huge), ST_BUDGET_EXHAUSTED);
    assert_int_equal(kit_settle(&kit, 2), ST_OK);
    assert_int_equal(outlook_of(&kit, &id, &m, 9, &outlook), ST_OK);
    assert_int_equal(outlook.fits, FITS_YES);
    assert_int_equal(kit_reserve_m(&kit, "a", 4, &m), ST_OK);
    for (unsigned job = 1; job <= 4; job++) {
        if (job == 2)
            continue;
        assert_int_equal(kit_authorise(&kit, job, 1), ST_OK);
        assert_int_equal(kit_settle(&kit, job), ST_OK);
    }
    assert_int_equal(kit_reserve_m(&kit, "a", 5, &m), ST_BUDGET_EXHAUSTED);
    assert_int_equal(outlook_of(&kit, &id, &m, 9, &outlook), ST_OK);
    assert_int_equal(outlook.fits, FITS_NO);
    struct dataset_id nowhere = kit_dataset("nowhere");
    assert_int_equal(outlook_of(&kit, &nowhere, &m, 9, &outlook), ST_NOT_FOUND);
    struct balance balance;
    assert_int_equal(ledger_balance(kit.ledger, &nowhere, &balance, NULL),
                     ST_NOT_FOUND);
    mechanism_fini(&m);
    mechanism_fini(&huge);
    kit_close(&kit);
}

/* Jobs of this price are reserved and settled, next to one that stays open, until one
 * is refused: exactly as many as predicted, each leaving the predicted balance. */
static void an_outlook_is_what_then_happens(void **state)
{
    (void)state;
    struct kit kit = kit_open(":memory:");
    struct dataset_id id = kit_dataset("a");
    struct mechanism m = kit_gaussian(9.37, 1);
    struct outlook outlook;
    kit_grant(&kit, "a", 2, 1e-5, 0);
    assert_int_equal(kit_reserve(&kit, "a", 1, 11.3, 1), ST_OK);
    assert_int_equal(outlook_of(&kit, &id, &m, 99, &outlook), ST_OK);
    uint64_t foreseen = outlook.times;
    assert_true(foreseen > 3 && foreseen < 99);
    for (unsigned taken = 0;; taken++) {
        struct balance before = kit_balance(&kit, "a");
        assert_int_equal(outlook_of(&kit, &id, &m, 99, &outlook), ST_OK);
        assert_same_balance(&outlook.balance, &before);
        assert_int_equal(outlook.times, foreseen - taken);
        assert_int_equal(outlook.fits == FITS_YES, outlook.times > 0);
        if (outlook.times == 0)
            break;
        double after = outlook.epsilon_after;
        assert_true(outlook.exposure_after.epsilon >= after * (1 - 1e-12));
        assert_true(outlook.exposure_after.epsilon <= 2);
        assert_int_equal(kit_reserve_m(&kit, "a", 2 + taken, &m), ST_OK);
        assert_int_equal(kit_authorise(&kit, 2 + taken, 1), ST_OK);
        assert_int_equal(kit_settle(&kit, 2 + taken), ST_OK);
        struct balance charged = kit_balance(&kit, "a");
        assert_true(charged.epsilon_spent < after);
        assert_close(charged.epsilon_spent + charged.epsilon_held, after, 1e-14);
    }
    assert_int_equal(outlook.fits, FITS_HELD);
    assert_int_equal(kit_reserve_m(&kit, "a", 99, &m), ST_BUDGET_HELD);
    assert_int_equal(kit_settle(&kit, 1), ST_OK);
    assert_int_equal(outlook_of(&kit, &id, &m, 99, &outlook), ST_OK);
    assert_int_equal(outlook.fits, FITS_YES);
    mechanism_fini(&m);
    kit_close(&kit);
}

static void another_relation_or_an_infinite_curve_is_refused(void **state)
{
    (void)state;
    struct kit kit = kit_open(":memory:");
    struct mechanism replace = kit_gaussian(4, 1), endless = kit_gaussian(1e-200, 1);
    replace.relation = RELATION_REPLACE_ONE;
    kit_grant(&kit, "a", 2, 1e-5, 0);
    assert_int_equal(kit_reserve_m(&kit, "a", 1, &replace), ST_INVALID);
    assert_int_equal(kit_reserve_m(&kit, "a", 1, &endless), ST_INVALID);
    mechanism_fini(&replace);
    mechanism_fini(&endless);
    kit_close(&kit);
}

static enum status grant_to(struct kit *kit, const char *dataset,
                            enum privacy_unit unit)
{
    struct dataset_id id = kit_dataset(dataset);
    struct grant grant = {RELATION_ZERO_OUT, 2, 1e-5, 0, {0, 0}, unit, 0};
    struct store_tx *tx = kit_begin(kit);
    enum status status = kit_dataset_row(tx, dataset);
    if (status == ST_OK)
        status = ledger_grant(
            kit->ledger, tx,
            &(struct ledger_promise){&id, &grant, &principal_local, NULL}, NULL);
    return store_end(tx, status, NULL);
}

static enum status claim_for(struct kit *kit, const char *dataset, unsigned number,
                             enum privacy_unit unit)
{
    struct dataset_id id = kit_dataset(dataset);
    struct job_id job = kit_job(number);
    struct ledger_entry_name entry;
    struct mechanism m;
    mechanism_init(&m, MECHANISM_GAUSSIAN, RELATION_ZERO_OUT,
                   (struct mechanism_run){1, 80, 5});
    m.unit = unit;
    struct store_tx *tx = kit_begin(kit);
    struct ledger_claim claim = {&id, &job, &m, &principal_local, PARTS_UNNAMED, NULL};
    enum status status = ledger_reserve(kit->ledger, tx, &claim, &entry, NULL);
    mechanism_fini(&m);
    return store_end(tx, status, NULL);
}

/* A sum over records guarantees nothing for persons, and a sum over persons has another
 * n. */
static void a_mechanism_of_another_unit_is_refused(void **state)
{
    (void)state;
    struct kit kit = kit_open(":memory:");
    assert_int_equal(grant_to(&kit, "people", PRIVACY_UNIT_PERSON), ST_OK);
    assert_int_equal(grant_to(&kit, "rows", PRIVACY_UNIT_RECORD), ST_OK);
    assert_int_equal(claim_for(&kit, "people", 1, PRIVACY_UNIT_RECORD), ST_INVALID);
    assert_int_equal(claim_for(&kit, "rows", 2, PRIVACY_UNIT_PERSON), ST_INVALID);
    assert_int_equal(claim_for(&kit, "people", 3, PRIVACY_UNIT_PERSON), ST_OK);
    assert_int_equal(claim_for(&kit, "rows", 4, PRIVACY_UNIT_RECORD), ST_OK);
    assert_int_equal(kit_balance(&kit, "people").unit, PRIVACY_UNIT_PERSON);
    assert_int_equal(kit_balance(&kit, "rows").unit, PRIVACY_UNIT_RECORD);
    kit_close(&kit);
}

static void memory_changes_only_when_the_transaction_is_durable(void **state)
{
    (void)state;
    struct kit kit = kit_open(":memory:");
    struct dataset_id a = kit_dataset("a"), b = kit_dataset("b");
    struct job_id jobs[3] = {kit_job(1), kit_job(2), kit_job(3)};
    struct mechanism m = kit_gaussian(4, 1);
    struct grant grant = {RELATION_ZERO_OUT,   2, 1e-5, 0, {0, 0},
                          PRIVACY_UNIT_RECORD, 0};
    struct ledger_entry_name entry, before, after;
    struct balance balance;
    kit_grant(&kit, "a", 2, 1e-5, 0);
    kit_reserve(&kit, "a", 9, 5, 1);
    struct balance first = kit_balance(&kit, "a");
    ledger_head(kit.ledger, &before);

    struct store_tx *tx = kit_begin(&kit);
    kit_dataset_row(tx, "b");
    assert_int_equal(
        ledger_grant(kit.ledger, tx,
                     &(struct ledger_promise){&b, &grant, &principal_local, NULL},
                     NULL),
        ST_OK);
    for (int i = 0; i < 3; i++) {
        const struct ledger_claim claim = {
            &a, &jobs[i], &m, &principal_local, PARTS_UNNAMED, NULL};
        assert_int_equal(ledger_reserve(kit.ledger, tx, &claim, &entry, NULL),
                         i < 2 ? ST_OK : ST_BUDGET_HELD);
    }
    assert_int_equal(ledger_settle(kit.ledger, tx, &jobs[0], NULL, NULL), ST_OK);
    assert_int_equal(ledger_settle(kit.ledger, tx, &jobs[0], NULL, NULL), ST_NOT_FOUND);
    assert_int_equal(ledger_balance(kit.ledger, &b, &balance, NULL), ST_NOT_FOUND);
    assert_false(ledger_reservation(kit.ledger, &jobs[1], &entry));
    struct balance during = kit_balance(&kit, "a");
    assert_same_balance(&first, &during);
    store_rollback(tx);
    struct balance undone = kit_balance(&kit, "a");
    assert_same_balance(&first, &undone);
    ledger_head(kit.ledger, &after);
    assert_memory_equal(&before, &after, sizeof after);
    assert_int_equal(kit_grant(&kit, "b", 3, 1e-6, 0), ST_OK);
    assert_int_equal(kit_reserve_m(&kit, "a", 1, &m), ST_OK);
    mechanism_fini(&m);
    kit_close(&kit);
}

struct actors {
    size_t count;
    char names[8][PRINCIPAL_NAME_SIZE];
};

static bool note_actor(void *context, const struct ledger_row *row)
{
    struct actors *actors = context;
    snprintf(actors->names[actors->count++], PRINCIPAL_NAME_SIZE, "%s", row->actor);
    return actors->count < 8;
}

/* Even if the process that settles is not the one that reserved. */
static void an_entry_names_who_promised_and_who_reserved(void **state)
{
    (void)state;
    static const struct principal ward = {.name = "ward"},
                                  mallory = {.name = "mallory"};
    const char *const expected[] = {"ward", "mallory", "ward", "mallory", "ward"};
    struct kit kit = kit_open(":memory:");
    struct actors actors = {0};
    struct dataset_id a = kit_dataset("a");
    struct job_id jobs[2] = {kit_job(1), kit_job(2)};
    struct mechanism m = kit_gaussian(23.85, 1);
    const struct grant grant = {RELATION_ZERO_OUT,   2, 1e-5, 0, {0, 0},
                                PRIVACY_UNIT_RECORD, 0};
    struct ledger_entry_name entry;
    struct store_tx *tx = kit_begin(&kit);
    kit_dataset_row(tx, "a");
    const struct ledger_promise promise = {&a, &grant, &ward, NULL};
    assert_int_equal(ledger_grant(kit.ledger, tx, &promise, NULL), ST_OK);
    for (int i = 0; i < 2; i++) {
        const struct ledger_claim claim = {
            &a, &jobs[i], &m, i == 0 ? &mallory : &ward, PARTS_UNNAMED, NULL};
        assert_int_equal(ledger_reserve(kit.ledger, tx, &claim, &entry, NULL), ST_OK);
    }
    assert_int_equal(store_commit(tx, NULL), ST_OK);
    assert_int_equal(kit_settle(&kit, 1), ST_OK);
    kit_reopen_ledger(&kit);
    assert_int_equal(kit_settle(&kit, 2), ST_OK);
    tx = kit_begin(&kit);
    assert_int_equal(
        ledger_rows_walk(tx, &(struct ledger_range){0}, note_actor, &actors, NULL),
        ST_OK);
    store_rollback(tx);
    assert_int_equal(actors.count, 5);
    for (size_t i = 0; i < 5; i++)
        assert_string_equal(actors.names[i], expected[i]);
    mechanism_fini(&m);
    kit_close(&kit);
}

struct asked { /* a guard, and the request that it received */
    enum status answer;
    struct job_id job;
    bool sees_mark; /* whether it saw the job's mark, which is not raised yet */
};

static bool is_of_job(void *context, const char *job, uint64_t authorised)
{
    struct asked *asked = context;
    asked->sees_mark =
        asked->sees_mark || (strcmp(job, asked->job.text) == 0 && authorised > 0);
    return true;
}

static enum status answer(void *context, struct store_tx *tx, const struct job_id *job,
                          struct error *error)
{
    struct asked *asked = context;
    asked->job = *job;
    assert_int_equal(mark_rows_walk(tx, is_of_job, asked, NULL), ST_OK);
    return asked->answer == ST_OK ? ST_OK
                                  : error_set(error, asked->answer, "another's");
}

static void steps_are_authorised_where_the_guard_allows_it(void **state)
{
    (void)state;
    struct kit kit = kit_open(":memory:");
    struct asked asked = {.answer = ST_CANCELLED};
    const struct ledger_guard guard = {answer, &asked};
    assert_int_equal(kit_grant(&kit, "a", 2, 1e-5, 0), ST_OK);
    assert_int_equal(kit_reserve(&kit, "a", 1, 80, 4), ST_OK);
    ledger_set_guard(kit.ledger, &guard);
    const struct job_id job = kit_job(1);
    assert_int_equal(kit_authorise(&kit, 1, 2), ST_CANCELLED);
    assert_string_equal(asked.job.text, job.text);
    assert_int_equal(ledger_authorised(kit.ledger, &job), 0);
    asked.answer = ST_OK;
    assert_int_equal(kit_authorise(&kit, 1, 3), ST_OK);
    assert_false(asked.sees_mark);
    assert_int_equal(ledger_authorised(kit.ledger, &job), 3);
    kit_close(&kit);
}

static void a_restart_finds_the_same_balances(void **state)
{
    (void)state;
    struct kit kit = kit_open(":memory:");
    struct ledger_entry_name head, again;
    struct job_id settled = kit_job(1), open = kit_job(3);
    kit_grant(&kit, "a", 4, 1e-5, 5);
    kit_grant(&kit, "b", 1, 1e-6, 0);
    for (unsigned job = 1; job <= 4; job++)
        assert_int_equal(kit_reserve(&kit, "a", job, 17.3 + job, 5 * job), ST_OK);
    assert_int_equal(kit_reserve(&kit, "b", 5, 60, 1), ST_OK);
    kit_authorise(&kit, 1, 4);
    kit_authorise(&kit, 3, 2);
    kit_settle(&kit, 1);
    kit_settle(&kit, 2);
    struct balance a = kit_balance(&kit, "a"), b = kit_balance(&kit, "b");
    ledger_head(kit.ledger, &head);
    kit_reopen_ledger(&kit);
    struct balance a_again = kit_balance(&kit, "a"), b_again = kit_balance(&kit, "b");
    assert_same_balance(&a, &a_again);
    assert_same_balance(&b, &b_again);
    ledger_head(kit.ledger, &again);
    assert_memory_equal(&head, &again, sizeof head);
    assert_int_equal(ledger_authorised(kit.ledger, &settled), 4);
    assert_int_equal(ledger_authorised(kit.ledger, &open), 2);
    assert_int_equal(kit_authorise(&kit, 3, 2), ST_INVALID);
    assert_int_equal(kit_authorise(&kit, 3, 3), ST_OK);
    assert_int_equal(kit_settle(&kit, 3), ST_OK);
    kit_close(&kit);
}

struct walked {
    struct kit *kit;
    unsigned count;
    struct ledger_open_reservation seen[8];
};

static bool settle_it(void *context, const struct ledger_open_reservation *reservation)
{
    struct walked *walked = context;
    walked->seen[walked->count++] = *reservation;
    struct store_tx *tx = kit_begin(walked->kit);
    assert_int_equal(kit_end(tx, ledger_settle(walked->kit->ledger, tx,
                                               &reservation->job, NULL, NULL)),
                     ST_OK);
    return walked->count < 2;
}

static void recovery_can_settle_while_it_walks_open_reservations(void **state)
{
    (void)state;
    struct kit kit = kit_open(":memory:");
    struct walked walked = {.kit = &kit};
    kit_grant(&kit, "b", 4, 1e-5, 0);
    kit_grant(&kit, "a", 4, 1e-5, 0);
    kit_reserve(&kit, "b", 9, 30, 7);
    kit_reserve(&kit, "a", 4, 30, 5);
    kit_reserve(&kit, "b", 2, 30, 3);
    kit_authorise(&kit, 4, 2);
    ledger_open_walk(kit.ledger, settle_it, &walked);
    assert_int_equal(walked.count, 2);
    assert_string_equal(walked.seen[0].job.text, kit_job(9).text);
    assert_string_equal(walked.seen[0].dataset.text, "b");
    assert_int_equal(walked.seen[0].steps, 7);
    assert_string_equal(walked.seen[1].job.text, kit_job(4).text);
    assert_int_equal(walked.seen[1].authorised, 2);
    walked.count = 0;
    ledger_open_walk(kit.ledger, settle_it, &walked);
    assert_int_equal(walked.count, 1);
    assert_string_equal(walked.seen[0].job.text, kit_job(2).text);
    kit_close(&kit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_grant_is_the_whole_budget),
        cmocka_unit_test(the_time_of_an_entry_is_a_whole_second),
        cmocka_unit_test(grants_without_a_row_or_a_range_are_refused),
        cmocka_unit_test(a_reservation_holds_its_whole_curve),
        cmocka_unit_test(what_is_settled_is_what_was_authorised),
        cmocka_unit_test(a_job_that_never_ran_costs_nothing),
        cmocka_unit_test(authorisation_only_grows_and_stays_within_the_reservation),
        cmocka_unit_test(a_mechanism_without_priced_prefixes_is_authorised_whole),
        cmocka_unit_test(held_and_exhausted_are_told_apart),
        cmocka_unit_test(an_outlook_is_what_then_happens),
        cmocka_unit_test(another_relation_or_an_infinite_curve_is_refused),
        cmocka_unit_test(a_mechanism_of_another_unit_is_refused),
        cmocka_unit_test(memory_changes_only_when_the_transaction_is_durable),
        cmocka_unit_test(an_entry_names_who_promised_and_who_reserved),
        cmocka_unit_test(steps_are_authorised_where_the_guard_allows_it),
        cmocka_unit_test(a_restart_finds_the_same_balances),
        cmocka_unit_test(recovery_can_settle_while_it_walks_open_reservations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
