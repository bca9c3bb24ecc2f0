/*
 * ledger_fixture.h - shared by the ledger's tests: a ledger on a store, short names for
 * datasets, jobs and mechanisms. Include after tests/expect.h.
 */
#ifndef TESTS_ACCOUNTANT_LEDGER_FIXTURE_H
#define TESTS_ACCOUNTANT_LEDGER_FIXTURE_H

#include <string.h>

#include "accountant/ledger/ledger.h"
#include "accountant/ledger/ledger_view.h"
#include "store/store.h"
#include "store/rows/dataset_rows.h"

struct kit {
    struct store *store;
    struct ledger *ledger;
};

static inline struct dataset_id kit_dataset(const char *name)
{
    struct dataset_id id;
    assert_true(dataset_id_parse(&id, name));
    return id;
}

/* job_000...NUMBER: a well-formed id. */
static inline struct job_id kit_job(unsigned number)
{
    struct job_id id;
    char text[sizeof id.text];
    snprintf(text, sizeof text, "job_%026u", number);
    assert_true(job_id_parse(&id, text));
    return id;
}

/* Makes a mechanism of `steps` full-batch Gaussians with this multiplier: RDP steps a /
 * (2 sigma^2). */
static inline struct mechanism kit_gaussian(double noise_multiplier, uint64_t steps)
{
    struct mechanism m;
    mechanism_init(&m, MECHANISM_GAUSSIAN, RELATION_ZERO_OUT,
                   (struct mechanism_run){1, noise_multiplier, steps});
    return m;
}

static inline struct kit kit_take(struct store *store_take)
{
    struct kit kit = {.store = store_take};
    struct error error = {0};
    if (ledger_open(&kit.ledger, kit.store, &error) != ST_OK)
        fail_msg("%s", error.text);
    return kit;
}

static inline struct kit kit_open(const char *path)
{
    struct store *store = NULL;
    struct error error = {0};
    if (store_open(&store, path, &error) != ST_OK)
        fail_msg("%s", error.text);
    return kit_take(store);
}

static inline void kit_close(struct kit *kit)
{
    ledger_close(kit->ledger);
    store_close(kit->store);
    *kit = (struct kit){0};
}

/* Opens the ledger again, as a restart does. */
static inline void kit_reopen_ledger(struct kit *kit)
{
    struct error error = {0};
    ledger_close(kit->ledger);
    if (ledger_open(&kit->ledger, kit->store, &error) != ST_OK)
        fail_msg("%s", error.text);
}

static inline struct store_tx *kit_begin(struct kit *kit)
{
    struct store_tx *tx;
    assert_int_equal(store_begin(kit->store, STORE_LEDGER, &tx, NULL), ST_OK);
    return tx;
}

static inline enum status kit_end(struct store_tx *tx, enum status status)
{
    if (status != ST_OK) {
        store_rollback(tx);
        return status;
    }
    return store_commit(tx, NULL);
}

static inline enum status kit_dataset_row(struct store_tx *tx, const char *name)
{
    struct dataset_row row = {.id = kit_dataset(name),
                              .project = "default",
                              .created_by = "local",
                              .version = 1,
                              .state = "CREATED",
                              .spec = "{}",
                              .detail = "{}"};
    return dataset_row_insert(tx, &row, NULL);
}

static inline enum status kit_grant(struct kit *kit, const char *name, double epsilon,
                                    double delta, double order)
{
    struct store_tx *tx = kit_begin(kit);
    struct dataset_id id = kit_dataset(name);
    struct grant grant = {RELATION_ZERO_OUT,   epsilon, delta, order, {0, 0},
                          PRIVACY_UNIT_RECORD, 0};
    enum status status = kit_dataset_row(tx, name);
    if (status == ST_OK)
        status = ledger_grant(
            kit->ledger, tx,
            &(struct ledger_promise){&id, &grant, &principal_local, NULL}, NULL);
    return kit_end(tx, status);
}

static inline enum status kit_reserve_m(struct kit *kit, const char *name, unsigned job,
                                        const struct mechanism *m)
{
    struct store_tx *tx = kit_begin(kit);
    struct dataset_id dataset = kit_dataset(name);
    struct job_id id = kit_job(job);
    struct ledger_claim claim = {&dataset,         &id,           m,
                                 &principal_local, PARTS_UNNAMED, NULL};
    struct ledger_entry_name entry;
    return kit_end(tx, ledger_reserve(kit->ledger, tx, &claim, &entry, NULL));
}

static inline enum status kit_reserve(struct kit *kit, const char *name, unsigned job,
                                      double noise_multiplier, uint64_t steps)
{
    struct mechanism m = kit_gaussian(noise_multiplier, steps);
    enum status status = kit_reserve_m(kit, name, job, &m);
    mechanism_fini(&m);
    return status;
}

static inline enum status kit_authorise(struct kit *kit, unsigned job, uint64_t steps)
{
    struct job_id id = kit_job(job);
    return ledger_authorise(kit->ledger, &id, steps, NULL);
}

static inline enum status kit_settle(struct kit *kit, unsigned job)
{
    struct store_tx *tx = kit_begin(kit);
    struct job_id id = kit_job(job);
    return kit_end(tx, ledger_settle(kit->ledger, tx, &id, NULL, NULL));
}

static inline enum status outlook_of(struct kit *kit, const struct dataset_id *dataset,
                                     const struct mechanism *m, uint64_t times_max,
                                     struct outlook *outlook)
{
    const struct ledger_question question = {
        .dataset = dataset, .mechanism = m, .times_max = times_max};
    return ledger_outlook(kit->ledger, &question, outlook, NULL);
}

static inline struct balance kit_balance(struct kit *kit, const char *name)
{
    struct balance balance;
    struct dataset_id id = kit_dataset(name);
    assert_int_equal(ledger_balance(kit->ledger, &id, &balance, NULL), ST_OK);
    return balance;
}

static inline void assert_same_balance(const struct balance *a, const struct balance *b)
{
    assert_true(a->epoch == b->epoch && a->frozen == b->frozen);
    assert_memory_equal(&a->committed, &b->committed, sizeof a->committed);
    assert_memory_equal(&a->held, &b->held, sizeof a->held);
    assert_memory_equal(a->capacity, b->capacity, sizeof a->capacity);
    assert_true(a->epsilon_spent == b->epsilon_spent);
    assert_true(a->epsilon_held == b->epsilon_held);
    assert_true(a->epsilon_remaining == b->epsilon_remaining);
    assert_true(a->fraction_remaining == b->fraction_remaining);
}

#endif
