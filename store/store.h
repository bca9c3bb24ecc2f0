/*
 * store.h - the database that all other folders use. It provides transactions; a caller
 * passes a transaction as an argument to the functions that write its rows.
 *
 *            store_begin            store_commit    -> durable (fsync done) on ST_OK
 *    (idle) --------------> OPEN <
 *                                   store_rollback  -> nothing of it is kept
 *
 * Invariants
 *   (1) Of the transactions that run one at a time by their scopes (scope.h) at most
 *       one is open; store_begin waits for it to end. Of the others, as many are open
 *       as the database has connections for.
 *   (2) What store_commit answered ST_OK to is on disk.
 *   (3) The first failure inside a transaction that is not a constraint poisons the
 *       store: an I/O error, a full disk, damage, a failed allocation. Every later call
 *       answers ST_IO and nothing more is written, not even at close. A failed fsync is
 *       never retried. The owner of the process ends it with 75 (store/README.md). One
 *       failure does not poison: a connection that broke under a transaction that only
 *       reads. That transaction fails whole and is repeated whole (store_again).
 *   (4) The schema only moves forward. An older database is copied and moved forward
 *       when it is opened (sqlite_tables.h); a newer one than this program is refused.
 *
 * Threads: any thread may call; a struct store_tx belongs to the thread that began it.
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "store/sql/scope.h"
#include "store/sql/server.h"

struct store;    /* opaque */
struct store_tx; /* an open transaction */

/* Opens or creates the database at path; ":memory:" is a fresh private one, for tests.
 *   ST_IO       it cannot be opened, read or written
 *   ST_CORRUPT  it is not ours, or it is damaged
 *   ST_INVALID  its schema is newer than the one that this program writes
 * On ST_OK *out is owned by the caller, who releases it with store_close. */
enum status store_open(struct store **out, const char *path, struct error *error);

/* Like store_open, but returns while a thread still checks the pages, if the schema
 * needs no step forward. The store can be read during the check; the first transaction
 * that writes waits for the end of the check. Until then only one thread may use the
 * store.
 *   ST_CORRUPT  as store_open; store_await_check and store_begin may answer it too */
enum status store_open_beside(struct store **out, const char *path,
                              struct error *error);
/* Waits until all pages are checked.
 *   ST_CORRUPT, ST_IO  as store_open: the store can only be closed */
enum status store_await_check(struct store *store, struct error *error);

/* Opens the file of a store once more, to read it on another thread while this one
 * reads it too. Nothing may write the database until the second is closed. *out is NULL
 * if the store has no file: it is a server's, or in memory.
 *   ST_IO  it cannot be opened */
enum status store_open_again(struct store **out, const struct store *store,
                             struct error *error);

/* Opens the database for `epsilond verify`, also while a daemon has it open: it is only
 * read, and not a byte of it changes. store_begin opens a read transaction. The
 * statuses are those of store_open, but an older schema is refused as well, with
 * ST_INVALID. */
enum status store_open_read(struct store **out, const char *path, struct error *error);

/* Opens the database of a PostgreSQL server, and makes its tables if it has none. No
 * other process can open it so until it is closed.
 *   ST_IO       it cannot be reached, or is opened by another
 *   ST_CORRUPT  it is not ours, or its tables are not as they were made
 *   ST_INVALID  the URL or the server will not do, or its schema is older or newer than
 *               this program's: the error names the reason */
enum status store_open_server(struct store **out, const struct store_server *server,
                              struct error *error);

/* Opens the server's database for `epsilond verify`, like store_open_read. */
enum status store_open_server_read(struct store **out,
                                   const struct store_server *server,
                                   struct error *error);

/* Returns whether the store can open transactions of STORE_SEALED, which need a
 * connection of their own. False for a database in memory and for one that is opened
 * only to be read. */
bool store_reads_sealed(struct store *store);

/* Returns whether other daemons may write the store too (server.h). If so, what this
 * process has in memory may be older than what a transaction finds. */
bool store_shared(const struct store *store);

/* Returns the id by which a shared store knows this daemon as long as the process
 * lives: the id of its first writer. 0 if the store is not a server's. */
uint64_t store_daemon(const struct store *store);

/* Returns how many of this daemon's transactions a server has acknowledged
 * (commit_watermark.h), on all connections together. 0 if the store is not a
 * server's. Threads: any. */
uint64_t store_acknowledged(const struct store *store);

/* Copies the database at from, as of one moment, into a new file at to, which is
 * synced. A daemon may have the database open, and its schema may be any. Not a byte of
 * from changes, and the only check of it is that it can be read.
 *   ST_IO  from cannot be read, or to is there or cannot be written */
enum status store_copy(const char *from, const char *to, struct error *error);

void store_close(struct store *store); /* NULL is allowed; no transaction may be open */

/* Opens a transaction that does no more than its scope says.
 *   ST_IO  the store is poisoned, or the database cannot be written */
enum status store_begin(struct store *store, enum store_scope scope,
                        struct store_tx **tx, struct error *error);

/* Makes everything in tx durable. tx ends whatever the status is. Precondition: no
 * statement of tx was refused by a constraint; after that a transaction can only be
 * rolled back (statement.h).
 *   ST_IO  it is not durable and nothing of it may be acknowledged; the store is
 *          poisoned */
enum status store_commit(struct store_tx *tx, struct error *error);

void store_rollback(struct store_tx *tx);

/* Ends tx by the status of the work done in it: commits tx if status is ST_OK; else
 * rolls it back and returns status.
 *   ST_IO  as store_commit */
enum status store_end(struct store_tx *tx, enum status status, struct error *error);

/* Calls done(context) when tx has been made durable, before store_commit returns, or
 * undone(context) when it has been rolled back or lost. Either may be NULL. A
 * transaction may have any number of these calls; they run in the order in which they
 * were added, before the next of the transactions that run one at a time with tx may
 * begin. They must neither begin such a transaction nor add calls. */
void store_tx_on_end(struct store_tx *tx, void (*done)(void *), void (*undone)(void *),
                     void *context);

/* Ends a transaction that only reads (STORE_READ, STORE_SEALED). Returns true if the
 * connection to the server broke after tx had read something. All that was read is void
 * then, because the next connection sees the rows of another moment: *status is ST_OK
 * again, error is empty, and the caller discards what it has read and begins again:
 *
 *   do {
 *       status = store_begin(store, STORE_READ, &tx, error);
 *       if (status != ST_OK)
 *           return status;
 *       status = read_rows(tx, out, error);   (which empties out first)
 *   } while (store_again(tx, &status, error));
 *
 * After STORE_LOSSES_MAX such ends in a row *status is ST_IO and the store is poisoned.
 * The store is poisoned too if a transaction that was lost ends in any other way. */
enum { STORE_LOSSES_MAX = 8 };
bool store_again(struct store_tx *tx, enum status *status, struct error *error);

struct change_feed_hook; /* change_feed.h */

/* From now on every transaction of a shared store but those of STORE_MARK renews memory
 * by the hook, which is copied, before store_begin returns. The first one passes to the
 * hook all that other daemons have changed since the store was opened, so memory may be
 * filled before this call. A store that is not shared calls no hook. */
void store_follow(struct store *store, const struct change_feed_hook *hook);

/* Renews memory by what other daemons have committed, and writes nothing. A no-op if
 * the store is not shared.
 *   ST_IO  the store is poisoned */
enum status store_look(struct store *store, struct error *error);

bool store_poisoned(const struct store *store);

/* Returns why it is poisoned, for the log: what the database reported of the first
 * failure. */
const char *store_why(const struct store *store);

/* Poisons the store. Called when a file outside the database that is part of its
 * promise, that of the ledger's head, could not be written. */
void store_poison(struct store *store);

/* Returns the connection that tx is open on. For the other files of this folder
 * only. */
struct database *store_tx_database(struct store_tx *tx);

#endif
