/*
 * budget_gauges.h - the budgets of datasets with the least left, and the figures that
 * are shown of them. They are computed when a caller asks and something has changed
 * since the last time: a new entry of the ledger, or a dataset. Of the accounts that
 * are only in the store (accountant/ledger/ledger_accounts.h), only those on the board
 * are loaded.
 *
 * Threads: any; one thread at a time computes, and holds no other lock for longer than
 * one dataset takes.
 */
#ifndef SERVICE_METRICS_BUDGET_GAUGES_H
#define SERVICE_METRICS_BUDGET_GAUGES_H

#include <stdbool.h>
#include <stddef.h>

#include "service/datasets/datasets.h"

struct budget_gauges; /* opaque */

struct budget_line {
    struct dataset_id dataset;
    bool is_divided; /* then each part has a line */
    enum part part;
    double epsilon, spent,
        remaining;     /* as defined in accountant/pricing/budget_spent.h */
    double left, held; /* shares of capacity (accountant/pricing/budget_share.h) */
};

/* Makes a board of at most lines_max budgets. */
struct budget_gauges *budget_gauges_create(size_t lines_max);
void budget_gauges_destroy(struct budget_gauges *board); /* NULL is allowed */

/* The sources of the figures. */
struct budget_sources {
    struct datasets *datasets;
    struct ledger *ledger;
    bool waits; /* the caller may wait for the store, or for others that do */
};

struct budget_lines {
    const struct budget_line *lines; /* (count), least left first */
    size_t count, left_out;          /* left_out: budgets without a line */
};

/* Brings the board up to date and locks it until budget_gauges_release; *lines is valid
 * until then. Returns false, without the lock, if the caller may not wait and would
 * have to. */
bool budget_gauges_hold(struct budget_gauges *board,
                        const struct budget_sources *sources,
                        struct budget_lines *lines);
void budget_gauges_release(struct budget_gauges *board);

#endif
