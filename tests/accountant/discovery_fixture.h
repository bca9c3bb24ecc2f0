/*
 * discovery_fixture.h - grants that set a part of delta aside for discoveries, and
 * discoveries. Include it after ledger_fixture.h.
 */
#ifndef TESTS_ACCOUNTANT_DISCOVERY_FIXTURE_H
#define TESTS_ACCOUNTANT_DISCOVERY_FIXTURE_H

#include "accountant/mechanisms/discovery.h"
#include "accountant/pricing/filter.h"

/* Epsilon 4 at delta 1e-5, of which 3e-6 are set aside. */
static const struct grant discovery_granted = {
    RELATION_ZERO_OUT, 4, 1e-5, 0, {0, 0}, PRIVACY_UNIT_RECORD, 3e-6};

static inline enum status discovery_grant(struct kit *kit, const char *name,
                                          const struct grant *grant)
{
    struct store_tx *tx = kit_begin(kit);
    struct dataset_id id = kit_dataset(name);
    enum status status = kit_dataset_row(tx, name);
    if (status == ST_OK)
        status = ledger_grant(
            kit->ledger, tx,
            &(struct ledger_promise){&id, grant, &principal_local, NULL}, NULL);
    return kit_end(tx, status);
}

/* Returns a discovery of that deviation and delta. */
static inline struct mechanism discovery_of(double sigma, double delta)
{
    struct mechanism m;
    mechanism_init(&m, MECHANISM_DISCOVERY, RELATION_ZERO_OUT,
                   (struct mechanism_run){1, sigma, 1});
    m.discovery = (struct mechanism_discovery){2, 1};
    m.discovery.threshold = discovery_threshold(&m, filter_delta_round_down(delta));
    return m;
}

static inline enum status discovery_reserve(struct kit *kit, const char *name,
                                            unsigned job, double sigma, double delta)
{
    struct mechanism m = discovery_of(sigma, delta);
    enum status status = kit_reserve_m(kit, name, job, &m);
    mechanism_fini(&m);
    return status;
}

/* Fails the test unless the account of delta of a dataset with discovery_granted has
 * these sums. */
static inline void discovery_expect(struct kit *kit, const char *name, double committed,
                                    double held)
{
    const struct balance balance = kit_balance(kit, name);
    assert_close(balance.committed.delta, committed, 1e-9);
    assert_close(balance.held.delta, held, 1e-9);
    assert_close(balance.delta_capacity, discovery_granted.discovery_delta, 1e-9);
    assert_close(balance.curve_delta, 7e-6, 1e-9);
}

#endif
