/*
 * store.h - the database: one SQLite file, one connection for writes and checkpoints, and
 * transactions that are passed as an argument to whoever has rows to put into them.
 *
 *                 store_begin            store_commit   -> durable (fsync done) on ST_OK
 *      (idle) ------------------> OPEN <
 *                                        store_rollback -> as if nothing had been asked
 *
 * Invariants
 *   (1) At most one transaction is open; store_begin waits for the other to end.
 *   (2) WAL, synchronous=FULL, foreign_keys, recursive_triggers, trusted_schema=OFF and
 *       wal_autocheckpoint=0 are set and read back at every open. Checkpoints run on this
 *       connection only, inside store_commit when the WAL has grown past 4 MiB, and at
 *       close: SQLite 3.40's WAL-reset fault needs two connections.
 *   (3) After the first I/O error, corruption, full disk or failed allocation inside a
 *       transaction the store is poisoned: every later call answers ST_IO and nothing
 *       more is written, at close neither. A failed fsync is never retried. The owner
 *       of the process exits 75 (store/README.md).
 *   (4) The schema is forward only: PRAGMA user_version counts its steps; an older file
 *       is copied (VACUUM INTO) and moved forward in one transaction; a newer one is
 *       refused.
 *
 * Threads: any thread may call; a struct store_tx belongs to the thread that began it.
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include <stdbool.h>

#include "base/status.h"

struct store;    /* opaque */
struct store_tx; /* an open transaction */

/* Opens or creates the database at path; ":memory:" is a fresh private one, for tests.
 *   ST_IO       cannot be opened, read or written
 *   ST_CORRUPT  not our database, or fails integrity_check
 *   ST_INVALID  of a newer schema than this program writes
 * On ST_OK *out is owned by the caller: release it with store_close. */
enum status store_open(struct store **out, const char *path, struct error *error);

/* The same, read-only and without changing a byte, beside a running daemon too: for
 * `epsilond verify`. store_begin on it opens a read transaction. An older schema is
 * refused too: ST_INVALID. */
enum status store_open_read(struct store **out, const char *path, struct error *error);

void store_close(struct store *store); /* NULL is allowed; no transaction may be open */

/* BEGIN IMMEDIATE.  ST_IO: poisoned, or the database cannot be written. */
enum status store_begin(struct store *store, struct store_tx **tx, struct error *error);

/* Makes everything in tx durable and ends it, whatever is returned.
 *   ST_IO  not durable: nothing of tx may be acknowledged; the store is poisoned */
enum status store_commit(struct store_tx *tx, struct error *error);

void store_rollback(struct store_tx *tx);

/* Ends tx by what was done in it: commits it where status is ST_OK; else rolls it back and
 * returns status.
 *   ST_IO  as store_commit */
enum status store_end(struct store_tx *tx, enum status status, struct error *error);

/* Calls done(context) when tx has been made durable, before store_commit returns, or
 * undone(context) when it has been rolled back or lost. Either may be NULL. At most 8 a
 * transaction. They run with the transaction's lock held and must not begin another. */
void store_tx_on_end(struct store_tx *tx, void (*done)(void *), void (*undone)(void *),
                     void *context);

bool store_poisoned(const struct store *store);

/* For a part of a promise kept outside the database that could not be written. */
void store_poison(struct store *store);

/* For the other files of this folder: the connection that tx is open on. */
struct database *store_tx_database(struct store_tx *tx);

#endif
