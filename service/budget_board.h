/*
 * budget_board.h - the budgets of the datasets of which least is left, with the figures that
 * are shown of them. They are figured out when they are asked for and something has changed
 * since the last time: a new entry of the ledger, or a dataset. Of datasets whose accounts
 * are in the store alone (accountant/ledger_accounts.h) only those on the board are loaded.
 *
 * Threads: any; one at a time figures, and holds no other lock for longer than one dataset
 * takes.
 */
#ifndef SERVICE_BUDGET_BOARD_H
#define SERVICE_BUDGET_BOARD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/id.h"
#include "base/part.h"
#include "service/datasets.h"

struct budget_board; /* opaque */

struct budget_line {
    struct dataset_id dataset;
    bool is_divided; /* then there is a line for each part */
    enum part part;
    double epsilon, spent, remaining; /* as accountant/spending.h has them */
    double left, held;                /* shares of capacity (accountant/share.h) */
};

/* At most lines_max budgets are on it. */
struct budget_board *budget_board_create(size_t lines_max);
void budget_board_destroy(struct budget_board *board); /* NULL is allowed */

struct budget_sources { /* what is figured is read from */
    struct datasets *datasets;
    struct ledger *ledger;
    bool waits; /* the caller may wait for the store, and for others who do */
};

struct budget_lines {
    const struct budget_line *lines; /* (count), least left first */
    size_t count, left_out;          /* left_out: budgets that it has no line for */
};

/* Brings it up to date and keeps others out until budget_board_release; *lines is good until
 * then. False, and others are not kept out, where whoever may not wait would have to. */
bool budget_board_hold(struct budget_board *board, const struct budget_sources *sources,
                       struct budget_lines *lines);
void budget_board_release(struct budget_board *board);

#endif
