/* Goal: a history shows the budget as it was, entry by entry, and is thinned as
 * documented. Method: a random life of a budget; after each entry the test asks the
 * ledger itself, which uses other code, for the balance, and keeps it. */
#include "accountant/ledger/budget_history.h"

#include "tests/expect.h"
#include "accountant/ledger/head_file.h"
#include "accountant/ledger/ledger_freeze.h"
#include "tests/accountant/ledger_fixture.h"

enum { ENTRIES_MAX = 2200, OPEN_MAX = 5 };

struct life {
    struct kit kit;
    size_t count;
    struct balance balances[ENTRIES_MAX]; /* of "a", after each of its entries */
    uint64_t seqs[ENTRIES_MAX];
    unsigned jobs[ENTRIES_MAX]; /* 0: a GRANT */
};

static void note(struct life *life, unsigned job)
{
    struct ledger_entry_name head;
    assert_true(life->count < ENTRIES_MAX);
    ledger_head(life->kit.ledger, &head);
    life->balances[life->count] = kit_balance(&life->kit, "a");
    life->seqs[life->count] = head.seq;
    life->jobs[life->count++] = job;
}

/* Jobs are reserved and settled, some without having run, by fixed random draws;
 * entries of another dataset lie in between. */
static void live(struct life *life, size_t entries, unsigned first_job)
{
    unsigned open[OPEN_MAX], open_count = 0, next = first_job;
    unsigned long long dice = 3;
    for (size_t i = 0; i < entries || open_count > 0;) {
        dice = dice * 6364136223846793005u + 1442695040888963407u;
        unsigned roll = (unsigned)(dice >> 33);
        if (i < entries && open_count < OPEN_MAX && roll % 2 == 0) {
            assert_int_equal(kit_reserve(&life->kit, "a", next, 150 + roll % 97, 4),
                             ST_OK);
            open[open_count++] = next;
            note(life, next++);
            i++;
        } else if (open_count > 0) {
            unsigned taken = roll / 7 % open_count, job = open[taken];
            open[taken] = open[--open_count];
            if (roll % 3 != 0)
                assert_int_equal(kit_authorise(&life->kit, job, 1 + roll % 4), ST_OK);
            assert_int_equal(kit_settle(&life->kit, job), ST_OK);
            note(life, job);
            i++;
        } else {
            unsigned job = 500000 + first_job + (unsigned)i++;
            assert_int_equal(kit_reserve(&life->kit, "b", job, 900, 1), ST_OK);
            assert_int_equal(kit_settle(&life->kit, job), ST_OK);
        }
    }
}

static struct life *life_begin(void)
{
    struct life *life = calloc(1, sizeof *life);
    life->kit = kit_open(":memory:");
    assert_int_equal(kit_grant(&life->kit, "b", 3, 1e-6, 0), ST_OK);
    assert_int_equal(kit_grant(&life->kit, "a", 2, 1e-5, 0), ST_OK);
    note(life, 0);
    return life;
}

static void life_end(struct life *life)
{
    kit_close(&life->kit);
    free(life);
}

static struct budget_history history_of(struct life *life, size_t points)
{
    struct budget_history history;
    struct dataset_id id = kit_dataset("a");
    struct error error = {0};
    if (budget_history_read(&history, life->kit.store,
                            &(struct ledger_part){&id, PART_TRAIN}, points,
                            &error) != ST_OK)
        fail_msg("%s", error.text);
    assert_int_equal(history.entries, life->count);
    return history;
}

static void expect_point(const struct life *life, size_t at,
                         const struct budget_point *point)
{
    const struct balance *balance = &life->balances[at];
    struct budget_share share = budget_share_of(balance);
    assert_int_equal(point->seq, life->seqs[at]);
    assert_int_equal(point->epoch, balance->epoch);
    assert_true(point->time_ms > 0 && point->time_ms % 1000 == 0);
    assert_true(point->epsilon_spent == balance->epsilon_spent);
    assert_true(point->share.order == share.order && point->share.spent == share.spent);
    assert_true(point->share.held == share.held && point->share.left == share.left);
    if (life->jobs[at] == 0) {
        assert_string_equal(point->kind, "GRANT");
        assert_string_equal(point->job.text, "");
        return;
    }
    struct job_id job = kit_job(life->jobs[at]);
    bool first = true;
    for (size_t i = 0; i < at; i++)
        first = first && life->jobs[i] != life->jobs[at];
    assert_string_equal(point->kind, first ? "RESERVE" : "COMMIT");
    assert_string_equal(point->job.text, job.text);
}

static void every_point_is_what_the_ledger_said_then(void **state)
{
    (void)state;
    struct life *life = life_begin();
    live(life, 2100, 1); /* more than one read returns */
    struct budget_history history = history_of(life, ENTRIES_MAX);
    assert_int_equal(history.count, life->count);
    for (size_t i = 0; i < history.count; i++)
        expect_point(life, i, &history.points[i]);
    assert_true(history.points[history.count - 1].epsilon_spent > 0.3);
    budget_history_fini(&history);
    life_end(life);
}

static void points_are_thinned_evenly_and_the_last_is_there(void **state)
{
    (void)state;
    static const size_t asked[] = {1, 2, 3, 7, 60, 61, 62, 1000};
    struct life *life = life_begin();
    live(life, 60, 1);
    for (size_t k = 0; k < sizeof asked / sizeof *asked; k++) {
        size_t wanted = asked[k] < life->count ? asked[k] : life->count;
        struct budget_history history = history_of(life, asked[k]);
        assert_int_equal(history.count, wanted);
        for (size_t i = 0; i < wanted; i++) {
            double place =
                wanted == 1
                    ? (double)life->count - 1
                    : floor((double)(i * (life->count - 1)) / (double)(wanted - 1));
            expect_point(life, (size_t)place, &history.points[i]);
        }
        expect_point(life, life->count - 1, &history.points[wanted - 1]);
        budget_history_fini(&history);
    }
    life_end(life);
}

/* A head file that names a head which this store never had freezes it, and a new epoch
 * begins. */
static void a_new_epoch_begins_with_nothing_spent_and_all_exposed(void **state)
{
    (void)state;
    char path[] = "/tmp/epsilond-history-XXXXXX";
    struct life *life = life_begin();
    struct dataset_id id = kit_dataset("a");
    struct grant grant = {RELATION_ZERO_OUT,   1.25, 1e-5, 0, {0, 0},
                          PRIVACY_UNIT_RECORD, 0};
    struct head elsewhere = {.entry.seq = 999};
    bool frozen = false;
    live(life, 20, 1);
    close(mkstemp(path));
    assert_int_equal(head_file_write(path, &elsewhere, NULL), ST_OK);
    assert_int_equal(ledger_head_file(life->kit.ledger, path, &frozen, NULL), ST_OK);
    assert_true(frozen);
    const char *const names[] = {"b", "a"};
    for (size_t i = 0; i < 2; i++) {
        struct store_tx *tx = kit_begin(&life->kit);
        id = kit_dataset(names[i]);
        struct ledger_promise promise = {&id, &grant, &principal_local, NULL};
        assert_int_equal(
            kit_end(tx, ledger_regrant(life->kit.ledger, tx, &promise, NULL)), ST_OK);
    }
    size_t granted = life->count;
    note(life, 0);
    live(life, 20, 1001);
    struct budget_history history = history_of(life, 1000);
    for (size_t i = 0; i < history.count; i++)
        expect_point(life, i, &history.points[i]);
    struct balance balance;
    struct epochs epochs;
    assert_int_equal(ledger_epochs(life->kit.ledger, &id, &epochs, &balance, NULL),
                     ST_OK);
    struct guarantee now = odometer_reading(&epochs, &balance.committed);
    const struct budget_point *last = &history.points[history.count - 1];
    assert_true(last->exposure.epsilon == now.epsilon);
    assert_true(last->exposure.delta == now.delta);
    assert_true(history.points[granted].epsilon_spent == 0);
    assert_true(history.points[granted].exposure.epsilon >= 2);
    epochs_fini(&epochs);
    budget_history_fini(&history);
    remove(path);
    life_end(life);
}

static void what_is_no_ledger_entry_is_named(void **state)
{
    (void)state;
    struct kit kit = kit_open(":memory:");
    struct dataset_id id = kit_dataset("a");
    struct budget_history history = {.count = 77};
    struct error error = {0};
    static const uint8_t ragged[16] = {1};
    struct store_tx *tx = kit_begin(&kit);
    assert_int_equal(kit_dataset_row(tx, "a"), ST_OK);
    struct ledger_row row = {.seq = 1,
                             .dataset = "a",
                             .epoch = 1,
                             .job = "",
                             .kind = "GRANT",
                             .curve = ragged,
                             .curve_size = sizeof ragged,
                             .meta = "{}",
                             .actor = "local"};
    assert_int_equal(ledger_row_insert(tx, &row, NULL), ST_OK);
    assert_int_equal(store_commit(tx, NULL), ST_OK);
    assert_int_equal(budget_history_read(&history, kit.store,
                                         &(struct ledger_part){&id, PART_TRAIN}, 5,
                                         &error),
                     ST_CORRUPT);
    assert_non_null(strstr(error.text, "ledger entry 1"));
    assert_int_equal(history.count, 77);
    kit_close(&kit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_point_is_what_the_ledger_said_then),
        cmocka_unit_test(points_are_thinned_evenly_and_the_last_is_there),
        cmocka_unit_test(a_new_epoch_begins_with_nothing_spent_and_all_exposed),
        cmocka_unit_test(what_is_no_ledger_entry_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
