/*
 * ledger_life_fixture.h - a life of two datasets and some jobs that records what was
 * acknowledged, and checks what a restart must then still know. Include after
 * tests/expect.h.
 */
#ifndef TESTS_ACCOUNTANT_LEDGER_LIFE_FIXTURE_H
#define TESTS_ACCOUNTANT_LEDGER_LIFE_FIXTURE_H

#include "accountant/audit/verify.h"
#include "accountant/ledger/ledger_view.h"
#include "tests/accountant/ledger_fixture.h"

enum { SCENE_JOBS = 6, SCENE_STEPS = 9 };

/* Written only after the ledger has answered; may be in memory shared with a parent. */
struct acknowledged {
    bool granted[2];
    bool reserved[SCENE_JOBS];
    uint64_t authorised[SCENE_JOBS];
    bool settled[SCENE_JOBS];
};

static const char *const scene_names[2] = {"a", "b"};

static inline const char *scene_dataset(unsigned job)
{
    return scene_names[job % 2];
}

/* Opens the ledger, lives, and closes it; stops at the first failure. Returns false if
 * anything failed. */
static inline bool scene_play(const char *path, struct acknowledged *done)
{
    struct kit kit = {0};
    bool good = store_open(&kit.store, path, NULL) == ST_OK &&
                ledger_open(&kit.ledger, kit.store, NULL) == ST_OK;
    for (int i = 0; good && i < 2; i++) {
        struct store_tx *tx;
        struct dataset_id id = kit_dataset(scene_names[i]);
        struct grant grant = {RELATION_ZERO_OUT,   4, 1e-5, 0, {0, 0},
                              PRIVACY_UNIT_RECORD, 0};
        if (store_begin(kit.store, STORE_LEDGER, &tx, NULL) != ST_OK) {
            good = false;
            break;
        }
        enum status status = kit_dataset_row(tx, scene_names[i]);
        if (status == ST_OK)
            status = ledger_grant(
                kit.ledger, tx,
                &(struct ledger_promise){&id, &grant, &principal_local, NULL}, NULL);
        good = kit_end(tx, status) == ST_OK;
        done->granted[i] = good;
    }
    for (unsigned job = 0; good && job < SCENE_JOBS; job++) {
        struct mechanism m = kit_gaussian(23.85 + job, SCENE_STEPS);
        struct store_tx *tx;
        struct dataset_id dataset = kit_dataset(scene_dataset(job));
        struct job_id id = kit_job(job);
        struct ledger_claim claim = {&dataset,         &id,           &m,
                                     &principal_local, PARTS_UNNAMED, NULL};
        struct ledger_entry_name entry;
        good = store_begin(kit.store, STORE_LEDGER, &tx, NULL) == ST_OK;
        if (good)
            good = kit_end(tx, ledger_reserve(kit.ledger, tx, &claim, &entry, NULL)) ==
                   ST_OK;
        done->reserved[job] = good;
        mechanism_fini(&m);
        for (uint64_t steps = 2; good && steps <= 2 + job; steps += 2) {
            good = ledger_authorise(kit.ledger, &id, steps, NULL) == ST_OK;
            if (good)
                done->authorised[job] = steps;
        }
        if (good && job % 3 != 2) {
            good = store_begin(kit.store, STORE_LEDGER, &tx, NULL) == ST_OK &&
                   kit_end(tx, ledger_settle(kit.ledger, tx, &id, NULL, NULL)) == ST_OK;
            done->settled[job] = good;
        }
    }
    ledger_close(kit.ledger);
    store_close(kit.store);
    return good;
}

/* Returns the least cost that job must still have: of all its steps if it is only held,
 * of the authorised steps if it is settled. */
static inline double scene_least(const struct acknowledged *done, unsigned job,
                                 size_t i)
{
    double sigma = 23.85 + job;
    double steps = done->settled[job] ? (double)done->authorised[job] : SCENE_STEPS;
    return steps * curve_orders[i] / (2 * sigma * sigma);
}

/* Checks after a restart that nothing acknowledged is lost and that the store verifies.
 * A job whose settlement was not acknowledged may be settled or still open, with the
 * authorised steps. */
static inline void scene_check(const char *path, const struct acknowledged *done)
{
    struct verify_report report;
    struct error error = {0};
    struct kit kit = kit_open(path);
    if (verify_store(kit.store, &report, &error) != ST_OK)
        fail_msg("%s", error.text);
    for (unsigned job = 0; job < SCENE_JOBS; job++) {
        struct job_id id = kit_job(job);
        struct ledger_entry_name entry;
        if (done->reserved[job])
            assert_true(ledger_reservation(kit.ledger, &id, &entry));
        assert_true(ledger_authorised(kit.ledger, &id) >= done->authorised[job]);
    }
    for (int d = 0; d < 2; d++) {
        if (!done->granted[d])
            continue;
        struct balance balance = kit_balance(&kit, scene_names[d]);
        for (size_t i = 0; i < CURVE_ORDERS; i++) {
            double least = 0;
            for (unsigned job = (unsigned)d; job < SCENE_JOBS; job += 2) {
                struct acknowledged worst = *done;
                worst.settled[job] = true;
                if (done->reserved[job])
                    least += scene_least(&worst, job, i);
            }
            assert_true(balance.committed.at[i] + balance.held.at[i] >=
                        least * (1 - 1e-12));
        }
    }
    for (unsigned job = 0; job < SCENE_JOBS; job++) {
        if (done->settled[job])
            assert_int_equal(kit_settle(&kit, job), ST_NOT_FOUND);
    }
    kit_close(&kit);
}

#endif
