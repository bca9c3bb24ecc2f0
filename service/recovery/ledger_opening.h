/*
 * ledger_opening.h - reads the ledger of a store while the other rows of the store are
 * read: in a directory with many jobs both take equally long. If the store is a file,
 * this is done on a thread and a connection of its own; otherwise at once.
 *
 * No thread writes to the store from the first call to the return of the second.
 *
 * Threads: one of its own; one thread calls both functions.
 */
#ifndef SERVICE_RECOVERY_LEDGER_OPENING_H
#define SERVICE_RECOVERY_LEDGER_OPENING_H

#include "accountant/ledger/ledger.h"

struct ledger_opening; /* opaque */

/* Starts reading the ledger of store. */
struct ledger_opening *ledger_opening_begin(struct store *store);

/* Waits until the ledger is read, and frees opening.
 *   ST_CORRUPT, ST_IO  as ledger_open (accountant/ledger/ledger.h); *out is unchanged
 * On ST_OK the caller owns *out and releases it with ledger_close. */
enum status ledger_opening_end(struct ledger_opening *opening_take, struct ledger **out,
                               struct error *error);

#endif
