/*
 * budget_history.h - what the budget of a part of a dataset had come to after each of the
 * dataset's entries, from the first grant on, thinned to as many points as are asked for.
 * An entry that is not charged to the part changes nothing there.
 *
 * Of n entries and p points, those of the entries floor(k (n - 1) / (p - 1)) are given,
 * k = 0 .. p - 1, so the first and the last are always there; of one point, the last; of
 * no more entries than points, all. Sums are taken at every entry, in the order of seq as
 * the ledger takes them, and are converted at the points alone. What is frozen is no
 * entry and does not show here.
 *
 * Where entries of the dataset are archived the history begins with the newest SEAL, which
 * counts as one entry: the budget as it was then.
 *
 * Threads: any. The store is read a thousand entries at a time, so that nobody waits long
 * for it; entries that are written meanwhile are left to the next reading.
 */
#ifndef ACCOUNTANT_BUDGET_HISTORY_H
#define ACCOUNTANT_BUDGET_HISTORY_H

#include <stddef.h>
#include <stdint.h>

#include "accountant/ledger_view.h"
#include "accountant/odometer.h"
#include "accountant/share.h"
#include "base/id.h"
#include "base/status.h"
#include "store/store.h"

struct budget_point {
    uint64_t seq, epoch; /* of the entry */
    size_t epochs;       /* that weigh something by then */
    int64_t time_ms;
    char kind[8];      /* GRANT RESERVE COMMIT SEAL */
    struct job_id job; /* "" of a GRANT and SEAL; or what its evaluation stands under (id.h) */
    double epsilon_spent;      /* in its epoch, by then (spending.h) */
    struct guarantee exposure; /* what all epochs may have told by then (odometer.h) */
    struct share share;
};

struct budget_history {
    uint64_t entries; /* there were */
    size_t count;
    struct budget_point *points; /* (count), oldest first */
};

/* points >= 1, and the dataset has that part; history is to be released with
 * budget_history_fini.
 *   ST_CORRUPT  an entry is not of its form; the error names its seq
 *   ST_IO       the store cannot be read */
enum status budget_history_read(struct budget_history *history, struct store *store,
                                const struct ledger_part *part, size_t points,
                                struct error *error);
void budget_history_fini(struct budget_history *history);

#endif
