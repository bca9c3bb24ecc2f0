/*
 * budget_history.h - the state of the budget of a part of a dataset after each of the
 * dataset's entries, from the first grant on, thinned to a requested number of points.
 * An entry that is not charged to the part changes nothing there.
 *
 * Of n entries and p points, those of the entries floor(k (n - 1) / (p - 1)) are given,
 * k = 0 .. p - 1, so the first and the last are always there; if p = 1, the last; if
 * there are no more entries than points, all. Sums are taken at every entry, in the
 * order of seq as the ledger takes them, and are converted only at the points. A freeze
 * is not an entry and does not show here.
 *
 * If entries of the dataset are archived, the history begins with the newest SEAL,
 * which counts as one entry: the budget as it was then.
 *
 * Threads: any. The store is read a thousand entries at a time, so that other threads
 * do not wait long for it; entries that are written meanwhile are left for the next
 * call.
 */
#ifndef ACCOUNTANT_LEDGER_BUDGET_HISTORY_H
#define ACCOUNTANT_LEDGER_BUDGET_HISTORY_H

#include <stddef.h>
#include <stdint.h>

#include "accountant/ledger/ledger_view.h"
#include "accountant/pricing/budget_share.h"
#include "accountant/pricing/odometer.h"
#include "base/id.h"
#include "base/status.h"
#include "store/store.h"

struct budget_point {
    uint64_t seq, epoch; /* of the entry */
    size_t epochs;       /* that count something at that point */
    int64_t time_ms;
    char kind[8];      /* GRANT RESERVE COMMIT SEAL */
    struct job_id job; /* "" of a GRANT and SEAL; may be that of an evaluation (id.h) */
    double epsilon_spent;      /* in its epoch, up to here (budget_spent.h) */
    struct guarantee exposure; /* loss of all epochs up to here (odometer.h) */
    struct budget_share share;
};

struct budget_history {
    uint64_t entries; /* number of entries of the dataset */
    size_t count;
    struct budget_point *points; /* (count), oldest first */
};

/* points >= 1, and the dataset has that part; history must be released with
 * budget_history_fini.
 *   ST_CORRUPT  an entry is not of its form; the error names its seq
 *   ST_IO       the store cannot be read */
enum status budget_history_read(struct budget_history *history, struct store *store,
                                const struct ledger_part *part, size_t points,
                                struct error *error);
void budget_history_fini(struct budget_history *history);

#endif
