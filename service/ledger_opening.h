/*
 * ledger_opening.h - the ledger of a store, read while the rows of the same store are read:
 * of a directory with many jobs either takes as long. Where the store is a file this is done
 * on a thread and a connection of its own, and otherwise at once.
 *
 * Nobody writes the store from the first call to the return of the second.
 *
 * Threads: one of its own; one thread calls both functions.
 */
#ifndef SERVICE_LEDGER_OPENING_H
#define SERVICE_LEDGER_OPENING_H

#include "accountant/ledger.h"

struct ledger_opening; /* opaque */

/* Begins to read the ledger of store. */
struct ledger_opening *ledger_opening_begin(struct store *store);

/* Waits until it is read, and ends opening.
 *   ST_CORRUPT, ST_IO  as ledger_open (accountant/ledger.h); *out is as it was
 * On ST_OK *out is owned by the caller: release it with ledger_close. */
enum status ledger_opening_end(struct ledger_opening *opening_take, struct ledger **out,
                               struct error *error);

#endif
