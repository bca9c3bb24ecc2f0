/* Goal: a divided dataset has an account for each part, each with the whole capacity; a
 * mechanism's cost is held and committed only in the parts that it reads, and a cost
 * without named parts is charged to all. Method: whole lives of a divided dataset, what
 * a restart and an auditor find of them, and texts to the letter. */
#include "accountant/ledger/ledger.h"

#include <string.h>

#include "accountant/ledger/budget_history.h"
#include "accountant/ledger/ledger_change.h"
#include "accountant/ledger/ledger_freeze.h"
#include "accountant/audit/verify.h"
#include "tests/expect.h"
#include "tests/accountant/ledger_fixture.h"

static const struct division tenth = {0.1, 3};

static struct kit kit_divided(void)
{
    struct kit kit = kit_open(":memory:");
    struct store_tx *tx = kit_begin(&kit);
    struct dataset_id id = kit_dataset("a");
    struct grant grant = {RELATION_ZERO_OUT, 2, 1e-5, 0, tenth, PRIVACY_UNIT_RECORD, 0};
    const struct ledger_promise promise = {&id, &grant, &principal_local, NULL};
    assert_int_equal(kit_dataset_row(tx, "a"), ST_OK);
    assert_int_equal(kit_end(tx, ledger_grant(kit.ledger, tx, &promise, NULL)), ST_OK);
    return kit;
}

struct reading { /* what is read, with which noise, in how many steps */
    struct job_id job;
    enum parts parts;
    double noise;
    uint64_t steps;
};

static enum status take(struct kit *kit, const char *name,
                        const struct reading *reading)
{
    struct store_tx *tx = kit_begin(kit);
    struct dataset_id dataset = kit_dataset(name);
    struct mechanism m = kit_gaussian(reading->noise, reading->steps);
    struct ledger_entry_name entry;
    struct ledger_claim claim = {&dataset,         &reading->job,  &m,
                                 &principal_local, reading->parts, NULL};
    enum status status =
        kit_end(tx, ledger_reserve(kit->ledger, tx, &claim, &entry, NULL));
    mechanism_fini(&m);
    return status;
}

static enum status settle(struct kit *kit, const struct job_id *job)
{
    struct store_tx *tx = kit_begin(kit);
    return kit_end(tx, ledger_settle(kit->ledger, tx, job, NULL, NULL));
}

static struct balance balance_of(struct kit *kit, enum part part)
{
    struct balance balance;
    struct dataset_id id = kit_dataset("a");
    const struct ledger_part of = {&id, part};
    assert_int_equal(ledger_part_read(kit->ledger, &of, NULL, &balance, NULL), ST_OK);
    return balance;
}

static double at10(const struct curve *curve)
{
    return curve->at[curve_order_index(10)];
}

static double price(double noise, uint64_t steps)
{
    return (double)steps * 10 / (2 * noise * noise);
}

static void expect(struct kit *kit, enum part part, double committed, double held)
{
    struct balance balance = balance_of(kit, part);
    assert_close(at10(&balance.committed) + 1, committed + 1, 1e-9);
    assert_close(at10(&balance.held) + 1, held + 1, 1e-9);
}

static void expect_verified(struct kit *kit)
{
    struct verify_report report;
    struct error error = {0};
    if (verify_store(kit->store, &report, &error) != ST_OK)
        fail_msg("%s", error.text);
}

static void a_charge_stands_in_the_parts_that_it_names(void **state)
{
    (void)state;
    struct kit kit = kit_divided();
    const struct reading train = {kit_job(1), PARTS_TRAIN, 23.85, 10},
                         holdout = {kit_job(2), PARTS_HOLDOUT, 31.7, 1},
                         unnamed = {kit_job(3), PARTS_UNNAMED, 47.1, 3};
    assert_int_equal(take(&kit, "a", &train), ST_OK);
    expect(&kit, PART_TRAIN, 0, price(23.85, 10));
    expect(&kit, PART_HOLDOUT, 0, 0);
    assert_int_equal(take(&kit, "a", &holdout), ST_OK);
    assert_int_equal(take(&kit, "a", &unnamed), ST_OK);
    expect(&kit, PART_TRAIN, 0, price(23.85, 10) + price(47.1, 3));
    expect(&kit, PART_HOLDOUT, 0, price(31.7, 1) + price(47.1, 3));
    assert_int_equal(ledger_authorise(kit.ledger, &train.job, 4, NULL), ST_OK);
    assert_int_equal(ledger_authorise(kit.ledger, &unnamed.job, 3, NULL), ST_OK);
    assert_int_equal(settle(&kit, &train.job), ST_OK);
    assert_int_equal(settle(&kit, &unnamed.job), ST_OK);
    for (int again = 0; again < 2; again++) {
        expect(&kit, PART_TRAIN, price(23.85, 4) + price(47.1, 3), 0);
        expect(&kit, PART_HOLDOUT, price(47.1, 3), price(31.7, 1));
        expect_verified(&kit);
        kit_reopen_ledger(&kit);
    }
    kit_close(&kit);
}

/* Returns a reading that nearly fills an epsilon of 2 at order 10. */
static struct reading most_of(unsigned job, enum parts parts)
{
    return (struct reading){kit_job(job), parts, 2.9, 1};
}

static void each_part_has_the_whole_capacity(void **state)
{
    (void)state;
    struct kit kit = kit_divided();
    const struct reading train = most_of(1, PARTS_TRAIN),
                         holdout = most_of(2, PARTS_HOLDOUT);
    assert_int_equal(take(&kit, "a", &train), ST_OK);
    assert_int_equal(
        take(&kit, "a", &(struct reading){kit_job(3), PARTS_TRAIN, 2.9, 1}),
        ST_BUDGET_HELD);
    assert_int_equal(take(&kit, "a", &holdout), ST_OK);
    assert_int_equal(ledger_authorise(kit.ledger, &train.job, 1, NULL), ST_OK);
    assert_int_equal(settle(&kit, &train.job), ST_OK);
    struct reading more = most_of(4, PARTS_TRAIN);
    assert_int_equal(take(&kit, "a", &more), ST_BUDGET_EXHAUSTED);
    more.parts = PARTS_UNNAMED; /* the holdout is held, the training part is spent */
    assert_int_equal(take(&kit, "a", &more), ST_BUDGET_EXHAUSTED);
    more.parts = PARTS_HOLDOUT;
    assert_int_equal(take(&kit, "a", &more), ST_BUDGET_HELD);
    expect_verified(&kit);
    kit_close(&kit);
}

static void a_job_and_its_evaluation_stand_side_by_side(void **state)
{
    (void)state;
    struct kit kit = kit_divided();
    struct job_id job = kit_job(5), evaluation = job_evaluation_id(&job), back;
    struct ledger_entry_name one, other;
    assert_true(charged_id_parse(&back, evaluation.text));
    assert_string_equal(back.text, evaluation.text);
    back = charged_job(&evaluation);
    assert_string_equal(back.text, job.text);
    assert_false(job_id_parse(&back, evaluation.text));
    assert_int_equal(take(&kit, "a", &(struct reading){job, PARTS_TRAIN, 23.85, 10}),
                     ST_OK);
    assert_int_equal(
        take(&kit, "a", &(struct reading){evaluation, PARTS_HOLDOUT, 31.7, 1}), ST_OK);
    assert_int_equal(
        take(&kit, "a", &(struct reading){evaluation, PARTS_HOLDOUT, 31.7, 1}),
        ST_ALREADY_EXISTS);
    assert_true(ledger_reservation(kit.ledger, &job, &one));
    assert_true(ledger_reservation(kit.ledger, &evaluation, &other));
    assert_true(one.seq + 1 == other.seq);
    assert_int_equal(ledger_authorise(kit.ledger, &job, 10, NULL), ST_OK);
    kit_reopen_ledger(&kit);
    assert_int_equal(settle(&kit, &job), ST_OK);
    assert_int_equal(settle(&kit, &evaluation), ST_OK);
    expect(&kit, PART_TRAIN, price(23.85, 10), 0);
    expect(&kit, PART_HOLDOUT, 0, 0); /* never authorised */
    kit_reopen_ledger(&kit);
    expect_verified(&kit);
    kit_close(&kit);
}

static void an_undivided_dataset_has_no_names_of_parts(void **state)
{
    (void)state;
    struct kit kit = kit_open(":memory:");
    struct dataset_id id = kit_dataset("b");
    struct balance balance;
    assert_int_equal(kit_grant(&kit, "b", 2, 1e-5, 0), ST_OK);
    const struct reading named = {kit_job(1), PARTS_HOLDOUT, 23.85, 10};
    assert_int_equal(take(&kit, "b", &named), ST_INVALID);
    assert_int_equal(ledger_part_read(kit.ledger,
                                      &(struct ledger_part){&id, PART_HOLDOUT}, NULL,
                                      &balance, NULL),
                     ST_NOT_FOUND);
    kit_close(&kit);
}

struct found { /* the text of the last entry of a kind */
    const char *kind;
    char meta[512];
};

static bool find(void *context, const struct ledger_row *row)
{
    struct found *found = context;
    if (strcmp(row->kind, found->kind) == 0)
        snprintf(found->meta, sizeof found->meta, "%s", row->meta);
    return true;
}

static void expect_meta(struct kit *kit, const char *kind, const char *expected)
{
    struct found found = {.kind = kind};
    struct store_tx *tx = kit_begin(kit);
    assert_int_equal(
        ledger_rows_walk(tx, &(struct ledger_range){0}, find, &found, NULL), ST_OK);
    store_rollback(tx);
    assert_string_equal(found.meta, expected);
}

static void the_texts_are_these(void **state)
{
    (void)state;
    struct kit kit = kit_divided();
    struct reading reading = {kit_job(1), PARTS_TRAIN, 23.5, 10};
    expect_meta(&kit, "GRANT",
                "{\"grid\":\"g1\",\"relation\":\"zero_out\",\"epsilon\":2,"
                "\"delta\":1.0000000000000001e-05,\"order\":null,\"orders\":[10,7],"
                "\"weights\":[0.75,0.25],\"noise_delta\":9.0949470177292824e-13,"
                "\"holdout\":0.10000000000000001,\"seed\":3}");
    assert_int_equal(take(&kit, "a", &reading), ST_OK);
    expect_meta(&kit, "RESERVE",
                "{\"grid\":\"g1\",\"steps\":10,\"parts\":[\"train\"],\"mechanism\":"
                "{\"kind\":\"gaussian\",\"relation\":\"zero_out\",\"runs\":[[1,23.5,10]"
                "],\"prefixes_priced\":true}}");
    reading = (struct reading){kit_job(2), PARTS_UNNAMED, 23.5, 10};
    assert_int_equal(take(&kit, "a", &reading), ST_OK);
    expect_meta(&kit, "RESERVE",
                "{\"grid\":\"g1\",\"steps\":10,\"parts\":[\"train\",\"holdout\"],"
                "\"mechanism\":{\"kind\":\"gaussian\",\"relation\":\"zero_out\","
                "\"runs\":[[1,23.5,10]],\"prefixes_priced\":true}}");
    kit_close(&kit);
}

static void an_outlook_is_of_the_parts_that_would_be_read(void **state)
{
    (void)state;
    struct kit kit = kit_divided();
    struct dataset_id id = kit_dataset("a");
    struct mechanism m = kit_gaussian(9, 1);
    struct outlook outlook;
    const struct reading holdout = most_of(2, PARTS_HOLDOUT);
    struct ledger_question question = {&id, &m, 99, PARTS_TRAIN, NULL};
    assert_int_equal(ledger_outlook(kit.ledger, &question, &outlook, NULL), ST_OK);
    uint64_t fresh = outlook.times;
    assert_true(outlook.fits == FITS_YES && fresh > 2 && fresh < 99);
    assert_int_equal(take(&kit, "a", &holdout), ST_OK);
    assert_int_equal(ledger_outlook(kit.ledger, &question, &outlook, NULL), ST_OK);
    assert_true(outlook.part == PART_TRAIN && outlook.times == fresh);
    question.parts = PARTS_UNNAMED;
    assert_int_equal(ledger_outlook(kit.ledger, &question, &outlook, NULL), ST_OK);
    assert_true(outlook.part == PART_HOLDOUT && outlook.times < fresh);
    assert_true(at10(&outlook.balance.held) > 0);
    mechanism_fini(&m);
    kit_close(&kit);
}

static void a_history_is_of_one_part(void **state)
{
    (void)state;
    struct kit kit = kit_divided();
    struct dataset_id id = kit_dataset("a");
    const struct reading train = {kit_job(1), PARTS_TRAIN, 23.85, 10},
                         holdout = {kit_job(2), PARTS_HOLDOUT, 31.7, 1};
    assert_int_equal(take(&kit, "a", &train), ST_OK);
    assert_int_equal(take(&kit, "a", &holdout), ST_OK);
    assert_int_equal(ledger_authorise(kit.ledger, &train.job, 10, NULL), ST_OK);
    assert_int_equal(settle(&kit, &train.job), ST_OK);
    for (unsigned p = 0; p < PARTS_MAX; p++) {
        struct budget_history history;
        struct balance balance = balance_of(&kit, (enum part)p);
        const struct ledger_part part = {&id, (enum part)p};
        assert_int_equal(budget_history_read(&history, kit.store, &part, 9, NULL),
                         ST_OK);
        assert_int_equal(history.count, 4);
        const struct budget_point *last = &history.points[3];
        assert_true(last->epsilon_spent == balance.epsilon_spent);
        assert_true(last->share.left == budget_share_of(&balance).left);
        assert_true((last->epsilon_spent > 0) == (p == PART_TRAIN));
        budget_history_fini(&history);
    }
    kit_close(&kit);
}

/* The remaining budget is reported for each part. */
static void what_is_left_is_told_by_parts(void **state)
{
    (void)state;
    struct kit kit = kit_divided();
    struct dataset_id id = kit_dataset("a");
    const struct ledger_part train = {&id, PART_TRAIN}, holdout = {&id, PART_HOLDOUT};
    struct ledger_left left;
    const struct reading reading = {kit_job(1), PARTS_HOLDOUT, 9, 1};
    assert_int_equal(take(&kit, "a", &reading), ST_OK);
    assert_int_equal(ledger_authorise(kit.ledger, &reading.job, 1, NULL), ST_OK);
    assert_int_equal(settle(&kit, &reading.job), ST_OK);
    assert_int_equal(ledger_left(kit.ledger, &train, &left, NULL), ST_OK);
    assert_true(left.after == 1);
    assert_int_equal(ledger_left(kit.ledger, &holdout, &left, NULL), ST_OK);
    assert_true(left.after < 1 && left.after > 0);
    kit_close(&kit);
}

/* Inserts an entry without the ledger's checks, chained as the ledger would. */
static void forge(struct kit *kit, const char *kind, const char *job, char *meta,
                  const struct curve *curve)
{
    uint8_t bytes[ENTRY_CURVE_SIZE];
    struct store_tx *tx = kit_begin(kit);
    entry_curve_encode(bytes, curve);
    struct ledger_row row = {.dataset = "a",
                             .epoch = strcmp(kind, "GRANT") == 0 ? 2 : 1,
                             .job = job,
                             .kind = kind,
                             .curve = bytes,
                             .curve_size = sizeof bytes,
                             .meta = meta,
                             .actor = "local"};
    assert_int_equal(ledger_change_append(kit->ledger, tx, &row, NULL), ST_OK);
    assert_int_equal(store_commit(tx, NULL), ST_OK);
    free(meta);
}

static void expect_refused(struct kit *kit, const char *what)
{
    struct error error = {0};
    struct verify_report report;
    struct ledger *again;
    assert_int_equal(verify_store(kit->store, &report, &error), ST_CORRUPT);
    assert_non_null(strstr(error.text, what));
    assert_int_equal(ledger_open(&again, kit->store, &error), ST_CORRUPT);
    assert_non_null(strstr(error.text, what));
}

static void a_dataset_is_divided_once(void **state)
{
    (void)state;
    struct kit kit = kit_divided();
    struct grant grant = {RELATION_ZERO_OUT,   2, 1e-5, 0, {0.2, 3},
                          PRIVACY_UNIT_RECORD, 0};
    struct filter filter;
    struct curve capacity = {0};
    assert_int_equal(filter_of(&filter, &grant, NULL), ST_OK);
    entry_capacity(&capacity, &filter);
    forge(&kit, "GRANT", "", entry_grant_render(&grant, &filter, NULL, 0), &capacity);
    expect_refused(&kit, "divides the dataset anew");
    kit_close(&kit);
}

/* The forged entry fits the training part and passes the capacity of the holdout, which
 * only an auditor finds that adds up each part. */
static void an_entry_past_the_capacity_of_one_part_is_found(void **state)
{
    (void)state;
    struct kit kit = kit_divided();
    const struct reading holdout = most_of(2, PARTS_HOLDOUT);
    struct mechanism m = kit_gaussian(2.9, 1);
    struct curve charge = {0};
    struct job_id job = kit_job(3);
    assert_int_equal(take(&kit, "a", &holdout), ST_OK);
    assert_int_equal(filter_charge(&charge, &m, 1, NULL), ST_OK);
    forge(&kit, "RESERVE", job.text, entry_reserve_render(&m, PARTS_BOTH, NULL),
          &charge);
    expect_refused(&kit, "passes the capacity");
    mechanism_fini(&m);
    kit_close(&kit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_charge_stands_in_the_parts_that_it_names),
        cmocka_unit_test(each_part_has_the_whole_capacity),
        cmocka_unit_test(a_job_and_its_evaluation_stand_side_by_side),
        cmocka_unit_test(an_undivided_dataset_has_no_names_of_parts),
        cmocka_unit_test(the_texts_are_these),
        cmocka_unit_test(an_outlook_is_of_the_parts_that_would_be_read),
        cmocka_unit_test(a_history_is_of_one_part),
        cmocka_unit_test(what_is_left_is_told_by_parts),
        cmocka_unit_test(a_dataset_is_divided_once),
        cmocka_unit_test(an_entry_past_the_capacity_of_one_part_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
