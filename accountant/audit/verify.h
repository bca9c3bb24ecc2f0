/*
 * verify.h - an audit, for `epsilond verify`: reads a store from its first entry to its
 * last and recomputes everything from the entries. It shares the form of an entry
 * (entry.h) and the price of a mechanism (filter.h) with the ledger, and none of its
 * state.
 *
 * Checked: seq is dense; every hash; capacities and weights from the grant's epsilon,
 * delta and order; every charge from its canonical text; every COMMIT against its
 * RESERVE and its authorised steps; which parts it names, and that the division is that
 * of the first grant; committed, held and the invariant of every part after every
 * entry; and that other timelines of the ledger count at least what their epoch's
 * entries leave.
 *
 * If parts of the ledger are archived (ledger_seal.h), the store is read from the
 * newest SEAL on: the sums that it authenticates are taken for what is before it, and
 * of the earlier entries only those that stay are checked.
 *
 * Threads: any; the store must not have a transaction open in this thread.
 */
#ifndef ACCOUNTANT_AUDIT_VERIFY_H
#define ACCOUNTANT_AUDIT_VERIFY_H

#include "accountant/ledger/ledger.h"
#include "accountant/audit/verify_report.h"
#include "accountant/pricing/odometer.h"
#include "store/store.h"

/* Verifies store, opened either way.
 *   ST_CORRUPT  something is wrong; the error says what, and names the table and row;
 *               report->seq is that of an entry
 *   ST_IO       the store cannot be read
 * report is filled in on every outcome. */
enum status verify_store(struct store *store, struct verify_report *report,
                         struct error *error);

struct verified_budget { /* of one part; an undivided dataset has one */
    const char *dataset;
    bool is_divided;
    enum part part;
    const struct epochs *epochs;
};

struct verify_visitor {
    void (*budget)(void *context, const struct verified_budget *budget);
    void *context;
};

/* Like verify_store, as of the moment that tx sees; and if nothing is wrong, calls
 * visitor->budget (visitor may be NULL) for each part of each dataset that has a
 * budget, in the order of their first grants. */
enum status verify_budgets(struct store_tx *tx, struct verify_report *report,
                           const struct verify_visitor *visitor, struct error *error);

/* Like verify_budgets, from the first entry on: reads the parts that SEALs replace from
 * folder, and compares their sums with what was sealed. folder may be NULL: from the
 * newest SEAL.
 *   ST_NOT_FOUND  an archive is not there
 *   ST_CORRUPT    also: an archive is not what was sealed */
enum status verify_archived(struct store_tx *tx, const char *folder,
                            struct verify_report *report,
                            const struct verify_visitor *visitor, struct error *error);

#endif
