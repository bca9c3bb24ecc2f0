/* Goal: a start accepts only entries that this program would have written, and settles
 * the reservations of another version without undercharging. Method: entries with true
 * hashes are appended to a ledger from outside. */
#include "accountant/ledger/ledger_replay.h"

#include "tests/expect.h"
#include "accountant/ledger/entry.h"
#include "accountant/ledger/ledger_view.h"
#include "tests/accountant/ledger_fixture.h"

static struct kit kit_with_grant(void)
{
    struct kit kit = kit_open(":memory:");
    assert_int_equal(kit_grant(&kit, "a", 2, 1e-5, 0), ST_OK);
    return kit;
}

/* Completes row as the next entry on dataset a, and reopens the ledger. */
static enum status append(struct kit *kit, struct ledger_row *row, struct error *error)
{
    struct ledger_entry_name head;
    ledger_head(kit->ledger, &head);
    row->seq = head.seq + 1;
    row->dataset = "a";
    row->epoch = 1;
    row->curve_size = ENTRY_CURVE_SIZE;
    row->actor = "local";
    memcpy(row->prev, head.hash, SHA256_SIZE);
    entry_hash(row->hash, row);
    struct store_tx *tx = kit_begin(kit);
    assert_int_equal(ledger_row_insert(tx, row, NULL), ST_OK);
    assert_int_equal(store_commit(tx, NULL), ST_OK);
    ledger_close(kit->ledger);
    kit->ledger = NULL;
    return ledger_open(&kit->ledger, kit->store, error);
}

/* Appends a RESERVE of m whose price is curve. */
static void append_reserve(struct kit *kit, unsigned job, const struct mechanism *m,
                           const struct curve *curve)
{
    uint8_t bytes[ENTRY_CURVE_SIZE];
    struct job_id id = kit_job(job);
    char *meta = entry_reserve_render(m, PARTS_UNNAMED, NULL);
    entry_curve_encode(bytes, curve);
    struct ledger_row row = {
        .job = id.text, .kind = "RESERVE", .curve = bytes, .meta = meta};
    assert_int_equal(append(kit, &row, NULL), ST_OK);
    free(meta);
}

static struct curve scaled(const struct curve *curve, double factor)
{
    struct curve out = {0};
    for (size_t i = 0; i < CURVE_ORDERS; i++)
        out.at[i] = factor * curve->at[i];
    return out;
}

struct commit { /* of job 1, which reserved 10 steps at entry 2 */
    uint64_t steps, charged_steps;
    double release; /* this share of the rest */
};

static enum status append_commit(struct kit *kit, struct commit commit,
                                 struct error *error)
{
    struct mechanism m = kit_gaussian(23.85, 10);
    struct curve held = {0}, charge = {0}, rest = {0};
    uint8_t bytes[ENTRY_CURVE_SIZE], released[ENTRY_CURVE_SIZE];
    struct entry_commit meta = {.reserve_seq = 2, .steps = commit.steps};
    struct job_id id = kit_job(1);
    char *text = entry_commit_render(&meta);
    assert_int_equal(filter_charge(&held, &m, 10, NULL), ST_OK);
    assert_int_equal(filter_charge(&charge, &m, commit.charged_steps, NULL), ST_OK);
    entry_released(&rest, &held, &charge);
    rest = scaled(&rest, commit.release);
    entry_curve_encode(bytes, &charge);
    entry_curve_encode(released, &rest);
    struct ledger_row row = {.job = id.text,
                             .kind = "COMMIT",
                             .curve = bytes,
                             .released = released,
                             .meta = text};
    enum status status = append(kit, &row, error);
    free(text);
    mechanism_fini(&m);
    return status;
}

static void a_commit_that_is_not_ours_stops_the_start(void **state)
{
    (void)state;
    static const struct {
        struct commit commit;
        const char *fault; /* NULL: a form of this program */
    } all[] = {
        {{4, 4, 1}, NULL},
        {{3, 3, 1}, "other steps than were authorised"},
        {{5, 5, 1}, "other steps than were authorised"},
        {{4, 4, 1.5}, "another curve than the rest"},
        {{4, 4, 0.5}, "another curve than the rest"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct kit kit = kit_with_grant();
        struct error error = {0};
        assert_int_equal(kit_reserve(&kit, "a", 1, 23.85, 10), ST_OK);
        assert_int_equal(kit_authorise(&kit, 1, 4), ST_OK);
        enum status status = append_commit(&kit, all[i].commit, &error);
        assert_int_equal(status, all[i].fault == NULL ? ST_OK : ST_CORRUPT);
        if (all[i].fault != NULL)
            assert_non_null(strstr(error.text, all[i].fault));
        kit_close(&kit);
    }
}

static void authorised_steps_of_nobody_stop_the_start(void **state)
{
    (void)state;
    struct kit kit = kit_with_grant();
    struct error error = {0};
    struct job_id id = kit_job(7);
    assert_int_equal(kit_reserve(&kit, "a", 1, 23.85, 10), ST_OK);
    struct store_tx *tx = kit_begin(&kit);
    assert_int_equal(mark_row_raise(tx, id.text, 3, NULL), ST_OK);
    assert_int_equal(store_commit(tx, NULL), ST_OK);
    ledger_close(kit.ledger);
    kit.ledger = NULL;
    assert_int_equal(ledger_open(&kit.ledger, kit.store, &error), ST_CORRUPT);
    assert_non_null(strstr(error.text, "no reservation"));
    kit_close(&kit);
}

static void expect_committed(struct kit *kit, const struct curve *curve)
{
    struct balance balance = kit_balance(kit, "a");
    assert_memory_equal(&balance.committed, curve, sizeof *curve);
}

/* This version has no price for so little noise, so no part of the job has a price. */
static void a_reserve_without_a_price_is_charged_whole(void **state)
{
    (void)state;
    struct kit kit = kit_with_grant();
    struct mechanism m = kit_gaussian(0.01, 10);
    struct curve held = {0}, unpriced = {0};
    for (size_t i = 0; i < CURVE_ORDERS; i++)
        held.at[i] = filter_round_up(0.003 * curve_orders[i]);
    assert_int_equal(filter_charge(&unpriced, &m, 4, NULL), ST_INVALID);
    append_reserve(&kit, 1, &m, &held);
    assert_int_equal(kit_authorise(&kit, 1, 4), ST_OK);
    assert_int_equal(kit_settle(&kit, 1), ST_OK);
    expect_committed(&kit, &held);
    kit_reopen_ledger(&kit);
    expect_committed(&kit, &held);
    mechanism_fini(&m);
    kit_close(&kit);
}

/* If a price has risen since, the commit charges no more than was reserved. */
static void a_commit_is_at_most_its_reserve(void **state)
{
    (void)state;
    struct kit kit = kit_with_grant();
    struct mechanism m = kit_gaussian(23.85, 10);
    struct curve price = {0}, held = {0};
    assert_int_equal(filter_charge(&price, &m, 10, NULL), ST_OK);
    held = scaled(&price, 0.5);
    append_reserve(&kit, 1, &m, &held);
    assert_int_equal(kit_authorise(&kit, 1, 10), ST_OK);
    assert_int_equal(kit_settle(&kit, 1), ST_OK);
    expect_committed(&kit, &held);
    mechanism_fini(&m);
    kit_close(&kit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_commit_that_is_not_ours_stops_the_start),
        cmocka_unit_test(authorised_steps_of_nobody_stop_the_start),
        cmocka_unit_test(a_reserve_without_a_price_is_charged_whole),
        cmocka_unit_test(a_commit_is_at_most_its_reserve),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
