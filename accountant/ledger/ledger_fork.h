/*
 * ledger_fork.h - compares a store with a head kept elsewhere: are they of one history,
 * and if not, how much does the other history add to the guarantee? Inside accountant
 * only.
 *
 *   SAME   the store has the file's entry, and has authorised as much
 *   CUT    the store's last entry is the file's at that place: it is a truncation
 *   OTHER  it went on with other entries, or the file does not know that entry: a fork
 *
 * The length of a store proves nothing: four large jobs that ran after a restore make a
 * shorter ledger than two hundred small ones that were lost.
 *
 * A fork is noted as a timeline of each dataset (odometer.h): the timeline left the
 * epoch that was open at the last entry of both, and may have spent since then what
 * that epoch had left,
 *
 *   most(a) = B(a) - S(a),     S the sum of the COMMITs of the epoch up to that entry.
 *
 * S counts as 0 if the last common entry is unknown or archived, and for a divided
 * dataset, because nothing shows that the parts hold the same units in both. If the
 * last common entry is unknown, the timeline counts in every epoch.
 *
 * A timeline is named by its first entry that this one lacks, or by its newest known
 * entry. So the head files of several daemons give it the same name, and it is noted
 * once.
 *
 * What a CUT store has lost is in its epoch, which counts whole. The store may have run
 * steps after the backup was taken, without an entry, since marks are outside the
 * chain. So the authorised steps of its open reservations count once more, as a
 * timeline that was not seen.
 *
 * Threads: every function here requires the ledger's lock to be held.
 */
#ifndef ACCOUNTANT_LEDGER_LEDGER_FORK_H
#define ACCOUNTANT_LEDGER_LEDGER_FORK_H

#include "accountant/ledger/ledger_change.h"
#include "accountant/ledger/head_file.h"

struct ledger_fork {
    enum ledger_history history;
    uint64_t shared;               /* the last entry of both; 0: unknown */
    struct ledger_entry_name name; /* of the lost timeline, unless it is SAME */
};

/* Compares tx's store with kept, given that it is not SAME. has_entry: the store has
 * kept's entry, but has authorised less.
 *   ST_IO  the store cannot be read */
enum status ledger_fork_find(struct ledger_fork *fork, const struct ledger *ledger,
                             struct store_tx *tx, const struct head_kept *kept,
                             bool has_entry, struct error *error);

/* Returns whether an account knows of the timeline of that name. */
bool ledger_fork_known(const struct ledger *ledger,
                       const struct ledger_entry_name *name);

/* Notes the timeline with each account. Precondition: all accounts are loaded.
 *   ST_IO  the store is poisoned */
enum status ledger_fork_note(struct ledger *ledger, struct store_tx *tx,
                             const struct head_timeline *timeline, struct error *error);

/* Notes the lost end of a CUT store with each account that is not frozen, before its
 * open reservations are authorised whole.
 *   ST_IO  the store is poisoned */
enum status ledger_fork_note_cut(struct ledger *ledger, struct store_tx *tx,
                                 const struct head_timeline *end, struct error *error);

#endif
